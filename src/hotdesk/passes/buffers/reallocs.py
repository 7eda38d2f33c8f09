"""`memref.realloc` written out: new memory and a copy where more is wanted, else the old memory.

    %r = memref.realloc %a(%n)      ->      %r = scf.if %n > size of %a {
                                              %m = memref.alloc(%n); copy %a to its beginning; scf.yield %m
                                            } else { scf.yield (%a with size %n) }

So the memory that is given up is freed as any other, and whoever else owns it is respected.
"""

from __future__ import annotations

from typing import Any

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import BufferProgram
from hotdesk.ir.building import alloc, branch, compared, create, dim, index_constant, sliced
from hotdesk.ir.types import DYNAMIC, shape_of
from hotdesk.models.new_memory import REALLOC


def expand_reallocs(program: BufferProgram) -> bool:
    """Expands the reallocs of a function that was just read; whether there was any."""
    found = [op.operation for op in program.ops if op.name == REALLOC]
    for op in found:
        _expand(op)
    return bool(found)


def _expand(op: ir.Operation) -> None:
    source, kind = op.operands[0], op.results[0].type
    (wanted,) = shape_of(kind)
    new = index_constant(wanted, op) if wanted is not None else op.operands[1]
    old = dim(source, 0, op)
    choice, *ends = branch(compared("sgt", new, old, op), [kind], [source], op)
    more = alloc(kind, [new] if wanted is None else [], ends[0])
    _align(more, op)
    begin = sliced("memref.subview", [more], _part(kind), [0], [old], ends[0])
    create("memref.copy", [source, begin], [], before=ends[0])
    ends[0].operands[0] = more
    size = new if wanted is None else wanted
    ends[1].operands[0] = sliced("memref.reinterpret_cast", [source], kind, [0], [size], ends[1])
    op.results[0].replace_all_uses_with(choice.results[0])
    op.erase()


def _part(kind: Any) -> ir.Type:
    return ir.MemRefType.get([DYNAMIC], kind.element_type, ir.StridedLayoutAttr.get(0, [1]), kind.memory_space)


def _align(new: ir.Value, op: ir.Operation) -> None:
    if "alignment" in op.attributes:
        owner: Any = new.owner
        owner.attributes["alignment"] = op.attributes["alignment"]
