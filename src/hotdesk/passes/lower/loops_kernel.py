"""Kernels of structured ops that no library serves: the op itself in a function of its views, lowered to loops by MLIR.

    linalg.generic ins(%a, %b) outs(%b)   ->   func @kernel(%a: memref<f32> noalias, %b: memref<f32> noalias) {
                                                 %A = reinterpret_cast %a …; %B = …; linalg.generic ins(%A, %B) outs(%B) }

1. Each memref the op touches is one pointer argument, however often it is an operand.
2. Scalars that the region captures are cloned into the kernel with what computes them; sizes become arguments. Between other
   code, all scalars but constants do: what they were loaded from may have changed, or be freed.
3. `cf.assert` in a region becomes a store of its code to the status word; loads after it are guarded, so a failed assertion
   neither ends the process nor reads out of bounds.
4. Sums over reduced dims may be reassociated, which lets them be vectorised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import LoweringError
from hotdesk.ir.building import integers
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import Formal, FunctionSignature, formals, new_function
from hotdesk.ir.sizes import Size, is_opaque
from hotdesk.ir.symbolic import SymbolicSizes
from hotdesk.ir.types import is_memref, memref_with, row_major, static_entries
from hotdesk.ir.walking import captured_operands, defining_op, nested_ops
from hotdesk.kernels.text import View
from hotdesk.passes.lower.loops_checks import replace_checks
from hotdesk.passes.lower.views import Place, Places

_REASSOCIATED = ("arith.addf", "arith.mulf")
_SCALAR_DIALECTS = ("affine", "arith", "math", "memref")


@dataclass(slots=True)
class LoopKernel:
    """A kernel under construction and what its call passes: memrefs, sizes, scalars, and the status word if it has checks."""

    function: ir.Operation
    memrefs: list[ir.Value] = field(default_factory=list[ir.Value])
    scalars: list[Size] = field(default_factory=list[Size])
    passed: list[ir.Value] = field(default_factory=list[ir.Value])
    needs_status: bool = False


def build_loop_kernel(
    op: ir.Operation,
    module: ir.Module,
    places: Places,
    sizes: SymbolicSizes,
    assertion_code: Callable[[ir.Operation], int],
    *,
    computes: bool = True,
) -> LoopKernel:
    """Makes the kernel of `op` as the last function of `module`, named `@KERNEL`.

    `assertion_code` gives the status code of a `cf.assert`. Unless the kernel `computes` scalars that it can, they are passed.
    """
    passed = _passed(op, computes)
    memrefs = _memrefs(op, passed)
    resolved = [places.of(value) for value in memrefs]
    index_captures = _index_captures(op, sizes, passed)
    has_checks = any(nested.name == "cf.assert" for nested in nested_ops(op))
    scalars = [size for place in resolved for size in place.unknowns()]
    types = [*([ir.IndexType.get()] * (len(scalars) + len(index_captures))), *(value.type for value in passed)]
    function, block = _function(module, op, memrefs, resolved, types, has_checks)
    numbers = [*scalars, *(sizes.value(value) for value in index_captures)]
    kernel = LoopKernel(function, memrefs, numbers, list(passed), has_checks)
    arguments = list(block.arguments)
    point = ir.InsertionPoint(block)
    mapping: dict[ir.Value, ir.Value] = {}
    rest = iter(arguments[len(memrefs) :])
    with op.location:
        for value, place, pointer in zip(memrefs, resolved, arguments, strict=False):
            mapping[value] = _seen(pointer, place.view(), rest, point)
        for value in index_captures:
            mapping[value] = _as_type(next(rest), value.type, point)
        mapping.update((value, next(rest)) for value in passed)
        clone = _clone(op, mapping, point)
        if has_checks:
            replace_checks(clone, arguments[-1], assertion_code)
        if "iterator_types" in op.attributes and "reduction" in str(op.attributes["iterator_types"]):
            _allow_reassociation(clone)
        ir.Operation.create("func.return", ip=point)
    return kernel


def _memrefs(op: ir.Operation, passed: Mapping[ir.Value, None]) -> list[ir.Value]:
    """The memrefs an op touches, each once, those that its captured scalars are loaded from included."""
    found: dict[ir.Value, None] = {}
    pending = [*op.operands, *(value for _, _, value in captured_operands(op))]
    seen: set[ir.Value] = set()
    while pending:
        value = pending.pop(0)
        if value in seen:
            continue
        seen.add(value)
        if is_memref(value.type):
            found[value] = None
            continue
        producer = defining_op(value)
        if producer is not None and producer.name != "memref.dim" and not _is_index(value) and value not in passed:
            pending.extend(producer.operands)
    return list(found)


def _is_index(value: ir.Value) -> bool:
    return isinstance(value.type, ir.IndexType)


def _index_captures(op: ir.Operation, sizes: SymbolicSizes, passed: Mapping[ir.Value, None]) -> list[ir.Value]:
    """Index values that captured scalars are computed from and that follow from sizes; they come with the call."""
    captures: dict[ir.Value, None] = {}
    pending = [*op.operands, *(value for _, _, value in captured_operands(op))]
    seen: set[ir.Value] = set()
    while pending:
        value = pending.pop(0)
        if value in seen or value in passed or is_memref(value.type):
            continue
        seen.add(value)
        if not _is_index(value):
            producer = defining_op(value)
            pending.extend(producer.operands if producer is not None else ())
        elif not isinstance(sizes.value(value), int):
            if is_opaque(sizes.value(value)):
                raise LoweringError(
                    "an index depends on the values of a tensor", expected="sizes that follow from the arguments",
                    got=str(value), where=python_line(op.location) or None,
                )  # fmt: skip
            captures[value] = None
    return list(captures)


def _passed(op: ir.Operation, computes: bool) -> Mapping[ir.Value, None]:
    """The scalars behind the captured ones that a kernel does not compute: what it cannot, or all but constants."""
    found: dict[ir.Value, None] = {}
    pending = [*op.operands, *(value for _, _, value in captured_operands(op))]
    seen: set[ir.Value] = set()
    while pending:
        value = pending.pop(0)
        if value in seen or is_memref(value.type) or _is_index(value):
            continue
        seen.add(value)
        producer = defining_op(value)
        if producer is not None and producer.name == "arith.constant":
            continue
        if not computes or producer is None or producer.name.partition(".")[0] not in _SCALAR_DIALECTS:
            found[value] = None
        else:
            pending.extend(producer.operands)
    return found


def _written(op: ir.Operation) -> set[ir.Value]:
    from hotdesk.ir.walking import segment_sizes

    if "operandSegmentSizes" in op.attributes:
        inputs = segment_sizes(op)[0]
        return set(list(op.operands)[inputs:])
    return set(op.operands)


def disjoint(resolved: Sequence[Place], written: Sequence[bool]) -> tuple[bool, ...]:
    """For each pointer, whether it may be `noalias`: no other pointer of its base, or none of them written."""
    result: list[bool] = []
    for i, place in enumerate(resolved):
        others = [j for j, other in enumerate(resolved) if j != i and other.base == place.base]
        result.append(not others or not (written[i] or any(written[j] for j in others)))
    return tuple(result)


def _function(
    module: ir.Module,
    op: ir.Operation,
    memrefs: list[ir.Value],
    resolved: list[Place],
    scalars: Sequence[ir.Type],
    has_checks: bool,
) -> tuple[ir.Operation, ir.Block]:
    written = _written(op)
    alone = disjoint(resolved, [value in written for value in memrefs])
    pointers: list[ir.Type] = [ir.MemRefType.get([], cast(Any, value.type).element_type) for value in memrefs]
    takes = [Formal(kind).stating(no_alias=each) for kind, each in zip(pointers, alone, strict=True)]
    takes += formals(scalars)
    if has_checks:
        takes.append(Formal(ir.MemRefType.get([], ir.IntegerType.get_signless(32))).stating(no_alias=True))
    return new_function("KERNEL", FunctionSignature(tuple(takes), ()), ir.InsertionPoint(module.body), op.location)


def _seen(pointer: ir.Value, view: View, rest: Any, point: ir.InsertionPoint) -> ir.Value:
    """`memref.reinterpret_cast` of a bare pointer to its view; unknown sizes and strides are the next arguments."""
    size_values = [next(rest) for size in view.sizes if size is None]
    stride_values = [next(rest) for stride in view.strides if stride is None]
    if view.strides == row_major(view.sizes) and None not in view.strides:
        result = memref_with(view.sizes, pointer.type)
    else:
        layout = ir.StridedLayoutAttr.get(0, static_entries(view.strides))
        element = cast(Any, pointer.type).element_type
        result = ir.MemRefType.get(static_entries(view.sizes), element, layout)
    attributes = {
        "static_offsets": integers([0]),
        "static_sizes": integers(static_entries(view.sizes)),
        "static_strides": integers(static_entries(view.strides)),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, len(size_values), len(stride_values)]),
    }
    operands = [pointer, *size_values, *stride_values]
    name = "memref.reinterpret_cast"
    return ir.Operation.create(name, results=[result], operands=operands, attributes=attributes, ip=point).results[0]


def _as_type(value: ir.Value, wanted: ir.Type, point: ir.InsertionPoint) -> ir.Value:
    if value.type == wanted:
        return value
    return ir.Operation.create("arith.index_cast", results=[wanted], operands=[value], ip=point).results[0]


def _clone(op: ir.Operation, mapping: dict[ir.Value, ir.Value], point: ir.InsertionPoint) -> ir.Operation:
    captured = [value for _, _, value in captured_operands(op)]
    for value in (*op.operands, *captured):
        _materialize(value, mapping, point)
    clone = op.clone(point)
    for i, operand in enumerate(op.operands):
        clone.operands[i] = mapping[operand]
    for nested, i, value in captured_operands(clone):
        if value in mapping:
            nested.operands[i] = mapping[value]
    return clone


def _materialize(value: ir.Value, mapping: dict[ir.Value, ir.Value], point: ir.InsertionPoint) -> None:
    """Clones the scalar computation behind a captured value into the kernel."""
    if value in mapping:
        return
    producer = defining_op(value)
    if producer is None or producer.name.split(".")[0] not in _SCALAR_DIALECTS or producer.name == "memref.alloc":
        what = "an argument" if producer is None else f"`{producer.name}`"
        raise LoweringError(f"a kernel cannot compute a scalar from {what}", got=str(value.type))
    for operand in producer.operands:
        _materialize(operand, mapping, point)
    clone = producer.clone(point)
    for i, operand in enumerate(producer.operands):
        clone.operands[i] = mapping[operand]
    mapping.update(zip(producer.results, clone.results, strict=True))


def _allow_reassociation(op: ir.Operation) -> None:
    flags = ir.Attribute.parse("#arith.fastmath<reassoc>")
    for nested in nested_ops(op):
        if nested.name in _REASSOCIATED:
            nested.attributes["fastmath"] = flags
