"""Does operations around a large value part by part, so that only a part of the value is there at a time.

    %h = wide(%x)            %x0 = extract_slice %x[0] [2]        %x1 = extract_slice %x[2] [2]
    %r = narrow(%h)    ->    %h0 = wide(%x0)                      %h1 = wide(%x1)
                             %r0 = narrow(%h0)                    %r1 = narrow(%h1)
                             %s0 = insert_slice %r0 into %e[0]    %r = insert_slice %r1 into %s0[2]

Legal iff operations can be done in parts by rules 1 to 5 of `analysis.order.splitting`, and no part reads nothing but padding.
Each operation does the same work in several goes; only rows that the windows of two parts reach are computed for both:

    %h = conv 3x3 (%x)           %x0 = extract_slice %x[0] [6]               %x1 = extract_slice %x[2] [6]
    %r = conv 3x3 (%h)     ->    %h0 = conv 3x3 (%x0) // padded above        %h1 = conv 3x3 (%x1) // and below
                                 %r0 = conv 3x3 (%h0)                        %r1 = conv 3x3 (%h1)
                                 %s0 = insert_slice %r0 into %e[0] [4]       %r = insert_slice %r1 into %s0[4] [4]

More than `unrolled` parts one behind the other that are equal but for where they lie become a loop; those at the ends, which are
padded, stay in front of it and behind:

    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %s0) {
      %o = muli %i, %c2
      %xi = extract_slice %x[%o] [2]
      %hi = wide(%xi)
      %ri = narrow(%hi)
      yield (insert_slice %ri into %s[%o])
    }

`hotdesk-eliminate-empty-tensors` goes behind it, so that parts of results are computed where they belong; parts of what is read
are views.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.order.axes import FOLLOWED_VIEWS, cut_dims
from hotdesk.analysis.order.halos import SplitPart, bytes_again, largest_part, parts_of
from hotdesk.analysis.order.splitting import Split, find_split
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.errors import OptionError
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.locations import source_of
from hotdesk.ir.types import is_tensor, shape_of
from hotdesk.models.tensor import EMPTY
from hotdesk.passes.base import StraightPass
from hotdesk.passes.tensor.parts import do_in_parts

_SEEN_THROUGH = FOLLOWED_VIEWS | {EMPTY}


@dataclass(frozen=True, slots=True)
class SplitRows(StraightPass):
    """Splits operations around large values (rules in `analysis.order.splitting`).

    Options:
        parts: how many there are at most.
        least_bytes: values of fewer bytes are left as they are.
        only: the number of one operation of each function, counted from 0: only its result is split. -1 stands for all.
        dim: the dimension of the result to split. -1 stands for the first that can be.
        assumed_size: what a size that is not known counts as, in elements; only dimensions of known size are split.
        large: bytes from which on values beside are split as well. -1 stands for a quarter of the value.
        unrolled: how many equal parts one behind the other are written out; more are a loop. 0 stands for all.
    """

    name: ClassVar[str] = "hotdesk-split-rows"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.PART_BY_PART,)

    parts: int = 2
    least_bytes: int = 1 << 20
    only: int = -1
    dim: int = -1
    large: int = -1
    unrolled: int = 4
    assumed_size: int = 256

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        if self.parts < 2:
            raise OptionError(f"option 'parts' of pass '{self.name}'", expected="2 or more", got=str(self.parts))
        return StraightPass.run(self, module)

    def run_on(self, function: ir.Operation) -> list[Decision]:
        line = StraightLine(function, self.assumed_size)
        decisions: list[Decision] = []
        for number, op in enumerate(line.ops):
            if number in line.gone or (self.only >= 0 and number != self.only) or op.name in _SEEN_THROUGH:
                continue
            for value in op.results:
                size = line.bytes(value) if is_tensor(value.type) else 0
                found = self._find(line, value, size) if size >= max(1, self.least_bytes) else None
                if found is not None:
                    split, parts = found
                    decisions.append(_decision(op, size, split, parts))
                    line.gone.update(each.number for each in split.ops)
                    do_in_parts(split, parts, unrolled=self.unrolled)
                    break
        for number, op in enumerate(line.ops):
            if number not in line.gone and op.name == EMPTY and next(iter(op.results[0].uses), None) is None:
                op.erase()
        return decisions

    def _find(self, line: StraightLine, value: ir.Value, size: int) -> tuple[Split, tuple[SplitPart, ...]] | None:
        dims = cut_dims(value) if self.dim < 0 else [self.dim] if self.dim < len(shape_of(value.type)) else []
        large = size // 4 if self.large < 0 else self.large
        for dim in dims:
            split = find_split(line, value, dim, max(1, large))
            parts = None if split is None else parts_of(split, self.parts)
            if split is not None and parts is not None and largest_part(split, parts, value) < size:
                return split, parts
        return None


def _decision(op: ir.Operation, size: int, split: Split, parts: tuple[SplitPart, ...]) -> Decision:
    ops = [each.operation for each in split.ops if not each.operation.name.startswith("tensor.")]
    sources = tuple(source_of(each) for each in ops)
    again = bytes_again(split, parts)
    twice = f", {again} bytes written again" if again else ""
    subject = f"result of {op.name}, {size} bytes, in {len(parts)} parts{twice}"
    saved = size - max(largest_part(split, parts, value) for value in op.results)
    return Decision(subject, Outcome.SPLIT, Reason.PART_BY_PART, sources, saved)
