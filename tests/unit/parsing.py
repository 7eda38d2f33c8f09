"""IR from text, for tests that look at one function."""

from __future__ import annotations

from functools import cache

from torch_mlir import ir

from hotdesk.ir.context import entered, make_context
from hotdesk.ir.walking import defined_functions, nested_ops, top_level_ops
from hotdesk.passes.base import Pass

_kept: list[ir.Module] = []
"""All modules, as an operation does not keep its own alive. A context takes 3 MB, and they share one."""

IDENTITY = "affine_map<(i) -> (i)>"


@cache
def _context() -> ir.Context:
    return make_context()


def parse(text: str) -> ir.Module:
    _kept.append(ir.Module.parse(text, _context()))
    return _kept[-1]


def function(module: ir.Module) -> ir.Operation:
    """The first function that has a body."""
    return defined_functions(module)[0]


def ops(module: ir.Module, name: str) -> list[ir.Operation]:
    """The operations of that name in the first function, in order."""
    return [op for op in nested_ops(function(module)) if op.name == name]


def value(module: ir.Module, number: int) -> ir.Value:
    """The first result of op `number` of the first function."""
    return top_level_ops(function(module))[number].results[0]


def run(module: ir.Module, *passes: Pass) -> str:
    """Runs passes and returns the text, which verifies."""
    with entered(module.operation):
        for one in passes:
            one.run(module)
        module.operation.verify()
    return str(module)


def elementwise(name: str, inputs: list[str], init: str, sizes: str = "8", element: str = "f32", body: str = "") -> str:
    """A one-dimensional `linalg.generic` whose payload is one op of its inputs."""
    kind = f"tensor<{sizes}x{element}>"
    maps = ", ".join([IDENTITY] * (len(inputs) + 1))
    arguments = "".join(f"%a{i}: {element}, " for i in range(len(inputs)))
    payload = body or f"%t = {name} {', '.join(f'%a{i}' for i in range(len(inputs)))} : {element}"
    return f"""linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins({", ".join(inputs)} : {", ".join([kind] * len(inputs))}) outs({init} : {kind}) {{
    ^bb0({arguments}%o: {element}):
      {payload}
      linalg.yield %t : {element}
    }} -> {kind}"""
