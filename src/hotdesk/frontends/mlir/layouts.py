"""Memrefs with strides of their own: arguments as the memory that they show, allocations as memory with room for the gaps.

func @main(%x: memref<?xf32, strided<[?], offset: ?>>)
->
func @main(%x: memref<?xf32> {hotdesk.shape = ["dim 0 of %x_memory"]},
           %n: memref<?x0xi8> {hotdesk.shape = ["dim 0 of %x", "0"]},
           %s: memref<?x0xi8> {hotdesk.shape = ["dim 0 of %x_strides", "0"]}) {
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [size %n], strides: [size %s]

%a = memref.alloc() : memref<4xf32, strided<[2]>>
->
%m = memref.alloc() : memref<7xf32>; %a = memref.reinterpret_cast %m to offset: [0], sizes: [4], strides: [2]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.ir.argument_sizes import argument_shapes
from hotdesk.ir.building import alloc, create, dim, dynamic_dims, index_constant, sliced, with_values
from hotdesk.ir.functions import returns_of, single_exit
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import DONATED, SHAPE, Formal, FunctionSignature, set_signature, signature
from hotdesk.ir.types import is_memref, is_row_major, is_strided, layout_of, memref_with, shape_of, static_entries
from hotdesk.ir.walking import constant_of, entry_block, made_by, nested_ops, segment_sizes, top_level_ops
from hotdesk.models.func import RETURN
from hotdesk.models.memref import CAST
from hotdesk.models.new_memory import ALLOC, ALLOCA, DEALLOC
from hotdesk.runtime.arguments.strided import StridedArgument
from hotdesk.sizes.size import spelled

_SIZE = "memref<?x0xi8>"
"""What a number of a layout comes in: it is the size of that."""


def has_own_layout(kind: ir.Type) -> bool:
    """Whether a type is a memref whose elements may lie in another way than one behind the other, row by row."""
    return is_memref(kind) and is_strided(kind) and not is_row_major(kind)


def word_of(name: str) -> str:
    """The name of an argument as sizes are named after it: `%x`, or `%arg0` for `%0`."""
    word = re.sub(r"\W", "_", name[1:])
    return f"%{word}" if word[:1].isalpha() or word[:1] == "_" else f"%arg{word}"


def lay_out_allocations(module: ir.Module) -> None:
    """Gives allocations with gaps memory that reaches to their last element.

    Raises UnsupportedOpError where strides are known only at run time, or go backwards.
    """
    for op in [op for op in nested_ops(module.operation) if op.name in (ALLOC, ALLOCA)]:
        made = op.results[0]
        kind = made.type
        if not has_own_layout(kind):
            continue
        (strides, offset), shape = layout_of(kind), shape_of(kind)
        if None in strides or offset is None or _go_back(strides):
            expected = "strides and an offset that are numbers, none below 0"
            raise _unsupported(op.name, expected, str(kind), op.location)
        steps, sizes = cast("tuple[int, ...]", strides), with_values(shape, op.operands)
        lie_in(op, _reach(sizes, steps, offset, op), kind, offset, sizes, steps)


def lie_in(
    op: ir.Operation,
    reach: int | ir.Value,
    kind: ir.Type,
    offset: int,
    sizes: Sequence[int | ir.Value],
    strides: Sequence[int | ir.Value],
) -> None:
    """Makes an allocation a view, of a type with a layout, of new memory of so many elements."""
    made = op.results[0]
    is_known = isinstance(reach, int)
    flat = memref_with([reach if is_known else None], made.type)
    operands: list[ir.Value] = [] if is_known else [reach]
    if op.name == ALLOC:
        memory = alloc(flat, operands, op)
    else:
        segments: dict[str, ir.Attribute] = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0])}
        memory = create(op.name, operands, [flat], segments, before=op).results[0]
    for use in [use for use in made.uses if cast(Any, use.owner).operation.name == DEALLOC]:
        cast(Any, use.owner).operation.operands[0] = memory
    made.replace_all_uses_with(_seen(memory, kind, offset, sizes, strides, op))
    op.erase()


def _go_back(strides: Sequence[int | None]) -> bool:
    """Whether memory would have to begin in front of its first element."""
    return any(stride is not None and stride < 0 for stride in strides)


def _reach(
    sizes: Sequence[int | ir.Value], strides: Sequence[int], offset: int, before: ir.Operation
) -> int | ir.Value:
    """Elements up to the last one, or a few more where a size is known only at run time."""
    if all(isinstance(size, int) for size in sizes):
        known = cast("Sequence[int]", sizes)
        last = sum((size - 1) * stride for size, stride in zip(known, strides, strict=True))
        return offset + last + 1 if all(known) else 0
    index = ir.IndexType.get()
    total = index_constant(offset + 1, before)
    for size, stride in zip(sizes, strides, strict=True):
        count = index_constant(size, before) if isinstance(size, int) else size
        part = create("arith.muli", [count, index_constant(stride, before)], [index], before=before).results[0]
        total = create("arith.addi", [total, part], [index], before=before).results[0]
    return total


def _seen(
    memory: ir.Value,
    kind: ir.Type,
    offset: int,
    sizes: Sequence[int | ir.Value],
    strides: Sequence[int | ir.Value],
    before: ir.Operation,
) -> ir.Value:
    """Memory as a memref of a type: its open offset is 0."""
    plain: Any = kind
    known, at = layout_of(kind)
    exact = ir.MemRefType.get(
        plain.shape,
        plain.element_type,
        ir.StridedLayoutAttr.get(offset, static_entries(known)),
        plain.memory_space,
    )
    view = sliced("memref.reinterpret_cast", [memory], exact, [offset], sizes, before, strides=strides)
    return view if at is not None else create("memref.cast", [view], [kind], before=before).results[0]


def strided_arguments(main: ir.Operation, names: Sequence[str], written: frozenset[int]) -> tuple[StridedArgument, ...]:
    """Makes memory and numbers of the arguments that have a layout of their own; the numbers are new arguments behind the others.

    Args:
        main: the function, of one exit.
        names: of its arguments.
        written: the numbers of the arguments that it may write.

    Raises:
        UnsupportedOpError: a layout begins at an offset that is a number, or has a stride below 0.
    """
    given, shapes, block = signature(main), argument_shapes(main), entry_block(main)
    arguments, outputs = list(given.arguments), list(given.results)
    first = top_level_ops(main)[0]
    found: list[StridedArgument] = []
    for position, formal in enumerate(given.arguments):
        kind = formal.type
        if not has_own_layout(kind):
            continue
        argument = cast(Any, block.arguments[position])
        (strides, offset), shape = layout_of(kind), shape_of(kind)
        if offset:
            expected = "a layout that begins with its first element, or anywhere: `offset: ?`"
            raise _unsupported(f"argument '{names[position]}'", expected, str(kind), argument.location)
        if _go_back(strides):
            expected = "strides of 0 or more, or `?`"
            raise _unsupported(f"argument '{names[position]}'", expected, str(kind), argument.location)
        word = word_of(names[position])
        named = tuple(sympy.Symbol(f"dim {i} of {word}") if size is None else size for i, size in enumerate(shape))
        named = shapes.get(position, named)
        flat = memref_with([None], kind)
        rest = {name: each for name, each in formal.attributes.items() if name not in (SHAPE, DONATED)}
        arguments[position] = Formal(flat, rest).stating(shape=[f"dim 0 of {word}_memory"])
        sizes, steps = list[int | ir.Value](), list[int | ir.Value]()
        for numbers, known, told in (
            (sizes, shape, [spelled(size) for size in named]),
            (steps, strides, [f"dim {i} of {word}_strides" for i in range(len(shape))]),
        ):
            for each, name in zip(known, told, strict=True):
                if each is not None:
                    numbers.append(each)
                    continue
                carrier = ir.Type.parse(_SIZE)
                arguments.append(Formal(carrier, {}).stating(shape=[name, "0"]))
                added = block.add_argument(carrier, argument.location)
                numbers.append(dim(added, 0, first))
        _return_memory(main, argument, flat, outputs)
        users = [(use.owner, use.operand_number) for use in argument.uses]
        users = [(owner.operation, number) for owner, number in users]
        argument.set_type(flat)
        view = _seen(argument, kind, 0, sizes, steps, first)
        for user, number in users:
            if user.name == "memref.dim" and (known_place := constant_of(user.operands[1])) in range(len(shape)):
                size = sizes[cast(int, known_place)]
                value = index_constant(size, user) if isinstance(size, int) else size
                user.results[0].replace_all_uses_with(value)
                user.erase()
            elif user.name != RETURN:
                user.operands[number] = view
        found.append(StridedArgument(position, names[position], shape, strides, position in written, str(kind), named))
    set_signature(main, FunctionSignature(tuple(arguments), tuple(outputs)))
    return tuple(found)


def _return_memory(main: ir.Operation, argument: ir.Value, flat: ir.Type, outputs: list[Formal]) -> None:
    """Has a function that returns an argument return the memory that this becomes."""
    for end, (number, formal) in product(returns_of(main), enumerate(outputs)):
        if _uncast(end.operands[number]) == argument:
            end.operands[number] = argument
            outputs[number] = Formal(flat, formal.attributes)


def _uncast(value: ir.Value) -> ir.Value:
    op = made_by(value, CAST)
    return value if op is None or not is_memref(op.operands[0].type) else _uncast(op.operands[0])


def give_single_exit(main: ir.Operation) -> None:
    """Has a function return in one block; what it is given and returns at every return, perhaps cast, it returns as that."""
    given, ends = signature(main), returns_of(main)
    arguments: list[ir.Value] = list(entry_block(main).arguments)
    outputs, same = list(given.results), dict[int, ir.Value]()
    for number, formal in enumerate(given.results) if len(ends) > 1 else ():
        sources = [_uncast(end.operands[number]) for end in ends] if is_memref(formal.type) else []
        if sources and sources[0] in arguments and all(source == sources[0] for source in sources):
            same[number] = sources[0]
            outputs[number] = Formal(sources[0].type, formal.attributes)
            for end in ends:
                end.operands[number] = sources[0]
    set_signature(main, FunctionSignature(given.arguments, tuple(outputs)))
    single_exit(main)
    for number, value in same.items():
        returns_of(main)[0].operands[number] = value


def plain_results(main: ir.Operation) -> None:
    """Takes the casts that forget sizes off the results of a function of one exit, and makes those contiguous that are not."""
    given, ends = signature(main), returns_of(main)
    outputs = list(given.results)
    for end, (number, formal) in product(ends, enumerate(given.results)):
        if not is_memref(formal.type):
            continue
        source = _uncast(end.operands[number])
        if has_own_layout(source.type):
            room = alloc(memref_with(shape_of(source.type), source.type), _dynamic_sizes(source, end), end)
            create("memref.copy", [source, room], [], before=end)
            source = room
        end.operands[number] = source
        outputs[number] = Formal(source.type, formal.attributes)
    set_signature(main, FunctionSignature(given.arguments, tuple(outputs)))


def _dynamic_sizes(memref: ir.Value, before: ir.Operation) -> list[ir.Value]:
    """The sizes of a memref that its type leaves open: as a view of new memory was given them, where it is one."""
    view = made_by(memref, "memref.reinterpret_cast")
    if view is None:
        return dynamic_dims(memref, before)
    _, offsets, sizes, _ = segment_sizes(view)
    return list(view.operands)[1 + offsets : 1 + offsets + sizes]


def _unsupported(what: str, expected: str, got: str, location: ir.Location) -> UnsupportedOpError:
    return UnsupportedOpError(what, expected=expected, got=got, where=python_line(location))
