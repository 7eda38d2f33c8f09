"""Steps with regions: loops, branches, switches, threads; and blocks that branch to one another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.structured.building import Builder, Index, Tensor
from tests.structured.steps import STEPS, elementwise, indented
from tests.structured.tensors import TENSORS

_DEEPEST = 3


def step(b: Builder) -> None:
    if b.depth < _DEEPEST and b.chance(35):
        b.pick(CONTROL)(b)
    else:
        b.pick(TENSORS if b.chance(25) else STEPS)(b)


def steps(b: Builder, most: int) -> None:
    for _ in range(b.between(0, most)):
        step(b)


# What goes in and out


def carried(b: Builder) -> list[Tensor]:
    """What a loop starts from: tensors in scope and new ones, often several of a type, sometimes one of them twice."""
    found: list[Tensor] = []
    for _ in range(b.between(1, 3)):
        like = b.pick(found) if found and b.chance(60) else b.some()
        if like is None or b.chance(15):
            like = b.described(b.shape(), b.element())
        tensor = b.same(like) if b.chance(60) else b.fresh_tensor(like)
        found.append(tensor or b.fresh_tensor(like))
    return found


def arguments(b: Builder, given: Sequence[Tensor]) -> list[Tensor]:
    """Block arguments for tensors."""
    return [b.keep(b.fresh(), tensor) for tensor in given]


def yielded(b: Builder, wanted: Sequence[Tensor], own: Sequence[Tensor] = ()) -> list[Tensor]:
    """What a region ends with: for each type the last tensor that was made of it, or any, or new; `own` may go round."""
    if len(own) > 1 and b.chance(25):
        turned = [*own[1:], own[0]]
        if all(t.like(w) and (t.defined or not w.defined) for t, w in zip(turned, wanted, strict=True)):
            return turned
    found: list[Tensor] = []
    for like in wanted:
        tensor = b.same(like, defined=like.defined)
        if tensor is None or b.chance(10):
            tensor = b.fresh_tensor(like)
        found.append(tensor)
    return found


def results(b: Builder) -> list[Tensor]:
    """Types for the results of a branch."""
    likes = [b.some() or b.described(b.shape(), b.element()) for _ in range(b.pick((1, 1, 2)))]
    return [replace(like, defined=False) for like in likes]


def finish(b: Builder, text: str, wanted: Sequence[Tensor]) -> None:
    """An op with regions whose results are tensors."""
    name = b.fresh()
    b.lines.append(f"{name}:{len(wanted)} = {text}")
    for number, like in enumerate(wanted):
        b.keep(f"{name}#{number}", like)


def typed(tensors: Sequence[Tensor]) -> str:
    return ", ".join(t.type for t in tensors)


def named(tensors: Sequence[Tensor]) -> str:
    return ", ".join(t.name for t in tensors)


# Loops


def for_loop(b: Builder) -> None:
    inits = carried(b)
    stride, trips = b.pick((1, 1, 2)), b.between(0, 3)
    bounds = [b.index(0), b.index(stride * trips), b.index(stride)]
    with b.region() as body:
        own = arguments(b, inits)
        variable = b.fresh()
        b.indices.append(Index(variable, 0, stride * max(trips - 1, 0)))
        steps(b, 3)
        ends = yielded(b, inits, own)
        body.append(f"scf.yield {named(ends)} : {typed(ends)}")
    pairs = ", ".join(f"{a.name} = {t.name}" for a, t in zip(own, inits, strict=True))
    text = f"scf.for {variable} = {bounds[0]} to {bounds[1]} step {bounds[2]} iter_args({pairs}) -> ({typed(inits)})"
    finish(b, f"{text} {{\n{indented(body)}\n}}", inits)


def while_loop(b: Builder) -> None:
    """A counter and tensors; those that the condition passes on may be others, in another order."""
    inits = carried(b)
    trips = b.between(0, 3)
    start, end = b.index(0), b.index(trips)
    with b.region() as before:
        own, counter = arguments(b, inits), b.fresh()
        b.indices.append(Index(counter, 0, trips))
        steps(b, 1)
        condition = b.line(f"arith.cmpi slt, {counter}, {end} : index")
        passed = list(own) if b.chance(60) else [b.some() or own[0] for _ in range(b.between(1, 2))]
        if b.chance(30):
            passed.reverse()
        before.append(f"scf.condition({condition}) {counter}, {named(passed)} : index, {typed(passed)}")
    with b.region() as after:
        received, number = arguments(b, passed), b.fresh()
        b.indices.append(Index(number, 0, max(trips - 1, 0)))
        steps(b, 2)
        following = b.line(f"arith.addi {number}, %k1 : index")
        ends = yielded(b, inits, received if len(received) == len(inits) else ())
        after.append(f"scf.yield {following}, {named(ends)} : index, {typed(ends)}")
    pairs = ", ".join(f"{a.name} = {t.name}" for a, t in zip(own, inits, strict=True))
    block = ", ".join([f"{number}: index", *(f"{t.name}: {t.type}" for t in received)])
    name = b.fresh()
    b.lines.append(
        f"{name}:{len(passed) + 1} = scf.while ({counter} = {start}, {pairs}) : (index, {typed(inits)}) -> "
        f"(index, {typed(passed)}) {{\n{indented(before)}\n}} do {{\n^bb0({block}):\n{indented(after)}\n}}"
    )
    for position, like in enumerate(passed, 1):
        b.keep(f"{name}#{position}", like)


# Branches


def _branch(b: Builder, wanted: Sequence[Tensor], terminator: str = "scf.yield") -> tuple[list[str], list[Tensor]]:
    with b.region() as body:
        steps(b, 2)
        ends = yielded(b, wanted)
        body.append(f"{terminator} {named(ends)} : {typed(ends)}")
    return body, ends


def _joined(branches: Sequence[Sequence[Tensor]]) -> list[Tensor]:
    """The results of branches: defined if each branch defines them."""
    return [replace(each[0], defined=all(t.defined for t in each)) for each in zip(*branches, strict=True)]


def if_else(b: Builder) -> None:
    wanted, condition = results(b), b.condition()
    (then, first), (other, second) = _branch(b, wanted), _branch(b, wanted)
    text = f"scf.if {condition} -> ({typed(wanted)}) {{\n{indented(then)}\n}} else {{\n{indented(other)}\n}}"
    finish(b, text, _joined([first, second]))


def switch(b: Builder) -> None:
    wanted = results(b)
    chosen = b.pick([i.name for i in b.indices] or [b.index(b.between(0, 2))])
    branches = [_branch(b, wanted) for _ in range(b.between(1, 3))]
    cases = [f"case {number} {{\n{indented(body)}\n}}" for number, (body, _) in enumerate(branches[1:])]
    text = "\n".join(
        [f"scf.index_switch {chosen} -> {typed(wanted)}", *cases, f"default {{\n{indented(branches[0][0])}\n}}"]
    )
    finish(b, text, _joined([ends for _, ends in branches]))


def region(b: Builder) -> None:
    wanted = results(b)
    body, ends = _branch(b, wanted)
    types = typed(wanted) if len(wanted) == 1 else f"({typed(wanted)})"
    finish(b, f"scf.execute_region -> {types} {{\n{indented(body)}\n}}", ends)


# Threads


def forall(b: Builder) -> None:
    """Each thread computes one tile along the first dim and inserts it into one or two shared tensors."""
    shared = b.some(lambda t: t.rank > 0 and all(t.static) and 0 not in t.sizes)
    if shared is None:
        return
    tile = b.pick([n for n in (1, 2, 3) if shared.sizes[0] % n == 0])
    inits = [shared, *([b.fresh_tensor(shared)] if b.chance(30) else [])]
    likes = [replace(t, name="", sizes=(tile, *t.sizes[1:])) for t in inits]
    with b.region() as body:
        outs = [replace(t, name=b.fresh()) for t in inits]
        if b.chance(25):  # the whole of it, as it was before
            b.tensors.extend(outs)
        variable = b.fresh()
        b.indices.append(Index(variable, 0, shared.sizes[0] - tile))
        offsets, strides = [variable, *["0"] * (shared.rank - 1)], ["1"] * shared.rank
        part = f"[{', '.join(offsets)}]{list(likes[0].sizes)}[{', '.join(strides)}]"
        for out, like in zip(outs, likes, strict=True):
            if b.chance(70):
                taken = b.add(
                    f"tensor.extract_slice {out.name}{part} : {out.type} to {like.type}",
                    replace(like, defined=out.defined),
                )
                if b.chance(50):
                    elementwise(b, taken, taken)
        steps(b, 2)
        ends = [b.some(lambda t, like=like: t.like(like)) or b.filled(like) for like in likes]
        insertions = [
            f"tensor.parallel_insert_slice {end.name} into {out.name}{part} : {end.type} into {out.type}"
            for end, out in zip(ends, outs, strict=True)
        ]
        body.append(f"scf.forall.in_parallel {{\n{indented(insertions)}\n}}")
    pairs = ", ".join(f"{out.name} = {t.name}" for out, t in zip(outs, inits, strict=True))
    head = (
        f"scf.forall ({variable}) = (0) to ({shared.sizes[0]}) step ({tile}) shared_outs({pairs}) -> ({typed(inits)})"
    )
    made = [replace(t, defined=end.defined) for t, end in zip(inits, ends, strict=True)]
    finish(b, f"{head} {{\n{indented(body)}\n}}", made)


def parallel(b: Builder) -> None:
    """A sum over a tensor."""
    tensor = b.some(lambda t: t.defined and t.rank > 0 and 0 not in t.sizes and t.element == "i32")
    if tensor is None:
        return
    bounds = [b.index(0), b.index(tensor.sizes[0]), b.constant(1)]
    start = b.scalar("i32")
    with b.region() as body:
        variable = b.fresh()
        b.indices.append(Index(variable, 0, tensor.sizes[0] - 1))
        steps(b, 1)
        place = ", ".join([variable, *(b.index(b.between(0, s - 1)) for s in tensor.sizes[1:])])
        value = b.line(f"tensor.extract {tensor.name}[{place}] : {tensor.type}")
        left, right, total = b.fresh(), b.fresh(), b.fresh()
        body.append(
            f"scf.reduce({value} : i32) {{\n^bb0({left}: i32, {right}: i32):\n  {total} = arith.addi {left}, {right} : i32\n"
            f"  scf.reduce.return {total} : i32\n}}"
        )
    text = f"scf.parallel ({variable}) = ({bounds[0]}) to ({bounds[1]}) step ({bounds[2]}) init({start}) -> i32"
    b.scalars.append(b.line(f"{text} {{\n{indented(body)}\n}}"))


# Blocks: for functions only, between whose lines labels may stand


def diamond(b: Builder) -> None:
    """Two blocks that meet in a third."""
    wanted, condition = results(b), b.condition()
    sent = [carried(b), carried(b)]
    labels = [b.fresh().replace("%", "^") for _ in range(3)]
    targets = ", ".join(f"{label}({named(s)} : {typed(s)})" for label, s in zip(labels, sent, strict=False))
    b.lines.append(f"cf.cond_br {condition}, {targets}")
    branches: list[list[Tensor]] = []
    for label, given in zip(labels, sent, strict=False):
        with b.region() as body:
            own = arguments(b, given)
            steps(b, 2)
            ends = yielded(b, wanted)
            body.append(f"cf.br {labels[2]}({named(ends)} : {typed(ends)})")
        b.lines.extend([_label(label, own), *body])
        branches.append(ends)
    joined = _joined(branches)
    own = arguments(b, joined)
    b.lines.append(_label(labels[2], own))


def block_loop(b: Builder) -> None:
    """A block that tests, a block that goes back to it, and one behind."""
    inits = carried(b)
    trips = b.between(0, 3)
    start, end = b.index(0), b.index(trips)
    head, inside, behind = (b.fresh().replace("%", "^") for _ in range(3))
    b.lines.append(f"cf.br {head}({start}, {named(inits)} : index, {typed(inits)})")
    counter, own = b.fresh(), arguments(b, inits)
    condition = b.fresh()
    b.lines.append(f"{head}({', '.join([f'{counter}: index', *(f'{t.name}: {t.type}' for t in own)])}):")
    b.lines.append(f"{condition} = arith.cmpi slt, {counter}, {end} : index")
    b.lines.append(f"cf.cond_br {condition}, {inside}, {behind}")
    with b.region() as body:
        b.indices.append(Index(counter, 0, max(trips - 1, 0)))
        steps(b, 2)
        following = b.line(f"arith.addi {counter}, %k1 : index")
        ends = yielded(b, inits, own)
        body.append(f"cf.br {head}({following}, {named(ends)} : index, {typed(ends)})")
    b.lines.extend([f"{inside}:", *body, f"{behind}:"])


def _label(label: str, own: Sequence[Tensor]) -> str:
    return f"{label}({', '.join(f'{t.name}: {t.type}' for t in own)}):"


CONTROL: list[Callable[[Builder], object]] = [
    for_loop, for_loop, for_loop, for_loop, while_loop, if_else, if_else, switch, region, forall, parallel,
]  # fmt: skip
BLOCKS: list[Callable[[Builder], object]] = [diamond, block_loop]
