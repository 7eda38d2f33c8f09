"""The arguments and results of a function in MLIR as inputs and results of a program: tensors all of them.

    func @main(%x: tensor<?xf32>, %a: f32, %n: index) -> (tensor<?xf32>, f32)
    ->
    func @main(%x: tensor<?xf32> {hotdesk.shape = ["dim 0 of %x"]}, %a: tensor<f32>,
               %n: tensor<?x0xi8> {hotdesk.shape = ["%n", "0"]}) -> (tensor<?xf32>, tensor<f32>)

1. A number is a tensor without dimensions; in a program on memrefs, a memref.
2. An argument that is an `index` is a size: that of an input without elements, so that whatever is allocated by it has a size
   that is known when the call is planned.
3. A `?` is named by `hotdesk.shape`, else after the argument and the dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import DataDependentShapeError, UnsupportedOpError
from hotdesk.frontends.mlir.layouts import word_of
from hotdesk.ir.argument_sizes import argument_shapes
from hotdesk.ir.building import alloc, create, fill, index_cast, index_constant
from hotdesk.ir.functions import returns_of
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import DONATED, RESULT, SHAPE, Formal, FunctionSignature, set_signature, signature
from hotdesk.ir.types import element_of, is_memref, is_tensor, shape_of
from hotdesk.ir.walking import entry_block, top_level_ops
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.runtime.interface import TensorSpec
from hotdesk.runtime.mlir_calling import Number
from hotdesk.sizes.size import Size, is_opaque, spelled

DTYPES = {
    **{each: each for each in ("f16", "bf16", "f32", "f64", "i1", "i8", "i16", "i32", "i64")},
    **{f"si{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
    "index": "i64",
    "complex<f32>": "c64",
    "complex<f64>": "c128",
}
"""The element types of tensors by those of MLIR."""


def numbers_as_tensors(main: ir.Operation, on_memrefs: bool) -> tuple[list[Number | None], list[Number | None]]:
    """Makes tensors, or memrefs, of the arguments and results that are numbers; returns for each which number it is, if any."""
    given = signature(main)
    numbers = [_number(each.type) for each in given.arguments]
    results = [_number(each.type) for each in given.results]
    block = entry_block(main)
    first = top_level_ops(main)[0]
    arguments = list(given.arguments)
    for position, number in enumerate(numbers):
        if number is None:
            continue
        argument = cast(Any, block.arguments[position])
        old = argument.type
        new = _shaped((None, 0), "i8", on_memrefs) if number.is_size else _shaped((), str(old), on_memrefs)
        arguments[position] = Formal(new, given.arguments[position].attributes)
        _replace(argument, old, new, number, first, on_memrefs)
    outputs = [
        each if number is None else Formal(_shaped((), number.kept, on_memrefs), each.attributes)
        for each, number in zip(given.results, results, strict=True)
    ]
    for end in returns_of(main):
        for position, number in enumerate(results):
            if number is not None:
                end.operands[position] = _stored(end.operands[position], number, end, on_memrefs)
    set_signature(main, FunctionSignature(tuple(map(_said_by_users, arguments)), tuple(outputs)))
    return numbers, results


def _said_by_users(formal: Formal) -> Formal:
    """Without what earlier passes of Hotdesk's have said of an argument: nobody has made this program ready."""
    said = {
        name: each for name, each in formal.attributes.items() if name != RESULT and not name.startswith("hotdesk.")
    }
    said.update({name: formal.attributes[name] for name in (SHAPE, DONATED) if name in formal.attributes})
    return Formal(formal.type, said)


def _number(kind: ir.Type) -> Number | None:
    text = str(kind)
    is_number = isinstance(kind, (ir.IndexType, ir.IntegerType, ir.FloatType, ir.ComplexType))
    return Number(text) if is_number and text in DTYPES else None


def _shaped(sizes: Sequence[int | None], element: str, on_memrefs: bool) -> ir.Type:
    written_sizes = "".join(f"{'?' if size is None else size}x" for size in sizes)
    return ir.Type.parse(f"{'memref' if on_memrefs else 'tensor'}<{written_sizes}{element}>")


def _replace(argument: Any, old: ir.Type, new: ir.Type, number: Number, first: ir.Operation, on_memrefs: bool) -> None:
    """Gives an argument a shaped type, and its uses the number that it holds."""
    users = list(argument.uses)
    operands = [(use.owner, use.operand_number) for use in users]
    argument.set_type(new)
    dialect = "memref" if on_memrefs else "tensor"
    if number.is_size:
        value = create(f"{dialect}.dim", [argument, index_constant(0, first)], [old], before=first).results[0]
    else:
        value = create("memref.load" if on_memrefs else "tensor.extract", [argument], [old], before=first).results[0]
    for owner, position in operands:
        owner.operation.operands[position] = value


def _stored(value: ir.Value, number: Number, end: ir.Operation, on_memrefs: bool) -> ir.Value:
    """A tensor or a memref that holds a number."""
    kind = _shaped((), number.kept, on_memrefs)
    if number.is_size:
        value = index_cast(value, ir.Type.parse(number.kept), end)
    room = alloc(kind, [], end) if on_memrefs else create("tensor.empty", [], [kind], before=end).results[0]
    return fill(value, room, end)


def name_sizes(main: ir.Operation, names: Sequence[str], numbers: Sequence[Number | None]) -> None:
    """Says of each argument with a dynamic size how that is called, where nothing is said.

    Raises:
        InvalidIRError: what is said are no sizes of the argument.
    """
    known = argument_shapes(main)

    def stating(position: int, formal: Formal) -> Formal:
        sizes = shape_of(formal.type)
        if position in known or None not in sizes:
            return formal
        name, number = word_of(names[position]), numbers[position]
        called = [
            str(size) if size is not None else name if number else f"dim {i} of {name}" for i, size in enumerate(sizes)
        ]
        return formal.stating(shape=called)

    given = signature(main)
    for position, formal in enumerate(given.arguments):
        if not (is_tensor(formal.type) or is_memref(formal.type)):
            raise _unsupported(f"argument '{names[position]}'", str(formal.type), main)
    set_signature(main, given.stating(stating))


def specs_of(
    main: ir.Operation, names: Sequence[str], numbers: Sequence[Number | None], written_places: frozenset[int]
) -> list[TensorSpec]:
    """The inputs. Raises UnsupportedOpError for a type that no array has."""
    shapes = argument_shapes(main)
    arguments = list(entry_block(main).arguments)
    specs: list[TensorSpec] = []
    for position, formal in enumerate(signature(main).arguments):
        what = f"argument '{names[position]}'"
        sizes = shapes.get(position) or cast("tuple[Size, ...]", shape_of(formal.type))
        where = python_line(arguments[position].location)
        dtype = _dtype(formal.type, what, arguments[position].location)
        is_written = position in written_places and not formal.donated
        specs.append(
            TensorSpec(names[position], dtype, sizes, where, formal.donated, is_written, _kind(numbers[position]))
        )
    return specs


def results_of(main: ir.Operation, numbers: Sequence[Number | None]) -> list[TensorSpec]:
    """The results, with their sizes by those of the arguments.

    Raises:
        UnsupportedOpError: no array is of a type.
        DataDependentShapeError: a size depends on what the arguments hold.
    """
    ends = returns_of(main)
    specs: list[TensorSpec] = []
    known = SymbolicSizes(main)
    for position, formal in enumerate(signature(main).results):
        what = f"result {position}"
        where = python_line(ends[0].location)
        dtype = _dtype(formal.type, what, ends[0].location)
        sizes = [known.shape(end.operands[position]) for end in ends]
        open_size = next((size for shape in sizes for size in shape if is_opaque(size)), None)
        if open_size is not None or any(each != sizes[0] for each in sizes):
            got = "another size at each return" if open_size is None else spelled(open_size)
            raise DataDependentShapeError(
                what, expected="sizes that follow from the sizes of the arguments", got=got, where=where
            )
        specs.append(TensorSpec(what, dtype, sizes[0], where, number=_kind(numbers[position])))
    return specs


def state_sizes(shape: Sequence[Size]) -> list[str]:
    """Sizes as `hotdesk.shape` has them."""
    return [spelled(size) for size in shape]


def _kind(number: Number | None) -> str:
    return "" if number is None else number.kind


def _dtype(kind: ir.Type, what: str, location: ir.Location) -> str:
    if not (is_tensor(kind) or is_memref(kind)) or element_of(kind) not in DTYPES:
        raise _unsupported(what, str(kind), location)
    return DTYPES[element_of(kind)]


def _unsupported(what: str, got: str, at: Any, expected: str = "") -> UnsupportedOpError:
    location = at.location if isinstance(at, ir.Operation) else at
    words = expected or f"a number, or a tensor or memref of {', '.join(dict.fromkeys(DTYPES))}"
    return UnsupportedOpError(what, expected=words, got=got, where=python_line(location))
