"""Arguments and results that are vectors, as tensors or memrefs of their elements.

    func.func @main(%v: vector<4xf32>) -> vector<4xf32> {    ->    func.func @main(%v: tensor<4xf32>) -> tensor<4xf32> {
      return %w : vector<4xf32>                                       %u = vector.transfer_read %v[0]
                                                                      %r = vector.transfer_write %w, %e[0]; return %r

They are memrefs in a program on memrefs. Scalable vectors, and those of elements that no array has, stay.
"""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import alloc, constant, create, index_constant
from hotdesk.ir.functions import returns_of
from hotdesk.ir.signature import set_signature, signature
from hotdesk.ir.walking import entry_block, top_level_ops

_NUMBERS = ("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "index")


def vectors_as_arrays(main: ir.Operation, on_memrefs: bool) -> None:
    """Gives a function arrays, and has it return such, in the place of vectors."""
    given = signature(main)
    first = top_level_ops(main)[0]
    for argument in entry_block(main).arguments:
        array = _array(argument.type, on_memrefs)
        if array != argument.type:
            _read(argument, array, first)
    for end in returns_of(main):
        for number, kind in enumerate(given.outputs):
            array = _array(kind, on_memrefs)
            if array != kind:
                end.operands[number] = _written(end.operands[number], array, end, on_memrefs)
    set_signature(main, given.retyped(lambda kind: _array(kind, on_memrefs)))


def _array(kind: ir.Type, on_memrefs: bool) -> ir.Type:
    """The array of a vector's elements; another type as it is."""
    vector: Any = kind
    if not isinstance(kind, ir.VectorType) or vector.scalable or str(vector.element_type) not in _NUMBERS:
        return kind
    return (ir.MemRefType if on_memrefs else ir.RankedTensorType).get(vector.shape, vector.element_type)


def _read(argument: Any, array: ir.Type, first: ir.Operation) -> None:
    """Makes an argument an array; what uses it uses the vector that is read of that."""
    kind, readers = argument.type, [(use.owner.operation, use.operand_number) for use in argument.uses]
    argument.set_type(array)
    padding = constant(0, kind.element_type, first)
    operands = [argument, *_places(kind, first), padding]
    vector = create("vector.transfer_read", operands, [kind], _whole(kind, 1, padded=True), before=first).results[0]
    for reader, place in readers:
        reader.operands[place] = vector


def _written(vector: ir.Value, array: ir.Type, end: ir.Operation, on_memrefs: bool) -> ir.Value:
    """An array with the elements of a vector."""
    room = alloc(array, [], end) if on_memrefs else create("tensor.empty", [], [array], before=end).results[0]
    operands, results = [vector, room, *_places(vector.type, end)], [] if on_memrefs else [array]
    made = create("vector.transfer_write", operands, results, _whole(vector.type, 2, padded=False), before=end)
    return room if on_memrefs else made.results[0]


def _places(kind: ir.Type, before: ir.Operation) -> list[ir.Value]:
    return [index_constant(0, before) for _ in cast(Any, kind).shape]


def _whole(kind: ir.Type, given: int, *, padded: bool) -> dict[str, ir.Attribute]:
    """The attributes of a transfer of all elements, behind so many operands that are no places."""
    rank = len(cast(Any, kind).shape)
    segments = [1] * given + [rank] + [1] * padded + [0]
    return {
        "permutation_map": ir.AffineMapAttr.get(ir.AffineMap.get_identity(rank)),
        "in_bounds": ir.ArrayAttr.get([ir.BoolAttr.get(True)] * rank),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments),
    }
