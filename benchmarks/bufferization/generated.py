"""Generated programs, as MLIR text: the shapes of program on which bufferization is known to take long or to copy."""

from __future__ import annotations

from collections.abc import Iterable

ROWS, COLUMNS = 64, 64
_TILE = f"tensor<{ROWS}x{COLUMNS}xf32>"
_HALF = f"tensor<{ROWS // 2}x{COLUMNS}xf32>"
_ROW = f"tensor<1x{COLUMNS}xf32>"
_READ_ONLY = "{bufferization.writable = false}"
_MAP = "#same = affine_map<(d0, d1) -> (d0, d1)>\n"


def shared_empty(count: int) -> str:
    """`count` elementwise ops, each on the one before, all of them with the same `tensor.empty` as destination."""
    lines = [f"%e = tensor.empty() : {_TILE}", *(_unary(f"%v{i + 1}", f"%v{i}", "%e", _TILE) for i in range(count))]
    return _function(f"%v0: {_TILE} {_READ_ONLY}", lines, f"%v{count}", _TILE)


def own_empties(count: int) -> str:
    """The same, each with a `tensor.empty` of its own."""
    lines = [
        line
        for i in range(count)
        for line in (f"%e{i} = tensor.empty() : {_TILE}", _unary(f"%v{i + 1}", f"%v{i}", f"%e{i}", _TILE))
    ]
    return _function(f"%v0: {_TILE} {_READ_ONLY}", lines, f"%v{count}", _TILE)


def insert_chain(count: int) -> str:
    """A tensor put together from `count` rows that are arguments' rows: each insertion has to copy its row."""
    whole = f"tensor<{count}x{COLUMNS}xf32>"
    lines = [f"%v0 = tensor.empty() : {whole}"]
    for i in range(count):
        lines.append(f"%s{i} = tensor.extract_slice %x{_row(count - 1 - i)} : {whole} to {_ROW}")
        lines.append(f"%v{i + 1} = tensor.insert_slice %s{i} into %v{i}{_row(i)} : {_ROW} into {whole}")
    return _function(f"%x: {whole} {_READ_ONLY}", lines, f"%v{count}", whole)


def computed_insert_chain(count: int) -> str:
    """The same, with each row computed first: it can be computed where it is wanted."""
    whole = f"tensor<{count}x{COLUMNS}xf32>"
    lines = [f"%v0 = tensor.empty() : {whole}"]
    for i in range(count):
        lines.append(f"%s{i} = tensor.extract_slice %x{_row(count - 1 - i)} : {whole} to {_ROW}")
        lines.append(f"%e{i} = tensor.empty() : {_ROW}")
        lines.append(_unary(f"%c{i}", f"%s{i}", f"%e{i}", _ROW))
        lines.append(f"%v{i + 1} = tensor.insert_slice %c{i} into %v{i}{_row(i)} : {_ROW} into {whole}")
    return _function(f"%x: {whole} {_READ_ONLY}", lines, f"%v{count}", whole)


def loop_of_insertions(count: int) -> str:
    """A loop whose body takes out each of `count` rows of the carried tensor, fills it and puts it back."""
    whole = f"tensor<{count}x{COLUMNS}xf32>"
    lines = [
        "%zero = arith.constant 0.0 : f32",
        "%c0 = arith.constant 0 : index",
        "%c1 = arith.constant 1 : index",
        "%c8 = arith.constant 8 : index",
        f"%e = tensor.empty() : {whole}",
        f"%start = linalg.fill ins(%zero : f32) outs(%e : {whole}) -> {whole}",
        f"%r = scf.for %i = %c0 to %c8 step %c1 iter_args(%v0 = %start) -> ({whole}) {{",
        "%n = arith.index_cast %i : index to i32",
        "%f = arith.sitofp %n : i32 to f32",
    ]
    for i in range(count):
        lines.append(f"%s{i} = tensor.extract_slice %v{i}{_row(i)} : {whole} to {_ROW}")
        lines.append(f"%f{i} = linalg.fill ins(%f : f32) outs(%s{i} : {_ROW}) -> {_ROW}")
        lines.append(f"%v{i + 1} = tensor.insert_slice %f{i} into %v{i}{_row(i)} : {_ROW} into {whole}")
    lines += [f"scf.yield %v{count} : {whole}", "}"]
    return _function("", lines, "%r", whole)


def straight_line(count: int) -> str:
    """About `count` ops, ten at a time: a product, elementwise ops, a residual sum, and a half taken out, changed, put back."""
    lines = ["%zero = arith.constant 0.0 : f32"]
    for i in range(max(1, count // 10)):
        lines += _ten_ops(f"%v{i}", f"%v{i + 1}", f"_{i}")
    arguments = f"%v0: {_TILE} {_READ_ONLY}, %w: {_TILE} {_READ_ONLY}"
    return _function(arguments, lines, f"%v{max(1, count // 10)}", _TILE)


def _ten_ops(source: str, result: str, suffix: str) -> list[str]:
    e1, f, p, e2, s, half, e3, t = (f"%{name}{suffix}" for name in ("e1", "f", "p", "e2", "s", "half", "e3", "t"))
    a, e0 = f"%a{suffix}", f"%e0{suffix}"
    upper = f"[0, 0] [{ROWS // 2}, {COLUMNS}] [1, 1]"
    return [
        f"{e0} = tensor.empty() : {_TILE}",
        _unary(a, source, e0, _TILE),
        f"{e1} = tensor.empty() : {_TILE}",
        f"{f} = linalg.fill ins(%zero : f32) outs({e1} : {_TILE}) -> {_TILE}",
        f"{p} = linalg.matmul ins({a}, %w : {_TILE}, {_TILE}) outs({f} : {_TILE}) -> {_TILE}",
        f"{e2} = tensor.empty() : {_TILE}",
        _sum(s, p, source, e2),
        f"{half} = tensor.extract_slice {s}{upper} : {_TILE} to {_HALF}",
        f"{e3} = tensor.empty() : {_HALF}",
        _unary(t, half, e3, _HALF),
        f"{result} = tensor.insert_slice {t} into {s}{upper} : {_HALF} into {_TILE}",
    ]


def _unary(result: str, source: str, destination: str, kind: str) -> str:
    return (
        f'{result} = linalg.generic {{indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}} '
        f"ins({source} : {kind}) outs({destination} : {kind}) {{\n"
        "^bb0(%in: f32, %out: f32):\n%0 = math.absf %in : f32\nlinalg.yield %0 : f32\n"
        f"}} -> {kind}"
    )


def _sum(result: str, left: str, right: str, destination: str) -> str:
    return (
        f'{result} = linalg.generic {{indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}} '
        f"ins({left}, {right} : {_TILE}, {_TILE}) outs({destination} : {_TILE}) {{\n"
        "^bb0(%in: f32, %in2: f32, %out: f32):\n%0 = arith.addf %in, %in2 : f32\nlinalg.yield %0 : f32\n"
        f"}} -> {_TILE}"
    )


def _row(number: int) -> str:
    return f"[{number}, 0] [1, {COLUMNS}] [1, 1]"


def _function(arguments: str, lines: Iterable[str], result: str, kind: str) -> str:
    body = "\n".join(lines)
    return f"{_MAP}func.func @main({arguments}) -> {kind} {{\n{body}\nreturn {result} : {kind}\n}}\n"
