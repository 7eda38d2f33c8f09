"""Functions as kernel calls: what is refused of their sizes."""

from __future__ import annotations

import pytest

from hotdesk.errors import DataDependentShapeError
from hotdesk.ir.context import entered
from hotdesk.passes.lower.function import lower_function
from hotdesk.passes.lower.library import KernelLibrary
from tests.unit.parsing import function, parse


@pytest.mark.parametrize(("size", "refused"), [("dim 0 of %arg1", True), ("n", False), ("2*n", False)])
def test_a_size_of_a_result_that_no_argument_tells(size: str, *, refused: bool) -> None:
    module = parse(f"""
    func.func @f(%x: memref<?xf32> {{hotdesk.shape = ["n"]}},
                 %y: memref<?xf32> {{bufferize.result = 0 : i64, hotdesk.shape = ["{size}"]}}) {{
      linalg.copy ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
      return
    }}""")
    with entered(module.operation):
        library = KernelLibrary(module.context)
        if not refused:
            assert lower_function(function(module), module, library, "main").calls
            return
        with pytest.raises(DataDependentShapeError, match="a size of a result that follows from none of them"):
            lower_function(function(module), module, library, "main")
