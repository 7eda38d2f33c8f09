"""Which arguments of `@main` are made by `@prepare`, before bufferization and behind it."""

from __future__ import annotations

import pytest

from hotdesk.runtime.prepared import prepared_types
from tests.unit.parsing import parse

OWN = '%a: tensor<5xf32> {hotdesk.kind = "prepared"}'
MADE = '%b: tensor<2xf32> {hotdesk.kind = "prepared"}, %c: tensor<?xi64> {hotdesk.kind = "prepared", hotdesk.shape = ["3"]}'
VALUES = """
func.func @prepare(%w: tensor<6xf32>, %p: tensor<2xf32>, %q: tensor<?xi64>) -> (tensor<2xf32>, tensor<?xi64>) {
  return %p, %q : tensor<2xf32>, tensor<?xi64>
}"""
MEMORY = """
func.func @prepare(%w: memref<6xf32>, %p: memref<2xf32> {bufferize.result = 0 : i64},
                   %q: memref<?xi64> {bufferize.result = 1 : i64}) {
  return
}"""


@pytest.mark.parametrize("prepare", [VALUES, MEMORY], ids=["values", "memory"])
@pytest.mark.parametrize("given", [f"{OWN}, {MADE}", MADE], ids=["beside its own", "alone"])
def test_what_prepare_makes(given: str, prepare: str) -> None:
    main = f"func.func @main(%x: tensor<4xf32>, {given}) {{\n  return\n}}"
    if prepare is MEMORY:
        main = main.replace("tensor<", "memref<")
    assert prepared_types(parse(f"{prepare}\n{main}")) == [((2,), "f32"), ((3,), "i64")]


def test_nothing_is_prepared() -> None:
    assert prepared_types(parse(f"func.func @main({OWN}) {{\n  return\n}}")) == []
