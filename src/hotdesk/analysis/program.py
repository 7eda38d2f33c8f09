"""A function read once into plain records: tensor values by number, operations with their facts, and who uses what.

Covers a function of one block whose ops have no tensor-carrying control flow; an op without a model is an error that names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.explain import Source
from hotdesk.ir.locations import python_line
from hotdesk.ir.symbolic import Size, SymbolicSizes, product
from hotdesk.ir.types import element_bytes, element_of, is_tensor
from hotdesk.ir.walking import captured_operands, entry_block, top_level_ops
from hotdesk.models.facts import Facts
from hotdesk.models.registry import model_of

NOT_A_TENSOR = -1


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A tensor: its number, where it comes from, and its size. `producer` is an op number, or None for an argument."""

    number: int
    value: ir.Value
    producer: int | None
    result: int
    shape: tuple[Size, ...]
    element: str
    bytes: Size


@dataclass(frozen=True, slots=True)
class OpRecord:
    """An operation: its facts, and its tensor operands and results by number (`NOT_A_TENSOR` for others).

    `captured` are tensors that it reads otherwise than as operands: in its regions, or for a scalar it uses, which its kernel
    computes from the tensor when it runs.
    """

    number: int
    operation: ir.Operation
    name: str
    facts: Facts
    operands: tuple[int, ...]
    captured: tuple[int, ...]
    results: tuple[int, ...]
    source: Source


@dataclass(frozen=True, slots=True)
class FunctionRecord:
    """The ops of a function in order, its tensor values, and the arguments that may be overwritten."""

    ops: tuple[OpRecord, ...]
    values: tuple[TensorValue, ...]
    arguments: tuple[int, ...]
    writable_arguments: frozenset[int]
    argument_kinds: tuple[str, ...]


def read_function(function: ir.Operation) -> FunctionRecord:
    """Reads a function of one block.

    Raises:
        BufferizationError: an op has tensors but no model, or the function has more than one block.
    """
    if len(function.regions[0].blocks) != 1:
        raise BufferizationError(
            "control flow between blocks is not analysed", expected="a function of one block",
            got=f"{len(function.regions[0].blocks)} blocks", where=python_line(function.location) or None,
        )  # fmt: skip
    sizes = SymbolicSizes(function)
    values: list[TensorValue] = []
    numbers: dict[ir.Value, int] = {}

    def add(value: ir.Value, producer: int | None, result: int) -> int:
        if not is_tensor(value.type):
            return NOT_A_TENSOR
        shape, element = sizes.shape(value), element_of(value.type)
        number = len(values)
        size = product([*shape, element_bytes(element)])
        values.append(TensorValue(number, value, producer, result, shape, element, size))
        numbers[value] = number
        return number

    arguments = list(entry_block(function).arguments)
    argument_numbers = tuple(add(argument, None, i) for i, argument in enumerate(arguments))
    ops: list[OpRecord] = []
    behind: dict[ir.Value, tuple[int, ...]] = {}  # the tensors that a scalar is computed from
    for position, operation in enumerate(top_level_ops(function)):
        operands = tuple(numbers.get(v, NOT_A_TENSOR) for v in operation.operands)
        within = [v for _, _, v in captured_operands(operation)]
        scalars = [n for v in (*operation.operands, *within) for n in behind.get(v, ())]
        captured = tuple(dict.fromkeys([*(numbers[v] for v in within if v in numbers), *scalars]))
        loaded = tuple(n for n in operands if n != NOT_A_TENSOR and operation.name == "tensor.extract")
        behind.update((v, (*captured, *loaded)) for v in operation.results if not is_tensor(v.type))
        results = tuple(add(v, position, i) for i, v in enumerate(operation.results))
        has_tensors = any(n != NOT_A_TENSOR for n in (*operands, *results)) or any(v in numbers for v in within)
        ops.append(
            OpRecord(
                position,
                operation,
                operation.name,
                _facts(operation, has_tensors),
                operands,
                captured,
                results,
                Source(operation.name, python_line(operation.location)),
            )
        )
    kinds, writable = _argument_attributes(function, len(arguments))
    return FunctionRecord(
        tuple(ops),
        tuple(values),
        argument_numbers,
        frozenset(argument_numbers[i] for i in writable if argument_numbers[i] != NOT_A_TENSOR),
        kinds,
    )


def _facts(operation: ir.Operation, has_tensors: bool) -> Facts:
    model = model_of(operation.name)
    if model is not None:
        return model.facts(operation)
    if not has_tensors:
        return Facts()
    raise BufferizationError(
        f"op `{operation.name}` has tensors but no model",
        expected="an op that a model describes",
        got=operation.name,
        where=python_line(operation.location) or None,
        hint="register one with `hotdesk.models.register`",
    )


def _argument_attributes(function: ir.Operation, count: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
    if "arg_attrs" not in function.attributes:
        return ("input",) * count, ()
    attributes: list[Any] = list(cast(Any, function.attributes["arg_attrs"]))
    kinds = tuple(a["hotdesk.kind"].value if "hotdesk.kind" in a else "input" for a in attributes)
    return kinds, tuple(i for i, a in enumerate(attributes) if "hotdesk.donated" in a)
