"""Arithmetic on one element: the type sums are kept in, and the operations on it as text.

Sums of f16 and bf16 are kept in f32 and rounded once, integers wrap around, and truth values add by `or` and multiply by
`and`. A floating sum may be taken in any order and fused with its product.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from hotdesk import elements
from hotdesk.elements import FLOAT_BITS
from hotdesk.kernels.text import KernelBuilder

Reduction: TypeAlias = Literal["sum", "max", "min"]

_ANY_ORDER = "fastmath<reassoc,contract>"


def is_float(element: str) -> bool:
    return element in FLOAT_BITS


def bits(element: str) -> int:
    if element in FLOAT_BITS:
        return FLOAT_BITS[element]
    if element[:1] == "i" and element[1:].isdigit():
        return int(element[1:])
    raise ValueError(f"element type: expected a float or a signless integer, got {element}")


def sum_type(result: str, *operands: str) -> str:
    """What a sum over `operands` is kept in before it becomes a `result`."""
    mixed = [operand for operand in operands if is_float(operand) != is_float(result)]
    if mixed:
        raise ValueError(f"element types: expected all floats or all integers, got {', '.join((*operands, result))}")
    widest = max((result, *operands), key=bits)
    if not is_float(result):
        if widest != result:
            raise ValueError(f"element types: expected a result as wide as {widest}, got {result}")
        return result
    return "f64" if widest == "f64" else "f32"


def widen(k: KernelBuilder, value: str, element: str, to: str) -> str:
    if element == to:
        return value
    if is_float(element):
        return k.value(f"arith.extf {value} : {element} to {to}")
    sign = "extui" if element == "i1" else "extsi"
    return k.value(f"arith.{sign} {value} : {element} to {to}")


def narrow(k: KernelBuilder, value: str, element: str, to: str) -> str:
    if element == to:
        return value
    if element == "f64" and bits(to) == 16:  # in two steps: there is no instruction for one
        value, element = k.value(f"arith.truncf {value} : f64 to f32"), "f32"
    return k.value(f"arith.truncf {value} : {element} to {to}")


def multiply(k: KernelBuilder, a: str, b: str, kind: str) -> str:
    if is_float(kind):
        return k.value(f"arith.mulf {a}, {b} fastmath<contract> : {kind}")
    return k.value(f"arith.{'andi' if kind == 'i1' else 'muli'} {a}, {b} : {kind}")


def combine(k: KernelBuilder, a: str, b: str, kind: str, reduction: Reduction = "sum") -> str:
    if kind == "i1":
        return k.value(f"arith.{'andi' if reduction == 'min' else 'ori'} {a}, {b} : i1")
    if reduction != "sum":
        return k.value(f"arith.{reduction}{'imumf' if is_float(kind) else 'si'} {a}, {b} : {kind}")
    if is_float(kind):
        return k.value(f"arith.addf {a}, {b} {_ANY_ORDER} : {kind}")
    return k.value(f"arith.addi {a}, {b} : {kind}")


def neutral(k: KernelBuilder, kind: str, reduction: Reduction = "sum") -> str:
    """What changes nothing when combined, as a constant."""
    number = elements.neutral(kind, reduction)
    if kind == "i1":
        return k.constant("true" if number else "false", kind)
    return k.constant(literal(number, kind), kind)


def literal(number: float, kind: str) -> str:
    """A whole number, or an infinity, as text of a type."""
    if not isinstance(number, float):
        return f"{number}.0" if is_float(kind) else str(number)
    infinity = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000}[kind]
    sign = 1 << (bits(kind) - 1) if number < 0 else 0
    return f"0x{infinity | sign:0{bits(kind) // 4}X}"
