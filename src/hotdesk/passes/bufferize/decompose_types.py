"""Takes values that hold several others apart where functions, blocks and regions pass them on.

    func @f(%t: tuple<tensor<4xf32>, i1>)                     func @f(%x: tensor<4xf32>, %b: i1) -> (tensor<4xf32>, i1) {
        -> tuple<tensor<4xf32>, i1> {                           cf.br ^next(%x, %b)
      cf.br ^next(%t)                                  ->     ^next(%y: tensor<4xf32>, %c: i1):
    ^next(%s):                                                  return %y, %c }
      return %s }                                             %r:2 = call @f(%x, %b)
    %r = call @f(%t)

1. Which types, and how their values are packed and unpacked, is said by callbacks (`decompositions`); what a type is made of is
   taken apart in turn.
2. Signatures, calls, returns, branches between blocks, and what `scf` ops get, yield and return are changed. Attributes of an
   argument or a result go to each of its parts.
3. A value is packed where ops that stay need it whole, and unpacked where it is passed on. Nothing is unpacked whose parts are
   known.

Legal iff functions whose signature changes are used by `func.call` only. Bufferize afterwards: parts that are tensors become
buffers, kept as results by `hotdesk-func-bufferize` or appended to the arguments by `hotdesk-buffer-results-to-out-params`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.explain import Decision
from hotdesk.ir.building import remade
from hotdesk.ir.functions import call_attributes, named_functions, require_calls_alone
from hotdesk.ir.locations import python_line
from hotdesk.ir.op_maps import OpSet
from hotdesk.ir.signature import FunctionSignature, set_signature, signature
from hotdesk.ir.walking import defining_op, nested_ops
from hotdesk.models import scf
from hotdesk.models.cf import branch_segments
from hotdesk.models.func import CALL, RETURN
from hotdesk.models.registry import model_of
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.decompositions import TypeDecomposition, decompositions
from hotdesk.passes.properties import NO_COMPOSITES, Property


@dataclass(frozen=True, slots=True)
class DecomposeTypes(Pass):
    """Decomposes types at boundaries (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-decompose-types"

    def ensures(self) -> tuple[Property, ...]:
        return (NO_COMPOSITES,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        parts = _Parts(decompositions())
        functions = named_functions(module)
        changing = {name for name, f in functions.items() if any(map(parts.of_type, signature(f).types))}
        require_calls_alone(module, changing)
        for function in functions.values():
            for block in function.regions[0].blocks:
                parts.rebuild_arguments(block)
            for op in list(nested_ops(function)):
                _rewrite(op, parts)
            parts.clean(function)
        for name in changing:
            _retype(functions[name], parts)
        return ()


def innermost_types(kind: ir.Type) -> list[ir.Type]:
    """What a type is made of in the end; of one that is left alone, the type itself."""
    return _Parts(decompositions()).flat_types(kind)


class _Parts:
    """What is known of values that hold others."""

    def __init__(self, known: Sequence[TypeDecomposition]) -> None:
        self._known = known
        self._parts: dict[ir.Value, tuple[ir.Value, ...]] = {}
        self._made = OpSet()

    def of_type(self, kind: ir.Type) -> tuple[TypeDecomposition, tuple[ir.Type, ...]] | None:
        """The decomposition of a type and what it is made of; None for one that is left alone."""
        for each in self._known:
            types = each.types(kind)
            if types is not None:
                return each, tuple(types)
        return None

    def flat_types(self, kind: ir.Type) -> list[ir.Type]:
        found = self.of_type(kind)
        return [kind] if found is None else [t for part in found[1] for t in self.flat_types(part)]

    def unpacked(self, value: ir.Value, before: ir.Operation) -> list[ir.Value]:
        """The innermost parts of a value, taken apart in front of an op where they are not known."""
        found = self.of_type(value.type)
        if found is None:
            return [value]
        decomposition, types = found
        parts = self.known(value)
        if parts is None:
            parts = tuple(decomposition.unpack(value, before))
            _check("unpacking", value.type, types, parts, before)
            self._made.update(op for op in map(defining_op, parts) if op is not None)
        return [each for part in parts for each in self.unpacked(part, before)]

    def known(self, value: ir.Value) -> tuple[ir.Value, ...] | None:
        """The parts of a value that was packed, here or before."""
        op = defining_op(value)
        if value in self._parts or op is None:
            return self._parts.get(value)
        found = next((p for p in (each.packed(op) for each in self._known) if p is not None), None)
        return None if found is None else tuple(found)

    def packed(self, kind: ir.Type, parts: list[ir.Value], before: ir.Operation) -> ir.Value:
        """A value of a type from its innermost parts, which are taken from the front of the list."""
        found = self.of_type(kind)
        if found is None:
            return parts.pop(0)
        decomposition, types = found
        own = tuple(self.packed(each, parts, before) for each in types)
        value = decomposition.pack(kind, own, before)
        _check("packing", kind, (kind,), (value,), before)
        self._parts[value] = own
        op = defining_op(value)
        if op is not None:
            self._made.add(op)
        return value

    def rebuild_arguments(self, block: ir.Block) -> None:
        """Gives a block the parts of its arguments as arguments."""
        old = list(block.arguments)
        if not any(self.of_type(argument.type) for argument in old):
            return
        first = next(iter(block.operations)).operation
        for argument in old:
            kinds = self.flat_types(argument.type)
            new: list[ir.Value] = [block.add_argument(kind, argument.location) for kind in kinds]
            argument.replace_all_uses_with(self.packed(argument.type, new, first))
        for _ in old:
            block.erase_argument(0)

    def clean(self, function: ir.Operation) -> None:
        """Replaces what takes a known part by the part, and erases what nobody needs any more."""
        for op in list(nested_ops(function)):
            taken = next((t for t in (each.taken(op) for each in self._known) if t is not None), None)
            parts = self.known(taken[0]) if taken is not None else None
            if taken is None or parts is None:
                continue
            for result, number in zip(op.results, taken[1], strict=True):
                result.replace_all_uses_with(parts[number])
        packing = (op for op in nested_ops(function) if self._takes(op) or self._packs(op) or op in self._made)
        for op in reversed(list(packing)):
            if all(next(iter(result.uses), None) is None for result in op.results):
                for result in op.results:
                    self._parts.pop(result, None)
                op.erase()
        self._made.clear()

    def _packs(self, op: ir.Operation) -> bool:
        return any(each.packed(op) is not None for each in self._known)

    def _takes(self, op: ir.Operation) -> bool:
        return any(each.taken(op) is not None for each in self._known)


def _check(what: str, kind: ir.Type, wanted: Sequence[ir.Type], values: Sequence[ir.Value], at: ir.Operation) -> None:
    found = [value.type for value in values]
    if found == list(wanted):
        return
    raise BufferizationError(
        f"{what} a value of type {kind}",
        expected=", ".join(map(str, wanted)) or "no value",
        got=", ".join(map(str, found)) or "no value",
        where=python_line(at.location),
        hint="the callbacks of its type decomposition do not agree",
    )


def _rewrite(op: ir.Operation, parts: _Parts) -> None:
    boundary = op.name in (RETURN, CALL) or op.name.startswith("cf.") or op.name in scf.MODELS
    if not boundary or not any(parts.of_type(v.type) for v in (*op.operands, *op.results)):
        return
    groups = [parts.unpacked(value, op) for value in op.operands]
    kinds = [parts.flat_types(result.type) for result in op.results]
    attributes = call_attributes(op, _numbers(groups), _numbers(kinds))
    attributes.update(_segments(op, groups))
    operands = [value for group in groups for value in group]
    new = remade(op, operands, [kind for group in kinds for kind in group], attributes)
    for block in [block for region in new.regions for block in region.blocks]:
        parts.rebuild_arguments(block)
    rest: list[ir.Value] = list(new.results)
    for result in op.results:
        result.replace_all_uses_with(parts.packed(result.type, rest, op))
    op.erase()


def _numbers(groups: Sequence[Sequence[object]]) -> list[int]:
    """Of each part the number of what it is a part of."""
    return [number for number, group in enumerate(groups) for _ in group]


def _segments(op: ir.Operation, groups: Sequence[Sequence[ir.Value]]) -> dict[str, ir.Attribute]:
    """The attributes that say which operands go to which successor, once operands are taken apart."""
    model = model_of(op.name)
    if model is None or model.branches is None:
        return {}
    counts = [0] * len(op.successors)
    for operand, successor, _ in model.branches(op):
        counts[successor] += len(groups[operand])
    return branch_segments(op, counts)


def _retype(function: ir.Operation, parts: _Parts) -> None:
    known = signature(function)
    arguments, results = (
        tuple(replace(each, type=kind) for each in formals for kind in parts.flat_types(each.type))
        for formals in (known.arguments, known.results)
    )
    set_signature(function, FunctionSignature(arguments, results))
