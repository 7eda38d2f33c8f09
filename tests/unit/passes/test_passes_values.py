"""The programs of tests/filecheck, run: what a pass makes of the text is one thing, that the numbers stay the same another.

Each is compiled, those of bufferization with bufferization alone, and compared with the reference on small integers. For the
reference's sake every function of `math` is a change of sign: what matters is which numbers meet.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.ir.context import make_context, run_mlir_passes
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import entry_block, main_function
from tests.harness import PIPELINES, Compiled, check
from tests.reference import DTYPES

FILECHECK = Path(__file__).parents[2] / "filecheck"
NOT_RUN = {
    "concat_dynamic": "its sizes have no names",
    "pad_dynamic": "it has scalar arguments",
    "slice_is_a_view": "it has scalar arguments",
    "pad_by_position": "it has no kernel",
    "other": "it is no program",
    "behind_the_end": "its indices are out of range",
    "rows_of_data": "its indices may be out of range",
    "element": "its indices may be out of range",
    "checked": "its indices may be out of range",
    "data": "its sizes have no names",
    "dynamic": "its sizes have no names",
    "dynamic_rows": "its sizes have no names",
    "memory": "it is on memrefs",
    "contracted": "it is on memrefs",
    "in_a_branch": "it has scalar arguments",
    "in_another_block": "it has branches",
    "one_of_two": "it has scalar arguments",
    "open": "it has scalar arguments",
    "typed": "its shape comes with the call",
    "filled": "it has scalar arguments",
    "unknown": "it has an op of no dialect",
    "rounded": "its sizes have no names",
    "other_rounding": "kernels round to the nearest alone",
    "narrow": "its weights are rounded on the way",
    "both": "its input is large",
    "images": "its input is large",
    "calls": "it calls a function without a body",
    "for_a_loop": "it has scalar arguments",
    "crossed": "it has scalar arguments",
    "loop_waits": "it has scalar arguments",
    "behind_a_store": "it writes to an argument",
    "by_a_view_known_later": "its indices may be out of range",
    "behind_what_writes_memory": "it writes to an argument",
    "rounded_convolution": "the reference has no bf16",
    "added_to_more": "the reference has no bf16",
}
OTHERS = (
    "check-before-loops",
    "choose-destinations-state",
    "copy-results-early",
    "eliminate-empty",
    "empty-tensor-to",
    "fuse-elementwise",
    "reorder-for-peak",
    "sink-concat-reasons",
    "snapshot-tensors",
    "use-inplace-calls",
    "one-shot-assuming",
    "one-shot-bufferize-reasons",
    "one-shot-control-flow",
    "one-shot-entering-loops",
    "one-shot-fewer-copies",
    "one-shot-merges",
    "one-shot-passed-on-twice",
    "one-shot-coalesced-arguments",
    "one-shot-largest-first",
    "one-shot-loop-sizes",
    "one-shot-memory-spaces",
    "one-shot-options",
    "one-shot-parallel-reductions",
    "one-shot-passed-layouts",
    "one-shot-results-apart",
    "one-shot-scalars",
    "one-shot-tm-tensor",
    "one-shot-undefined-in-parallel",
    "one-shot-unranked",
)
"""What has tests of its own."""
DYNAMIC_SIZE = 5


def programs() -> list[Any]:
    found: list[Any] = []
    for pipeline, files in (("everything", "tensor/*.mlir"), ("buffers alone", "bufferize/one-shot-*.mlir")):
        for file in sorted(FILECHECK.glob(files)):
            if file.stem.startswith(OTHERS):
                continue
            for number, part in enumerate(file.read_text().split("// -----\n")):
                text = re.sub(r"math\.\w+", "arith.negf", re.sub("//.*", "", part))
                name = re.findall(r"func\.func @(\w+)", text)[0]
                if name not in NOT_RUN:
                    text = re.sub(rf"@{name}\b", "@main", text)
                    found.append(pytest.param(text, pipeline, id=f"{file.stem}-{number}-{name}"))
    return found


def _inputs(module: ir.Module) -> list[Any]:
    drawn = np.random.default_rng(1)
    inputs: list[Any] = []
    for argument in entry_block(main_function(module)).arguments:
        kind: Any = argument.type
        sizes = [DYNAMIC_SIZE if size is None else size for size in shape_of(kind)]
        low, high = (0, 10) if str(kind.element_type) == "index" else (1, 9)
        inputs.append(drawn.integers(low, high, sizes).astype(DTYPES[str(kind.element_type)]))
    return inputs


@pytest.mark.parametrize(("text", "pipeline"), programs())
def test_values_stay_the_same(text: str, pipeline: str) -> None:
    compiled = Compiled(text, PIPELINES[pipeline])
    compiled.source = ir.Module.parse(text, make_context())
    run_mlir_passes(compiled.source, "func.func(linalg-generalize-named-ops)")  # the reference knows generic ops best
    check(compiled, _inputs(compiled.source))
