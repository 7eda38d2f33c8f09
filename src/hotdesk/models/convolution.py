"""The attributes of `hotdesk.conv` and `hotdesk.pool` as records: read here, and nowhere else but in the memory checker."""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.ir.walking import flag_of, int_array, integer_of
from hotdesk.models.hotdesk import SPREAD


@dataclass(frozen=True, slots=True)
class Sliding:
    """How windows slide over an image: one number for each of its spatial dimensions.

    The image has `input_dilations - 1` zeros put between its elements, and then `pad_low` and `pad_high` elements in front of it
    and behind it, or as many taken away where they are negative. Windows lie `strides` apart, their taps `dilations`.
    """

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pad_low: tuple[int, ...]
    pad_high: tuple[int, ...]
    input_dilations: tuple[int, ...]

    @property
    def transposed(self) -> bool:
        """Whether anything is put between the elements of the image."""
        return any(each != 1 for each in self.input_dilations)


@dataclass(frozen=True, slots=True)
class ConvolutionAttributes:
    """What a `hotdesk.conv` says beside its operands.

    Attributes:
        accumulate: whether the sums are added to what the destination holds.
        winograd: whether it may be computed by Winograd's filtering.
        spread: how its work is cut to fit in scratch memory; None where it has none.
    """

    sliding: Sliding
    groups: int
    accumulate: bool
    winograd: bool
    spread: tuple[int, ...] | None


def sliding_of(op: ir.Operation) -> Sliding:
    """How the windows of a `hotdesk.conv` or a `hotdesk.pool` slide."""
    strides, dilations, low, high = (
        int_array(op.attributes[name]) for name in ("strides", "dilations", "pad_low", "pad_high")
    )
    is_widened = "input_dilations" in op.attributes
    between = int_array(op.attributes["input_dilations"]) if is_widened else (1,) * len(strides)
    return Sliding(strides, dilations, low, high, between)


def convolution_of(op: ir.Operation) -> ConvolutionAttributes:
    """The attributes of a `hotdesk.conv`."""
    return ConvolutionAttributes(
        sliding_of(op),
        integer_of(op, "groups"),
        flag_of(op, "accumulate"),
        "winograd" not in op.attributes or flag_of(op, "winograd"),
        int_array(op.attributes[SPREAD]) if SPREAD in op.attributes else None,
    )
