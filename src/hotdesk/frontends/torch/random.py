"""Random numbers of a program: Philox4x32-10, counted by a tensor of the program's own that each call advances.

    rand(4, 6)     ->     draw(seed, offset):  linalg.generic { Philox of (offset + number of the op, index of the element) }

1. The state is two 64-bit integers, seed and offset: the key, and the lower half of the counter at the first op of a call.
2. Each op that draws has a number in its program, each element of its result an index in row-major order: the upper half of the
   counter. So no two elements of a call, nor of two calls, share a counter, and none depends on the order of computation.
3. A call advances the offset by the number of ops that have drawn. Where some are in loops or branches, the offset is a value:
   loops carry it from iteration to iteration, and branches return it.

Philox: J. K. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011. Normal numbers by Box and Muller.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import torch
from torch._higher_order_ops.scan import scan_op
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, OutputKind, OutputSpec, TensorArgument
from torch.fx.node import map_arg

from hotdesk._bindings import ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.torch.control_flow import all_graphs, is_control_flow, subgraphs
from hotdesk.frontends.torch.cutting import CutSite
from hotdesk.frontends.torch.lines import node_line
from hotdesk.ir.building import create, index_cast
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

    The program is changed: the state is its first argument, a buffer. Loops carry the offset, and branches return it.
    """
    graph = exported.graph
    threaded = _threaded(graph, first=True)
    if threaded is None:
        return
    state, threading = threaded
    output = next(node for node in reversed(graph.nodes) if node.op == "output")
    with graph.inserting_before(output):
        advanced = threading.state(state)
    output.args = ((advanced, *output.args[0]),)
    signature, program = exported.graph_signature, cast(Any, exported)
    signature.input_specs.insert(
        0, InputSpec(InputKind.BUFFER, TensorArgument(name=state.name), RANDOM_STATE, persistent=True)
    )
    signature.output_specs.insert(
        0, OutputSpec(OutputKind.BUFFER_MUTATION, TensorArgument(name=advanced.name), RANDOM_STATE)
    )
    program._state_dict = {**program._state_dict, RANDOM_STATE: torch.tensor([seed, 0], dtype=torch.int64)}


def take_random_state(graph: torch.fx.Graph) -> bool:
    """Has the ops of a graph that draw read a state, which becomes its last argument: a seed and an offset.

    Returns whether there are any.
    """
    return _threaded(graph, first=False) is not None


def _threaded(graph: torch.fx.Graph, *, first: bool) -> tuple[torch.fx.Node, _Threading] | None:
    """Puts the state among the arguments of a graph, as the first or the last, and has it read; None if nothing draws."""
    for each in all_graphs(graph):
        for node in list(each.nodes):
            if node.target in _KINDS and not node.users:
                each.erase_node(node)
    if not _draws(graph):
        return None
    mode = next((each for each in map(_mode, graph.nodes) if each is not None), None) or FakeTensorMode()
    build = _Building(mode)
    behind = next(node for node in graph.nodes if node.op != "placeholder")
    with graph.inserting_before(next(iter(graph.nodes)) if first else behind):
        state = build.argument(graph, "hotdesk_random_state", 2)
    with graph.inserting_before(behind):
        key, offset = (build.op(graph, aten.select.int, state, 0, place) for place in range(2))
    threading = _Threading(graph, key, offset, build)
    threading.run()
    return state, threading


_KINDS = {aten.rand.default: "uniform", aten.randn.default: "normal", aten.randint.low: "integers"}


def _draws(graph: torch.fx.Graph) -> bool:
    """Whether anything in a graph, or in the subgraphs of its control flow, draws."""
    return any(node.target in _KINDS for each in all_graphs(graph) for node in each.nodes)


@dataclass(frozen=True, slots=True)
class _Building:
    """New nodes, at the insertion point of their graph; `mode` is where PyTorch thinks of their values."""

    mode: FakeTensorMode

    def argument(self, graph: torch.fx.Graph, name: str, *size: int) -> torch.fx.Node:
        made = graph.placeholder(name)
        made.meta["val"] = self.value(*size)
        return made

    def value(self, *size: int) -> torch.Tensor:
        with self.mode:
            return torch.empty(size, dtype=torch.int64, device="cpu")

    def op(self, graph: torch.fx.Graph, target: Any, *args: Any) -> torch.fx.Node:
        made = graph.call_function(target, args)
        values = map_arg(args, lambda each: each.meta["val"])
        with self.mode:
            made.meta["val"] = target(*values)
        return made


class _Threading:
    """The offset on its way through a graph: that at its beginning, or behind the last control flow that draws, and how many ops
    have drawn since."""

    def __init__(self, graph: torch.fx.Graph, key: torch.fx.Node, offset: torch.fx.Node, build: _Building) -> None:
        self._graph, self._key, self._begin, self._offset, self._build = graph, key, offset, offset, build
        self._drawn = 0

    def run(self) -> None:
        for node in list(self._graph.nodes):
            if node.target in _KINDS:
                self._draw(node)
            elif is_control_flow(node) and any(map(_draws, (each.graph for each in subgraphs(node)))):
                self._control_flow(node)

    def offset(self) -> torch.fx.Node:
        """The offset behind all that have drawn, at the insertion point."""
        if self._drawn:
            self._offset = self._build.op(self._graph, aten.add.Tensor, self._offset, self._drawn)
            self._drawn = 0
        return self._offset

    def state(self, before: torch.fx.Node) -> torch.fx.Node:
        """The advanced state; `before` is that which the graph was given."""
        if self._offset is self._begin:  # their number is known
            steps = self._graph.call_function(
                aten.arange.start_step,
                (0, 2 * self._drawn, self._drawn),
                {"dtype": torch.int64, "device": torch.device("cpu")},
            )
            steps.meta["val"] = self._build.value(2)
            return self._build.op(self._graph, aten.add.Tensor, before, steps)
        parts = [self._build.op(self._graph, aten.unsqueeze.default, each, 0) for each in (self._key, self.offset())]
        return self._build.op(self._graph, aten.cat.default, parts)

    def _draw(self, node: torch.fx.Node) -> None:
        kind = _KINDS[node.target]
        ends = node.args[:2] if kind == "integers" else (0, 1)
        _refuse_ends(node, *ends)
        with self._graph.inserting_before(node):
            made = self._graph.call_function(draw, (self._key, self._offset, self._drawn, kind, *ends))
        made.meta.update(node.meta)
        node.replace_all_uses_with(made)
        self._graph.erase_node(node)
        self._drawn += 1

    def _control_flow(self, node: torch.fx.Node) -> None:
        """Gives an op with subgraphs the offset to carry, and the key to read."""
        name = cast(Any, node.target).name()
        with self._graph.inserting_before(node):
            owners = {each: self._copied(each) for each in node.all_input_nodes if _is_subgraph(node, each)}
            offset = self.offset()
        node.args = cast(Any, map_arg(node.args, lambda each: owners.get(each, each)))
        if name == "cond":
            predicate, *ways, operands = cast("tuple[Any, ...]", node.args)
            node.args = (predicate, *ways, (*operands, self._key, offset))
            for each in ways:
                self._thread(each, -1, len(operands), -1)
            place = len(node.meta["val"])
        elif name == "while_loop":
            condition, body, carried, additional = cast("tuple[Any, ...]", node.args)
            if _draws(self._subgraph(condition)):
                raise _refused(node, "a loop whose condition draws")
            node.args = (condition, body, (*carried, offset), (*additional, self._key))
            self._thread(condition, len(carried), len(carried) + len(additional), None)
            self._thread(body, len(carried), len(carried) + len(additional), -1)
            place = len(carried)
        else:
            body, *carried, scanned, additional = cast("tuple[Any, ...]", node.args)
            first = carried[0] if carried else []
            node.target = scan_op  # a map that carries something is a scan
            node.args = (body, [*first, offset], scanned, [*additional, self._key])
            self._thread(body, len(first), len(first) + len(scanned) + len(additional), len(first))
            place = len(first)
        self._offset = self._result(node, place)

    def _result(self, node: torch.fx.Node, place: int) -> torch.fx.Node:
        """The offset as a result of an op, put in at a place among its results."""
        for user in list(node.users):
            number = cast(int, user.args[1])
            if number >= place:
                user.args = (node, number + 1)
        values = list(node.meta["val"])
        node.meta["val"] = (*values[:place], self._build.value(), *values[place:])
        with self._graph.inserting_after(node):
            made = self._graph.call_function(operator.getitem, (node, place))
        made.meta["val"] = self._build.value()
        return made

    def _thread(self, name: torch.fx.Node, carried: int, read: int, returned: int | None) -> None:
        """Threads the offset through a subgraph.

        Args:
            name: the node that names it.
            carried: the place of its argument in front of which the offset comes; -1 for behind the key, at the end.
            read: how many arguments it has.
            returned: the place of its result in front of which the offset comes; -1 for the end, None for nowhere.
        """
        graph = self._subgraph(name)
        arguments = graph.find_nodes(op="placeholder")
        assert len(arguments) == read
        behind = next(node for node in graph.nodes if node.op != "placeholder")
        with graph.inserting_before(behind):
            key = self._build.argument(graph, "hotdesk_random_key")
        follower = behind if carried < 0 else arguments[carried] if carried < read else key
        with graph.inserting_before(follower):
            offset = self._build.argument(graph, "hotdesk_random_offset")
        if returned is None:
            return
        threading = _Threading(graph, key, offset, self._build)
        threading.run()
        (output,) = graph.find_nodes(op="output")
        with graph.inserting_before(output):
            advanced = threading.offset()
        results = list(cast("Sequence[Any]", output.args[0]))
        place = len(results) if returned < 0 else returned
        output.args = ((*results[:place], advanced, *results[place:]),)

    def _subgraph(self, name: torch.fx.Node) -> torch.fx.Graph:
        return getattr(cast(Any, self._graph.owning_module), str(name.target)).graph

    def _copied(self, name: torch.fx.Node) -> torch.fx.Node:
        """A subgraph of a node's own: others may name the same."""
        owner = cast(Any, self._graph.owning_module)
        number = next(n for n in itertools.count() if not hasattr(owner, f"hotdesk_drawing_{n}"))
        setattr(owner, f"hotdesk_drawing_{number}", deepcopy(getattr(owner, str(name.target))))
        return self._graph.get_attr(f"hotdesk_drawing_{number}")


def _is_subgraph(node: torch.fx.Node, name: torch.fx.Node) -> bool:
    owner: Any = node.graph.owning_module
    return name.op == "get_attr" and isinstance(getattr(owner, str(name.target), None), torch.fx.GraphModule)


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
        where=node_line(node),
    )


def _refused(node: torch.fx.Node, got: str) -> UnsupportedOpError:
    return UnsupportedOpError(
        f"op `{node.target}` draws random numbers where that cannot be counted",
        expected="loops whose bodies alone draw",
        got=got,
        where=node_line(node),
        hint="Draw in the body, and carry what was drawn to the condition.",
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

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        ((number, (kind, shape)),) = site.results.items()
        before = site.before
        empty = create("tensor.empty", site.dynamic_sizes(number), [kind], before=before).results[0]
        rank = len(shape)
        steps = [_product(shape[dim + 1 :]) for dim in range(rank)]
        varying = {
            dim: _scalar(site.sizes.of(step), before) for dim, step in enumerate(steps) if not isinstance(step, int)
        }
        operands = [*site.inputs, *varying.values()]
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
    number = index_cast(index, i64, before)
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
