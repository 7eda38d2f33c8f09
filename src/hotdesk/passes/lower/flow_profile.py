"""The entry function of a program with control flow, with the time taken around each kernel call.

    call @kernel_3(…) {hotdesk.call = 5}    ->    clock; call @kernel_3(…); clock; %stamps[5] += the time between, and one call

The function takes an array of `i64` as third argument: two places that the clock is read into, then nanoseconds and number of
calls of each kernel call, in the order of `hotdesk.call`.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.building import constant, create, index_constant
from hotdesk.ir.signature import formals, set_signature, signature
from hotdesk.ir.walking import entry_block, integer_of, nested_ops, next_op, symbol_name
from hotdesk.passes.lower.to_llvm import kernels_to_llvm
from hotdesk.passes.lower.unpacked_memrefs import table_entry

CALL = "hotdesk.call"
"""The number of a kernel call, as an attribute of it."""


def profiled_flow(text: str, entry: str, name: str, clock: int) -> ir.Module:
    """The module in the LLVM dialect.

    Args:
        text: the entry function before its lowering to LLVM, and declarations of what it calls.
        entry, name: what the function is called, and is to be.
        clock: a number that C's `clock_gettime` knows.
    """
    module = ir.Module.parse(text)
    function = next(op.operation for op in module.body.operations if symbol_name(op.operation) == entry)
    function.attributes["sym_name"] = ir.StringAttr.get(name)
    block = entry_block(function)
    table = block.arguments[0].type
    stamps = block.add_argument(table, function.location)
    set_signature(function, signature(function).with_arguments(formals([table])))
    for op in list(nested_ops(function)):
        if CALL in op.attributes:
            number = integer_of(op, CALL)
            following = next_op(op)
            before = _now(stamps, clock, op)
            after = _now(stamps, clock, following)
            _add(stamps, 2 + 2 * number, _computed("arith.subi", after, before, following), following)
            _add(stamps, 3 + 2 * number, constant(1, ir.IntegerType.get_signless(64), following), following)
    declared = ir.Module.parse(f"func.func private @clock_gettime(i32, {table}) -> i32")
    for op in list(declared.body.operations):
        module.body.append(op)
    kernels_to_llvm(module)
    return module


def _now(stamps: ir.Value, clock: int, before: ir.Operation) -> ir.Value:
    """What the clock shows, in nanoseconds."""
    i32 = ir.IntegerType.get_signless(32)
    callee = {"callee": ir.FlatSymbolRefAttr.get("clock_gettime")}
    create("func.call", [constant(clock, i32, before), stamps], [i32], callee, before=before)
    seconds, rest = (table_entry(stamps, place, before) for place in (0, 1))
    whole = _computed("arith.muli", seconds, constant(1_000_000_000, ir.IntegerType.get_signless(64), before), before)
    return _computed("arith.addi", whole, rest, before)


def _add(stamps: ir.Value, place: int, value: ir.Value, before: ir.Operation) -> None:
    total = _computed("arith.addi", table_entry(stamps, place, before), value, before)
    create("memref.store", [total, stamps, index_constant(place, before)], [], before=before)


def _computed(name: str, first: ir.Value, second: ir.Value, before: ir.Operation) -> ir.Value:
    return create(name, [first, second], [first.type], before=before).results[0]
