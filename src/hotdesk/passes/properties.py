"""What passes require and ensure of a module: each property says what holds, and finds an op that breaks it.

`Pass.apply` checks them. They are read off the IR by code that shares nothing with the passes, and name the ops that they are
about: `tensor.concat`, `tensor.reshape`, `memref.view`, casts of places (`arith.index_cast`), and ends that control does not
come to (`llvm.unreachable`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.functions import find_uses, is_private, named_functions, returns_of
from hotdesk.ir.op_maps import OpSet
from hotdesk.ir.signature import signature
from hotdesk.ir.types import (
    element_bytes,
    element_of,
    is_any_tensor,
    is_buffer,
    is_memref,
    is_tensor,
    layout_of,
    row_major,
    shape_of,
)
from hotdesk.ir.walking import (
    all_functions,
    constant_of,
    defined_functions,
    entry_block,
    is_constant,
    made_by,
    modules,
    nested_ops,
    ops_outside_payloads,
    symbol_name,
    top_level_ops,
    values_read,
)
from hotdesk.models.cf import ASSERT
from hotdesk.models.control_flow import CHOICE
from hotdesk.models.func import CALLS
from hotdesk.models.generics import GENERIC, is_linalg
from hotdesk.models.hotdesk import ATTENTION, CONTRACT, CONV, SPREAD, letters_of, scratch_operands
from hotdesk.models.memref import stored, viewed
from hotdesk.models.new_memory import ALLOC, ALLOCA, DEALLOC, freed
from hotdesk.models.payloads import LOADS
from hotdesk.models.registry import model_of
from hotdesk.models.tensor import EMPTY
from hotdesk.passes.bufferize.decompositions import decompositions


@dataclass(frozen=True, slots=True)
class Property:
    """What may hold of a module: in words, and the first op that breaks it, or None."""

    says: str
    broken_by: Callable[[ir.Module], ir.Operation | None]


def _tensor(module: ir.Module) -> ir.Operation | None:
    """A function that takes or gives a tensor, or an op with one as a result or as an argument of its blocks."""
    for function in (function for each in modules(module) for function in named_functions(each).values()):
        if any(map(is_any_tensor, signature(function).types)):
            return function
        for op in (function, *nested_ops(function)):
            inside = (argument for region in op.regions for block in region.blocks for argument in block.arguments)
            if any(is_any_tensor(value.type) for value in (*op.results, *inside)):
                return op
    return None


def _undefined_tensor(module: ir.Module) -> ir.Operation | None:
    ops = (op for function in all_functions(module) for op in nested_ops(function))
    return next((op for op in ops if op.name == EMPTY), None)


def _kept_allocation(module: ir.Module) -> ir.Operation | None:
    """An allocation that is neither freed nor passed on, by any name; of those whose regions control certainly leaves."""
    for function in all_functions(module):
        allocations, ends = _read(function)
        for op in allocations:
            if not _goes_somewhere(op.results[0], ends):
                return op
    return None


def _read(function: ir.Operation) -> tuple[list[ir.Operation], OpSet]:
    """The allocations that only regions of one block are around, which lead out at the end; and the last op of each block."""
    allocations: list[ir.Operation] = []
    ends = OpSet()
    waiting: list[tuple[Any, bool]] = [(function.regions[0], True)]
    while waiting:
        region, is_left = waiting.pop()
        blocks = [[view.operation for view in block.operations] for block in region.blocks]
        ends.update(ops[-1] for ops in blocks if ops)
        for ops in blocks:
            here = is_left and len(blocks) == 1 and bool(ops) and ops[-1].name != "llvm.unreachable"
            for op in ops:
                waiting += ((each, here) for each in op.regions)
                if here and op.name == ALLOC:
                    allocations.append(op)
    return allocations, ends


def _goes_somewhere(allocated: ir.Value, ends: OpSet) -> bool:
    """Whether memory is freed, stored, or passed on by the end of a block, by any name that ops and their regions give it."""
    known = {allocated}
    waiting = [allocated]
    while waiting:
        for user, number in _uses(waiting.pop()):
            if number in freed(user) or user in ends or number < len(stored(user)):
                return True
            inside = (argument for region in user.regions for block in region.blocks for argument in block.arguments)
            made = () if user.name in CALLS else (*user.results, *inside)
            new = [result for result in made if is_buffer(result.type) and result not in known]
            known.update(new)
            waiting += new
    return False


def _uses(value: ir.Value) -> Iterator[tuple[ir.Operation, int]]:
    for use in value.uses:
        yield cast(Any, use.owner).operation, use.operand_number


def _tensor_of_a_function(module: ir.Module) -> ir.Operation | None:
    functions = (function for each in modules(module) for function in named_functions(each).values())
    return next((function for function in functions if any(map(is_tensor, signature(function).types))), None)


def _tensor_constant(module: ir.Module) -> ir.Operation | None:
    ops = (op for function in all_functions(module) for op in nested_ops(function))
    return next((op for op in ops if is_constant(op) and is_tensor(op.results[0].type)), None)


def _unused_tensor(module: ir.Module) -> ir.Operation | None:
    for op in (op for function in all_functions(module) for op in top_level_ops(function)):
        if op.name.startswith(_VALUES) and len(op.results) and not any(map(_is_used, op.results)):
            return op
    return None


def _is_used(value: ir.Value) -> bool:
    return next(iter(value.uses), None) is not None


def _concatenation(module: ir.Module) -> ir.Operation | None:
    ops = (op for function in all_functions(module) for op in top_level_ops(function))
    return next((op for op in ops if op.name == "tensor.concat"), None)


def _open_division(module: ir.Module) -> ir.Operation | None:
    """A division of integers in the region of an op, by what may be 0 or -1 and was not chosen."""
    for function in all_functions(module):
        for op in nested_ops(function):
            if op.name in _DIVISIONS and op.parent != function and _is_open(op.operands[1]):
                return op
    return None


def _is_open(divisor: ir.Value) -> bool:
    return constant_of(divisor) in (None, 0, -1) and made_by(divisor, CHOICE) is None


def _unchecked_index(module: ir.Module) -> ir.Operation | None:
    """A read in a loop that checks nothing, at a place that is an element of what the loop goes over."""
    for function in all_functions(module):
        for op in (op for op in nested_ops(function) if op.name == GENERIC):
            body = op.regions[0].blocks[0]
            inside = [view.operation for view in body.operations]
            read = next((each for each in inside if each.name in LOADS and _is_read_at(each, body)), None)
            if read is not None and all(each.name != ASSERT for each in nested_ops(op)):
                return read
    return None


def _is_read_at(read: ir.Operation, body: ir.Block) -> bool:
    """Whether a place that is read is an argument of the body, as it is or cast to an index."""
    for place in list(read.operands)[1:]:
        cast_of = made_by(place, "arith.index_cast")
        if (place if cast_of is None else cast_of.operands[0]) in list(body.arguments):
            return True
    return False


def _known_reshape(module: ir.Module) -> ir.Operation | None:
    """A `tensor.reshape` of dims to dims whose sizes its type says, outside of other ops."""
    for function in all_functions(module):
        for op in (op for op in top_level_ops(function) if op.name == "tensor.reshape"):
            source, result = op.operands[0].type, op.results[0].type
            if not (is_tensor(source) and is_tensor(result)):
                continue
            if shape_of(source) and shape_of(result) and None not in shape_of(result):
                return op
    return None


def _unfit_contraction(module: ir.Module) -> ir.Operation | None:
    """An op with an equation and an operand that has not a dim for each letter, or dims of one letter with two sizes."""
    ops = (op for function in all_functions(module) for op in ops_outside_payloads(function))
    return next((op for op in ops if op.name in _WITH_EQUATIONS and not _fits(op)), None)


def _fits(op: ir.Operation) -> bool:
    sizes: dict[str, int] = {}
    for letters, operand in zip(letters_of(op), op.operands, strict=True):
        shape = shape_of(operand.type)
        if len(letters) != len(shape):
            return False
        known = [(letter, size) for letter, size in zip(letters, shape, strict=True) if size is not None]
        if any(sizes.setdefault(letter, size) != size for letter, size in known):
            return False
    return True


def _shared_undefined(module: ir.Module) -> ir.Operation | None:
    ops = (op for function in all_functions(module) for op in top_level_ops(function) if op.name == EMPTY)
    return next((op for op in ops if len(list(op.results[0].uses)) > 1), None)


def _unfit_scratch(module: ir.Module) -> ir.Operation | None:
    """A convolution on memory that says how its work is cut but has no scratch memory, or the other way round."""
    ops = (op for function in all_functions(module) for op in ops_outside_payloads(function))
    found = (op for op in ops if op.name == CONV and not len(op.results))
    return next((op for op in found if (SPREAD in op.attributes) != (scratch_operands(op) > 0)), None)


def _tensor_made_by(wanted: Callable[[ir.Operation], bool]) -> Callable[[ir.Module], ir.Operation | None]:
    """Finds a wanted op that makes a tensor, though its model says how it is bufferized, and each tensor has a rank."""

    def found(module: ir.Module) -> ir.Operation | None:
        for op in (op for function in all_functions(module) for op in ops_outside_payloads(function)):
            model = model_of(op.name) if wanted(op) and any(is_tensor(result.type) for result in op.results) else None
            if model is not None and model.bufferize is not None and all(map(_is_ranked, values_read(op))):
                return op
        return None

    return found


def _is_ranked(value: ir.Value) -> bool:
    return is_tensor(value.type) or not is_any_tensor(value.type)


def _known_to_callers_alone(module: ir.Module) -> Iterator[ir.Operation]:
    """The functions that nobody names but calls of the module."""
    for each in modules(module):
        uses = find_uses(each)
        for name, function in named_functions(each).items():
            if is_private(function) and not (name in uses and uses[name].others):
                yield function


def _returned_argument(module: ir.Module) -> ir.Operation | None:
    """A function that gives back an argument in one place of all its returns, by whichever cast."""
    for function in _known_to_callers_alone(module):
        for returned in zip(*(list(op.operands) for op in returns_of(function)), strict=True):
            shown = {viewed(value, ("memref.cast",)) for value in returned if is_memref(value.type)}
            if len(shown) == 1 and shown <= set(entry_block(function).arguments):
                return function
    return None


def _returned_memref(module: ir.Module) -> ir.Operation | None:
    """A function that returns a memref whose size and place every caller can tell."""
    for function in _known_to_callers_alone(module):
        for kind in signature(function).outputs:
            if is_memref(kind) and None not in shape_of(kind) and layout_of(kind) == (row_major(shape_of(kind)), 0):
                return function
    return None


def _composite(module: ir.Module) -> ir.Operation | None:
    known = decompositions()
    for function in named_functions(module).values():
        if any(each.types(kind) is not None for kind in signature(function).types for each in known):
            return function
    return None


def _wrongly_prepared(module: ir.Module) -> ir.Operation | None:
    """`@prepare`, if it takes other arguments than weights, or if the last that `@main` takes prepared are not its results."""
    functions = {symbol_name(function): function for function in defined_functions(module)}
    if not {"main", "prepare"} <= functions.keys():
        return None  # what somebody else has prepared is an argument like any other
    wanted = [each.type for each in signature(functions["main"]).arguments if each.kind == "prepared"]
    if not wanted:
        return None  # a function that happens to have the name
    given = signature(functions["prepare"])
    made = list(given.outputs)
    is_right = made == wanted[len(wanted) - len(made) :] and all(each.kind == "weight" for each in given.arguments)
    return None if is_right else functions["prepare"]


def _view_beyond(module: ir.Module) -> ir.Operation | None:
    ops = (op for function in all_functions(module) for op in nested_ops(function))
    return next((op for op in ops if op.name == "memref.view" and _ends_beyond(op)), None)


def _ends_beyond(view: ir.Operation) -> bool:
    """Whether a view, all of whose numbers are known, does not lie in the bytes that it shows."""
    shown = view.results[0].type
    start, room, shape = constant_of(view.operands[1]), shape_of(view.operands[0].type)[0], shape_of(shown)
    sizes = [size for size in shape if size is not None]
    if start is None or room is None or len(sizes) < len(shape):
        return False
    return start < 0 or start + prod(sizes) * element_bytes(element_of(shown)) > room


def _freed_twice(module: ir.Module) -> ir.Operation | None:
    freed_by: set[tuple[ir.Value, ir.Block]] = set()
    for op in (op for function in all_functions(module) for op in nested_ops(function)):
        if op.name == DEALLOC:
            if (op.operands[0], op.block) in freed_by:
                return op
            freed_by.add((op.operands[0], op.block))
    return None


def _freed_stack(module: ir.Module) -> ir.Operation | None:
    ops = (op for function in all_functions(module) for op in nested_ops(function))
    return next((op for op in ops if op.name == DEALLOC and made_by(op.operands[0], ALLOCA)), None)


_VALUES = ("linalg.", "tensor.", "hotdesk.", "tm_tensor.")
_WITH_EQUATIONS = (CONTRACT, ATTENTION)
_DIVISIONS = frozenset(f"arith.{name}{sign}" for name in ("div", "rem", "ceildiv", "floordiv") for sign in ("si", "ui"))

NO_TENSORS = Property("no tensor is left", _tensor)
NO_UNDEFINED_TENSORS = Property("no tensor.empty is left", _undefined_tensor)
ALL_FREED = Property("every allocation is freed or passed on", _kept_allocation)
NO_TENSORS_IN_SIGNATURES = Property("no function takes or gives a tensor", _tensor_of_a_function)
NO_TENSOR_CONSTANTS = Property("no constant is a tensor", _tensor_constant)
NO_UNUSED_TENSORS = Property("each tensor that a linalg, tensor, tm_tensor or hotdesk op makes is used", _unused_tensor)
NO_CONCATENATIONS = Property("no tensor.concat is left", _concatenation)
DIVISORS_CHOSEN = Property("each division in a region is by a known or a chosen number", _open_division)
PLACES_CHECKED = Property("each loop that reads where an element says checks something", _unchecked_index)
NO_KNOWN_RESHAPES = Property("no tensor.reshape to sizes that its type says is left", _known_reshape)
LETTERS_FIT = Property("each equation has a letter for each dim, and one size for each letter", _unfit_contraction)
ONE_USE_EACH = Property("each tensor.empty outside of regions is used once at most", _shared_undefined)
SCRATCH_GIVEN = Property(
    "each convolution that says how its work is cut, and no other, has scratch memory", _unfit_scratch
)
NO_STRUCTURED_TENSORS = Property("no linalg op makes a tensor", _tensor_made_by(is_linalg))
NO_TENSOR_OPS = Property(
    "no op of the dialect tensor makes one of a rank", _tensor_made_by(lambda op: op.name.startswith("tensor."))
)
NO_TENSORS_FROM_FLOW = Property(
    "no loop or branch of scf makes a tensor of a rank", _tensor_made_by(lambda op: op.name.startswith("scf."))
)
NO_ARGUMENTS_RETURNED = Property(
    "no private function that is only called returns an argument as it came", _returned_argument
)
NO_MEMREFS_RETURNED = Property(
    "no private function that is only called returns a memref of static size in row-major order", _returned_memref
)
NO_COMPOSITES = Property("no function takes or gives a value that can be taken apart", _composite)
PREPARED_FROM_WEIGHTS = Property("@prepare makes of weights alone what @main takes prepared", _wrongly_prepared)
VIEWS_FIT = Property("each view lies in the bytes that it shows, as far as its numbers are known", _view_beyond)
FREED_ONCE = Property("nothing is freed twice in a block", _freed_twice)
NOTHING_FREED_ON_STACK = Property("nothing on the stack is freed", _freed_stack)
