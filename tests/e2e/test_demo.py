"""The demo model, Linear 224→100, batch norm and ReLU with a batch that varies, stage by stage."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import nn

import hotdesk
from examples.models import MODELS
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import defining_op, entry_block, main_function, top_level_ops
from hotdesk.passes.bufferize.annotate import AnnotateInPlace
from hotdesk.program.symbolic import SymbolicSizes
from tests.e2e.checking import close
from tests.unit.parsing import parse, run

SPEC = MODELS["demo"]
BATCHES = (1, 2, 7, 64)


@pytest.fixture(scope="module")
def model() -> nn.Module:
    return SPEC.build()


@pytest.fixture(scope="module")
def program(model: nn.Module) -> hotdesk.Program:
    options = hotdesk.Options(keep_ir=True)
    return hotdesk.compile(model, SPEC.inputs(), dynamic_shapes=SPEC.dynamic_shapes, options=options)


def function(text: str, name: str) -> str:
    """A function of a module, as text."""
    return text.partition(f"func.func @{name}(")[2].partition("func.func")[0]


def test_batch_norm_is_taken_apart_into_linalg_on_tensors(program: hotdesk.Program) -> None:
    captured = program.ir("capture")
    assert "tensor<?x224xf32>" in captured
    assert "linalg." in captured
    assert "rsqrt" in captured
    assert not re.search(r"torch\.|batch_norm|memref", captured)


def test_what_depends_on_weights_alone_is_folded(program: hotdesk.Program) -> None:
    text = program.ir("fuse")
    assert "rsqrt" in function(text, "prepare")
    assert "rsqrt" not in function(text, "main")


def test_the_analysis_is_printed(program: hotdesk.Program) -> None:
    text = function(run(parse(program.ir("hotdesk-choose-destinations")), AnnotateInPlace()), "main")
    written = [entries.split(", ") for entries in re.findall(r"__inplace_operands_attr__ = \[(.*?)\]", text)]
    assert [entries[-1] for entries in written] == ['"true"', '"true"']
    assert {entry for entries in written for entry in entries[:-1]} == {'"none"'}
    accesses = re.findall(r'bufferization.access = "([a-z-]+)", hotdesk.kind = "(\w+)"', text)
    assert len(accesses) == len(re.findall("hotdesk.kind", text))
    assert {access for access, _ in accesses} == {"read", "none"}
    assert [access for access, kind in accesses if kind in ("input", "prepared")] == ["read"] * 3
    assert [access for access, kind in accesses if kind == "weight"] == ["read"] * 2 + ["none"] * 5


def test_nothing_is_allocated_and_results_are_written_where_the_caller_wants_them(
    program: hotdesk.Program,
) -> None:
    text = program.ir("hotdesk-buffer-deallocation")
    assert "memref.alloc" not in text
    main = main_function(parse(text))
    attributes: Any = main.attributes["arg_attrs"]
    (result,) = [
        argument
        for argument, entry in zip(entry_block(main).arguments, attributes, strict=True)
        if "bufferize.result" in entry
    ]
    writers = [op for op in top_level_ops(main) if op.name.startswith(("hotdesk.", "linalg."))]
    assert [op.operands[len(op.operands) - 1] for op in writers] == [result] * len(writers)
    assert len(writers) == 2


def test_at_most_two_kernels_run(program: hotdesk.Program) -> None:
    main = program.ir("llvm").partition("@hotdesk_main")[2].partition("llvm.return")[0]
    assert 1 <= main.count("llvm.call") <= 2


@pytest.mark.parametrize("batch", BATCHES)
def test_every_batch_runs_without_an_arena(model: nn.Module, program: hotdesk.Program, batch: int) -> None:
    inputs = SPEC.inputs(batch)
    with torch.no_grad():
        expected = model(*inputs)
    close(program(*inputs), expected, SPEC.rtol, SPEC.atol)
    out = torch.full_like(expected, torch.nan)
    assert program(*inputs, out=out) is out
    close(out, expected, SPEC.rtol, SPEC.atol)
    memory = program.memory(*inputs)
    assert (memory.arena, memory.allocations, memory.outputs) == (0, 0, batch * 100 * 4)


def test_the_batch_is_one_size_throughout(program: hotdesk.Program) -> None:
    (batch,) = {size for spec in program.inputs for size in spec.shape if not isinstance(size, int)}
    for stage in ("capture", "hotdesk-choose-destinations"):
        main = main_function(parse(program.ir(stage)))
        sizes = SymbolicSizes(main)
        values = [*entry_block(main).arguments, *(result for op in top_level_ops(main) for result in op.results)]
        dynamic = [sizes.shape(v) for v in values if is_tensor(v.type) and "?" in str(v.type)]
        assert len(dynamic) > 1
        assert {shape[0] for shape in dynamic} == {batch}
        assert [sizes.value(v) for v in values if (op := defining_op(v)) and op.name == "tensor.dim"] == [batch]
