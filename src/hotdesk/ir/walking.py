"""Reading operations: nested ops, values captured by regions, attributes as plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.graphs import postorder
from hotdesk.ir.op_maps import OpSet


def main_function(module: ir.Module, name: str = "main") -> ir.Operation:
    """The `func.func` of that name. Raises KeyError when the module has none."""
    for function in functions_of(module):
        if symbol_name(function) == name:
            return function
    raise KeyError(name)


def functions_of(module: ir.Module | ir.Operation) -> list[ir.Operation]:
    """The `func.func`s of a module, declarations too, in order."""
    ops = [op.operation for op in module.operation.regions[0].blocks[0].operations]
    return list(filter(is_function, ops))


def is_function(op: ir.Operation) -> bool:
    """Whether it is a `func.func`, defined or declared."""
    return op.name == "func.func"


def dialect_of(name: str) -> str:
    """The dialect of an op's name."""
    return name.partition(".")[0]


def is_module(op: ir.Operation) -> bool:
    return op.name == "builtin.module"


def globals_of(module: ir.Module) -> dict[str, ir.Operation]:
    """The `memref.global`s of a module by name."""
    ops = [op.operation for op in module.body.operations]
    return {symbol_name(op): op for op in ops if op.name == "memref.global"}


def ops_around(op: ir.Operation) -> Iterator[ir.Operation]:
    """The ops that an op is in, from the inside out."""
    while (parent := op.parent) is not None:
        op = cast(Any, parent).operation
        yield op


def function_around(op: ir.Operation) -> ir.Operation:
    """The `func.func` that an op is in, or is."""
    return next(filter(is_function, chain([op], ops_around(op))))


def module_around(op: ir.Operation) -> ir.Operation:
    """The module that an op is in, or is."""
    return next(filter(is_module, chain([op], ops_around(op))))


def defined_functions(module: ir.Module) -> list[ir.Operation]:
    """The `func.func`s of a module that have a body, in order."""
    return [function for function in functions_of(module) if len(function.regions[0].blocks)]


def modules(module: ir.Module) -> list[ir.Module]:
    """A module and those nested in it, outermost first; each has functions of its own."""
    found = [module]
    for each in found:
        found += (cast(ir.Module, op) for op in each.body.operations if is_module(op.operation))
    return found


def all_functions(module: ir.Module) -> list[ir.Operation]:
    """The `func.func`s with a body of a module and of those nested in it."""
    return [function for each in modules(module) for function in defined_functions(each)]


def straight_functions(module: ir.Module) -> list[ir.Operation]:
    """The functions of one block, in the order of the text."""
    return [function for function in defined_functions(module) if len(function.regions[0].blocks) == 1]


def is_declaration(operation: ir.Operation) -> bool:
    """Whether it is a `func.func` without a body."""
    return is_function(operation) and not len(operation.regions[0].blocks)


def symbol_name(operation: ir.Operation) -> str:
    return text_of(operation, "sym_name")


def runs_every_call(function: ir.Operation) -> bool:
    """Whether a function is part of each call; `@prepare` runs once, so its decisions are not reported with the calls'."""
    return symbol_name(function) != "prepare"


def entry_block(function: ir.Operation) -> ir.Block:
    return function.regions[0].blocks[0]


def top_level_ops(function: ir.Operation) -> list[ir.Operation]:
    """The operations of the entry block, terminator included."""
    return [op.operation for op in entry_block(function).operations]


def walk(operation: ir.Operation, visit: Callable[[ir.Operation], ir.WalkResult]) -> None:
    """Calls `visit` for an operation and all inside of it, in order, parents first.

    The bindings make a RuntimeError of whatever a callback raises: an interrupt is one again.
    """
    try:
        cast(Any, operation).walk(visit, ir.WalkOrder.PRE_ORDER)
    except RuntimeError as error:
        if "\nKeyboardInterrupt" in str(error):
            raise KeyboardInterrupt from None
        raise


def next_op(op: ir.Operation) -> ir.Operation:
    """The op behind one that does not end its block."""
    return cast(Any, ir.InsertionPoint.after(op)).ref_operation.operation


def nested_values(operation: ir.Operation) -> Iterator[ir.Value]:
    """The results of all ops inside an operation's regions, and the arguments of all blocks of these ops."""
    for op in nested_ops(operation):
        yield from op.results
        yield from (argument for region in op.regions for block in region.blocks for argument in block.arguments)


def nested_ops(operation: ir.Operation) -> list[ir.Operation]:
    """Every operation inside an operation's regions, in order, parents first."""
    if not len(operation.regions):
        return []
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op.operation)
        return ir.WalkResult.ADVANCE

    walk(operation, visit)
    return found[1:]


def is_loop_or_branch(operation: ir.Operation) -> bool:
    """Whether an op is structured control flow, of `scf` or `affine`."""
    return len(operation.regions) > 0 and dialect_of(operation.name) in ("scf", "affine")


def ops_outside_payloads(function: ir.Operation) -> list[ir.Operation]:
    """The ops of a function, those in the regions of loops and branches behind the op that has these regions."""
    found: list[ir.Operation] = []

    def visit(region: ir.Region) -> None:
        for block in in_order(region):
            for op in block.operations:
                found.append(op.operation)
                if is_loop_or_branch(op.operation):
                    for each in op.operation.regions:
                        visit(each)

    visit(function.regions[0])
    return found


def in_order(region: ir.Region) -> list[ir.Block]:
    """The blocks of a region, each after one that branches to it and, loops apart, after all; at the end those never reached."""
    blocks = list(region.blocks)
    if len(blocks) < 2:
        return blocks
    # The last successor first, so that in reverse postorder they come in their order.
    done = dict.fromkeys(postorder(blocks[:1], lambda block: reversed(list(block.successors))))
    return [*reversed(done), *(block for block in blocks if block not in done)]


def captured_operands(operation: ir.Operation) -> list[tuple[ir.Operation, int, ir.Value]]:
    """Operands of nested ops that are defined outside `operation`: (nested op, operand number, value)."""
    if len(operation.regions) == 0:
        return []
    inside: set[ir.Value] = set()
    nested = list(nested_ops(operation))
    for region in operation.regions:
        for block in region.blocks:
            inside.update(block.arguments)
    for op in nested:
        inside.update(op.results)
        for region in op.regions:
            for block in region.blocks:
                inside.update(block.arguments)
    return [(op, i, v) for op in nested for i, v in enumerate(op.operands) if v not in inside]


def values_read(operation: ir.Operation) -> list[ir.Value]:
    """The operands of an operation, and what its regions read from outside of it."""
    return [*operation.operands, *(value for _, _, value in captured_operands(operation))]


def attributes_of(operation: ir.Operation) -> dict[str, ir.Attribute]:
    """The attributes of an operation by name."""
    return {name: operation.attributes[name] for name in operation.attributes}


def integer_of(operation: ir.Operation, attribute: str) -> int:
    """The number that an attribute is."""
    return int(cast(Any, operation.attributes[attribute]).value)


def flag_of(operation: ir.Operation, attribute: str) -> bool:
    """The truth that an attribute is."""
    return bool(cast(Any, operation.attributes[attribute]).value)


def text_of(operation: ir.Operation, attribute: str) -> str:
    """The text that an attribute is, or the name of a symbol."""
    return str(cast(Any, operation.attributes[attribute]).value)


def groups_of(operation: ir.Operation) -> list[tuple[int, ...]]:
    """The dims of the larger shape that each one of the smaller stands for, of an op that expands or collapses dims."""
    return [int_array(group) for group in cast(Any, operation.attributes["reassociation"])]


def parallel_loops(operation: ir.Operation) -> tuple[bool, ...]:
    """Which loops of a structured op are parallel."""
    return tuple("parallel" in str(kind) for kind in cast(Any, operation.attributes["iterator_types"]))


def segment_sizes(operation: ir.Operation) -> tuple[int, ...]:
    """`operandSegmentSizes` of an op that has them."""
    return tuple(cast(Any, operation.attributes["operandSegmentSizes"]))


def int_array(attribute: ir.Attribute) -> tuple[int, ...]:
    """The integers of a dense array, an array of integer attributes, or a dense vector."""
    if isinstance(attribute, ir.ArrayAttr):
        return tuple(int(cast(Any, item).value) for item in attribute)
    if isinstance(attribute, ir.DenseIntElementsAttr):
        return tuple(int(attribute[i]) for i in range(len(attribute)))
    return tuple(int(item) for item in cast(Any, attribute))


def defining_op(value: ir.Value) -> ir.Operation | None:
    """The operation a value is a result of; None for a block argument."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else cast(Any, owner).operation


def made_by(value: ir.Value, *names: str) -> ir.Operation | None:
    """The operation of one of these names that a value is a result of; None if no such one makes it."""
    op = defining_op(value)
    return op if op is not None and op.name in names else None


def is_constant(op: ir.Operation) -> bool:
    """Whether an op makes a number, or a tensor of numbers, that is written in the IR."""
    return op.name == "arith.constant"


def constant_op(value: ir.Value) -> ir.Operation | None:
    """The op that makes a number, or a tensor of numbers, that is written in the IR; None for any other value."""
    op = defining_op(value)
    return op if op is not None and is_constant(op) else None


def constant_of(value: ir.Value) -> int | float | None:
    """The number of an `arith.constant` scalar, else None."""
    op = constant_op(value)
    if op is None:
        return None
    attribute = op.attributes["value"]
    if isinstance(attribute, (ir.IntegerAttr, ir.FloatAttr)):
        return attribute.value
    return None


def users(value: ir.Value) -> list[ir.Operation]:
    """Operations that have the value as an operand, once each."""
    return list(OpSet(cast(Any, use.owner).operation for use in value.uses))
