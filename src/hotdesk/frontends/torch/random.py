"""Random numbers of a program: Philox4x32-10, counted by a tensor of the program's own that each call advances.

    rand(4, 6)     ->     draw(seed, offset):  linalg.generic { Philox of (offset + number of the op, index of the element) }

1. The state is two 64-bit integers, seed and offset: the key, and the lower half of the counter at the first op of a call.
2. Each op that draws has a number in its program, each element of its result an index in row-major order: the upper half of the
   counter. So no two elements of a call, nor of two calls, share a counter, and none depends on the order of computation.
3. A call advances the offset by the number of ops.

Philox: J. K. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011. Normal numbers by Box and Muller.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import torch
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, OutputKind, OutputSpec, TensorArgument

from hotdesk._bindings import ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.torch.cutting import SizeValues
from hotdesk.frontends.torch.lines import node_line
from hotdesk.ir.building import create
from hotdesk.ir.types import shape_of
from hotdesk.runtime.interface import RANDOM_STATE

aten: Any = torch.ops.aten

MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
WEYL = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10
_WORD = 0xFFFFFFFF

Word = TypeVar("Word")
Words: TypeAlias = "tuple[Word, Word, Word, Word]"


class Words32(Protocol[Word]):
    """Arithmetic on words of 32 bits, held in integers of 64."""

    def product(self, word: Word, factor: int) -> tuple[Word, Word]:
        """The higher and the lower word of a product."""
        ...

    def xor(self, *words: Word) -> Word: ...

    def sum(self, word: Word, term: int) -> Word:
        """Modulo 2³²."""
        ...


def philox(counter: Words[Word], key: tuple[Word, Word], words: Words32[Word]) -> Words[Word]:
    """Four random words of Philox4x32-10; all words are unsigned, the lowest comes first."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for each in range(ROUNDS):
        if each:
            k0, k1 = words.sum(k0, WEYL[0]), words.sum(k1, WEYL[1])
        (high0, low0), (high1, low1) = words.product(c0, MULTIPLIERS[0]), words.product(c2, MULTIPLIERS[1])
        c0, c1, c2, c3 = words.xor(high1, c1, k0), low1, words.xor(high0, c3, k1), low0
    return c0, c1, c2, c3


def draw(seed: torch.Tensor, offset: torch.Tensor, number: int, kind: str, low: int, high: int) -> torch.Tensor:
    """What stands in a graph for an op that draws; `number` is that of the op, `low` and `high` are ends of integers.

    It is cut out before anything runs it.
    """
    raise NotImplementedError


def is_draw(node: torch.fx.Node) -> bool:
    return node.target is draw


def thread_random_state(exported: ExportedProgram, seed: int) -> None:
    """Has the ops of a graph that draw read a state, which the program returns advanced; nothing if there are none.

    The program is changed: the state is its first argument, a buffer.
    """
    kinds = {aten.rand.default: "uniform", aten.randn.default: "normal", aten.randint.low: "integers"}
    graph = exported.graph
    nodes = [node for node in graph.nodes if node.target in kinds]
    for node in nodes:
        if not node.users:
            graph.erase_node(node)
    nodes = [node for node in nodes if node.users]
    if not nodes:
        return
    mode = next((each for each in map(_mode, graph.nodes) if each is not None), None) or FakeTensorMode()

    def put(target: Any, *args: Any) -> torch.fx.Node:
        made = graph.call_function(target, args)
        values = [each.meta["val"] if isinstance(each, torch.fx.Node) else each for each in args]
        with mode:
            made.meta["val"] = target(*values)
        return made

    first = next(iter(graph.nodes))
    with graph.inserting_before(first):
        state = graph.placeholder("hotdesk_random_state")
    with mode:
        state.meta["val"] = torch.empty(2, dtype=torch.int64, device="cpu")
    with graph.inserting_before(next(node for node in graph.nodes if node.op != "placeholder")):
        parts = tuple(put(aten.select.int, state, 0, place) for place in range(2))
    for number, node in enumerate(nodes):
        ends = node.args[:2] if kinds[node.target] == "integers" else (0, 1)
        _refuse_ends(node, *ends)
        with graph.inserting_before(node):
            made = graph.call_function(draw, (*parts, number, kinds[node.target], *ends))
        made.meta.update(node.meta)
        node.replace_all_uses_with(made)
        graph.erase_node(node)
    output = next(node for node in reversed(graph.nodes) if node.op == "output")
    with graph.inserting_before(output):
        steps = graph.call_function(
            aten.arange.start_step,
            (0, 2 * len(nodes), len(nodes)),
            {"dtype": torch.int64, "device": torch.device("cpu")},
        )
        with mode:
            steps.meta["val"] = torch.empty(2, dtype=torch.int64, device="cpu")
        advanced = put(aten.add.Tensor, state, steps)
    output.args = ((advanced, *output.args[0]),)
    signature, program = exported.graph_signature, cast(Any, exported)
    signature.input_specs.insert(
        0, InputSpec(InputKind.BUFFER, TensorArgument(name=state.name), RANDOM_STATE, persistent=True)
    )
    signature.output_specs.insert(
        0, OutputSpec(OutputKind.BUFFER_MUTATION, TensorArgument(name=advanced.name), RANDOM_STATE)
    )
    program._state_dict = {**program._state_dict, RANDOM_STATE: torch.tensor([seed, 0], dtype=torch.int64)}


def _mode(node: torch.fx.Node) -> FakeTensorMode | None:
    value = node.meta.get("val")
    return value.fake_mode if isinstance(value, FakeTensor) else None


def _refuse_ends(node: torch.fx.Node, low: Any, high: Any) -> None:
    if isinstance(low, int) and isinstance(high, int) and low < high:
        return
    raise UnsupportedOpError(
        f"op `{node.target}` draws from a range that is empty or varies",
        expected="two numbers that are known when the model is compiled, the lower one first",
        got=f"{low} and {high}",
        where=node_line(node) or None,
    )


@dataclass(frozen=True, slots=True)
class Draw:
    """What is put in for such a node: one pass over its result."""

    inputs: tuple[torch.fx.Node, ...]
    number: int
    kind: str
    low: int
    high: int

    @staticmethod
    def of(node: torch.fx.Node) -> Draw:
        seed, offset, *rest = cast(Any, node.args)
        return Draw((seed, offset), *rest)

    def write(
        self,
        inputs: Sequence[ir.Value],
        results: Mapping[int, tuple[ir.Type, tuple[Any, ...]]],
        sizes: SizeValues,
        before: ir.Operation,
    ) -> Mapping[int, ir.Value]:
        ((number, (kind, shape)),) = results.items()
        dynamic = [sizes.of(size) for size, known in zip(shape, shape_of(kind), strict=True) if known is None]
        empty = create("tensor.empty", dynamic, [kind], before=before).results[0]
        rank = len(shape)
        steps = [_product(shape[dim + 1 :]) for dim in range(rank)]
        varying = {dim: _scalar(sizes.of(step), before) for dim, step in enumerate(steps) if not isinstance(step, int)}
        operands = [*inputs, *varying.values()]
        scalar = ir.AffineMapAttr.get(ir.AffineMap.get(rank, 0, []))
        maps = [scalar] * len(operands) + [ir.AffineMapAttr.get(ir.AffineMap.get_identity(rank))]
        attributes: dict[str, ir.Attribute] = {
            "indexing_maps": ir.ArrayAttr.get(maps),
            "iterator_types": ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>")] * rank),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 1]),
        }
        op = create("linalg.generic", [*operands, empty], [kind], attributes, regions=1, before=before)
        element = cast(Any, kind).element_type
        i64 = ir.IntegerType.get_signless(64)
        types = [*[i64] * len(operands), element]
        block = op.regions[0].blocks.append(*types, arg_locs=[before.location] * len(types))
        with ir.InsertionPoint(block), before.location:
            body = _PayloadBuilder()
            seed, offset, *strides = list(block.arguments)[: len(operands)]
            held = dict(zip(varying, strides, strict=True))
            index = body.integer(0)
            for dim, step in enumerate(steps):
                place = body.op("arith.index_cast", [body.position(dim)], i64)
                factor = held[dim] if dim in held else body.integer(cast(int, step))
                index = body.op("arith.addi", [index, body.op("arith.muli", [place, factor])])
            count = body.op("arith.addi", [offset, body.integer(self.number)])
            words = philox((*body.split(count), *body.split(index)), body.split(seed), body)
            value = self._value(words, element, body)
            ir.Operation.create("linalg.yield", operands=[value])
        return {number: op.results[0]}

    def _value(self, words: Words[ir.Value], element: ir.Type, body: _PayloadBuilder) -> ir.Value:
        if self.kind == "integers":
            return self._integer(words, body)
        is_double = isinstance(element, ir.F64Type)
        if self.kind == "uniform":
            bits = body.wide(words[0], words[1], 11) if is_double else body.shifted(words[0], 8)
            return body.scaled(bits, element, 2.0**-53 if is_double else 2.0**-24)
        above = body.wide(words[0], words[1], 11) if is_double else words[0]
        angle = body.wide(words[2], words[3], 11) if is_double else words[1]
        unit = 2.0**-53 if is_double else 2.0**-32
        # Half a step above the drawn number: never zero, whose logarithm is infinite.
        floats = body.op("arith.addf", [body.op("arith.sitofp", [above], element), body.real(0.5, element)])
        log = body.op("math.log", [body.op("arith.mulf", [floats, body.real(unit, element)])])
        radius = body.op("math.sqrt", [body.op("arith.mulf", [log, body.real(-2.0, element)])])
        turn = body.op("math.cos", [body.scaled(angle, element, unit * 2 * math.pi)])
        return body.op("arith.mulf", [radius, turn])

    def _integer(self, words: Words[ir.Value], body: _PayloadBuilder) -> ir.Value:
        """The higher part of the product of a random fraction of 64 bits and the number of values; else the remainder."""
        count = self.high - self.low
        if count <= 1 << 32:
            below = body.shifted(body.op("arith.muli", [words[1], body.integer(count)]), 32)
            above = body.op("arith.muli", [words[0], body.integer(count)])
            found = body.shifted(body.op("arith.addi", [above, below]), 32)
        else:
            found = body.op("arith.remui", [body.wide(words[0], words[1], 0), body.integer(count)])
        return body.op("arith.addi", [found, body.integer(self.low)])


def _product(sizes: Sequence[Any]) -> Any:
    found = math.prod(sizes)
    return int(found) if getattr(found, "is_Integer", True) else found


def _scalar(index: ir.Value, before: ir.Operation) -> ir.Value:
    """A size as a tensor of rank 0."""
    i64 = ir.IntegerType.get_signless(64)
    number = create("arith.index_cast", [index], [i64], before=before).results[0]
    return create("tensor.from_elements", [number], [ir.RankedTensorType.get([], i64)], before=before).results[0]


class _PayloadBuilder:
    """Ops in the body of a `linalg.generic`, at the insertion point."""

    def op(self, name: str, operands: Sequence[ir.Value], kind: ir.Type | None = None) -> ir.Value:
        made: Any = ir.Operation.create(name, results=[kind or operands[0].type], operands=list(operands))
        return made.results[0]

    def integer(self, value: int) -> ir.Value:
        """A constant of 64 bits, which wraps."""
        wrapped = (value + (1 << 63)) % (1 << 64) - (1 << 63)
        return self._constant(ir.IntegerAttr.get(ir.IntegerType.get_signless(64), wrapped))

    def real(self, value: float, kind: ir.Type) -> ir.Value:
        return self._constant(ir.FloatAttr.get(kind, value))

    def _constant(self, value: Any) -> ir.Value:
        made: Any = ir.Operation.create("arith.constant", results=[value.type], attributes={"value": value})
        return made.results[0]

    def position(self, dim: int) -> ir.Value:
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dim)
        made: Any = ir.Operation.create("linalg.index", results=[ir.IndexType.get()], attributes={"dim": number})
        return made.results[0]

    def shifted(self, value: ir.Value, bits: int) -> ir.Value:
        return self.op("arith.shrui", [value, self.integer(bits)])

    def low(self, value: ir.Value) -> ir.Value:
        return self.op("arith.andi", [value, self.integer(_WORD)])

    def split(self, value: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The lower and the higher word."""
        return self.low(value), self.shifted(value, 32)

    def wide(self, high: ir.Value, low: ir.Value, dropped: int) -> ir.Value:
        """Two words as one number, without its lowest bits."""
        both = self.op("arith.ori", [self.op("arith.shli", [high, self.integer(32)]), low])
        return self.shifted(both, dropped) if dropped else both

    def scaled(self, bits: ir.Value, kind: ir.Type, unit: float) -> ir.Value:
        return self.op("arith.mulf", [self.op("arith.sitofp", [bits], kind), self.real(unit, kind)])

    def product(self, word: ir.Value, factor: int) -> tuple[ir.Value, ir.Value]:
        found = self.op("arith.muli", [word, self.integer(factor)])
        return self.shifted(found, 32), self.low(found)

    def xor(self, *words: ir.Value) -> ir.Value:
        first, *rest = words
        for each in rest:
            first = self.op("arith.xori", [first, each])
        return first

    def sum(self, word: ir.Value, term: int) -> ir.Value:
        return self.low(self.op("arith.addi", [word, self.integer(term)]))
