"""Memory for each worker of parallel loops: options, rows that nobody shares, and sizes that no machine has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

import hotdesk
from hotdesk.checker import CheckReport, FaultKind, Settings, check_module
from hotdesk.cli.main import main
from hotdesk.errors import OptionError, OutOfMemoryError
from hotdesk.explain import Outcome, Reason
from hotdesk.ir.building import index_constant
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import constant_of, nested_ops
from hotdesk.passes.buffers import privatize
from hotdesk.passes.buffers.privatize import PrivatizeBuffers

UNEVEN = """func.func @main(%y: memref<63xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (63) {
    %v = memref.load %y[%i] : memref<63xf32>
    %a = memref.alloc() : memref<8192xf32>
    linalg.fill ins(%v : f32) outs(%a : memref<8192xf32>)
    %w = memref.load %a[%c0] : memref<8192xf32>
    memref.dealloc %a : memref<8192xf32>
    memref.store %w, %y[%i] : memref<63xf32>
  }
  return
}"""


def checked(text: str, threads: int) -> CheckReport:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        (decision,) = PrivatizeBuffers(threads).apply(module)
        assert decision.bytes == (threads - 1) * 32768
        return check_module(module, "main", [np.ones(63, np.float32)], settings=Settings(deallocated=True))


@pytest.mark.parametrize("threads", [2, 4, 9])
def test_each_worker_has_memory_of_its_own(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked(UNEVEN, threads).clean
    right = privatize.byte_view

    def first_row(memory: ir.Value, owner: ir.Operation, offset: ir.Value) -> ir.Value:
        del offset
        return right(memory, owner, index_constant(0, owner))

    monkeypatch.setattr(privatize, "byte_view", first_row)
    assert {fault.kind for fault in checked(UNEVEN, threads).faults} == {FaultKind.RACE}


@pytest.mark.parametrize(
    ("options", "message"), [((0,), "'threads'.*1 or more"), ((2, -2), "'max-growth-in-bytes'.*-1 or more")]
)
def test_wrong_options(options: tuple[Any, ...], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        PrivatizeBuffers(*options)


def test_explain_tells_of_the_loop_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "in.mlir"
    file.write_text(UNEVEN)
    for option, told in (("", "threads share its iterations"), ("{max-growth-in-bytes=0}", "one after the other")):
        assert main(["explain", str(file), f"--pass-pipeline=builtin.module(hotdesk-privatize-buffers{option})"]) == 0
        assert told in capsys.readouterr().out
    assert (
        main(["explain", str(file), "--pass-pipeline=builtin.module(hotdesk-privatize-buffers{max-growth-in-bytes=0})"])
        == 0
    )
    assert "more bytes than are allowed: by 32768. [frames-raise-peak]" in capsys.readouterr().out


REGIONS = {
    "affine.parallel (%j) = (0) to (8) {": ("}", Reason.PARALLEL_ITERATIONS),
    '"my.op"() ({': ("}) : () -> ()", Reason.UNKNOWN_REGION),
}


@pytest.mark.parametrize("begin", REGIONS)
def test_memory_in_regions_that_may_run_at_one_time(begin: str) -> None:
    """A worker has one place for it, so it stays where it is."""
    end, reason = REGIONS[begin]
    text = f"""func.func @main() {{
      %v = arith.constant 1.0 : f32
      scf.forall (%i) in (64) {{
        {begin}
          %a = memref.alloc() : memref<8192xf32>
          linalg.fill ins(%v : f32) outs(%a : memref<8192xf32>)
          memref.dealloc %a : memref<8192xf32>
        {end}
        %b = memref.alloc() : memref<8192xf32>
        linalg.fill ins(%v : f32) outs(%b : memref<8192xf32>)
        linalg.exp ins(%b : memref<8192xf32>) outs(%b : memref<8192xf32>)
        memref.dealloc %b : memref<8192xf32>
      }}
      return
    }}"""
    with make_context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        (decision,) = PrivatizeBuffers().apply(module)
        assert (decision.outcome, decision.reason) == (Outcome.IN_SEQUENCE, reason)
        assert str(module) == str(ir.Module.parse(text))


def test_one_iteration_is_not_shared() -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(UNEVEN.replace("(63)", "(1)").replace("8192", "1000000"))
        assert PrivatizeBuffers().apply(module) == ()


def test_rows_that_are_too_many_by_their_numbers_alone_are_not_made_empty() -> None:
    kind = f"memref<?x{1 << 50}xf32>"
    text = f"""func.func @main(%n: index) {{
      scf.forall (%i) in (64) {{
        %a = memref.alloc(%n) : {kind}
        linalg.exp ins(%a : {kind}) outs(%a : {kind})
        memref.dealloc %a : {kind}
      }}
      return
    }}"""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        (decision,) = PrivatizeBuffers(2, -1).apply(module)
        assert decision.outcome is Outcome.IN_PARALLEL
        (most,) = [op for op in nested_ops(module.operation) if op.name == "arith.minsi"]
        assert constant_of(most.operands[1]) == 1
        (bytes_of_row,) = [use.owner.operation for use in most.results[0].uses]
        assert constant_of(bytes_of_row.operands[1]) == 1 << 48


@pytest.mark.parametrize("given", ["much", "-1", -1])
def test_wrong_private_memory(given: Any) -> None:
    with pytest.raises(OptionError, match="option 'private_memory': expected bytes such as"):
        hotdesk.Options(private_memory=given)


@pytest.mark.parametrize("sizes", [(1 << 61, 1), (1 << 31, 1 << 31), (1 << 62, 1 << 62)])
def test_bytes_that_cannot_be_counted_are_refused(sizes: tuple[int, int]) -> None:
    text = """func.func @main(%out: memref<100xf32>, %n: index, %m: index, %trips: index) {
      %v = arith.constant 1.0 : f32
      %c0 = arith.constant 0 : index
      scf.forall (%i) in (%trips) {
        %a = memref.alloc(%n, %m) : memref<?x?xf32>
        linalg.fill ins(%v : f32) outs(%a : memref<?x?xf32>)
        %w = memref.load %a[%c0, %c0] : memref<?x?xf32>
        memref.store %w, %out[%i] : memref<100xf32>
        memref.dealloc %a : memref<?x?xf32>
      }
      return
    }"""
    before = hotdesk.get_num_threads()
    hotdesk.set_num_threads(3)
    program = hotdesk.compile(text, options=hotdesk.Options(private_memory=None, keep_ir=True))
    hotdesk.set_num_threads(before)
    assert "scf.forall" not in program.ir("hotdesk-privatize-buffers")
    out = np.zeros(100, np.float32)
    program(out, 8, 8, 100)
    assert (out == 1).all()
    program(out, *sizes, 0)
    with pytest.raises(OutOfMemoryError, match="the arena"):
        program(out, *sizes, 100)
