"""Where a copy goes that is needed only if an op passes on one of its operands: in front of the op, or of a branch to it."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create
from hotdesk.ir.ways import CHOOSING, INDEX_BITS, way_of


def on_way(op: ir.Operation, operand: int) -> ir.Operation:
    """The op in front of which something happens only if `op` passes on that operand: `op`, or the end of a branch before it."""
    if op.name not in CHOOSING:
        return op
    way = way_of(op, operand)
    if op.name == "cf.switch":
        return _on_case(op, way)
    branch = create("scf.if", [op.operands[0]], [], regions=2, before=op)
    return [_ended(region, op) for region in branch.regions[: way + 1]][way]


def _on_case(op: ir.Operation, way: int) -> ir.Operation:
    """The end of the region for one way of a switch; 0 is the default."""
    cases = _cases(op)
    cases = cases[way - 1 : way] if way else cases
    flag = create("arith.index_castui", [op.operands[0]], [ir.IndexType.get()], before=op).results[0]
    attributes: dict[str, ir.Attribute] = {"cases": ir.DenseI64ArrayAttr.get(cases)}
    branch = create("scf.index_switch", [flag], [], attributes, regions=1 + len(cases), before=op)
    return [_ended(region, op) for region in branch.regions][1 if way else 0]


def _cases(op: ir.Operation) -> list[int]:
    """The values of a switch's cases, as indices."""
    width = cast(ir.IntegerType, op.operands[0].type).width
    values = list(cast(Any, op.attributes["case_values"])) if "case_values" in op.attributes else []
    return [int(value) % 2**width if width < INDEX_BITS else int(value) for value in values]


def _ended(region: ir.Region, op: ir.Operation) -> ir.Operation:
    """The end of a new block in a region."""
    with ir.InsertionPoint(region.blocks.append()), op.location:
        return ir.Operation.create("scf.yield")
