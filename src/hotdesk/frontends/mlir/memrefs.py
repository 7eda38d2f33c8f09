"""Programs on memrefs: which arguments they write, which results are arguments, and results in memory of the caller's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.memrefs.origins import Origins
from hotdesk.analysis.memrefs.writes import writes_of
from hotdesk.errors import DataDependentShapeError
from hotdesk.frontends.mlir.arguments import state_sizes
from hotdesk.ir.building import create
from hotdesk.ir.functions import returns_of
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import Formal, FunctionSignature, set_signature, signature
from hotdesk.ir.types import is_memref, shape_of, tensor_with
from hotdesk.ir.walking import entry_block, made_by
from hotdesk.models.bufferization import TO_TENSOR
from hotdesk.models.memref import CAST
from hotdesk.passes.bufferize.equivalent_results import DropEquivalentBufferResults
from hotdesk.passes.bufferize.out_params import BufferResultsToOutParams
from hotdesk.runtime.interface import TensorSpec


def memref_arguments(function: ir.Operation) -> frozenset[int]:
    """The numbers of the arguments that are memrefs: those that a function may write of which no more is known."""
    return frozenset(position for position, kind in enumerate(signature(function).inputs) if is_memref(kind))


def results_as_tensors(main: ir.Operation) -> None:
    """Has a function on tensors return tensors of the memory that it would return: new arrays for the caller."""
    given = signature(main)
    promised = {"restrict": ir.UnitAttr.get()}

    def as_tensor(kind: ir.Type) -> ir.Type:
        return tensor_with(shape_of(kind), kind) if is_memref(kind) else kind

    for end, (number, kind) in product(returns_of(main), enumerate(given.outputs)):
        if is_memref(kind):
            made = create(TO_TENSOR, [end.operands[number]], [as_tensor(kind)], promised, before=end)
            end.operands[number] = made.results[0]
    outputs = tuple(Formal(as_tensor(each.type), each.attributes) for each in given.results)
    set_signature(main, FunctionSignature(given.arguments, outputs))


def written_arguments(function: ir.Operation) -> frozenset[int]:
    """The numbers of the arguments that a function may write: by any op but those that are known to write another memref."""
    numbers: dict[ir.Value, int] = {value: i for i, value in enumerate(entry_block(function).arguments)}
    program = read_buffers(function)
    found = frozenset[int]().union(*(written for _, written in writes_of(program, Origins(program))))
    return frozenset(numbers[base] for each in found if (base := program.buffers[each].value) in numbers)


def returned_arguments(function: ir.Operation) -> dict[int, int]:
    """The results that are an argument at every return, perhaps cast, with the number of the argument."""
    arguments: list[ir.Value] = list(entry_block(function).arguments)
    found: dict[int, int] = {}
    ends = returns_of(function)
    for position, kind in enumerate(signature(function).outputs):
        sources = [_uncast(end.operands[position]) for end in ends] if is_memref(kind) else []
        if sources and sources[0] in arguments and all(source == sources[0] for source in sources):
            found[position] = arguments.index(sources[0])
    return found


def _uncast(value: ir.Value) -> ir.Value:
    op = made_by(value, CAST)
    return value if op is None else _uncast(op.operands[0])


def results_as_arguments(module: ir.Module, function: ir.Operation, results: Sequence[TensorSpec]) -> None:
    """Drops results that are arguments, and has the others written to new arguments.

    Raises:
        DataDependentShapeError: a size is not known before the program runs.
    """
    DropEquivalentBufferResults(modify_public_functions=True).apply(module)
    made = BufferResultsToOutParams(
        add_result_attr=True, hoist_static_allocs=True, hoist_dynamic_allocs=True, modify_public_functions=True
    )
    made.apply(module)
    left = signature(function)
    for position, _ in enumerate(left.results):
        raise DataDependentShapeError(
            f"result {position}",
            expected="a memref whose sizes follow from those of the arguments",
            got=str(left.outputs[position]),
            where=python_line(returns_of(function)[0].location),
        )

    def stating(_: int, formal: Formal) -> Formal:
        return formal if formal.result is None else formal.stating(shape=state_sizes(results[formal.result].shape))

    set_signature(function, left.stating(stating))
