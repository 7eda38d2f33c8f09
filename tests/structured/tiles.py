"""Tiles: parts of tensors that are computed by themselves, in parts again or round a loop, and put back where they were."""

from __future__ import annotations

from tests.structured.building import Builder, Index, Tensor
from tests.structured.control import arguments, step
from tests.structured.steps import elementwise, indented, part, put, take

_DEEPEST = 3


def tile(b: Builder, tensor: Tensor | None = None) -> Tensor | None:
    """A part that is taken, changed and put back; seldom somewhere else, and seldom is the tensor read behind it."""
    tensor = tensor or b.some(lambda t: t.defined and t.rank > 0 and 0 not in t.sizes)
    if tensor is None:
        return None
    where = part(b, tensor)
    taken = take(b, tensor, where)
    changed = _changed(b, taken)
    if b.chance(10):
        where = part(b, tensor, sizes=changed)
    found = put(b, changed, tensor, where)
    if b.chance(15):
        elementwise(b, b.pick((tensor, taken)))
    return found


def _changed(b: Builder, taken: Tensor) -> Tensor:
    """A tensor of the type of a tile, mostly computed over it."""
    kind = b.pick(("over", "over", "tile", "loop", "loop", "branch"))
    found: Tensor | None = None
    if kind == "over" or b.depth >= _DEEPEST or 0 in taken.sizes:
        found = elementwise(b, taken, taken)
    elif kind == "tile":
        found = tile(b, taken)
    elif kind == "loop":
        found = _loop(b, taken)
    else:
        found = _branch(b, taken)
    return found if found is not None and found.like(taken) and found.defined >= taken.defined else taken


def _loop(b: Builder, taken: Tensor) -> Tensor:
    trips = b.between(0, 3)
    bounds = [b.index(0), b.index(trips), b.index(1)]
    with b.region() as body:
        (own,) = arguments(b, [taken])
        variable = b.fresh()
        b.indices.append(Index(variable, 0, max(trips - 1, 0)))
        if b.chance(30):
            step(b)
        end = _changed(b, own)
        body.append(f"scf.yield {end.name} : {end.type}")
    text = "scf.for {} = {} to {} step {}".format(variable, *bounds)
    return b.add(f"{text} iter_args({own.name} = {taken.name}) -> ({own.type}) {{\n{indented(body)}\n}}", taken)


def _branch(b: Builder, taken: Tensor) -> Tensor:
    condition = b.condition()
    ways: list[str] = []
    for _ in range(2):
        with b.region() as body:
            end = _changed(b, taken)
            body.append(f"scf.yield {end.name} : {end.type}")
        ways.append(f"{{\n{indented(body)}\n}}")
    return b.add(f"scf.if {condition} -> ({taken.type}) {ways[0]} else {ways[1]}", taken)
