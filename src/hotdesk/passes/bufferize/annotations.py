"""The in-place analysis written into the IR, in the words of MLIR's One-Shot Bufferize.

    linalg.fill {"C_0[CONFL-WRITE: 1]", __inplace_operands_attr__ = ["none", "false"]} ins(%c) outs(%x)
    tensor.extract %x[%i] {"C_0[READ: 0]", __inplace_operands_attr__ = ["true", "none"]}

1. For each op with tensors among its operands, an entry for each: `false` if it is copied, or gets a new buffer although it has
   contents; `true` for other tensors; `none` for what is no tensor.
2. For each argument of the function, what is done with its memory: `bufferization.access`.
3. With `conflicts`, for each `false` that a read forbids, the operand that reads, the one that would write, and the definition,
   numbered; for each that memory forbids which is not writable, that memory.
4. With `aliases`, for each result and each argument of a block the names of what lies in the same memory.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.access import argument_access
from hotdesk.analysis.in_place.conflicts import DecidedAliases
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis, OperandDecision
from hotdesk.analysis.in_place.interference import Clash
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord
from hotdesk.analysis.tensors.readers import CAPTURED
from hotdesk.passes.bufferize.annotate import ATTRIBUTE, annotate_arguments

RESULT_ALIASES, ARGUMENT_ALIASES = "__opresult_alias_set_attr__", "__bbarg_alias_set_attr__"


def annotate(analysis: InPlaceAnalysis, *, conflicts: bool = False, aliases: bool = False) -> None:
    """Writes the decisions of a function into it (rules in the module docstring)."""
    record = analysis.function
    copied = {(edge.op, edge.operand) for edge, conflict in analysis.copies.items() if conflict is not None}
    copied |= {(d.op, d.operand) for d in analysis.decisions if not d.in_place} | {(op, 0) for op in analysis.slices}
    if aliases:
        _annotate_aliases(analysis)
    for op in record.ops:
        if any(value != NOT_A_TENSOR for value in op.operands):
            words = [
                "none" if value == NOT_A_TENSOR else "false" if (op.number, operand) in copied else "true"
                for operand, value in enumerate(op.operands)
            ]
            op.operation.attributes[ATTRIBUTE] = _strings(words)
    annotate_arguments(record.function, argument_access(analysis))
    if conflicts:
        _Conflicts(analysis).run()


class _Conflicts:
    """Numbers the conflicts of a function, in the order of the program."""

    def __init__(self, analysis: InPlaceAnalysis) -> None:
        self._record = analysis.function
        self._analysis = analysis
        self._aliases = DecidedAliases(analysis)

    def run(self) -> None:
        conflicts = unwritable = 0
        for decision in self._analysis.decisions:
            if decision.in_place:
                continue
            op = self._record.ops[decision.op]
            if decision.clash is not None:
                self._conflict(f"C_{conflicts}", decision, decision.clash)
                conflicts += 1
                continue
            path = self._aliases.path(op.operands[decision.operand], self._aliases.is_read_only_origin)
            if path and self._analysis.places.why_read_only(op.operands[decision.operand]) is not None:
                self._define(f"W_{unwritable}[NOT-WRITABLE", path[-1])
                unwritable += 1

    def _conflict(self, name: str, decision: OperandDecision, clash: Clash) -> None:
        reader = self._record.ops[clash.read]
        _mark(reader.operation, f"{name}[READ: {'captured' if clash.operand == CAPTURED else clash.operand}]")
        if clash.writer is not None:
            writer = self._record.ops[clash.writer]
            operand = decision.operand if writer.number == decision.op else self._written(writer)
            _mark(writer.operation, f"{name}[CONFL-WRITE: {operand}]")
        self._define(f"{name}[DEF", clash.lost)

    def _written(self, op: OpRecord) -> int | str:
        """The operand that an op overwrites; `new` if it writes a result into new memory."""
        found = (operand for operand, _ in op.facts.ties if self._analysis.by_operand[op.number, operand].in_place)
        return next(found, "new")

    def _define(self, start: str, value: int) -> None:
        found = self._record.values[value]
        if found.producer >= 0:
            _mark(self._record.ops[found.producer].operation, f"{start}: result {found.position}]")
            return
        parent = self._record.blocks[found.block].parent
        operation = self._record.function if parent < 0 else self._record.ops[parent].operation
        _mark(operation, f"{start}: bbArg {found.position}]")


def _annotate_aliases(analysis: InPlaceAnalysis) -> None:
    """Says of every value what may lie in the same memory; names are those of the text that the function prints as."""
    record = analysis.function
    state = ir.AsmState(record.function)
    names = [value.value.get_name(state) for value in record.values]
    lying: dict[int, dict[int, None]] = {}
    for value in record.values:
        for place, _ in analysis.places.locations(value.number):
            lying.setdefault(place, {})[value.number] = None

    def together(number: int) -> ir.Attribute:
        found = {other for place, _ in analysis.places.locations(number) for other in lying[place]}
        return _strings([names[other] for other in sorted(found)])

    def of_all(numbers: tuple[int, ...]) -> ir.Attribute:
        return ir.ArrayAttr.get([together(n) if n != NOT_A_TENSOR else ir.ArrayAttr.get([]) for n in numbers])

    regions: dict[int, dict[int, list[ir.Attribute]]] = {}
    for block in record.blocks:
        regions.setdefault(block.parent, {}).setdefault(block.region, []).append(of_all(block.arguments))
    for op in record.ops:
        if any(value != NOT_A_TENSOR for value in op.results):
            op.operation.attributes[RESULT_ALIASES] = of_all(op.results)
    for parent, found in regions.items():
        operation = record.function if parent < 0 else record.ops[parent].operation
        of_regions = [ir.ArrayAttr.get(blocks) for _, blocks in sorted(found.items())]
        operation.attributes[ARGUMENT_ALIASES] = ir.ArrayAttr.get(of_regions)


def _mark(operation: ir.Operation, name: str) -> None:
    operation.attributes[name] = ir.UnitAttr.get()


def _strings(words: list[str]) -> ir.Attribute:
    return ir.ArrayAttr.get([ir.StringAttr.get(word) for word in words])
