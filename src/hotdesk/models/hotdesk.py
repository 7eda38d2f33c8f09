"""The `hotdesk` dialect: ops of one destination, read only to accumulate, and foreign calls with any number of them."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.dialect import MOST_RESULTS
from hotdesk.ir.walking import flag_of, int_array, text_of
from hotdesk.models.facts import Facts
from hotdesk.models.model import Buffers, OpModel
from hotdesk.models.rewrites import bufferize_destination_style

CONTRACT, CONV, POOL, ATTENTION = "hotdesk.contract", "hotdesk.conv", "hotdesk.pool", "hotdesk.attention"
MOVE = "hotdesk.move"
_INIT = {CONTRACT: 2, CONV: 2, POOL: 1}
WITH_KERNELS = (*_INIT, ATTENTION, MOVE)
"""The ops whose kernels are made for their operands."""
FOREIGN = "hotdesk.foreign"
KEEPS = "keeps"
"""The attribute of a foreign call that keeps something beside its results, for another call or for the caller: it runs in each
call of the program, unless nobody uses its results."""

KEPT = "hotdesk.kept"
"""The attribute of a copy whose target keeps what its source held: a call that fails behind it copies that back."""

ROLL_BACK = "hotdesk.roll_back"
"""The attribute of a function: `false` where a call that fails may leave partly written what it changes, and nothing is kept."""


def facts(op: ir.Operation) -> Facts:
    init = _INIT.get(op.name, len(op.operands) - 1)
    reads = set(range(init))
    if "accumulate" in op.attributes and flag_of(op, "accumulate"):
        reads.add(init)
    if not op.results:
        return Facts(reads=frozenset(reads))  # the destination is a memref
    return Facts(reads=frozenset(reads), ties=((init, 0),), overwrites=frozenset({init}))


def written_operands(op: ir.Operation) -> list[ir.Value]:
    """What an op that has a kernel writes, on memrefs: its destination, and scratch memory behind it."""
    return list(op.operands)[_INIT.get(op.name, len(op.operands) - 1) :]


SPREAD = "spread"
"""The attribute of a convolution on memrefs that says how its work is cut, where it has scratch memory."""


def letters_of(op: ir.Operation) -> tuple[str, ...]:
    """The letters in the equation of a contraction or an attention: of each input, and of the result last."""
    inputs, result = text_of(op, "equation").split("->")
    return (*inputs.split(","), result)


def scratch_operands(op: ir.Operation) -> int:
    """How many operands of an op on memrefs, the last ones, are scratch memory."""
    return len(op.operands) - 3 if op.name == "hotdesk.conv" else 0


def foreign_groups(op: ir.Operation) -> tuple[int, int, int]:
    """How many operands of a `hotdesk.foreign` are inputs, numbers and destinations, in this order."""
    inputs, numbers, inits = int_array(op.attributes["groups"])
    return inputs, numbers, inits


def foreign_operands(op: ir.Operation) -> tuple[list[ir.Value], list[ir.Value]]:
    """The tensors or memrefs of a `hotdesk.foreign`, destinations last, and its numbers."""
    inputs, numbers, _ = foreign_groups(op)
    values = list(op.operands)
    return [*values[:inputs], *values[inputs + numbers :]], values[inputs : inputs + numbers]


def _foreign_facts(op: ir.Operation) -> Facts:
    inputs, numbers, inits = foreign_groups(op)
    reads, first = frozenset(range(inputs)), inputs + numbers
    if not op.results:
        return Facts(reads=reads)
    ties = tuple((first + number, number) for number in range(inits))
    return Facts(reads=reads, ties=ties, overwrites=frozenset(init for init, _ in ties))


def _bufferize_foreign(op: ir.Operation, buffers: Buffers) -> None:
    new = bufferize_destination_style(op, buffers)
    new.attributes["resultSegmentSizes"] = no_results()


def no_results() -> ir.Attribute:
    """The `resultSegmentSizes` of a `hotdesk.foreign` on memrefs."""
    return ir.DenseI32ArrayAttr.get([0] * MOST_RESULTS)


MODELS = {
    **{name: OpModel(facts, bufferize_destination_style) for name in WITH_KERNELS},
    FOREIGN: OpModel(_foreign_facts, _bufferize_foreign),
}
