"""`hotdesk run`: runs a model and prints its results and the report on its memory.

    hotdesk run model.mlir --random-inputs --sizes n=5
    hotdesk run model.mlir --entry step --inputs x.npy 0.5 --save out.npz
    hotdesk run my_model.py:build

A PyTorch model is called with its example arguments. What a program on memrefs writes to its arguments is printed, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from hotdesk.cli.formats import require_writable
from hotdesk.cli.inputs import Ready, add_model, ready
from hotdesk.cli.parsers import parser_of
from hotdesk.runtime.arguments.tensors import is_torch

_SHOWN = 60
"""The most elements of an array that are printed."""


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk run` and returns its exit code."""
    options = parser().parse_args(arguments)
    if options.save:
        require_writable(options.save)
    made = ready(options)
    returned = made.program(*made.args, **made.kwargs)
    found = {**dict(_named("result", returned)), **_written(made)}
    for name, value in found.items():
        print(_shown(name, value))
    if found:
        print()
    print(made.program.report(*made.args, **made.kwargs))
    if options.save:
        np.savez(options.save, **cast(Any, {name.replace(" ", "_"): _array(value) for name, value in found.items()}))
    return 0


def _named(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What a call returned, by names: `result 0`, `result 1`, deeper `result 1.key`."""
    if value is None:
        return
    if isinstance(value, Mapping):
        for key, inner in cast("Mapping[Any, Any]", value).items():
            yield from _named(f"{name}.{key}", inner)
    elif isinstance(value, tuple | list):
        for number, inner in enumerate(cast("Sequence[Any]", value)):
            yield from _named(f"{name} {number}" if name == "result" else f"{name}.{number}", inner)
    else:
        yield (f"{name} 0" if name == "result" else name), value


def _written(made: Ready) -> dict[str, Any]:
    """The arguments that the program has written, by name."""
    pairs = zip(made.program.inputs, made.args, strict=False)
    return {spec.name: value for spec, value in pairs if spec.written}


def _shown(name: str, value: Any) -> str:
    array = _array(value)
    if not array.ndim:
        return f"{name} = {array[()]}"
    text = np.array2string(array, threshold=_SHOWN, precision=4)
    return f"{name}: {array.dtype}[{', '.join(map(str, array.shape))}]\n{text}"


def _array(value: Any) -> Any:
    if not is_torch(value):
        return np.asarray(value)
    tensor = value.detach()
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).resolve_conj().numpy()


EXAMPLES = ("hotdesk run model.mlir --sizes x[0]=8,x[1]=3", "hotdesk run my_model.py:build")


def parser() -> argparse.ArgumentParser:
    parser = parser_of("run", "Runs a model and reports on its memory.", EXAMPLES)
    add_model(parser)
    parser.add_argument("--save", metavar="FILE", help="a file .npz for the results: result_0, …, and what was written")
    return parser
