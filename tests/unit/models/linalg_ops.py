"""A program with one op, for every op of the `linalg` dialect that MLIR knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch_mlir.dialects import _linalg_ops_gen

NAMES = sorted({c.OPERATION_NAME for c in vars(_linalg_ops_gen).values() if hasattr(c, "OPERATION_NAME")})
INSIDE = {"linalg.index", "linalg.yield"}
"""Ops of payloads; they have no tensors."""
WINOGRAD = {f"linalg.winograd_{part}_transform" for part in ("filter", "input", "output")}
"""Ops that must have a result, so that they have no form on memrefs."""
NOT_LOWERED = {"linalg.softmax", "linalg.pack", "linalg.unpack"}
"""Ops that MLIR lowers as long as they are on tensors only, so that their form on memrefs cannot be run."""

_UNARY = ["abs", "ceil", "erf", "exp", "floor", "log", "negf", "reciprocal", "round", "rsqrt", "sqrt", "square", "tanh"]
_BINARY = ["add", "sub", "mul", "div", "max", "min", "powf"]
UNREAD_INIT = {
    *(f"linalg.{name}" for name in (*_UNARY, *_BINARY, "div_unsigned", "select", "elementwise", "fill", "fill_rng_2d")),
    *("linalg.copy", "linalg.transpose", "linalg.broadcast", "linalg.map", "linalg.softmax", "linalg.pack"),
    "linalg.unpack",
}
"""Ops that do not read what they overwrite."""
_PRODUCTS = {
    "matmul": ("2x3", "3x4", "2x4"),
    "batch_matmul": ("2x2x3", "2x3x4", "2x2x4"),
    "batch_reduce_matmul": ("2x2x3", "2x3x4", "2x4"),
    "batch_matvec": ("2x2x3", "2x3", "2x2"),
    "batch_vecmat": ("2x3", "2x3x4", "2x4"),
    "matvec": ("2x3", "3", "2"),
    "vecmat": ("3", "3x4", "4"),
    "dot": ("3", "3", ""),
    "mmt4d": ("2x1x2x3", "2x1x2x3", "2x2x2x2"),
    "batch_mmt4d": ("2x2x1x2x3", "2x2x1x2x3", "2x2x2x2x2"),
}
_SIZES = {"n": 2, "c": 2, "f": 3, "g": 2, "m": 2}
_SPATIAL, _WINDOW, _OUT = 4, 2, 3


def tensor(sizes: str, element: str = "f32") -> str:
    return f"tensor<{sizes}x{element}>" if sizes else f"tensor<{element}>"


def _function(arguments: Sequence[str], result: str, op: str) -> str:
    """`%0`, `%1` … are the arguments; the op's result is returned."""
    given = ", ".join(f"%arg{i}: {kind}" for i, kind in enumerate(arguments))
    return f"func.func @main({given}) -> {result} {{\n  %r = {op}\n  return %r : {result}\n}}"


def _named(name: str, inputs: Sequence[str], out: str, attributes: str = "") -> str:
    kinds = [*inputs, out]
    names = ", ".join(f"%arg{i}" for i in range(len(inputs)))
    op = f"linalg.{name} {attributes} ins({names} : {', '.join(inputs)}) outs(%arg{len(inputs)} : {out}) -> {out}"
    return _function(kinds, out, op)


def _layout(letters: str, spatial: int) -> str:
    return "x".join(str(spatial if letter in "dhw" else _SIZES[letter]) for letter in letters)


def _convolution(name: str) -> str:
    quantized = name.endswith("_q")
    _, _, rest = name.removesuffix("_q").partition("conv_")
    dims, _, layouts = rest.partition("_")
    count = int(dims[0])
    source, _, filters = layouts.partition("_") if layouts else ("dhw"[-count:], "", "dhw"[-count:])
    result = source if "depthwise" in name else source.replace("c", "f")
    if "depthwise" in name and filters.endswith("m"):
        result += "m"
    element, total = ("i8", "i32") if quantized else ("f32", "f32")
    inputs = [tensor(_layout(source, _SPATIAL), element), tensor(_layout(filters, _WINDOW), element)]
    steps = f"dense<1> : tensor<{count}xi64>"
    attributes = f"{{dilations = {steps}, strides = {steps}}}" if layouts else ""
    return _named(
        name, [*inputs, *(["i32", "i32"] if quantized else [])], tensor(_layout(result, _OUT), total), attributes
    )


def _pooling(name: str) -> str:
    layout, kind = name.split("_")[1:3]
    element = "i32" if name.endswith("unsigned") else "f32"
    count = sum(letter in "dhw" for letter in layout)
    window = "x".join([str(_WINDOW)] * count)
    steps = f"dense<1> : tensor<{count}xi64>"
    inputs = [tensor(_layout(layout, _SPATIAL), element), tensor(window, element)]
    assert kind in ("max", "min", "sum")
    return _named(name, inputs, tensor(_layout(layout, _OUT), element), f"{{dilations = {steps}, strides = {steps}}}")


def _others() -> Iterator[tuple[str, str]]:
    x, vector = tensor("2x3"), tensor("3")
    payload = "(%a: f32, %o: f32) {\n    %s = arith.addf %a, %a : f32\n    linalg.yield %s : f32\n  }"
    yield (
        "div_unsigned",
        _named("div_unsigned", [tensor("2x3", "i32")] * 2, tensor("2x3", "i32"))
        .replace("  %r =", "  %d = arith.constant dense<3> : tensor<2x3xi32>\n  %r =")
        .replace("ins(%arg0, %arg1", "ins(%arg0, %d"),
    )
    yield "select", _named("select", [tensor("2x3", "i1"), x, x], x)
    yield "fill", _named("fill", ["f32"], x)
    yield "fill_rng_2d", _named("fill_rng_2d", ["f64", "f64", "i32"], x)
    yield "copy", _named("copy", [x], x)
    yield "elementwise", _named("elementwise", [x, x], x, "kind=#linalg.elementwise_kind<sub>")
    yield (
        "contract",
        _named(
            "contract",
            [tensor("2x3"), tensor("4x3"), tensor("4x2")][:2],
            tensor("4x2"),
            "indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
            "affine_map<(m, n, k) -> (n, m)>]",
        ),
    )
    turned = f"linalg.transpose ins(%arg0 : {x}) outs(%arg1 : {tensor('3x2')}) permutation = [1, 0]"
    yield "transpose", _function([x, tensor("3x2")], tensor("3x2"), turned)
    yield (
        "broadcast",
        _function([vector, x], x, f"linalg.broadcast ins(%arg0 : {vector}) outs(%arg1 : {x}) dimensions = [0]"),
    )
    yield "map", _function([x, x], x, f"linalg.map ins(%arg0 : {x}) outs(%arg1 : {x}) {payload}")
    reduced = f"linalg.reduce {{ arith.addf }} ins(%arg0 : {x}) outs(%arg1 : {vector}) dimensions = [0]"
    yield "reduce", _function([x, vector], vector, reduced)
    yield (
        "generic",
        _function(
            [x, vector],
            vector,
            "linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], "
            f'iterator_types = ["reduction", "parallel"]}} ins(%arg0 : {x}) outs(%arg1 : {vector}) {{\n'
            "  ^bb0(%a: f32, %o: f32):\n    %s = arith.maximumf %a, %o : f32\n    linalg.yield %s : f32\n"
            f"  }} -> {vector}",
        ),
    )
    yield "softmax", _named("softmax", [x], x, "dimension(1)")
    tiles, square = tensor("2x2x2x2"), tensor("4x4")
    where = "inner_dims_pos = [0, 1] inner_tiles = [2, 2]"
    yield "pack", _function([square, tiles], tiles, f"linalg.pack %arg0 {where} into %arg1 : {square} -> {tiles}")
    yield "unpack", _function([tiles, square], square, f"linalg.unpack %arg0 {where} into %arg1 : {tiles} -> {square}")
    for part, source, result in (
        ("filter", "2x3x3x5", "6x6x5x2"),
        ("input", "2x10x10x5", "6x6x2x2x2x5"),
        ("output", "6x6x2x2x2x2", "2x8x8x2"),
    ):
        name = f"winograd_{part}_transform"
        yield name, _named(name, [tensor(source)], tensor(result), "fmr(F_4_3)")
    small, wide = tensor("2x3", "i8"), tensor("3x4", "i8")
    yield "quantized_matmul", _named("quantized_matmul", [small, wide, "i32", "i32"], tensor("2x4", "i32"))
    small, wide = tensor("2x2x3", "i8"), tensor("2x3x4", "i8")
    yield (
        "quantized_batch_matmul",
        _named("quantized_batch_matmul", [small, wide, "i32", "i32"], tensor("2x2x4", "i32")),
    )


def programs() -> dict[str, str]:
    """A program for each op that can have tensors, by the op's name."""
    x = tensor("2x3")
    found = {name: _named(name, [x], x) for name in _UNARY}
    found |= {name: _named(name, [x, x], x) for name in _BINARY}
    found |= {name: _named(name, [tensor(a), tensor(b)], tensor(c)) for name, (a, b, c) in _PRODUCTS.items()}
    found |= dict(_others())
    short = [name.removeprefix("linalg.") for name in NAMES]
    found |= {name: _convolution(name) for name in short if "conv_" in name}
    found |= {name: _pooling(name) for name in short if name.startswith("pooling_")}
    return {f"linalg.{name}": text for name, text in found.items()}
