"""Programs written by hand: `tests/data/structured/*.mlir`.

Their first line says what is tried. A line `// given: 5, 3` gives a number to each dynamic size and each scalar argument of
`@main`, in order; the contents of tensors are small whole numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.ir.context import make_context
from tests.reference.values import dtype_of
from tests.running.executable import main_of

EXAMPLES = {path.stem: path for path in sorted((Path(__file__).parent.parent / "data" / "structured").glob("*.mlir"))}


def one_of_each_kind(names: Iterable[str] = EXAMPLES) -> list[Any]:
    """Names as parameters of a test: the first of each kind, which is the first word of a name; the others are slow."""
    kinds: set[str] = set()
    parameters: list[Any] = []
    for name in names:
        kind = name.split("_")[0]
        parameters.append(pytest.param(name, marks=[pytest.mark.slow] if kind in kinds else []))
        kinds.add(kind)
    return parameters


def inputs_of(text: str, seed: int = 0) -> list[Any]:
    """Arguments for `@main`: arrays, and numpy scalars."""
    given = re.search(r"^// given: (.*)$", text, re.MULTILINE)
    numbers = iter([] if given is None else [int(n) for n in given[1].split(",")])
    generator = np.random.default_rng(seed)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        return [
            _input(argument.type, numbers, generator) for argument in main_of(module).regions[0].blocks[0].arguments
        ]


def _input(mlir_type: Any, numbers: Any, generator: np.random.Generator) -> Any:
    dtype = dtype_of(mlir_type)
    if not isinstance(mlir_type, (ir.RankedTensorType, ir.MemRefType)):
        return dtype.type(next(numbers))
    dims: Any = mlir_type
    shape = [next(numbers) if dims.is_dynamic_dim(i) else dims.get_dim_size(i) for i in range(dims.rank)]
    return np.asarray(generator.integers(-3, 4, shape)).astype(dtype)
