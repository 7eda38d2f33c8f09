"""A `scf.parallel` that reduces, cut in chunks with a partial result each, which are combined in order.

    %r = scf.parallel (%i) = (0) to (4096) step (1)           %p = memref.alloc() : memref<64xf32>
        init(%z) -> f32 {                                     scf.parallel (%c) = (0) to (64) step (1) {
      %v = …                                                    %q = scf.for %k = 0 to 64 iter_args(%a = %neutral) {
      scf.reduce(%v : f32) {                                      %i = arith.addi %c * 64, %k
      ^bb0(%a: f32, %b: f32):                           ->        %v = …
        %s = arith.addf %a, %b : f32                              %s = arith.addf %a, %v
        scf.reduce.return %s : f32 } }                            scf.yield %s }
                                                                memref.store %q, %p[%c] }
                                                              %r = scf.for %c = 0 to 64 iter_args(%a = %z) {
                                                                %q = memref.load %p[%c]
                                                                %s = arith.addf %a, %q
                                                                scf.yield %s }
                                                              memref.dealloc %p

`analysis.memrefs.reductions` says which loops it is right for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.reductions import CHUNKS, Combiner, chunk_count, chunk_length, least_length
from hotdesk.ir.building import create
from hotdesk.ir.loops import LoopBounds, bounds_of, index_of, nest, parallel, place_of, trips_of, yields
from hotdesk.ir.walking import attributes_of, segment_sizes
from hotdesk.models.new_memory import ALLOC, DEALLOC
from hotdesk.models.parallel import reduced_iteration

_OF_THE_ROUNDING = ("reassoc", "nsz", "arcp", "contract", "afn")
"""The flags of `arith.fastmath` that promise nothing of values."""


def cut_in_chunks(loop: ir.Operation, cut: int, combiners: Sequence[Combiner]) -> ir.Operation:
    """Cuts a dimension of a loop that reduces; returns the loop over the chunks, which the old one makes room for."""
    bounds = bounds_of(loop)
    for each in combiners:
        _drop_promises(each.op)
    with loop.location:
        trips = trips_of(bounds[cut], loop)
        length, count = _chunks(trips, least_length(loop, cut), loop)
        initial = list(loop.operands[3 * segment_sizes(loop)[0] :])
        partials = [_partials(value.type, count, loop) for value in initial]
        chunks, number, end = parallel(count, loop)
        for value, partial in zip(_reduced(loop, cut, combiners, (trips, length, number), end), partials, strict=True):
            create("memref.store", [value, partial, number], [], before=end)
        (number,), carried, results, end = nest([LoopBounds(0, count, 1)], initial, loop)
        values = [create("memref.load", [each, number], [_element(each)], before=end).results[0] for each in partials]
        pairs = zip(combiners, carried, values, strict=True)
        yields(end, [_combined(combiner.op, total, value, end) for combiner, total, value in pairs])
        for partial in partials:
            create(DEALLOC, [partial], [], before=loop)
        for old, new in zip(loop.results, results, strict=True):
            old.replace_all_uses_with(new)
    loop.erase()
    return chunks


def _drop_promises(op: ir.Operation) -> None:
    """Drops what an op promises of values in their order: that none overflows, and none is infinite or no number. Partial results
    may be, and so may neutral values."""
    if "overflowFlags" in op.attributes:
        op.attributes["overflowFlags"] = ir.Attribute.parse("#arith.overflow<none>")
    if "fastmath" in op.attributes:
        given = str(op.attributes["fastmath"])
        kept = [flag for flag in _OF_THE_ROUNDING if flag in given or "<fast>" in given]
        op.attributes["fastmath"] = ir.Attribute.parse(f"#arith.fastmath<{','.join(kept) or 'none'}>")


def _chunks(trips: int | ir.Value, least: int, before: ir.Operation) -> tuple[int | ir.Value, int | ir.Value]:
    """How many iterations a chunk has, and how many chunks there are."""
    if isinstance(trips, int):
        return chunk_length(trips), chunk_count(trips)
    length = index_of("maxsi", index_of("ceildivsi", trips, CHUNKS, before=before), least, before=before)
    return length, index_of("ceildivsi", trips, length, before=before)


def _partials(kind: ir.Type, count: int | ir.Value, before: ir.Operation) -> ir.Value:
    memref = ir.MemRefType.get([count if isinstance(count, int) else CHUNKS], kind)
    segments: dict[str, ir.Attribute] = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
    return create(ALLOC, [], [memref], segments, before=before).results[0]


def _element(memref: ir.Value) -> ir.Type:
    return cast(Any, memref.type).element_type


def _reduced(
    loop: ir.Operation,
    cut: int,
    combiners: Sequence[Combiner],
    chunk: tuple[int | ir.Value, int | ir.Value, ir.Value],
    before: ir.Operation,
) -> list[ir.Value]:
    """What a chunk comes to: that with a number, where so many iterations are cut in chunks of a length."""
    (trips, length, number), bounds = chunk, bounds_of(loop)
    first = index_of("muli", number, length, before=before)
    last = length
    if not (isinstance(trips, int) and isinstance(length, int) and trips % length == 0):
        rest = index_of("subi", trips, first, before=before)
        last = index_of("minsi", rest, length, before=before)
    neutral = [_neutral(each, before) for each in combiners]
    others = [dim for dim in range(len(bounds)) if dim != cut]
    (at,), carried, results, end = nest([LoopBounds(0, last, 1)], neutral, before)
    place = place_of(index_of("addi", first, at, before=end), bounds[cut], end)
    within, carried, inner, innermost = nest([bounds[dim] for dim in others], carried, end)
    places = dict(zip((cut, *others), (place, *within), strict=True))
    values = reduced_iteration(loop, [places[dim] for dim in range(len(bounds))], carried, innermost)
    if others:
        yields(end, inner)
    yields(innermost, values)
    return results


def _neutral(combiner: Combiner, before: ir.Operation) -> ir.Value:
    kind, number = combiner.op.results[0].type, combiner.neutral
    value = ir.FloatAttr.get(kind, number) if isinstance(number, float) else ir.IntegerAttr.get(kind, number)
    return create("arith.constant", [], [kind], {"value": value}, before=before).results[0]


def _combined(op: ir.Operation, a: ir.Value, b: ir.Value, before: ir.Operation) -> ir.Value:
    return create(op.name, [a, b], [a.type], attributes_of(op), before=before).results[0]
