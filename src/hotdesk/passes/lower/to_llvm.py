"""From a module of kernels to the LLVM dialect: MLIR's own passes, and our elementary functions in the place of `math` ops.

Kernels use func, linalg and tm_tensor on memrefs, affine, scf, cf, memref, arith, math, index and ub. Floats of 16 bits compute
in f32 and round after every operation, as PyTorch does; f64 becomes one by way of f32, as there. Elementary functions on f32 are
those of `kernels.elementary`; `math.log1p` and `math.expm1` on f64, and others that LLVM has no intrinsic for, become calls of
the C math library. A function whose arguments are memrefs takes one plain pointer for each.

What MLIR's passes lack or do badly is rewritten around them: in front of them `math.isinf`, `math.isnormal`, `arith.truncf`,
`scf.if` and conversions of bf16 (`arith.extf`), behind them, in LLVM's dialect, `llvm.br`, `llvm.bitcast`, `llvm.load`,
`llvm.store` and `llvm.func`.

What has no lowering here, and must not reach a kernel: `math.fma` on f16 and bf16 (multiply and add in f32), which asks for a
runtime symbol that the JIT does not find. A bf16 that LLVM keeps in a register asks for `__truncsfbf2`: `SUPPORT` has it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection
from typing import cast

from hotdesk._bindings import ir
from hotdesk.ir.building import compared, constant, create, replace
from hotdesk.ir.context import entered, run_mlir_passes
from hotdesk.ir.linking import define
from hotdesk.ir.loops import for_bounds
from hotdesk.ir.types import scalar_of
from hotdesk.ir.walking import attributes_of, constant_of, defining_op, is_constant, nested_ops, next_op, users
from hotdesk.kernels.elementary import use_elementary_functions
from hotdesk.models.generics import GENERIC
from hotdesk.models.scf import FOR
from hotdesk.passes.lower.split_loops import split_loops

_TO_LOOPS = (
    "func.func(tm-tensor-to-loops)",
    "func.func(convert-linalg-to-loops)",
    "convert-complex-to-standard",
    "canonicalize",
    "cse",
    "lower-affine",
    "expand-strided-metadata",
    "lower-affine",  # the pass before writes strides as affine maps
    "func.func(arith-emulate-unsupported-floats{source-types=bf16,f16 target-type=f32})",
    "math-extend-to-supported-types{target-type=f32}",
)
_TO_LLVM = (
    "convert-math-to-funcs",  # integer powers
    "convert-scf-to-cf",
    "convert-vector-to-llvm",
    "convert-math-to-llvm",
    "convert-math-to-libm",
    "convert-complex-to-llvm",
    "arith-expand{include-bf16=true}",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "convert-ub-to-llvm",
    "finalize-memref-to-llvm",
    "convert-func-to-llvm{use-bare-ptr-memref-call-conv=1}",
    "convert-cf-to-llvm",
    "canonicalize",
    "reconcile-unrealized-casts",
)


def kernels_to_llvm(module: ir.Module) -> None:
    """Takes kernel functions and their declarations to the LLVM dialect, in place. Raises PassError."""
    _put_bodies_in_place(module)
    _compare_sizes(module)
    run_mlir_passes(module, ",".join(_TO_LOOPS), verify_each=False)
    _narrow_in_two_steps(module)
    _narrow_as_integers(module)
    _choose_as_integers(module)
    _call_near_zero(module)
    use_elementary_functions(module)
    _keep_outer_loops(module)
    split_loops(module)
    run_mlir_passes(module, ",".join(_TO_LLVM), verify_each=False)
    _tell_branches(module)
    _move_as_integers(module)
    _move_truths_as_bytes(module)
    _use_whole_registers(module)


def _put_bodies_in_place(module: ir.Module) -> None:
    """Those of structured ops without loops and operands, of which checks alone are left: MLIR takes them for ops on tensors."""
    for op in list(nested_ops(module.operation)):
        if op.name == GENERIC and len(op.operands) == 0:
            *body, _ = (each.operation for each in op.regions[0].blocks[0].operations)
            for each in body:
                each.move_before(op)
            op.erase()


_SAID = "llvm.loop_annotation"
_LONG = 32
"""Iterations of a loop that LLVM computes by vectors."""


def _keep_outer_loops(module: ir.Module) -> None:
    """LLVM writes out no loop around long ones: that takes it long, and code is no faster for it.

    Those around short ones, as over a window, it may: what is written out of these can be computed by vectors.
    """
    with entered(module.operation):
        kept = ir.Attribute.parse("#llvm.loop_annotation<unroll = <disable = true>>")

        def innermost(op: ir.Operation) -> int | None:
            """The least iterations of the innermost loops; None where there are none."""
            inside = [each.operation for region in op.regions for block in region.blocks for each in block.operations]
            least = min((found for each in inside if (found := innermost(each)) is not None), default=None)
            if op.name != FOR:
                return least
            if least is not None and least >= _LONG:
                op.attributes[_SAID] = kept
            return for_bounds(op).trips or 0 if least is None else least  # 0 where they are not known

        innermost(module.operation)


def _tell_branches(module: ir.Module) -> None:
    """Says of loops what is said where LLVM's dialect has it: MLIR's passes leave it in an attribute that nothing reads."""
    for op in nested_ops(module.operation):
        if op.name == "llvm.br" and _SAID in op.attributes:
            op.attributes["loop_annotation"] = op.attributes[_SAID]
            del op.attributes[_SAID]


_LEAST_NORMAL = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}


def _compare_sizes(module: ir.Module) -> None:
    """Tells infinities, and numbers of full precision, by their absolute values: MLIR has no lowering of these questions."""
    with entered(module.operation):
        for op in [op for op in nested_ops(module.operation) if op.name in ("math.isinf", "math.isnormal")]:
            kind = op.operands[0].type
            size = create("math.absf", [op.operands[0]], [kind], before=op).results[0]
            infinite = constant(float("inf"), kind, op)
            if op.name == "math.isinf":
                op.results[0].replace_all_uses_with(compared("oeq", size, infinite, op))
            else:
                least = constant(_LEAST_NORMAL[str(scalar_of(kind))], kind, op)
                both = [compared("oge", size, least, op), compared("olt", size, infinite, op)]
                found = create("arith.andi", both, [op.results[0].type], before=op).results[0]
                op.results[0].replace_all_uses_with(found)
            op.erase()


def _narrow_in_two_steps(module: ir.Module) -> None:
    """Rounds f64 to f32 on its way to 16 bits: LLVM calls functions for that in one step, which no library here has."""
    with entered(module.operation):
        f64, f32 = ir.F64Type.get(), ir.F32Type.get()
        halves = (ir.F16Type.get(), ir.BF16Type.get())
        for op in nested_ops(module.operation):
            if op.name == "arith.truncf" and op.operands[0].type == f64 and op.results[0].type in halves:
                middle = create(op.name, [op.operands[0]], [f32], before=op)
                op.operands[0] = middle.results[0]


def _narrow_as_integers(module: ir.Module) -> None:
    """Rounds f32 to bf16, to the nearest, or to the even one, on numbers of 32 bits.

    What MLIR makes of it chooses among results where one is not a number, which LLVM does element by element, as values of bf16;
    here the number that is rounded is chosen, and only where one that is not a number could round to infinity or 0. A number that
    is a bf16 as it is, as the larger of two, is not rounded.
    """
    with entered(module.operation):
        found = [op for op in nested_ops(module.operation) if op.name == "arith.truncf"]
        single, short = ir.F32Type.get(), ir.BF16Type.get()
        half, word = (ir.IntegerType.get_signless(bits) for bits in (16, 32))
        for op in found:
            given = op.operands[0]
            if given.type != single or op.results[0].type != short:
                continue

            def made(name: str, *operands: ir.Value, kind: ir.Type = word, before: ir.Operation = op) -> ir.Value:
                return create(name, operands, [kind], before=before).results[0]

            bits = made("arith.bitcast", given)
            if not _is_short(given):
                if not _has_short_nans(given):
                    none = compared("uno", given, given, op)
                    bits = made("arith.select", none, constant(0x7FC00000, word, op), bits)
                odd = made("arith.andi", made("arith.shrui", bits, constant(16, word, op)), constant(1, word, op))
                bits = made("arith.addi", bits, made("arith.addi", odd, constant(0x7FFF, word, op)))
            upper = made("arith.shrui", bits, constant(16, word, op))
            replace(op, create("arith.bitcast", [made("arith.trunci", upper, kind=half)], [short], before=op))


_CHOICES = (
    "arith.maximumf",
    "arith.minimumf",
    "arith.maxnumf",
    "arith.minnumf",
    "arith.negf",
    "math.absf",
    "arith.select",
)
_ARITHMETIC = (
    *("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "math.sqrt", "math.rsqrt"),
    *("math.exp", "math.log", "math.tanh", "math.erf", "math.sin", "math.cos"),
)


def _is_short(value: ir.Value) -> bool:
    """Whether an f32 is a bf16, widened: the lower half of its bits is 0."""
    return _is_made_by(value, _CHOICES, lambda number: struct.pack("<f", number)[:2] == bytes(2))


def _has_short_nans(value: ir.Value) -> bool:
    """Whether the lower half of its bits is 0 if an f32 is not a number: processors keep the upper bits of one that is given."""
    return _is_made_by(value, (*_CHOICES, *_ARITHMETIC), lambda number: number == number)


def _is_made_by(value: ir.Value, names: Collection[str], number: Callable[[float], bool]) -> bool:
    """Whether an f32 is made by such operations alone of widened bf16, and of constants that are such a number."""
    waiting, seen = [value], set[ir.Value]()
    for each in waiting:  # grows
        maker = defining_op(each)
        if each in seen or isinstance(each.type, ir.IntegerType):  # what chooses
            continue
        seen.add(each)
        if maker is None:
            return False
        if is_constant(maker):
            if not number(float(cast(float, constant_of(each)))):
                return False
        elif maker.name != "arith.extf" or maker.operands[0].type != ir.BF16Type.get():
            if maker.name not in names:
                return False
            waiting += maker.operands
    return True


def _choose_as_integers(module: ir.Module) -> None:
    """Branches give bf16 as integers: on processors that round to bf16 LLVM hands such values over by way of f32, and back by an
    instruction that takes whatever is smaller than the smallest normal number for 0."""
    with entered(module.operation):
        short, half = ir.BF16Type.get(), ir.IntegerType.get_signless(16)
        for op in [op for op in nested_ops(module.operation) if op.name == "scf.if"]:
            places = [i for i, result in enumerate(op.results) if result.type == short]
            for block in (block for region in op.regions for block in region.blocks) if places else ():
                end = block.operations[len(block.operations) - 1].operation
                for i in places:
                    end.operands[i] = create("arith.bitcast", [end.operands[i]], [half], before=end).results[0]
            for i in places:
                op.results[i].set_type(half)
                back = create("arith.bitcast", [op.results[i]], [short], before=next_op(op))
                op.results[i].replace_all_uses_except(back.results[0], back)


def _move_as_integers(module: ir.Module) -> None:
    """What branches give is loaded and stored as it is: LLVM would make bf16 again of numbers that it only moves."""
    with entered(module.operation):
        for cast in [op for op in nested_ops(module.operation) if op.name == "llvm.bitcast"]:
            given, found = cast.operands[0], cast.results[0]
            if {str(given.type), str(found.type)} != {"bf16", "i16"}:
                continue
            load = defining_op(given)
            if load is not None and load.name == "llvm.load" and len(users(given)) == 1:
                replace(cast, create("llvm.load", [load.operands[0]], [found.type], attributes_of(load), before=load))
                load.erase()
                continue
            for store in [op for op in users(found) if op.name == "llvm.store" and op.operands[0] == found]:
                store.operands[0] = given
            if not users(found):
                cast.erase()


def _move_truths_as_bytes(module: ir.Module) -> None:
    """Loads and stores a truth as the byte that it is in memory: of single bits LLVM makes no vectors.

    Any byte but 0 is true, as in PyTorch: bytes of a caller's may be others than 0 and 1.
    """
    with entered(module.operation):
        bit, byte = (ir.IntegerType.get_signless(bits) for bits in (1, 8))
        differs: dict[str, ir.Attribute] = {"predicate": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1)}  # ne
        nothing: dict[str, ir.Attribute] = {"value": ir.IntegerAttr.get(byte, 0)}
        for op in nested_ops(module.operation):
            if op.name == "llvm.load" and op.results[0].type == bit:
                loaded = create(op.name, [op.operands[0]], [byte], attributes_of(op), before=op).results[0]
                zero = create("llvm.mlir.constant", [], [byte], nothing, before=op).results[0]
                replace(op, create("llvm.icmp", [loaded, zero], [bit], differs, before=op))
            elif op.name == "llvm.store" and op.operands[0].type == bit:
                op.operands[0] = create("llvm.zext", [op.operands[0]], [byte], before=op).results[0]


def _use_whole_registers(module: ir.Module) -> None:
    """Has loops that LLVM vectorises use registers of 64 bytes, where there are any; by itself it takes half of one."""
    with entered(module.operation):
        wide = ir.Attribute.parse('[["prefer-vector-width", "512"]]')
        for op in (each.operation for each in module.body.operations):
            if op.name == "llvm.func" and len(op.regions[0].blocks) and "passthrough" not in op.attributes:
                op.attributes["passthrough"] = wide


def _call_near_zero(module: ir.Module) -> None:
    """`log1p` and `expm1` of f64 by the C library: MLIR makes log(1 + x) and exp(x) - 1 of them, without digits near zero."""
    with entered(module.operation):
        f64 = ir.F64Type.get()
        for op in nested_ops(module.operation):
            name = op.name.removeprefix("math.")
            if op.name in ("math.log1p", "math.expm1") and op.results[0].type == f64:
                define(module, f"func.func private @{name}(f64) -> f64")
                callee = {"callee": ir.FlatSymbolRefAttr.get(name)}
                replace(op, create("func.call", list(op.operands), [f64], callee, before=op))


SUPPORT: str = """
llvm.func @__truncsfbf2(%x: f32) -> bf16 {
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %c16 = llvm.mlir.constant(16 : i32) : i32
  %half = llvm.mlir.constant(32767 : i32) : i32
  %quiet = llvm.mlir.constant(64 : i32) : i32
  %bits = llvm.bitcast %x : f32 to i32
  %upper = llvm.lshr %bits, %c16 : i32
  %odd = llvm.and %upper, %c1 : i32
  %step = llvm.add %half, %odd : i32
  %sum = llvm.add %bits, %step : i32
  %rounded = llvm.lshr %sum, %c16 : i32
  %nan = llvm.or %upper, %quiet : i32
  %isnan = llvm.fcmp "uno" %x, %x : f32
  %chosen = llvm.select %isnan, %nan, %rounded : i1, i32
  %short = llvm.trunc %chosen : i32 to i16
  %result = llvm.bitcast %short : i16 to bf16
  llvm.return %result : bf16
}
"""
"""Functions that LLVM's code generator calls by name and the JIT would not find: rounding to bf16, to the nearest even."""

F16_CONVERSIONS: str = """
llvm.func @__extendhfsf2(%h: f16) -> f32 {
  %narrow = llvm.bitcast %h : f16 to i16
  %bits = llvm.zext %narrow : i16 to i32
  %c13 = llvm.mlir.constant(13 : i32) : i32
  %c16 = llvm.mlir.constant(16 : i32) : i32
  %sizes = llvm.mlir.constant(32767 : i32) : i32
  %signs = llvm.mlir.constant(32768 : i32) : i32
  %least = llvm.mlir.constant(1024 : i32) : i32
  %special = llvm.mlir.constant(31744 : i32) : i32
  %rebias = llvm.mlir.constant(939524096 : i32) : i32
  %small = llvm.mlir.constant(947912704 : i32) : i32
  %infinity = llvm.mlir.constant(2139095040 : i32) : i32
  %quiet = llvm.mlir.constant(4194304 : i32) : i32
  %size = llvm.and %bits, %sizes : i32
  %wide = llvm.shl %size, %c13 : i32
  %normal = llvm.add %wide, %rebias : i32
  %raised = llvm.add %wide, %small : i32
  %above = llvm.bitcast %raised : i32 to f32
  %base = llvm.bitcast %small : i32 to f32
  %difference = llvm.fsub %above, %base : f32
  %subnormal = llvm.bitcast %difference : f32 to i32
  %huge = llvm.or %wide, %infinity : i32
  %quieted = llvm.or %huge, %quiet : i32
  %is_subnormal = llvm.icmp "ult" %size, %least : i32
  %is_special = llvm.icmp "uge" %size, %special : i32
  %is_nan = llvm.icmp "ugt" %size, %special : i32
  %finite = llvm.select %is_subnormal, %subnormal, %normal : i1, i32
  %last = llvm.select %is_nan, %quieted, %huge : i1, i32
  %found = llvm.select %is_special, %last, %finite : i1, i32
  %sign = llvm.and %bits, %signs : i32
  %moved = llvm.shl %sign, %c16 : i32
  %whole = llvm.or %found, %moved : i32
  %result = llvm.bitcast %whole : i32 to f32
  llvm.return %result : f32
}
llvm.func @__truncsfhf2(%x: f32) -> f16 {
  %bits = llvm.bitcast %x : f32 to i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %c13 = llvm.mlir.constant(13 : i32) : i32
  %c16 = llvm.mlir.constant(16 : i32) : i32
  %sizes = llvm.mlir.constant(2147483647 : i32) : i32
  %signs = llvm.mlir.constant(32768 : i32) : i32
  %rebias = llvm.mlir.constant(939524096 : i32) : i32
  %half = llvm.mlir.constant(4095 : i32) : i32
  %least = llvm.mlir.constant(947912704 : i32) : i32
  %magic = llvm.mlir.constant(1056964608 : i32) : i32
  %behind = llvm.mlir.constant(1199570944 : i32) : i32
  %infinity = llvm.mlir.constant(2139095040 : i32) : i32
  %short_infinity = llvm.mlir.constant(31744 : i32) : i32
  %digits = llvm.mlir.constant(1023 : i32) : i32
  %quiet = llvm.mlir.constant(32256 : i32) : i32
  %size = llvm.and %bits, %sizes : i32
  %upper = llvm.lshr %size, %c13 : i32
  %odd = llvm.and %upper, %c1 : i32
  %moved = llvm.sub %size, %rebias : i32
  %step = llvm.add %half, %odd : i32
  %sum = llvm.add %moved, %step : i32
  %normal = llvm.lshr %sum, %c13 : i32
  %positive = llvm.bitcast %size : i32 to f32
  %point = llvm.bitcast %magic : i32 to f32
  %aligned = llvm.fadd %positive, %point : f32
  %aligned_bits = llvm.bitcast %aligned : f32 to i32
  %subnormal = llvm.sub %aligned_bits, %magic : i32
  %payload = llvm.and %upper, %digits : i32
  %nan = llvm.or %payload, %quiet : i32
  %is_subnormal = llvm.icmp "ult" %size, %least : i32
  %is_behind = llvm.icmp "uge" %size, %behind : i32
  %is_nan = llvm.icmp "ugt" %size, %infinity : i32
  %finite = llvm.select %is_subnormal, %subnormal, %normal : i1, i32
  %number = llvm.select %is_behind, %short_infinity, %finite : i1, i32
  %found = llvm.select %is_nan, %nan, %number : i1, i32
  %sign = llvm.lshr %bits, %c16 : i32
  %kept = llvm.and %sign, %signs : i32
  %whole = llvm.or %found, %kept : i32
  %short = llvm.trunc %whole : i32 to i16
  %result = llvm.bitcast %short : i16 to f16
  llvm.return %result : f16
}
"""
"""What LLVM's code generator calls by name for conversions of f16 on processors without instructions for them (F16C)."""
