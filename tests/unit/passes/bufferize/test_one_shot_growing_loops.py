"""Work grows with the number of loops, and with what one loop passes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hotdesk._bindings import ir
from hotdesk.ir.context import entered, make_context
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from tests.work import calls_made

LEAST, FACTOR = 50, 4
T = "tensor<4xf32>"
_FOR = "scf.for %i = %zero to %n step %one iter_args"


def _function(body: str, result: str) -> str:
    return f"""func.func @main(%a: {T}, %b: {T}, %n: index) -> {T} {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %k = arith.constant 3.0 : f32
      %e = tensor.empty() : {T}
      {body}
      return {result} : {T}
    }}"""


def _kept_or_new(name: str, kept: str) -> str:
    return f"""%c{name[1:]} = arith.cmpi eq, %i, %one : index
      {name} = scf.if %c{name[1:]} -> {T} {{
        scf.yield {kept} : {T}
      }} else {{
        %v = linalg.map {{ math.exp }} ins({kept} : {T}) outs(%e : {T})
        scf.yield %v : {T}
      }}"""


def _filled(count: int) -> str:
    return "\n".join(f"%f{i} = linalg.fill ins(%k : f32) outs(%e : {T}) -> {T}" for i in range(count))


def _one_loop(count: int, body: str, yielded: str) -> str:
    """A loop of so many arguments, all of whose results are read."""
    given = ", ".join(f"%x{i} = %f{i}" for i in range(count))
    types = ", ".join([T] * count)
    sums = [f"%s{i + 1} = linalg.add ins(%s{i}, %r#{i} : {T}, {T}) outs(%e : {T}) -> {T}" for i in range(count)]
    loop = f"%r:{count} = {_FOR}({given}) -> ({types}) {{\n{body}\nscf.yield {yielded} : {types}\n}}"
    first = f"%s0 = linalg.fill ins(%k : f32) outs(%e : {T}) -> {T}"
    return _function("\n".join([_filled(count), loop, first, *sums]), f"%s{count}")


def _kept_in_a_chain(count: int) -> str:
    loops = (
        f"%r{i + 1} = {_FOR}(%x = %r{i}) -> ({T}) {{\n{_kept_or_new('%w', '%x')}\nscf.yield %w : {T}\n}}"
        for i in range(count)
    )
    first = f"%r0 = linalg.fill ins(%k : f32) outs(%e : {T}) -> {T}"
    return _function("\n".join([first, *loops]), f"%r{count}")


def _kept_in_one_loop(count: int) -> str:
    body = "\n".join(_kept_or_new(f"%w{i}", f"%x{i}") for i in range(count))
    return _one_loop(count, body, ", ".join(f"%w{i}" for i in range(count)))


def _turned_in_one_loop(count: int) -> str:
    return _one_loop(count, "", ", ".join(f"%x{(i + 1) % count}" for i in range(count)))


def _swapped_in_a_chain(count: int) -> str:
    lines = [_filled(2), f"%r0:2 = {_FOR}(%x = %f0, %y = %f1) -> ({T}, {T}) {{\nscf.yield %y, %x : {T}, {T}\n}}"]
    for i in range(count):
        lines.append(f"""%r{i + 1}:2 = {_FOR}(%x = %r{i}#0, %y = %r{i}#1) -> ({T}, {T}) {{
          %z = tensor.insert %k into %x[%zero] : {T}
          scf.yield %y, %z : {T}, {T}
        }}""")
    return _function("\n".join(lines), f"%r{count}#0")


SHAPES: dict[str, Callable[[int], str]] = {
    "kept or new, in a chain": _kept_in_a_chain,
    "kept or new, in one loop": _kept_in_one_loop,
    "turned, in one loop": _turned_in_one_loop,
    "swapped, in a chain": _swapped_in_a_chain,
}


def calls_for(shape: str, count: int) -> int:
    module = ir.Module.parse(SHAPES[shape](count), make_context())
    with entered(module.operation):
        return calls_made(lambda: OneShotBufferize().run(module))


@pytest.mark.parametrize("shape", SHAPES)
def test_bufferization(shape: str) -> None:
    calls_for(shape, 4)  # models are looked up
    assert calls_for(shape, FACTOR * LEAST) <= 1.1 * FACTOR * calls_for(shape, LEAST)
