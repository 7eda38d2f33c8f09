"""Elementary functions on f32 as branch-free arithmetic, so that loops which call them become vector code.

    math.exp %x : f32         ->   func.call @hotdesk_exp(%x) : (f32) -> f32
    arith.remf %x, %y : f32   ->   func.call @hotdesk_remf(%x, %y) : (f32, f32) -> f32
    1 / (1 + math.exp(-x))    ->   func.call @hotdesk_sigmoid(%x) : (f32) -> f32
    x/2 (1 + math.erf(x/√2))  ->   func.call @hotdesk_gelu(%x) : (f32) -> f32

Each function reduces its argument, evaluates a polynomial (coefficients: minimax fits on the reduced range, made for these
functions by Lawson's iteration) and puts the result together with selects instead of branches. LLVM inlines it into the
loop around and vectorises that. A power that vanishes, as of all that a mask leaves out, is chosen, not multiplied down to 0:
a product that underflows takes processors some 150 cycles. Worst errors over all floats are at most 4 units in the last place
(tests/unit/kernels); special values (zeros with their sign, infinities, NaN, denormals) are those of the C library.

`use_elementary_functions` puts them in the place of a module's ops. f64 keeps the C library's functions, and 16-bit floats
compute in f32 before they get here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import constant, create, replace
from hotdesk.ir.context import entered
from hotdesk.ir.types import scalar_of
from hotdesk.ir.walking import constant_of, constant_op, defining_op, made_by, nested_ops

_LN2_HIGH = 0.693145751953125  # 15 bits: its product with an exponent is exact
_LN2_LOW = 1.4286068203094172e-06
_LOG2_E = 1.4426950408889634
_ROUNDER = 12582912.0  # 3 · 2^22: adding it leaves the nearest integer in the low bits
_WIDE_ROUNDER = 6755399441055744.0  # 3 · 2^51: the same for f64
_SQRT_HALF_BITS = 0x3F3504F3
_SQRT_HALF = 0.5**0.5
_CLOSE = 1e-6
"""Of a number: more than what it loses by rounding to f32."""
_TWO_OVER_PI = (0xA2F983, 0x6E4E44, 0x1529FC, 0x2757D1, 0xF534DD, 0xC0DB62, 0x95993C, 0x439041, 0xFE5163)
"""2/π in digits of 24 bits, enough for the largest float."""
_FIRST_SCALED = 47
"""The power of two from which on floats are whole numbers, also when they are scaled by 2^-24."""


def _scaled_turns(place: int) -> tuple[float, float, float]:
    """2^(24 place) · 2/π modulo 4, in pieces of 29, 29 and 53 bits: products of floats with the first two are exact."""
    below = 24 * (len(_TWO_OVER_PI) - place)
    digits = sum(digit << 24 * at for at, digit in enumerate(reversed(_TWO_OVER_PI))) % (4 << below)
    high, rest = digits >> below - 27, digits % (1 << below - 27)
    return high * 2.0**-27, (rest >> below - 56) * 2.0**-56, (rest % (1 << below - 56)) / 2**below


class _FunctionText:
    """Lines of one function in the making."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def value(self, text: str, kind: str) -> _Scalar:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return _Scalar(self, name, kind)

    def constant(self, number: float, kind: str) -> _Scalar:
        return self.value(f"arith.constant {_literal(number, kind)} : {kind}", kind)


def _literal(number: float, kind: str) -> str:
    if kind.startswith("i"):
        return str(int(number))
    if number != number or number in (float("inf"), float("-inf")):
        bits = {"f32": (0x7FC00000, 0x7F800000, 0xFF800000), "f64": (0x7FF8 << 48, 0x7FF0 << 48, 0xFFF0 << 48)}[kind]
        return f"0x{bits[0 if number != number else 1 if number > 0 else 2]:X}"
    return f"{number:.17e}"


@dataclass(frozen=True, slots=True, eq=False)
class _Scalar:
    """A scalar in a function; Python's operators write the arithmetic."""

    function: _FunctionText
    name: str
    kind: str

    def _other(self, other: _Scalar | float) -> _Scalar:
        return other if isinstance(other, _Scalar) else self.function.constant(other, self.kind)

    def _apply(self, name: str, other: _Scalar | float) -> _Scalar:
        suffix = "f" if self.kind.startswith("f") else "i"
        return self.function.value(
            f"arith.{name}{suffix} {self.name}, {self._other(other).name} : {self.kind}", self.kind
        )

    def __add__(self, other: _Scalar | float) -> _Scalar:
        return self._apply("add", other)

    def __sub__(self, other: _Scalar | float) -> _Scalar:
        return self._apply("sub", other)

    def __mul__(self, other: _Scalar | float) -> _Scalar:
        return self._apply("mul", other)

    def __truediv__(self, other: _Scalar | float) -> _Scalar:
        return self._apply("div", other)

    def __neg__(self) -> _Scalar:
        return self.function.value(f"arith.negf {self.name} : {self.kind}", self.kind)

    def __and__(self, other: _Scalar | float) -> _Scalar:
        return self._apply("and", other)

    def __or__(self, other: _Scalar | float) -> _Scalar:
        return self._apply("or", other)

    def __xor__(self, other: _Scalar | float) -> _Scalar:
        return self._apply("xor", other)

    def __lshift__(self, bits: int) -> _Scalar:
        return self._apply("shl", bits)

    def __rshift__(self, bits: int) -> _Scalar:
        """Keeps the sign."""
        amount = self.function.constant(bits, self.kind)
        return self.function.value(f"arith.shrsi {self.name}, {amount.name} : {self.kind}", self.kind)

    def fma(self, factor: _Scalar | float, addend: _Scalar | float) -> _Scalar:
        """self · factor + addend, rounded once."""
        operands = f"{self.name}, {self._other(factor).name}, {self._other(addend).name}"
        return self.function.value(f"math.fma {operands} : {self.kind}", self.kind)

    def unary(self, op: str) -> _Scalar:
        return self.function.value(f"math.{op} {self.name} : {self.kind}", self.kind)

    def with_sign_of(self, other: _Scalar) -> _Scalar:
        return self.function.value(f"math.copysign {self.name}, {other.name} : {self.kind}", self.kind)

    def compare(self, how: str, other: _Scalar | float) -> _Scalar:
        """An i1; `how` as in `arith.cmpf`: comparisons that begin with `o` are false for NaN."""
        op = "cmpf" if self.kind.startswith("f") else "cmpi"
        return self.function.value(f"arith.{op} {how}, {self.name}, {self._other(other).name} : {self.kind}", "i1")

    def choose(self, yes: _Scalar | float, no: _Scalar) -> _Scalar:
        """For an i1."""
        return self.function.value(f"arith.select {self.name}, {no._other(yes).name}, {no.name} : {no.kind}", no.kind)

    def bits(self) -> _Scalar:
        kind = f"i{self.kind[1:]}"
        return self.function.value(f"arith.bitcast {self.name} : {self.kind} to {kind}", kind)

    def as_float(self) -> _Scalar:
        """The float with these bits."""
        kind = f"f{self.kind[1:]}"
        return self.function.value(f"arith.bitcast {self.name} : {self.kind} to {kind}", kind)

    def to(self, kind: str) -> _Scalar:
        """The number in another float type, or an integer as a float."""
        op = "sitofp" if self.kind.startswith("i") else "extf" if kind == "f64" else "truncf"
        return self.function.value(f"arith.{op} {self.name} : {self.kind} to {kind}", kind)


def _polynomial(x: _Scalar, coefficients: Sequence[float]) -> _Scalar:
    """Horner's rule, the constant term first."""
    result = x.function.constant(coefficients[-1], x.kind)
    for coefficient in reversed(coefficients[:-1]):
        result = result.fma(x, coefficient)
    return result


def _power_of_two(exponent: _Scalar) -> _Scalar:
    """2^n for an i32 from -126 to 127."""
    return ((exponent + 127) << 23).as_float()


def _scaled(x: _Scalar, exponent: _Scalar) -> _Scalar:
    """x · 2^n for an i32 from -252 to 254, rounded once: denormals and infinity come out right."""
    half = exponent >> 1
    return x * _power_of_two(half) * _power_of_two(exponent - half)


def _exp_parts(x: _Scalar, low: _Scalar | None = None) -> tuple[_Scalar, _Scalar, _Scalar]:
    """n (bits of an i32), r and P with e^x = 2^n · (1 + r + r² P), |r| ≤ ln 2 / 2; x from -151 ln 2 to 128 ln 2.

    `low` is what x has lost by rounding.
    """
    shifted = x.fma(_LOG2_E, _ROUNDER)
    whole = shifted - _ROUNDER
    high = whole.fma(-_LN2_HIGH, x)
    r = whole.fma(-_LN2_LOW, high) if low is None else high + whole.fma(-_LN2_LOW, low)
    p = _polynomial(
        r, (0.5000000078136531, 0.16666666856144904, 0.04166626927324281, 0.008333265339695814, 0.0013946116998904828,
            0.00019917873656305032)
    )  # fmt: skip
    return shifted.bits() - 0x4B400000, r, p


def _exp(x: _Scalar) -> _Scalar:
    x = x.compare("ogt", 89.0).choose(89.0, x)
    vanishes = x.compare("olt", -104.0)
    n, r, p = _exp_parts(vanishes.choose(0.0, x))
    return vanishes.choose(0.0, _scaled((r * r).fma(p, r) + 1.0, n))


def _exp2(x: _Scalar) -> _Scalar:
    x = x.compare("ogt", 129.0).choose(129.0, x)
    vanishes = x.compare("olt", -150.0)
    x = vanishes.choose(0.0, x)
    shifted = x + _ROUNDER
    r = x - (shifted - _ROUNDER)
    return vanishes.choose(0.0, _scaled(_exp2_polynomial(r), shifted.bits() - 0x4B400000))


def _exp2_polynomial(r: _Scalar) -> _Scalar:
    """2^r for |r| ≤ 1/2, as 1 + r Q(r)."""
    q = (0.6931471805416536, 0.24022651075854476, 0.05550410962571636, 0.00961803691070985, 0.001333343078764731,
         0.0001546711038208411, 1.5314946656881596e-05)  # fmt: skip
    return _polynomial(r, q).fma(r, 1.0)


def _expm1(x: _Scalar) -> _Scalar:
    p = _polynomial(
        x, (0.16666666772728585, 0.04166648178226982, 0.00833328210015444, 0.0013933340196239036, 0.0001990972602929388)
    )
    square = x * x
    near = square.fma((x * p) + 0.5, x)
    return x.unary("absf").compare("olt", 0.3466).choose(near.with_sign_of(x), _exp(x) - 1.0)


def _log_parts(x: _Scalar) -> tuple[_Scalar, _Scalar]:
    """e and f with x = 2^e · (1 + f), √½ ≤ 1 + f < √2, for positive finite x, denormals included; e as a float."""
    is_small = x.compare("olt", 1.1754943508222875e-38)
    bits = is_small.choose(x * 33554432.0, x).bits() - _SQRT_HALF_BITS
    e = (bits >> 23).to("f32") + is_small.choose(-25.0, x.function.constant(0.0, "f32"))
    mantissa = ((bits & 0x007FFFFF) + _SQRT_HALF_BITS).as_float()
    return e, mantissa - 1.0


def _log_tail(f: _Scalar) -> _Scalar:
    """log(1 + f) - f + f²/2."""
    p = _polynomial(
        f, (0.3333331043830921, -0.2499998662815752, 0.2000222671194122, -0.16669249333606218, 0.14218655181105774,
            -0.12384372382359247, 0.11873020062966963, -0.11789684859772966, 0.06915125876851513)
    )  # fmt: skip
    return p * f * (f * f)


def _log_ends(x: _Scalar, inside: _Scalar) -> _Scalar:
    """`inside` for positive finite x; -∞ at zeros, NaN below, ∞ and NaN as they are."""
    result = x.compare("olt", float("inf")).choose(inside, x)
    result = x.compare("oeq", 0.0).choose(float("-inf"), result)
    return x.compare("olt", 0.0).choose(float("nan"), result)


def _log(x: _Scalar) -> _Scalar:
    e, f = _log_parts(x)
    low = (f * f).fma(-0.5, e.fma(_LN2_LOW, _log_tail(f)))
    return _log_ends(x, e.fma(_LN2_HIGH, low + f))


def _log_base(x: _Scalar, high: float, low: float, of_two: tuple[float, float]) -> _Scalar:
    """The logarithm to a base b: log_b e = high + low (high short), log_b 2 = of_two (its first part short)."""
    e, f = _log_parts(x)
    tail = (f * f).fma(-0.5, _log_tail(f))
    rest = f.fma(low, tail.fma(high + low, e * of_two[1]))
    return _log_ends(x, e.fma(of_two[0], f.fma(high, rest)))


def _log2(x: _Scalar) -> _Scalar:
    return _log_base(x, 1.4423828125, 0.00031222844459, (1.0, 0.0))


def _log10(x: _Scalar) -> _Scalar:
    return _log_base(x, 0.434326171875, -3.1689971625e-05, (0.301025390625, 4.6050389811952e-06))


def _log1p(x: _Scalar) -> _Scalar:
    u = x + 1.0
    inside = _log(u) * (x / (u - 1.0))
    result = u.compare("oeq", 1.0).choose(x, inside)
    result = x.compare("oeq", float("inf")).choose(x, result)
    return x.compare("oeq", -1.0).choose(float("-inf"), result)


def _tanh(x: _Scalar) -> _Scalar:
    """t / (t + 2) where t = e^2|x| - 1, of which nothing is lost near 0: the power of two is taken apart."""
    a = x.unary("absf")
    a = a.compare("ogt", 9.1).choose(9.1, a)
    n, r, p = _exp_parts(a + a)
    power = _power_of_two(n)
    t = power.fma((r * r).fma(p, r), power - 1.0)
    return (t / (t + 2.0)).with_sign_of(x)


def _exp2_of_rest(x: _Scalar) -> _Scalar:
    """2^x for x from -26 to -2, and some numbers beyond, to what counts where it is taken from 1: 8e-8 of it."""
    shifted = x + _ROUNDER
    r = x - (shifted - _ROUNDER)
    q = (0.693146977594845, 0.24022242082537534, 0.05550733749444889, 0.009671512769824066, 0.0013264725336330806)  # fmt: skip
    return _polynomial(r, q).fma(r, 1.0) * _power_of_two(shifted.bits() - 0x4B400000)


def _erf(x: _Scalar) -> _Scalar:
    a = x.unary("absf")
    p = _polynomial(
        a * a, (0.12837916649478404, -0.37612632285678094, 0.11283672545555871, -0.026858104288440186,
                0.005197797166859541, -0.0008105965117017254, 8.215423700928739e-05)
    )  # fmt: skip
    near = a.fma(p, a)
    b = a.compare("ogt", 4.0).choose(4.0, a)
    log2_rest = _polynomial(
        b, (0.0002460545686495995, -1.6295170646813084, -0.9137837739640966, -0.1561524339471764,
            0.03619937796892802, -0.00600237165921825, 0.0006236814015407661, -3.016611215109362e-05)
    )  # fmt: skip
    far = -_exp2_of_rest(log2_rest) + 1.0
    return a.compare("olt", 0.94).choose(near, far).with_sign_of(x)


def _sigmoid(x: _Scalar) -> _Scalar:
    """By the power of -|x|, which does not overflow."""
    power = _exp(-x.unary("absf"))
    return x.compare("olt", 0.0).choose(power, power.function.constant(1.0, "f32")) / (power + 1.0)


def _gelu(x: _Scalar) -> _Scalar:
    """x/2 (1 + erf(x/√2)), of which nothing is lost below 0, where 1 + erf is a small difference.

    That is 0 or x, less t/2 e^(-t²/2) R(1 / (t + 3)), where t = |x|. What t² and 1 / (t + 3) lose by rounding is added to the
    exponent: R grows by some 1.9 times what its argument grows by.
    """
    t = x.unary("absf")
    vanishes = t.compare("ogt", 14.4)
    t = vanishes.choose(1.0, t)
    square, above = t * t, t + 3.0
    lost = t.fma(t, -square)
    q = t.function.constant(1.0, "f32") / above
    rest = (-q).fma(t - (above - 3.0), (-q).fma(above, 1.0))
    n, r, p = _exp_parts(square * -0.5, lost.fma(-0.5, rest * 1.9))
    ratio = _polynomial(
        q, (9.72068795807024e-06, 0.7970736705060922, 2.4229849099374876, 5.778450746660767, 22.20105220926786,
            -42.38510434929717, 379.0472386629282, -1308.5029652912845, 1795.7403266106373, -817.6773948914998,
            -141.91502506054806)
    )  # fmt: skip
    half = t * -0.5
    tail = ratio * half
    product = (r * r).fma(p, r).fma(tail, ratio.fma(half, -tail)) + tail
    below = vanishes.choose(0.0, product * _power_of_two(n + 64) * 2.0**-64)  # rounded once
    result = x.compare("olt", 0.0).choose(below, x + below).with_sign_of(x)
    return x.compare("oeq", float("-inf")).choose(float("nan"), result)


def _quarter_turns(x: _Scalar) -> tuple[_Scalar, _Scalar]:
    """q (i32, modulo 4) and r (f64) with x = q π/2 + r (modulo 2π), |r| ≤ π/4, for every finite f32.

    Of x · 2/π multiples of 4 are left out: a large x is 2^(24 i) times a whole number, and 2/π is scaled by that and reduced.
    What is left is the sum of two exact products, whose whole parts go first, and a small one. The idea of M. Payne and R. Hanek,
    *Radian reduction for trigonometric functions* (1983), in f64 arithmetic alone.
    """
    wide = x.to("f64")
    size = wide.unary("absf")
    high, middle, low = (x.function.constant(piece, "f64") for piece in _scaled_turns(0))
    for place in range(1, 5):
        is_large = size.compare("oge", 2.0 ** (_FIRST_SCALED + 24 * (place - 1)))
        pieces = _scaled_turns(place)
        high, middle, low = (
            is_large.choose(piece, other) for piece, other in zip(pieces, (high, middle, low), strict=True)
        )
        wide = is_large.choose(x.to("f64") * 2.0 ** (-24 * place), wide)
    turns, exact = x.function.constant(0.0, "f64"), list[_Scalar]()
    for piece in (high, middle):
        product = wide * piece
        whole = product.unary("roundeven")
        turns = turns + whole
        exact.append(product - whole)
    one, other = exact
    total = one + other
    back = total - one
    lost = (one - (total - back)) + (other - back)
    whole = total.unary("roundeven")
    rest = (total - whole) + (lost + wide * low)
    shifted = (turns + whole) + _WIDE_ROUNDER
    count = x.function.value(f"arith.trunci {shifted.bits().name} : i64 to i32", "i32")
    return count, rest * 1.5707963267948966


def _both_circular(r: _Scalar) -> tuple[_Scalar, _Scalar]:
    """Sine and cosine for |r| ≤ π/4."""
    z = r * r
    sine = (r * z).fma(
        _polynomial(z, (-0.16666666641112537, 0.008333329325331268, -0.00019839315120370802, 2.7181217654307446e-06)), r
    )
    cosine = (z * z).fma(
        _polynomial(z, (0.04166666662192728, -0.0013888883674547162, 2.479949892395126e-05, -2.720847606284392e-07)),
        z.fma(-0.5, 1.0),
    )
    return sine, cosine


def _circular(x: _Scalar, turn: int) -> _Scalar:
    """sin(x + turn π/2)."""
    count, r = _quarter_turns(x)
    count = count + turn
    sine, cosine = _both_circular(r.to("f32"))
    result = (count & 1).compare("eq", 0).choose(sine, cosine)
    return (result.bits() ^ ((count & 2) << 30)).as_float()


def _sin(x: _Scalar) -> _Scalar:
    return x.compare("oeq", 0.0).choose(x, _circular(x, 0))


def _cos(x: _Scalar) -> _Scalar:
    return _circular(x, 1)


def _tan(x: _Scalar) -> _Scalar:
    """In f64: the errors of sine and cosine add up."""
    count, r = _quarter_turns(x)
    sine, cosine = _both_circular(r)
    is_even = (count & 1).compare("eq", 0)
    result = (is_even.choose(sine, -cosine) / is_even.choose(cosine, sine)).to("f32")
    return x.compare("oeq", 0.0).choose(x, result)


def _atan(x: _Scalar) -> _Scalar:
    """Of 1 / |x| where that is smaller."""
    a = x.unary("absf")
    is_large = a.compare("ogt", 1.0)
    a = is_large.choose(x.function.constant(1.0, "f32") / a, a)
    z = a * a
    p = _polynomial(
        z, (-0.3333329908905318, 0.19998548281587009, -0.14264241646098957, 0.10952185568640053, -0.08403449645438373,
            0.05795758056462565, -0.031177831633085594, 0.010914597462816967, -0.0017936197149454117)
    )  # fmt: skip
    angle = (a * z).fma(p, a)
    return is_large.choose(-angle + 1.5707963267948966, angle).with_sign_of(x)


def _log2_wide(x: _Scalar) -> _Scalar:
    """log2 of a positive f64 that was an f32, to 2^-42."""
    bits = x.bits() - 0x3FE6A09E667F3BCD
    exponent = x.function.value(f"arith.trunci {(bits >> 52).name} : i64 to i32", "i32").to("f64")
    mantissa = ((bits & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).as_float()
    s = (mantissa - 1.0) / (mantissa + 1.0)
    series = _polynomial(
        s * s, (2.8853900817779268, 0.9617966939242867, 0.5770780172704121, 0.41219839779179385, 0.3206167173760456,
                0.2614330399183227, 0.24305766769024665)
    )  # fmt: skip
    return s.fma(series, exponent)


def _pow(x: _Scalar, y: _Scalar) -> _Scalar:
    a = x.unary("absf")
    logarithm = _log2_wide(a.to("f64"))
    logarithm = a.compare("oeq", 0.0).choose(float("-inf"), logarithm)
    logarithm = a.compare("olt", float("inf")).choose(logarithm, a.to("f64"))
    exponent = y.to("f64") * logarithm
    exponent = exponent.compare("ogt", 300.0).choose(300.0, exponent)
    exponent = exponent.compare("olt", -300.0).choose(-300.0, exponent)
    shifted = exponent + _WIDE_ROUNDER
    power = _exp2_polynomial(exponent - (shifted - _WIDE_ROUNDER)) * (((shifted.bits() + 1023) << 52).as_float())
    result = power.to("f32")
    is_whole = y.unary("floor").compare("oeq", y)
    half = y * 0.5
    is_even = half.unary("floor").compare("oeq", half)
    negated = x.bits() & (is_even.choose(0, is_whole.choose(-0x80000000, x.function.constant(0, "i32"))))
    result = (result.bits() | negated).as_float()
    is_invalid = x.compare("olt", 0.0) & a.compare("olt", float("inf")) & is_whole.compare("eq", 0)
    result = is_invalid.choose(float("nan"), result)
    is_one = x.compare("oeq", 1.0) | y.compare("oeq", 0.0)
    is_one = is_one | (x.compare("oeq", -1.0) & y.unary("absf").compare("oeq", float("inf")))
    return is_one.choose(1.0, result)


_QUOTIENT_BITS = 51
"""By so many bits a step of a division in f64 makes the rest smaller, at least."""


def _remf(x: _Scalar, y: _Scalar) -> _Scalar:
    """x - n y for the whole n next to x / y toward zero, exact as the C library's.

    A step subtracts the rounded quotient of the rest and |y|, times |y|, from the rest, in one multiply-add of f64. That is
    exact: the quotient is right to 51 bits and |y| has 24, so 26 bits at most are left above the lowest bit of their product.
    After as many steps as the largest quotient wants, at most half of |y| is left; a rest below zero is one |y| short.
    """
    size, wide = y.unary("absf").to("f64"), x.to("f64")
    size = size.compare("oeq", float("inf")).choose(2.0**128, size)  # leaves whatever is finite as it is
    scale, rest = wide.function.constant(1.0, "f64") / size, wide.unary("absf")
    for _ in range(-(-(128 + 149) // _QUOTIENT_BITS)):
        whole = (rest * scale).unary("roundeven")
        rest = (-whole).fma(size, rest)
    rest = rest.compare("olt", 0.0).choose(rest + size, rest)
    return rest.to("f32").with_sign_of(x)


_FUNCTIONS: dict[str, tuple[Callable[..., _Scalar], int]] = {
    "exp": (_exp, 1),
    "exp2": (_exp2, 1),
    "expm1": (_expm1, 1),
    "log": (_log, 1),
    "log2": (_log2, 1),
    "log10": (_log10, 1),
    "log1p": (_log1p, 1),
    "tanh": (_tanh, 1),
    "erf": (_erf, 1),
    "sin": (_sin, 1),
    "cos": (_cos, 1),
    "tan": (_tan, 1),
    "atan": (_atan, 1),
    "powf": (_pow, 2),
    "remf": (_remf, 2),
    "gelu": (_gelu, 1),
    "sigmoid": (_sigmoid, 1),
}

COMPOSED: tuple[str, ...] = ("gelu", "sigmoid")
"""The functions here that several ops together compute."""

ELEMENTARY: tuple[str, ...] = tuple(name for name in _FUNCTIONS if name not in COMPOSED)
"""The ops of the `math` dialect that have a function here, and `arith.remf`."""

_MULTIPLIED = {2.0: 1, 3.0: 2}
"""Exponents of powers that are products, with the number of multiplications."""

_MOST_EXACT = 1 << 24
"""Whole numbers up to it are f32."""


def symbol(op: str, lanes: int = 0) -> str:
    """The function that computes an op of `ELEMENTARY` on f32, or on vectors of so many."""
    return f"hotdesk_{op}_{lanes}" if lanes else f"hotdesk_{op}"


def text(op: str, lanes: int = 0) -> str:
    """The function of an op of `ELEMENTARY` as MLIR text: internal to its module, inlined wherever it is called."""
    make, arity = _FUNCTIONS[op]
    function = _FunctionText()
    result = make(*(_Scalar(function, f"%x{i}", "f32") for i in range(arity)))
    lines = [*function.lines, f"  return {result.name} : f32"]
    if lanes:
        lines = [_widened(line, lanes) for line in lines]
    kind = f"vector<{lanes}xf32>" if lanes else "f32"
    parameters = ", ".join(f"%x{i}: {kind}" for i in range(arity))
    attributes = "{llvm.always_inline, llvm.linkage = #llvm.linkage<internal>}"
    head = f"func.func private @{symbol(op, lanes)}({parameters}) -> {kind} attributes {attributes} {{"
    return "\n".join([head, *lines, "}"])


def _widened(line: str, lanes: int) -> str:
    """A line on scalars as the same on vectors."""
    line = re.sub(r"arith\.constant (\S+) :", r"arith.constant dense<\1> :", line)
    head, _, types = line.rpartition(" : ")
    types = re.sub(r"\b[fi]\d+\b", lambda kind: f"vector<{lanes}x{kind[0]}>", types)
    if "arith.select" in head:
        types = f"vector<{lanes}xi1>, {types}"
    return f"{head} : {types}"


def use_elementary_functions(module: ir.Module) -> None:
    """Exchanges the ops of `ELEMENTARY` on f32 and vectors of it for calls of the functions above, and defines those.

    Squares and cubes, of f64 too, are products.
    """
    used: dict[tuple[str, int], None] = {}
    with entered(module.operation):
        composed = [found for found in map(_composed, nested_ops(module.operation)) if found is not None]
        for name, op, x in reversed(composed):  # the argument of one may be what another one is put in for
            lanes = _lanes(x.type) or 0
            used[name, lanes] = None
            read = list(op.operands)
            replace(op, _called(name, lanes, [x], op))
            _erase_unused(read)
        for op in nested_ops(module.operation):
            dialect, _, name = op.name.partition(".")
            if dialect != ("arith" if name == "remf" else "math") or name not in (*_FUNCTIONS, "fpowi"):
                continue
            kind = op.results[0].type
            exponent = _exponent(op) if name in ("powf", "fpowi") else float("nan")
            if exponent in _MULTIPLIED:
                _multiply_out(op, _MULTIPLIED[exponent])
                continue
            lanes = _lanes(kind)
            if lanes is None:
                continue
            if name == "fpowi":
                if not abs(exponent) <= _MOST_EXACT:
                    continue
                power = create("math.powf", [op.operands[0], constant(exponent, kind, op)], [kind], before=op)
                replace(op, power)
                op, name = power, "powf"
            used[name, lanes] = None
            replace(op, _called(name, lanes, list(op.operands), op))
        for name, lanes in used:
            parsed = ir.Module.parse(text(name, lanes))  # kept while its function moves
            function = parsed.body.operations[0]
            function.operation.detach_from_parent()
            module.body.append(function)


def _erase_unused(values: Sequence[ir.Value]) -> None:
    """Erases what made values that nobody reads, and what only that has read."""
    for value in values:
        maker = defining_op(value)
        if maker is not None and maker.name.startswith(("arith.", "math.")) and not list(value.uses):
            read = list(maker.operands)
            maker.erase()
            _erase_unused(read)


def _lanes(kind: ir.Type) -> int | None:
    """How many f32 a vector has, 0 for one alone; None for any other type."""
    if kind == ir.F32Type.get():
        return 0
    return (
        kind.shape[0]
        if isinstance(kind, ir.VectorType) and kind.rank == 1 and scalar_of(kind) == ir.F32Type.get()
        else None
    )


def _called(name: str, lanes: int, operands: Sequence[ir.Value], before: ir.Operation) -> ir.Operation:
    callee = {"callee": ir.FlatSymbolRefAttr.get(symbol(name, lanes))}
    return create("func.call", operands, [operands[0].type], callee, before=before)


def _composed(op: ir.Operation) -> tuple[str, ir.Operation, ir.Value] | None:
    """What an op of f32 is the inner part of, with the outermost op and the argument; None where others read a part of it."""
    if op.name not in ("math.erf", "math.exp") or _lanes(op.results[0].type) is None:
        return None
    added = _only_user(op, "arith.addf")
    if added is None or _number(_other(added, op)) != 1:
        return None
    if op.name == "math.erf":
        x = _without_factor(op.operands[0], _SQRT_HALF)
        found = None if x is None else _halved_times(added, x)
        return None if x is None or found is None else ("gelu", found, x)
    negated, quotient = made_by(op.operands[0], "arith.negf"), _only_user(added, "arith.divf")
    if negated is None or quotient is None or _number(quotient.operands[0]) != 1:
        return None
    return "sigmoid", quotient, negated.operands[0]


def _halved_times(op: ir.Operation, x: ir.Value) -> ir.Operation | None:
    """The product of a result with x and a half, in any order."""
    product, factors = op, list[str]()
    while len(factors) < 2:
        outer = _only_user(product, "arith.mulf")
        if outer is None:
            return None
        other = _other(outer, product)
        more = ["half"] * (_number(other) == 0.5) + ["x"] * (other == x)
        halved = _without_factor(other, 0.5)
        more = more or ["half", "x"] * (halved is not None and halved == x)
        if not more:
            return None
        product, factors = outer, [*factors, *more]
    return product if sorted(factors) == ["half", "x"] else None


def _only_user(op: ir.Operation, name: str) -> ir.Operation | None:
    """The op that reads a result, once, and nobody else does, if it has that name."""
    uses = list(op.results[0].uses)
    owner = cast(Any, uses[0].owner).operation if len(uses) == 1 else None
    return owner if owner is not None and owner.name == name else None


def _other(op: ir.Operation, operand: ir.Operation) -> ir.Value:
    """The operand of an op of two that is not the result of the other op."""
    first, second = op.operands
    return second if first == operand.results[0] else first


def _without_factor(value: ir.Value, factor: float) -> ir.Value | None:
    """What was multiplied by a factor, or divided by one over it; None if that did not make the value."""
    op = made_by(value, "arith.mulf", "arith.divf")
    if op is None:
        return None
    for place, by in ((1, factor), (1, 1 / factor), (0, factor)):
        is_quotient = by != factor
        number = _number(op.operands[place])
        if (op.name == "arith.divf") == is_quotient and number is not None and abs(number / by - 1) < _CLOSE:
            return op.operands[1 - place]
    return None


def _number(value: ir.Value) -> float | None:
    """The number of a constant, or the one that a constant vector is made of."""
    op = constant_op(value)
    if op is None:
        return None
    attribute: Any = op.attributes["value"]
    if isinstance(attribute, ir.DenseElementsAttr):
        attribute = attribute.get_splat_value() if attribute.is_splat else None
    return attribute.value if isinstance(attribute, ir.FloatAttr) else None


def _exponent(power: ir.Operation) -> float:
    """The exponent of a power if it is a constant, else NaN."""
    known = constant_of(power.operands[1])
    return float("nan") if known is None else float(known)


def _multiply_out(power: ir.Operation, times: int) -> None:
    base = value = power.operands[0]
    for _ in range(times):
        product = create("arith.mulf", [value, base], [base.type], before=power)
        value = product.results[0]
    power.results[0].replace_all_uses_with(value)
    power.erase()
