"""Ops that nothing lowers: the program calls PyTorch's kernel for each of them (`hotdesk.foreign`).

torch-mlir sees nothing of such an op. The graph is cut there: what the op reads becomes a result of the function, what it makes
an argument.

    main(x):  y = sin(x); z = erfinv(y); return cos(z)      ->      main(x, z):  y = sin(x); return cos(z), y

1. `cut` does so for all foreign ops of a graph at once.
2. The rest is lowered; its ops are in one block, in any order that their values allow.
3. `joined` puts the calls in: each reads what was returned for it, and its results stand for the arguments. Ops are put in an
   order in which every value is made before it is read.

Sizes that vary are computed from those of the arguments.
"""

# PyTorch and SymPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

import ctypes
import operator
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import sympy
import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx.node import map_aggregate, map_arg
from torch.utils import _pytree as pytree

from hotdesk._bindings import ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.carried import carrier, is_carried, restored
from hotdesk.frontends.torch_lines import node_line
from hotdesk.frontends.torch_specs import DTYPES, plain
from hotdesk.ir.building import create, dim, index_constant
from hotdesk.ir.context import entered
from hotdesk.ir.dialect import MOST_OPERANDS, MOST_RESULTS
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import captured_operands, defining_op, entry_block, main_function
from hotdesk.runtime.foreign import ForeignCall, Lying
from hotdesk.runtime.interface import TensorSpec

aten: Any = torch.ops.aten
CHECKS = "hotdesk.checks"
"""In a node's metadata: the checks of its results that PyTorch makes after it, each a result's number and further arguments."""


@dataclass(frozen=True, slots=True)
class _Tensor:
    number: int


@dataclass(frozen=True, slots=True)
class _Number:
    number: int


@dataclass(frozen=True, slots=True)
class Cut:
    """An op that was cut out: its call, the numbers and inputs that it reads, and the sizes of its results."""

    call: ForeignCall
    numbers: tuple[Any, ...]
    sizes: tuple[tuple[Any, ...], ...]
    inputs: tuple[torch.fx.Node, ...]


def can_be_called(node: torch.fx.Node) -> bool:
    """Whether a node is an op of PyTorch's that reads tensors and numbers and makes tensors, and does nothing else."""
    target: Any = node.target
    if not isinstance(target, OpOverload) or cast(Any, target)._schema.is_mutable:
        return False
    made = pytree.tree_leaves(node.meta.get("val"))
    tensors = [value for value in made if isinstance(value, torch.Tensor)]
    return (
        bool(tensors)
        and all(value is None or isinstance(value, torch.Tensor) for value in made)
        and all(_is_plain(value) for value in tensors)
        and torch.Tag.nondeterministic_seeded not in cast(Any, target).tags
    )


def _is_plain(value: torch.Tensor) -> bool:
    return value.layout == torch.strided and (value.dtype in DTYPES or is_carried(value.dtype))


def carried_nodes(graph: torch.fx.Graph) -> set[torch.fx.Node]:
    """The ops that read or make tensors of element types that are carried: nothing but PyTorch knows these."""
    return {node for node in graph.nodes if node.op == "call_function" and _is_about_carried(node)}


def _is_about_carried(node: torch.fx.Node) -> bool:
    if node.target is operator.getitem:
        return False
    values = [node.meta.get("val"), *(each.meta.get("val") for each in node.all_input_nodes)]
    return any(isinstance(v, torch.Tensor) and is_carried(v.dtype) for v in pytree.tree_leaves(values))


def take_checks(exported: ExportedProgram) -> None:
    """Has each foreign op make the checks of its results that come after it in the graph (`_linalg_check_errors`).

    Nothing is left then of the tokens that order such checks.
    """
    graph = exported.graph
    for node in list(graph.nodes):
        if node.op != "call_function" or str(node.target) != "with_effects":
            continue
        token, inner, *given = node.args
        checked = given[0] if inner is aten._linalg_check_errors.default else None
        made = checked.args[0] if isinstance(checked, torch.fx.Node) and checked.target is operator.getitem else None
        if checked is None or not isinstance(made, torch.fx.Node) or not can_be_called(made):
            continue
        made.meta.setdefault(CHECKS, []).append((checked.args[1], tuple(given[1:]), dict(node.kwargs)))
        for user in list(node.users):
            user.replace_all_uses_with(token)
            graph.erase_node(user)
        graph.erase_node(node)
    signature = exported.graph_signature
    tokens = {spec.arg.name for spec in signature.input_specs if spec.kind == InputKind.TOKEN}
    for node in [node for node in graph.nodes if node.name in tokens]:
        if all(user.op == "output" for user in node.users):
            output = next(each for each in reversed(graph.nodes) if each.op == "output")
            output.args = (tuple(result for result in output.args[0] if result is not node),)
            graph.erase_node(node)
            signature.input_specs[:] = [spec for spec in signature.input_specs if spec.arg.name != node.name]
            signature.output_specs[:] = [spec for spec in signature.output_specs if spec.kind != OutputKind.TOKEN]


def cut(
    graph: torch.fx.Graph, foreign: Collection[torch.fx.Node]
) -> tuple[torch.fx.Graph, list[Cut], dict[torch.fx.Node, torch.fx.Node]]:
    """A copy of a graph without the foreign ops; those, in order; and for each node of the copy that of the graph."""
    new = torch.fx.Graph()
    copies: dict[torch.fx.Node, torch.fx.Node] = {}
    cuts: list[Cut] = []
    last: torch.fx.Node | None = None
    for node in graph.nodes:
        if node.op == "placeholder":
            last = copies[node] = new.node_copy(node, copies.__getitem__)
            last.meta["val"] = carrier(node.meta["val"])
            last.meta.pop("tensor_meta", None)
    read: list[torch.fx.Node] = []
    for node in graph.nodes:
        if node.op == "placeholder":
            continue
        if node in foreign:
            readers = _readers(node)
            if readers:
                made, stand_ins = _cut_out(new, last, node, len(cuts), readers)
                copies.update(stand_ins)
                last = list(stand_ins.values())[-1]
                cuts.append(made)
                read += made.inputs
        elif node.op == "output":
            results = [copies[each] for each in node.args[0]]
            new.output((*results, *(copies[each] for each in read)))
        elif not (node.target is operator.getitem and node in copies):
            copies[node] = new.node_copy(node, copies.__getitem__)
    new.eliminate_dead_code()
    return new, cuts, {copy: node for node, copy in copies.items()}


def _readers(node: torch.fx.Node) -> dict[torch.fx.Node, int]:
    """The nodes that stand for the results of an op, itself if it has but one, each with the number of its result."""
    if isinstance(node.meta["val"], torch.Tensor):
        return {node: 0} if node.users else {}
    readers = {user: cast(int, user.args[1]) for user in node.users if user.target is operator.getitem and user.users}
    return dict(sorted(readers.items(), key=lambda entry: entry[1]))


def _cut_out(
    new: torch.fx.Graph, last: torch.fx.Node | None, node: torch.fx.Node, number: int, readers: dict[torch.fx.Node, int]
) -> tuple[Cut, dict[torch.fx.Node, torch.fx.Node]]:
    """The call of a node, and a placeholder behind the last one for each result of it that is read, by its readers."""
    target: Any = node.target
    places = sorted(set(readers.values()))
    several = not isinstance(node.meta["val"], torch.Tensor)
    values = [node.meta["val"][place] if several else node.meta["val"] for place in places]
    placed: dict[int, torch.fx.Node] = {}
    for place, value in zip(places, values, strict=True):
        with new.inserting_after(last) if last is not None else new.inserting_before():
            last = placed[place] = new.placeholder(f"foreign_{number}_{place}")
        last.meta.update(node.meta)
        last.meta.pop("tensor_meta", None)
        last.meta["val"] = carrier(value).new_empty(carrier(value).shape)
    inputs: dict[torch.fx.Node, int] = {}
    numbers: list[Any] = []

    def filled(each: torch.fx.Node) -> Any:
        value = each.meta.get("val")
        if isinstance(value, torch.Tensor):
            return _Tensor(inputs.setdefault(each, len(inputs)))
        if isinstance(value, torch.SymInt):
            numbers.append(plain(value.node.expr))
            return _Number(len(numbers) - 1)
        return value

    arguments = map_arg((node.args, dict(node.kwargs)), filled)
    held = [carrier(each.meta["val"]) for each in inputs]
    made = [carrier(value) for value in values]
    sizes = tuple(tuple(_size(size) for size in each.shape) for each in made)
    total = sum(sympy.prod(shape) * each.element_size() for shape, each in zip(sizes, made, strict=True))
    call = ForeignCall(
        f"hotdesk_foreign_{number}",
        str(target).removesuffix(".default"),
        node_line(node),
        tuple(each.dim() for each in held),
        len(numbers),
        tuple(each.dim() for each in made),
        int(total) if getattr(total, "is_number", True) else total,
        _Kernel(
            target,
            arguments,
            tuple((each.meta["val"].dtype, each_held.dtype) for each, each_held in zip(inputs, held, strict=True)),
            tuple((place, each.dtype) for place, each in zip(places, made, strict=True)),
            tuple(node.meta.get(CHECKS, ())),
        ),
    )
    if len(held) + len(numbers) + len(made) > MOST_OPERANDS or len(made) > MOST_RESULTS:
        raise UnsupportedOpError(
            f"op `{call.op}` has no lowering to linalg",
            expected=f"a foreign call of at most {MOST_OPERANDS} tensors, {MOST_RESULTS} of them results",
            got=f"{len(held) + len(numbers) + len(made)} and {len(made)}",
            where=call.location or None,
        )
    return Cut(call, tuple(numbers), sizes, tuple(inputs)), {reader: placed[n] for reader, n in readers.items()}


def _size(size: Any) -> Any:
    if isinstance(size, int):
        return size
    expression = size.node.expr
    return int(expression) if expression.is_number else plain(expression)


@dataclass(frozen=True, slots=True)
class _Kernel:
    """Runs PyTorch's kernel of an op on tensors in memory, and copies its results to where they belong."""

    target: Any
    arguments: Any
    inputs: tuple[tuple[torch.dtype, torch.dtype], ...]
    results: tuple[tuple[int, torch.dtype], ...]
    checks: tuple[tuple[int, tuple[Any, ...], dict[str, Any]], ...]

    def __call__(self, inputs: Sequence[Lying], numbers: Sequence[int], results: Sequence[Lying]) -> None:
        given = [restored(_tensor(each, held), dtype) for each, (dtype, held) in zip(inputs, self.inputs, strict=True)]

        def fill(each: Any) -> Any:
            if isinstance(each, _Tensor):
                return given[each.number]
            return numbers[each.number] if isinstance(each, _Number) else each

        args, kwargs = map_aggregate(self.arguments, fill)
        with torch.no_grad():
            made = self.target(*args, **kwargs)
            made = (made,) if isinstance(made, torch.Tensor) else made
            for number, rest, named in self.checks:
                aten._linalg_check_errors(made[number], *rest, **named)
            for place, (number, dtype) in zip(results, self.results, strict=True):
                _tensor(place, dtype).copy_(carrier(made[number]))


def _tensor(lying: Lying, dtype: torch.dtype) -> torch.Tensor:
    """The tensor that lies there, without a copy."""
    if 0 in lying.sizes:
        return torch.empty(lying.sizes, dtype=dtype, device="cpu")
    item = torch.empty((), dtype=dtype, device="cpu").element_size()
    extent = 1 + sum((size - 1) * stride for size, stride in zip(lying.sizes, lying.strides, strict=True))
    memory = (ctypes.c_uint8 * (extent * item)).from_address(lying.address)
    return torch.frombuffer(memory, dtype=dtype).as_strided(lying.sizes, lying.strides)


def joined(module: ir.Module, cuts: Sequence[Cut], arguments: Sequence[TensorSpec]) -> None:
    """Puts the calls of cut ops into the lowered module; `arguments` are those of `@main` but for the stand-ins of results."""
    if not cuts:
        return
    with entered(module.operation):
        function = main_function(module)
        block = entry_block(function)
        *_, last = (op.operation for op in block.operations)
        returned = list(last.operands)
        own = len(arguments)
        results = len(returned) - sum(len(each.inputs) for each in cuts)
        inputs, stand_ins = iter(returned[results:]), iter(list(block.arguments)[own:])
        sizes = _Sizes(arguments, list(block.arguments)[:own], last)
        made: dict[ir.Value, ir.Value] = {}
        for each in cuts:
            given = [next(inputs) for _ in each.inputs]
            replaced = [next(stand_ins) for _ in each.sizes]
            found = _call(each, [made.get(value, value) for value in given], replaced, sizes, last)
            for stand_in, result in zip(replaced, found.results, strict=True):
                stand_in.replace_all_uses_with(result)
                made[stand_in] = result
        kept = list(last.operands)[:results]
        new = create("func.return", kept, [], before=last)
        last.erase()
        for position in reversed(range(own, len(block.arguments))):
            block.erase_argument(position)
        kinds = ir.FunctionType.get([value.type for value in block.arguments], [value.type for value in kept])
        function.attributes["function_type"] = ir.TypeAttr.get(kinds)
        if "arg_attrs" in function.attributes:
            kept_attributes = list(cast(Any, function.attributes["arg_attrs"]))[:own]
            function.attributes["arg_attrs"] = ir.ArrayAttr.get(kept_attributes)
        if "res_attrs" in function.attributes:
            function.attributes["res_attrs"] = ir.ArrayAttr.get(
                list(cast(Any, function.attributes["res_attrs"]))[:results]
            )
        _put_in_order(block, new)


def _call(
    cut: Cut, inputs: list[ir.Value], stand_ins: Sequence[ir.Value], sizes: _Sizes, last: ir.Operation
) -> ir.Operation:
    numbers = [sizes.of(number) for number in cut.numbers]
    inits: list[ir.Value] = []
    for value, shape in zip(stand_ins, cut.sizes, strict=True):
        dynamic = [sizes.of(size) for size, known in zip(shape, shape_of(value.type), strict=True) if known is None]
        inits.append(create("tensor.empty", dynamic, [value.type], before=last).results[0])
    operands = [*inputs, *numbers, *inits]
    attributes: dict[str, ir.Attribute] = {
        "callee": ir.StringAttr.get(cut.call.symbol),
        "op": ir.StringAttr.get(cut.call.op),
        "groups": ir.DenseI64ArrayAttr.get([len(inputs), len(numbers), len(inits)]),
        "operandSegmentSizes": _filled(len(operands), MOST_OPERANDS),
        "resultSegmentSizes": _filled(len(inits), MOST_RESULTS),
    }
    file, _, line = cut.call.location.rpartition(":")
    place = ir.Location.file(file, int(line), 0) if file else last.location
    with ir.InsertionPoint(last), place:
        return ir.Operation.create("hotdesk.foreign", [v.type for v in inits], operands, attributes).operation


def _filled(count: int, most: int) -> ir.Attribute:
    return ir.DenseI32ArrayAttr.get([int(i < count) for i in range(most)])


class _Sizes:
    """Index values for expressions over the sizes of arguments, made in front of an op."""

    def __init__(self, arguments: Sequence[TensorSpec], values: Sequence[ir.Value], before: ir.Operation) -> None:
        self._before = before
        self._known: dict[Any, ir.Value] = {}
        self._sources: dict[Any, tuple[ir.Value, int]] = {}
        for spec, value in zip(arguments, values, strict=True):
            for position, size in enumerate(spec.shape):
                if isinstance(size, sympy.Symbol):
                    self._sources.setdefault(size, (value, position))

    def of(self, size: Any) -> ir.Value:
        """The value of an expression. Raises UnsupportedOpError if it is none of integers and sizes of arguments."""
        if size not in self._known:
            self._known[size] = self._made(size)
        return self._known[size]

    def _made(self, size: Any) -> ir.Value:
        if isinstance(size, int) or size.is_Integer:
            return index_constant(int(size), self._before)
        if size in self._sources:
            value, position = self._sources[size]
            return dim(value, position, self._before)
        if size.is_Pow and size.exp.is_Integer and int(size.exp) > 0:
            return self._folded("arith.muli", [size.base] * int(size.exp))
        if size.is_Add or (size.is_Mul and all(each.is_integer is not False for each in size.args)):
            return self._folded("arith.addi" if size.is_Add else "arith.muli", size.args)
        if isinstance(size, sympy.floor):
            above, below = cast(Any, size.args[0]).as_numer_denom()
            return self._folded("arith.floordivsi", [above, below])
        if isinstance(size, sympy.Mod):
            return self._folded("arith.remsi", size.args)
        if isinstance(size, sympy.Max | sympy.Min):
            return self._folded("arith.maxsi" if isinstance(size, sympy.Max) else "arith.minsi", size.args)
        raise UnsupportedOpError(
            "an op without a lowering has a size of a form that is not known",
            expected="sums, products, quotients and remainders of sizes of arguments",
            got=str(size),
        )

    def _folded(self, op: str, terms: Iterable[Any]) -> ir.Value:
        first, *rest = [self.of(term) for term in terms]
        for value in rest:
            first = create(op, [first, value], [ir.IndexType.get()], before=self._before).results[0]
        return first


def _put_in_order(block: ir.Block, last: ir.Operation) -> None:
    """Moves the ops of a block, where need be, so that each comes behind those whose results it reads."""
    ops = [op.operation for op in block.operations]
    settled: set[ir.Operation] = set()
    order: list[ir.Operation] = []
    for root in ops:
        waiting = [root]
        while waiting:
            op = waiting[-1]
            missing = [each for each in _read_from(op, block) if each not in settled]
            if op in settled or not missing:
                waiting.pop()
                if op not in settled:
                    settled.add(op)
                    order.append(op)
            else:
                waiting += missing
    for op in order:
        if op != last:
            cast(Any, op).move_before(last)


def _read_from(op: ir.Operation, block: ir.Block) -> list[ir.Operation]:
    """The ops of a block that an op of it reads results of, in its regions too."""
    values = [*op.operands, *(value for _, _, value in captured_operands(op))]
    made = (defining_op(value) for value in values)
    return [each for each in made if each is not None and each.block == block]
