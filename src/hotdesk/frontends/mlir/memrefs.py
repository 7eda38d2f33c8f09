"""Programs on memrefs: which arguments they write, which results are arguments, and results in memory of the caller's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.memrefs.origins import Origins
from hotdesk.errors import DataDependentShapeError, InvalidIRError
from hotdesk.frontends.mlir.arguments import state_sizes
from hotdesk.ir.building import create
from hotdesk.ir.functions import returns_of
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import Formal, FunctionSignature, set_signature, signature
from hotdesk.ir.types import is_memref, shape_of, tensor_with
from hotdesk.ir.walking import entry_block, globals_of, made_by, text_of
from hotdesk.models.bufferization import TO_TENSOR
from hotdesk.models.memory_effects import effects_of
from hotdesk.models.memref import CAST
from hotdesk.models.new_memory import DEALLOC, GLOBAL
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
    return frozenset(numbers[base] for _, bases, _ in _written(function) for base in bases if base in numbers)


def refuse_written_constants(module: ir.Module, function: ir.Operation) -> None:
    """Raises InvalidIRError for an op that writes a constant global and can write nothing else."""
    known = globals_of(module)
    for op, bases, is_known in _written(function):
        names = [text_of(made, "name") for base in bases if (made := made_by(base, GLOBAL)) is not None]
        is_constant = len(names) == len(bases) and all("constant" in known[name].attributes for name in names)
        if is_known and names and is_constant:
            what, got, where = f"global @{names[0]}", f"{op.name}, which writes it", python_line(op.location)
            raise InvalidIRError(what, expected="ops that read it: it is constant", got=got, where=where)


def _written(function: ir.Operation) -> Iterator[tuple[ir.Operation, list[ir.Value], bool]]:
    """The ops that may write memory, with all that this may be, and whether they are known to write there."""
    program = read_buffers(function)
    origins = Origins(program)
    for op in program.ops:
        if program.leads_on(op) or op.control or op.name == DEALLOC:
            continue
        effects = effects_of(op.operation)
        touched = set(op.operands) - {-1}
        if effects is not None:
            touched = {number for number in touched if program.buffers[number].value in effects.writes}
        for number in touched:
            yield op.operation, [program.buffers[each].value for each in origins.of[number]], effects is not None


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
