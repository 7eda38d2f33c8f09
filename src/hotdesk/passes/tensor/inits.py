"""Elementwise ops that read the tensor they overwrite get it as an input.

    linalg.generic ins(%a) outs(%x) { use %a, %out }   ->   linalg.generic ins(%a, %x) outs(tensor.empty) { use %a, %in }

The values are the same, and %x is still overwritten where it dies: the choice of destinations finds it among the inputs. What
changes is what MLIR's fusion makes of it: fused into an op that reads one element of the result again and again, the payload
would read and write that element each time.
"""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.ir.building import clone_with, create, empty_like, replace
from hotdesk.ir.walking import attributes_of, parallel_loops, segment_sizes


def inits_as_inputs(op: ir.Operation) -> list[Decision]:
    """Rewrites a `linalg.generic` (see the module docstring) if all its loops are parallel and it writes every element."""
    inputs, outputs = segment_sizes(op)
    block = op.regions[0].blocks[0]
    maps = list(cast(Any, op.attributes["indexing_maps"]))
    parallel = all(parallel_loops(op))
    complete = parallel and len(op.results) == outputs and all(m.value.is_permutation for m in maps[inputs:])
    read = [inputs + i for i in range(outputs) if next(iter(block.arguments[inputs + i].uses), None) is not None]
    if not complete or not read:
        return []
    operands = list(op.operands)
    inits = [empty_like(v, op) if inputs + i in read else v for i, v in enumerate(operands[inputs:])]
    order = [*range(inputs), *read, *range(inputs, inputs + outputs)]
    attributes = attributes_of(op)
    attributes["indexing_maps"] = ir.ArrayAttr.get([maps[i] for i in order])
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([inputs + len(read), outputs])
    values = [*operands[:inputs], *(operands[i] for i in read), *inits]
    new = create(op.name, values, [r.type for r in op.results], attributes, regions=1, before=op)
    types = [block.arguments[i].type for i in order]
    arguments = new.regions[0].blocks.append(*types, arg_locs=[op.location] * len(types)).arguments
    mapping: dict[ir.Value, ir.Value] = {}
    for number, i in enumerate(order):  # an init that is read: its input comes first, and that is what the payload sees
        mapping.setdefault(block.arguments[i], arguments[number])
    point = ir.InsertionPoint(new.regions[0].blocks[0])
    for nested in block.operations:
        clone_with(nested.operation, mapping, point)
    replace(op, new)
    return []
