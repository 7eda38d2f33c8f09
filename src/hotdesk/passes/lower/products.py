"""Matrix products shared out among threads.

Kernels call `hotdesk_sgemm` and its kin in the BLAS's place. Each splits the result into one run of rows or columns for each
thread, and has `sharing` run the parts:

    hotdesk_sgemm(m, n, k, …):  parts = min(threads, m n k / GRAIN)
                                hotdesk_share(scipy_cblas_sgemm, parts)

The BLAS itself runs on one thread. Its own threads wait by spinning, which stalls for milliseconds when other processes hold
the cores, and take a table for sharing out the work from the heap at each product; this takes nothing but stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GRAIN = 1 << 22
"""Multiplications that are worth a thread: several times what it costs to wake one."""

MOST_THREADS = 64

_GRANULE = 16  # parts begin at multiples of it, so that only the last one has odd sizes
_JOB_BYTES = 128  # a part's arguments take less
_LETTERS = {"s": ("f32", 4), "d": ("f64", 8)}
_TRANSPOSE = 112


@dataclass(frozen=True, slots=True)
class _Product:
    """How a BLAS function is shared out.

    Attributes:
        kinds: its argument types.
        prologue: text that defines `%work` (multiplications) and `%size` (rows or columns to share), both i64.
        parts: for each argument that differs between parts, its place and the text that defines `%p<place>` from `%start` and
            `%length`.
    """

    name: str
    kinds: tuple[str, ...]
    prologue: str
    parts: tuple[tuple[int, str], ...]


def products_text(declared: Sequence[str]) -> str:
    """Text in the LLVM dialect that defines those of the functions `declared` that share out a product."""
    return "\n".join(_text(_PRODUCTS[name]) for name in declared if name in _PRODUCTS)


def _step(result: str, transposed: str, leading: str, size: int) -> str:
    """Bytes from one row to the next in a matrix, or, if transposed, from one column to the next."""
    return f"""
  {result}_l = llvm.sext {leading} : i32 to i64
  {result}_b = llvm.mlir.constant({size} : i64) : i64
  {result}_w = llvm.mul {result}_l, {result}_b : i64
  {result} = llvm.select {transposed}, {result}_b, {result}_w : i1, i64"""


def _moved(place: int, step: str) -> tuple[int, str]:
    return place, f"%m{place} = llvm.mul %start, {step} : i64\n  %p{place} = llvm.add %a{place}, %m{place} : i64"


def _gemm(letter: str) -> _Product:
    """order, transpose a, transpose b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc; split along the longer of m and n."""
    element, size = _LETTERS[letter]
    prologue = f"""
  %m = llvm.sext %a3 : i32 to i64
  %n = llvm.sext %a4 : i32 to i64
  %k = llvm.sext %a5 : i32 to i64
  %mn = llvm.mul %m, %n : i64
  %work = llvm.mul %mn, %k : i64
  %columns = llvm.icmp "sge" %n, %m : i64
  %size = llvm.select %columns, %n, %m : i1, i64
  %t = llvm.mlir.constant({_TRANSPOSE} : i32) : i32
  %no = llvm.mlir.constant(false) : i1
  %ta = llvm.icmp "eq" %a1, %t : i32
  %ntb = llvm.icmp "ne" %a2, %t : i32
  %none = llvm.mlir.constant(0 : i64) : i64
  {_step("%sa", "%ta", "%a8", size)}
  {_step("%sb", "%ntb", "%a10", size)}
  {_step("%sc", "%columns", "%a13", size)}
  %step_a = llvm.select %columns, %none, %sa : i1, i64
  %step_b = llvm.select %columns, %sb, %none : i1, i64"""
    parts = (
        (3, "%q3 = llvm.trunc %length : i64 to i32\n  %p3 = llvm.select %columns, %a3, %q3 : i1, i32"),
        (4, "%q4 = llvm.trunc %length : i64 to i32\n  %p4 = llvm.select %columns, %q4, %a4 : i1, i32"),
        _moved(7, "%step_a"),
        _moved(9, "%step_b"),
        _moved(12, "%sc"),
    )
    kinds = ("i32",) * 6 + (element, "i64", "i32", "i64", "i32", element, "i64", "i32")
    return _Product(f"{letter}gemm", kinds, prologue, parts)


def _gemv(letter: str) -> _Product:
    """order, transpose, rows, columns, alpha, a, lda, x, incx, beta, y, incy; split along y."""
    element, size = _LETTERS[letter]
    prologue = f"""
  %m = llvm.sext %a2 : i32 to i64
  %n = llvm.sext %a3 : i32 to i64
  %work = llvm.mul %m, %n : i64
  %t = llvm.mlir.constant({_TRANSPOSE} : i32) : i32
  %columns = llvm.icmp "eq" %a1, %t : i32
  %size = llvm.select %columns, %n, %m : i1, i64
  %no = llvm.mlir.constant(false) : i1
  {_step("%sa", "%columns", "%a6", size)}
  {_step("%sy", "%no", "%a11", size)}"""
    parts = (
        (2, "%q2 = llvm.trunc %length : i64 to i32\n  %p2 = llvm.select %columns, %a2, %q2 : i1, i32"),
        (3, "%q3 = llvm.trunc %length : i64 to i32\n  %p3 = llvm.select %columns, %q3, %a3 : i1, i32"),
        _moved(5, "%sa"),
        _moved(10, "%sy"),
    )
    kinds = ("i32",) * 4 + (element, "i64", "i32", "i64", "i32", element, "i64", "i32")
    return _Product(f"{letter}gemv", kinds, prologue, parts)


_PRODUCTS = {f"hotdesk_{p.name}": p for p in (*map(_gemm, _LETTERS), *map(_gemv, _LETTERS))}


def _text(product: _Product) -> str:
    name, kinds = f"hotdesk_{product.name}", product.kinds
    blas = f"scipy_cblas_{product.name}"
    job = f"!llvm.struct<({', '.join(kinds)})>"
    signature = ", ".join(kinds)
    parameters = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(kinds))
    arguments = ", ".join(f"%a{i}" for i in range(len(kinds)))
    loaded = "\n".join(f"  %a{i} = llvm.extractvalue %job[{i}] : {job}" for i in range(len(kinds)))
    filled = _filled([f"%a{i}" for i in range(len(kinds))], "whole", "%undefined", job)
    changed = _filled([f"%p{i}" for i, _ in product.parts], "part", "%whole", job, [i for i, _ in product.parts])
    made = "\n  ".join(text for _, text in product.parts)
    return f"""
llvm.func @{blas}({signature})

llvm.func internal @{name}_part(%address: !llvm.ptr) {{
  %job = llvm.load %address : !llvm.ptr -> {job}
{loaded}
  llvm.call @{blas}({arguments}) : ({signature}) -> ()
  llvm.return
}}

llvm.func @{name}({parameters}) attributes {{no_inline}} {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %most = llvm.mlir.constant({MOST_THREADS} : i64) : i64
  %grain = llvm.mlir.constant({GRAIN} : i64) : i64
  %round = llvm.mlir.constant({_GRANULE - 1} : i64) : i64
  %mask = llvm.mlir.constant({-_GRANULE} : i64) : i64
{product.prologue}
  %where = llvm.mlir.addressof @hotdesk_threads : !llvm.ptr
  %allowed = llvm.load %where : !llvm.ptr -> i64
  %bounded = llvm.intr.smin(%allowed, %most) : (i64, i64) -> i64
  %worth = llvm.sdiv %work, %grain : i64
  %wanted = llvm.intr.smin(%bounded, %worth) : (i64, i64) -> i64
  %several = llvm.icmp "sgt" %wanted, %one : i64
  llvm.cond_br %several, ^share, ^alone
^alone:
  llvm.call @{blas}({arguments}) : ({signature}) -> ()
  llvm.return
^share:
  %up = llvm.sub %wanted, %one : i64
  %more = llvm.add %size, %up : i64
  %even = llvm.sdiv %more, %wanted : i64
  %rounded = llvm.add %even, %round : i64
  %chunk = llvm.and %rounded, %mask : i64
  %stride = llvm.mlir.constant({_JOB_BYTES} : i64) : i64
  %space = llvm.mul %wanted, %stride : i64
  %jobs = llvm.alloca %space x i8 {{alignment = 16 : i64}} : (i64) -> !llvm.ptr
  %undefined = llvm.mlir.undef : {job}
{filled}
  llvm.br ^next(%zero, %zero : i64, i64)
^next(%i: i64, %start: i64):
  %left = llvm.sub %size, %start : i64
  %length = llvm.intr.smin(%left, %chunk) : (i64, i64) -> i64
  {made}
{changed}
  %offset = llvm.mul %i, %stride : i64
  %slot = llvm.getelementptr %jobs[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  llvm.store %part, %slot : {job}, !llvm.ptr
  %after = llvm.add %i, %one : i64
  %end = llvm.add %start, %chunk : i64
  %again = llvm.icmp "slt" %end, %size : i64
  llvm.cond_br %again, ^next(%after, %end : i64, i64), ^run
^run:
  %function = llvm.mlir.addressof @{name}_part : !llvm.ptr
  llvm.call @hotdesk_share(%function, %jobs, %stride, %after) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
  llvm.return
}}"""


def _filled(values: Sequence[str], result: str, base: str, job: str, places: Sequence[int] | None = None) -> str:
    """`values` inserted into the struct `base`, the outcome as `%<result>`."""
    lines: list[str] = []
    for number, (value, place) in enumerate(zip(values, places or range(len(values)), strict=True)):
        outcome = f"%{result}" if number == len(values) - 1 else f"%{result}{number}"
        lines.append(f"  {outcome} = llvm.insertvalue {value}, {base}[{place}] : {job}")
        base = outcome
    return "\n".join(lines)
