"""Normal forms: named contractions, convolutions and poolings become `hotdesk.contract`, `hotdesk.conv`, `hotdesk.pool`.

    %t = linalg.transpose ins(%w) permutation = [1, 0]
    %f = linalg.fill ins(0) outs(%e)
    %r = linalg.matmul ins(%x, %t) outs(%f)            ->  %r = hotdesk.contract %x, %w, %e {"mk,nk->mn", accumulate = false}

Rules:

1. A transpose or broadcast of an operand is folded into the letters of the equation: the operand is read in place.
2. An init that is a fill with the op's neutral element (0 for sums, the smallest value for a maximum) is not read:
   `accumulate` becomes false and the init an undefined tensor.
3. A `tensor.pad` of the spatial dims with the neutral element becomes `pad_low`/`pad_high`; an `insert_slice` with strides into
   zeros (how a transposed convolution is lowered) becomes `input_dilations` with padding. No padded copy is made.
4. Grouped and depthwise convolutions are the same op with `groups`.
5. An elementwise op that reads the tensor it overwrites gets it as an input (see `inits`).
6. A convolution, or a product over one dimension, of 16-bit floats whose result in 32 bits is only rounded to their type rounds
   it itself. Such floats that are added before are what its sums begin with; those that are widened for a product are read as
   they are, also where elementwise ops compute more before the rounding.
7. A `tm_tensor.sort` of which only the first elements along its dimension are read says how many, as `hotdesk.first`.
8. A convolution of f32 or f64, depthwise or without groups, that begins with a broadcast bias begins with 0 if its only reader is
   an elementwise op that reads each element at one place of its own: the bias is added behind it, where it fuses with that op.

Elementwise ops are rewritten outside of loops and branches, other ops wherever they are.

Left alone: contractions with indexing maps of their own, unsigned, channels-last and quantized ops, padding with other values
or of the channel dims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Reason
from hotdesk.ir.dialect import FIRST_WANTED
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import entry_block, int_array, integer_of, ops_outside_payloads, users
from hotdesk.models.generics import GENERIC
from hotdesk.models.hotdesk import CONTRACT, CONV
from hotdesk.models.tensor_slices import EXTRACT_SLICE
from hotdesk.passes.base import FunctionPass
from hotdesk.passes.properties import LETTERS_FIT, Property
from hotdesk.passes.tensor.contractions import EQUATIONS, contract
from hotdesk.passes.tensor.convolutions import convolution, grouped_convolution, pool
from hotdesk.passes.tensor.inits import inits_as_inputs
from hotdesk.passes.tensor.rounded_products import round_products


@dataclass(frozen=True, slots=True)
class NormalizeNamedOps(FunctionPass):
    """Rewrites named linalg ops into the `hotdesk` dialect (rules in the module docstring).

    Options:
        winograd: whether convolutions may be computed by Winograd's filtering, with a quarter of the multiplications and some six
            times the rounding error; else they say `winograd = false`.
    """

    name: ClassVar[str] = "hotdesk-normalize-named-ops"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.VIEW_OF_OPERAND, Reason.ROUNDED_AS_SUMMED)

    winograd: bool = True

    def ensures(self) -> tuple[Property, ...]:
        return (LETTERS_FIT,)

    def run_on(self, function: ir.Operation) -> Iterator[Decision]:
        for op in ops_outside_payloads(function):
            rewrite = _REWRITES.get(op.name)
            if rewrite is None or not len(op.results):
                continue  # ops on buffers, which have no results, stay as they are
            if op.name != GENERIC or op.block == entry_block(function):
                yield from rewrite(op)
        products = [op for op in ops_outside_payloads(function) if op.name in (CONTRACT, CONV)]
        yield from round_products(function, products)
        for op in () if self.winograd else ops_outside_payloads(function):
            if op.name == CONV:
                op.attributes["winograd"] = ir.BoolAttr.get(False)


def _count_first(sort: ir.Operation) -> list[Decision]:
    """Says how many elements of each sorted line are read, the first ones, if all readers are slices of such."""
    along, counts = integer_of(sort, "dimension"), [0]
    for reader in (each for result in sort.results for each in users(result)):
        if reader.name != EXTRACT_SLICE:
            return []
        offset, size, step = (
            int_array(reader.attributes[f"static_{each}"])[along] for each in ("offsets", "sizes", "strides")
        )
        if (offset, step) != (0, 1) or size < 0:  # below 0: known at run time
            return []
        counts.append(size)
    if max(counts) != shape_of(sort.results[0].type)[along]:
        sort.attributes[FIRST_WANTED] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), max(counts))
    return []


_REWRITES: Mapping[str, Callable[[ir.Operation], list[Decision]]] = {
    **dict.fromkeys(EQUATIONS, contract),
    "linalg.generic": inits_as_inputs,
    "tm_tensor.sort": _count_first,
    "linalg.conv_1d_ncw_fcw": convolution,
    "linalg.conv_2d_nchw_fchw": convolution,
    "linalg.conv_3d_ncdhw_fcdhw": convolution,
    "linalg.depthwise_conv_1d_ncw_cw": convolution,
    "linalg.depthwise_conv_2d_nchw_chw": convolution,
    "linalg.conv_2d_ngchw_gfchw": grouped_convolution,
    "linalg.pooling_nchw_max": pool("max"),
    "linalg.pooling_nchw_sum": pool("sum"),
    "linalg.pooling_ncw_max": pool("max"),
    "linalg.pooling_ncw_sum": pool("sum"),
}
