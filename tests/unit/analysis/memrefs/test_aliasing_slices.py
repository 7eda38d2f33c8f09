"""What two slices have in common, by offsets, sizes and strides that are numbers or not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hotdesk.analysis.memrefs.aliasing import Alias, Aliases, described
from tests.unit.analysis.aliases import DISJOINT, MAY, MUST, relation, uses
from tests.unit.parsing import function, parse


def two(a: str, b: str, of: str = "memref<8xf32>", before: str = "") -> Alias:
    """Two slices of an argument, such as `[0] [3] [1]`."""
    rank = a.split("]")[0].count(",") + 1
    layout = f"strided<[{', '.join('?' * rank)}], offset: ?>"
    source = f"memref<{'x'.join('?' * rank)}xf32, {layout}>"
    lines = [before, f"%s = memref.cast %m : {of} to {source}"]
    types: list[str] = []
    for name, text in (("a", a), ("b", b)):
        sizes = text.split("[")[2].split("]")[0].split(", ")
        types.append(f"memref<{'x'.join('?' if '%' in size else size for size in sizes)}xf32, {layout}>")
        lines.append(f"%{name} = memref.subview %s{text} : {source} to {types[-1]}")
    return relation("\n".join([*lines, uses(*types)]), f"%m: {of}, %i: index, %n: index")


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("[0] [3] [1]", "[3] [3] [1]", DISJOINT),
        ("[3] [3] [1]", "[0] [3] [1]", DISJOINT),
        ("[0] [5] [1]", "[3] [5] [1]", MAY),
        ("[2] [4] [1]", "[2] [4] [1]", MUST),
        ("[2] [4] [1]", "[2] [3] [1]", MAY),
        ("[0] [4] [2]", "[1] [4] [2]", DISJOINT),
        ("[0] [4] [2]", "[2] [3] [2]", MAY),
        ("[0] [2] [4]", "[2] [2] [4]", DISJOINT),
        ("[0] [0] [1]", "[0] [8] [1]", DISJOINT),
        ("[3] [1] [1]", "[3] [1] [2]", MUST),
        ("[0] [2] [3]", "[1] [2] [1]", MAY),
        ("[%i] [3] [1]", "[%i] [3] [1]", MUST),
        ("[%i] [3] [1]", "[%j] [3] [1]", DISJOINT),
        ("[%i] [4] [1]", "[%j] [4] [1]", MAY),
        ("[0] [%n] [1]", "[%n] [%n] [1]", DISJOINT),
        ("[0] [%n] [1]", "[0] [%n] [1]", MUST),
        ("[0] [%n] [1]", "[%i] [%n] [1]", MAY),
        ("[%i] [3] [%n]", "[%i] [3] [%n]", MUST),
    ],
)
def test_slices(a: str, b: str, expected: Alias) -> None:
    before = "%three = arith.constant 3 : index\n%j = arith.addi %i, %three : index"
    assert two(a, b, before=before) is expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("[0, 0] [4, 3] [1, 1]", "[0, 3] [4, 3] [1, 1]", DISJOINT),  # halves of rows: bytes interleave
        ("[0, 0] [2, 6] [1, 1]", "[2, 0] [2, 6] [1, 1]", DISJOINT),
        ("[0, 0] [3, 4] [1, 1]", "[1, 3] [3, 3] [1, 1]", MAY),
        ("[0, %i] [4, 1] [1, 1]", "[0, %i] [4, 1] [1, 1]", MUST),
    ],
)
def test_slices_of_rows(a: str, b: str, expected: Alias) -> None:
    assert two(a, b, of="memref<4x6xf32>") is expected


def test_slices_of_an_argument_whose_rows_may_overlap() -> None:
    layout = "memref<4x6xf32, strided<[?, 1], offset: ?>>"
    assert two("[0, 0] [4, 3] [1, 1]", "[0, 3] [4, 3] [1, 1]", of=layout) is MAY
    assert two("[0, 0] [1, 3] [1, 1]", "[0, 3] [1, 3] [1, 1]", of=layout) is MAY
    padded = "memref<4x6xf32, strided<[8, 1]>>"
    assert two("[0, 0] [4, 3] [1, 1]", "[0, 3] [4, 3] [1, 1]", of=padded) is DISJOINT


def test_a_slice_is_named_by_what_it_cuts_out() -> None:
    text = """func.func @main(%m: memref<8xf32>, %i: index) {
      %a = memref.subview %m[%i] [3] [1] : memref<8xf32> to memref<3xf32, strided<[1], offset: ?>>
      return
    }"""
    op = next(iter(function(parse(text)).regions[0].blocks[0].operations)).operation
    assert str(described(op.results[0])) == "memref.subview [?] [3] [1] at -:2:12"
    assert str(described(op.operands[0])) == "argument 0 at -:1:17"


def test_what_is_proven_holds_for_every_pair_of_slices() -> None:
    """All slices of slices of six elements, against the elements that they really show."""
    whole = np.arange(6)
    cuts = [(o, s, t) for t in (1, 2, 3) for o in range(4) for s in range(1, 4) if o + (s - 1) * t < 6]
    lines: list[str] = []
    shown: list[list[int]] = []
    for number, (offset, size, step) in enumerate(cuts):
        outer = whole[offset : offset + (size - 1) * step + 1 : step]
        kind = f"memref<{size}xf32, strided<[{step}], offset: {offset}>>"
        lines.append(f"%o{number} = memref.subview %m[{offset}] [{size}] [{step}] : memref<6xf32> to {kind}")
        if size < 3:
            inner = kind
            lines.append(f"memref.dealloc %o{number} : {kind}")
            shown.append(outer.tolist())
            continue
        inner = f"memref<2xf32, strided<[{step}], offset: {offset + step}>>"
        lines.append(f"%i{number} = memref.subview %o{number}[1] [2] [1] : {kind} to {inner}")
        lines.append(f"memref.dealloc %i{number} : {inner}")
        shown.append(outer[1:].tolist())
    module = parse("func.func @main(%m: memref<6xf32>) {\n" + "\n".join(lines) + "\nreturn\n}")
    aliases = Aliases(function(module))
    values = [
        o.operation.operands[0]
        for o in function(module).regions[0].blocks[0].operations
        if o.operation.name == "memref.dealloc"
    ]
    for (a, x), (b, y) in itertools.product(zip(values, shown, strict=True), repeat=2):
        found = aliases.relation(a, b)
        assert (found is MUST) == (x == y)
        assert not found.apart or not set(x) & set(y)


def test_a_slice_of_lower_rank() -> None:
    row = "memref<6xf32, strided<[1], offset: {}>>"
    body = f"""
      %a = memref.subview %m[1, 0] [1, 6] [1, 1] : memref<4x6xf32> to {row.format(6)}
      %b = memref.subview %m[{{}}, 0] [1, 6] [1, 1] : memref<4x6xf32> to {row.format("{}")}
      {uses(row.format(6), row.format("{}"))}"""
    for place, expected in ((0, DISJOINT), (1, MUST), (2, DISJOINT)):
        text = body.replace("%m[{}, 0]", f"%m[{place}, 0]").replace("offset: {}", f"offset: {6 * place}")
        assert relation(text, "%m: memref<4x6xf32>") is expected


def test_a_slice_of_no_elements() -> None:
    assert two("[%i] [0] [1]", "[%i] [8] [1]") is DISJOINT
    assert two("[%i] [0] [1]", "[%i] [0] [1]") is DISJOINT
