"""A model of the command line, compiled, and the arguments of its call: examples, files, or random values of given sizes."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from hotdesk.cli.exits import UsageError, usage
from hotdesk.cli.models import FORMS, read_model, states_its_types
from hotdesk.cli.progress import shown_progress
from hotdesk.errors import OptionError
from hotdesk.runtime.arguments.tensors import empty
from hotdesk.runtime.interface import TensorSpec
from hotdesk.runtime.program import Program
from hotdesk.sizes.size import evaluate, symbols_of

_DERIVED = re.compile(r"dim (\d+) of %(\w+)")


class _Joined(argparse.Action):
    """An option of names with values, which counts as one where it is given several times."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        setattr(namespace, self.dest, {**getattr(namespace, self.dest), **values})


@dataclass(frozen=True, slots=True)
class Ready:
    """A program and the arguments of a call of it; and the model, if it is PyTorch's."""

    program: Program
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    model: Any = None


def add_model(parser: argparse.ArgumentParser) -> None:
    """Adds what names a model and its inputs to a command line."""
    add_model_alone(parser)
    add_inputs(parser)


def add_model_alone(parser: argparse.ArgumentParser) -> None:
    """Adds what names a model to a command line."""
    parser.add_argument(
        "model", metavar="MODEL", help=f"{FORMS}; or FILE.mlir, FILE.onnx or FILE.hotdesk; - reads MLIR from stdin"
    )


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Adds what says how the model is compiled, and its inputs."""
    add_compiling(parser)
    add = parser.add_argument
    add("--random-inputs", action="store_true", help="random arguments for MLIR or ONNX; --sizes implies it")
    add_random(parser)
    add("--inputs", nargs="+", metavar="VALUE", help="arguments for MLIR or ONNX, in order: files .npy, or numbers")


def add_random(parser: argparse.ArgumentParser) -> None:
    """Adds what says of which sizes random arguments are."""
    add = parser.add_argument
    add("--seed", type=int, default=0, metavar="N", help="for random arguments (0)")
    add(
        "--sizes",
        type=sizes_of,
        action=_Joined,
        default={},
        metavar="NAME=N,…",
        help="sizes of random arguments, such as n=5 or x[0]=5; an index: k=3",
    )


def add_dims(parser: argparse.ArgumentParser) -> None:
    """Adds what fixes or bounds the sizes that an ONNX model names."""
    text = "sizes that an ONNX model names, as it is compiled: fixed, such as batch=8, or in a range, batch=1:64"
    parser.add_argument("--dim", type=dims_of, action=_Joined, default={}, metavar="NAME=N,…", help=text)


def add_compiling(parser: argparse.ArgumentParser) -> None:
    """Adds what says how the model is compiled."""
    parser.add_argument(
        "--entry", metavar="NAME", help="the function of a program in MLIR: the only public one, or main"
    )
    add_ways(parser)


def add_ways(parser: argparse.ArgumentParser) -> None:
    """Adds what is the same for models of every kind."""
    add = parser.add_argument
    add("--order", choices=("given", "peak"), help="peak looks for an order of operations with a lower peak")
    add(
        "--budget",
        metavar="SIZE",
        help="bytes that a call may take, such as 24MiB; the cheapest way to fit is looked for",
    )
    add_dims(parser)


def ready(options: argparse.Namespace, text: str = "") -> Ready:
    """The model of a command line, compiled, with its arguments. `text` is the program of stdin, if it was read already.

    A PyTorch model is called with its examples, a program in MLIR or an ONNX model with what is given, or with random values.

    Raises:
        HotdeskError: the model does not compile, or options do not go with it.
        OSError: a file cannot be read.
    """
    with shown_progress():
        return _ready(options, text)


def _ready(options: argparse.Namespace, text: str) -> Ready:
    if _is_pytorch(options.model):
        for name in ("random_inputs", "sizes", "inputs"):
            refuse_given(options, name)
        return _with_examples(options)
    if options.inputs and (options.random_inputs or options.sizes):
        raise UsageError("option '--inputs'", expected="files and numbers, or --random-inputs with --sizes", got="both")
    program = compiled(options, text)
    if options.inputs:
        return Ready(program, tuple(map(_value, options.inputs)), {})
    if program.inputs and not (options.random_inputs or options.sizes):
        names = ", ".join(f"{spec.name}: {spec}" for spec in program.inputs)
        raise UsageError("arguments", expected=f"--inputs for {names}, or --random-inputs", got="none")
    return Ready(program, random_arguments(program.inputs, options.sizes, options.seed), {})


def compiled(options: argparse.Namespace, text: str = "") -> Program:
    """The model of a command line, compiled. `text` is the program of stdin, if it was read already.

    Raises:
        HotdeskError: the model does not compile, or options do not go with it.
        OSError: a file cannot be read.
    """
    from hotdesk.compiling.compile import compile

    if _is_pytorch(options.model):
        return _with_examples(options).program
    if options.model.endswith(".hotdesk"):
        return _saved(options)
    dims = given_dims(options)
    model = (text or sys.stdin.read()) if options.model == "-" else options.model
    with usage("entry", "order", "budget"), dims_by_option():
        return compile(model, dynamic_shapes=dims, entry=options.entry, order=options.order, budget=options.budget)


def given_dims(options: argparse.Namespace) -> Mapping[str, Any] | None:
    """The sizes that --dim fixes or bounds, as `hotdesk.compile` takes them. Raises UsageError for what names none."""
    if options.dim and not options.model.endswith(".onnx"):
        expected = "an ONNX model: others have the sizes of their examples, or of their types"
        raise UsageError("option '--dim'", expected=expected, got=options.model)
    return options.dim or None


@contextmanager
def dims_by_option() -> Generator[None]:
    """What is refused of `dynamic_shapes` inside the `with` is said of --dim."""
    try:
        yield
    except OptionError as error:
        if error.what != "argument 'dynamic_shapes'":
            raise
        raise UsageError("option '--dim'", expected=error.expected, got=error.got) from error


def _is_pytorch(model: str) -> bool:
    return not states_its_types(model) and model != "-"


def _with_examples(options: argparse.Namespace) -> Ready:
    """A PyTorch model, compiled, with the examples that it has."""
    from hotdesk.compiling.compile import compile

    refuse_given(options, "entry")
    given_dims(options)
    given = read_model(options.model)
    with usage("order", "budget"):
        program = compile(given.model, given.args, given.kwargs, order=options.order, budget=options.budget)
    return Ready(program, given.args, given.kwargs, given.model)


def _saved(options: argparse.Namespace) -> Program:
    """A program that was saved: how it is compiled was said then."""
    from hotdesk.artifacts.loading import load

    for name in ("entry", "order", "budget", "dim"):
        if getattr(options, name):
            raise UsageError(
                f"option '--{name}'", expected="a model", got=f"{options.model}, which is compiled already"
            )
    return load(options.model)


def random_arguments(
    inputs: Sequence[TensorSpec], sizes: Mapping[str, int] | Sequence[int], seed: int
) -> tuple[Any, ...]:
    """Arguments of a program: normally distributed floats, integers from 0 to 7.

    Args:
        inputs: of the program.
        sizes: the values of symbols by name; `x[0]` is dim 0 of `%x`, and `k` the argument `%k` that is an index. Or all
            of them, as the arguments have them.
        seed: equal ones give equal values.

    Raises:
        UsageError: a size is missing, or there is none of that name.
    """
    values = require_sizes(inputs, sizes)
    generator = np.random.default_rng(seed)
    return tuple(_random(spec, values, generator) for spec in inputs)


def require_sizes(inputs: Sequence[TensorSpec], sizes: Mapping[str, int] | Sequence[int]) -> dict[str, int]:
    """The values of all symbols in the inputs, `sizes` being by their names on the command line, or in their order.

    Raises UsageError where a size is missing, or there is none of that name.
    """
    symbols = dict.fromkeys(name for spec in inputs for size in spec.shape for name in symbols_of(size))
    names = {_short(symbol): symbol for symbol in symbols}
    if not isinstance(sizes, Mapping):
        if len(sizes) != len(names):
            numbers = "1 number" if len(names) == 1 else f"{len(names)} numbers"
            expected = f"{numbers} ({', '.join(names)})" if names else "none: all sizes are fixed"
            raise UsageError("option '--sizes'", expected=expected, got=str(len(sizes)), hint=_spelled(names))
        sizes = dict(zip(names, sizes, strict=True))
    unknown = [name for name in sizes if name not in names]
    missing = [name for name in names if name not in sizes]
    if unknown or missing:
        parts = [f"no {', '.join(missing)}"] if missing else []
        parts += [f"also {', '.join(unknown)}"] if unknown else []
        got = ", ".join(parts)
        expected = f"a value for each of {', '.join(names)}" if names else "none: all sizes are fixed"
        raise UsageError("option '--sizes'", expected=expected, got=got, hint=_spelled(names))
    return {names[name]: value for name, value in sizes.items()}


def named_sizes(inputs: Sequence[TensorSpec]) -> list[str]:
    """The names of sizes in the inputs of an ONNX model: those that it has a name for."""
    symbols = {name for spec in inputs for size in spec.shape for name in symbols_of(size)}
    return sorted(name for name in symbols if _DERIVED.fullmatch(name) is None)


def _spelled(names: Mapping[str, str]) -> str | None:
    return f"Write --sizes {','.join(f'{name}=5' for name in names)}." if names else None


def _short(symbol: str) -> str:
    """A symbol, as reports name it, as the command line has it."""
    found = _DERIVED.fullmatch(symbol)
    return f"{found[2]}[{found[1]}]" if found is not None else symbol.removeprefix("%")


def _random(spec: TensorSpec, values: Mapping[str, int], generator: np.random.Generator) -> Any:
    shape = tuple(size if isinstance(size, int) else evaluate(size, values) for size in spec.shape)
    if spec.number == "index":
        return shape[0]
    array: Any = empty("numpy", spec.dtype, shape)
    if spec.dtype[0] in "fb":
        array[...] = generator.standard_normal(shape)
    elif spec.dtype[0] == "c":
        array[...] = generator.standard_normal(shape) + 1j * generator.standard_normal(shape)
    else:
        array[...] = generator.integers(0, 2 if spec.dtype == "i1" else 8, shape)
    return array


def _value(text: str) -> Any:
    """An argument of the command line."""
    if text.endswith(".npy"):
        try:
            return np.load(text, allow_pickle=False)
        except ValueError as error:
            raise OptionError(
                "option '--inputs'", expected="an array of numbers in a file", got=f"{text}: {error}"
            ) from error
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    raise UsageError("option '--inputs'", expected="files .npy, numbers, true or false", got=repr(text))


def sizes_of(text: str) -> dict[str, int]:
    """Sizes by name on a command line, such as n=5,x[0]=3, or as reports name them: %n=5,dim 0 of %x=3."""
    sizes: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals or not value.isdecimal():
            raise argparse.ArgumentTypeError(f"expected sizes such as n=5,x[0]=3, got '{text}'")
        sizes[_short(name.strip())] = int(value)
    return sizes


def dims_of(text: str) -> dict[str, int | tuple[int, int]]:
    """Sizes by name on a command line, each a number or a range, such as batch=8,seq=1:128."""
    dims: dict[str, int | tuple[int, int]] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        low, colon, high = value.partition(":")
        if not low.isdecimal() or (colon and not (high.isdecimal() and int(low) <= int(high))):
            raise argparse.ArgumentTypeError(f"expected sizes such as batch=8,seq=1:128, got '{text}'")
        dims[name.strip()] = (int(low), int(high)) if colon else int(low)
    return dims


def spelled_dims(dims: Mapping[str, int | tuple[int, int]]) -> str:
    """Sizes by name as --dim has them."""
    return ",".join(f"{n}={d}" if isinstance(d, int) else f"{n}={d[0]}:{d[1]}" for n, d in dims.items())


def refuse_given(options: argparse.Namespace, name: str) -> None:
    """Raises UsageError where an option is given that a PyTorch model does not take."""
    if getattr(options, name):
        expected = "a program in MLIR or an ONNX model: a PyTorch model has its examples"
        raise UsageError(f"option '--{name.replace('_', '-')}'", expected=expected, got=options.model)
