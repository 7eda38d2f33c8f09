"""Results of programs in MLIR whose sizes only the run knows: a foreign call copies each for the caller.

return %r : tensor<?xf32>    ->    %d = "hotdesk.foreign"(%r, %e) {callee = "hotdesk_result_0"}; return %d : tensor<i64>
return %r : memref<?xf32>    ->    "hotdesk.foreign"(%r, %d) {callee = "hotdesk_result_0"}; return %d : memref<i64>
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hotdesk._bindings import ir
from hotdesk.ir.building import create
from hotdesk.ir.dialect import MOST_OPERANDS, MOST_RESULTS
from hotdesk.ir.functions import returns_of
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import Formal, FunctionSignature, set_signature, signature
from hotdesk.ir.types import is_memref, is_tensor
from hotdesk.models.hotdesk import KEEPS
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.runtime.code.deliveries import Delivery, delivering
from hotdesk.runtime.code.foreign import ForeignCall
from hotdesk.runtime.interface import TensorSpec, spell
from hotdesk.sizes.size import is_opaque, spelled

_LONGEST = 60
"""Characters of a size that the type of a result shows; a longer one is `?`, as in MLIR."""


@dataclass(frozen=True, slots=True)
class CountedResult:
    """A result that is as long as it happens to be: its number, its element type, how it is spelled, and what copies it."""

    number: int
    dtype: str
    told: str
    call: ForeignCall


def deliver_counted(main: ir.Operation, dtypes: Sequence[str | None]) -> tuple[CountedResult, ...]:
    """Has a function of one exit hand over the results whose sizes do not follow from those of its arguments.

    `dtypes` are the element types that callers get, a result after the other; one that has none is left as it is.
    """
    given, ends, known = signature(main), returns_of(main), SymbolicSizes(main)
    if len(ends) != 1:
        return ()
    (end,) = ends
    found: list[CountedResult] = []
    results = list(given.results)
    for number, formal in enumerate(given.results):
        dtype = dtypes[number] if is_tensor(formal.type) or is_memref(formal.type) else None
        sizes = known.shape(end.operands[number]) if dtype is not None else ()
        if dtype is None or not any(map(is_opaque, sizes)):
            continue
        told = spell(dtype, [text if len(text := spelled(size)) <= _LONGEST else "?" for size in sizes])
        symbol, runs = f"hotdesk_result_{len(found)}", Delivery(number, dtype)
        call = delivering(symbol, len(sizes), python_line(end.location), runs)
        found.append(CountedResult(number, dtype, told, call))
        with end.location:
            end.operands[number] = _handed_over(end.operands[number], call, end)
        results[number] = Formal(end.operands[number].type, formal.attributes)
    set_signature(main, FunctionSignature(given.arguments, tuple(results)))
    return tuple(found)


def with_counted(specs: Sequence[TensorSpec], counted: Sequence[CountedResult]) -> list[TensorSpec]:
    """Results of a function, those that stand for one that is handed over among them, as callers are told of them."""
    told = {each.number: each.told for each in counted}
    return [replace(spec, counted=told.get(number, "")) for number, spec in enumerate(specs)]


def _handed_over(result: ir.Value, call: ForeignCall, before: ir.Operation) -> ir.Value:
    """What is returned in a result's place."""
    number, on_tensors = ir.IntegerType.get_signless(64), is_tensor(result.type)
    kind = ir.RankedTensorType.get([], number) if on_tensors else ir.MemRefType.get([], number)
    attributes: dict[str, ir.Attribute] = {
        "callee": ir.StringAttr.get(call.symbol),
        "op": ir.StringAttr.get(call.op),
        KEEPS: ir.UnitAttr.get(),
        "groups": ir.DenseI64ArrayAttr.get([1, 0, 1]),
        "operandSegmentSizes": _segments(2, MOST_OPERANDS),
        "resultSegmentSizes": _segments(int(on_tensors), MOST_RESULTS),
    }
    if on_tensors:
        room = create("tensor.empty", [], [kind], before=before).results[0]
        return create("hotdesk.foreign", [result, room], [kind], attributes, before=before).results[0]
    room = create("memref.alloc", [], [kind], {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}, before=before)
    create("hotdesk.foreign", [result, room.results[0]], [], attributes, before=before)
    return room.results[0]


def _segments(count: int, most: int) -> ir.Attribute:
    return ir.DenseI32ArrayAttr.get([int(i < count) for i in range(most)])
