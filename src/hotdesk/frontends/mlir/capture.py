"""Programs in MLIR: a function on tensors or on memrefs, from a file, text, bytecode or a module.

A program on tensors takes the way of a PyTorch model. One on memrefs has its memory already: its allocations are placed in the
arena as they are, and its memref arguments are the caller's arrays.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace

from hotdesk._bindings import ir
from hotdesk.frontends.captured import Captured
from hotdesk.frontends.mlir.affine_layouts import strides_of_maps
from hotdesk.frontends.mlir.arguments import DTYPES, name_sizes, numbers_as_tensors, results_of, specs_of
from hotdesk.frontends.mlir.attributes import refuse_misplaced, require_known_sizes
from hotdesk.frontends.mlir.buffers_of_tensors import settle_buffers
from hotdesk.frontends.mlir.counted import deliver_counted, with_counted
from hotdesk.frontends.mlir.globals import keep_globals, keep_tensors
from hotdesk.frontends.mlir.guards import guard_demands
from hotdesk.frontends.mlir.layouts import give_single_exit, lay_out_allocations, plain_results, strided_arguments
from hotdesk.frontends.mlir.library_calls import those_left
from hotdesk.frontends.mlir.lowering import arithmetic_as_loops, inline_calls, lower, refuse_what_is_not_compiled
from hotdesk.frontends.mlir.memory_spaces import clones_as_copies, forget_memory_spaces
from hotdesk.frontends.mlir.memrefs import (
    memref_arguments,
    results_as_arguments,
    results_as_tensors,
    returned_arguments,
    written_arguments,
)
from hotdesk.frontends.mlir.reading import Given, entry_function, make_main, read, require_return
from hotdesk.frontends.mlir.returned_memory import settle_returned_memory
from hotdesk.frontends.mlir.rounding import round_as_said
from hotdesk.frontends.mlir.shapes_of_data import read_shapes
from hotdesk.frontends.mlir.sizes import size_checks
from hotdesk.frontends.mlir.sizes_in_floats import count_in_integers
from hotdesk.frontends.mlir.stack_memory import plan_stack_memory
from hotdesk.frontends.mlir.tuples import take_tuples_apart
from hotdesk.frontends.mlir.unranked_arguments import give_ranks
from hotdesk.frontends.mlir.vector_arguments import vectors_as_arrays
from hotdesk.frontends.mlir.written_constants import refuse_written_constants
from hotdesk.frontends.mlir.written_in_part import write_parts_in_memory
from hotdesk.ir.argument_sizes import declared_bounds
from hotdesk.ir.context import entered, run_mlir_passes, verify
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import Formal, signature
from hotdesk.ir.types import element_of, is_any_tensor, is_memref
from hotdesk.ir.walking import defined_functions, main_function, nested_ops, symbol_name
from hotdesk.passes.bufferize.equivalent_results import DropEquivalentBufferResults
from hotdesk.passes.tensor.guard_indices import GuardIndices
from hotdesk.passes.tensor.snapshots import take_snapshots
from hotdesk.runtime.arguments.strided import as_called, as_memory
from hotdesk.runtime.interface import TensorSpec
from hotdesk.runtime.mlir_calling import MlirCalling


def capture(given: Given, entry: str | None = None, *, foreign: bool = True) -> Captured:
    """Reads a program and makes it one that can be compiled.

    Args:
        given: the name of a file, text, bytecode or a module, which stays as it is.
        entry: the function that calls run; by default the only public one, else `main`.
        foreign: whether it may call libraries for ops that have no lowering.

    Raises:
        InvalidIRError: it does not parse or verify.
        OptionError: there is no such file, or no such function, or there are several.
        UnsupportedOpError: an op, a type or a function without a body is none that is compiled.
        MissingExtraError: a library that it would call is not installed.
        DataDependentShapeError: a size of a result of a program on memrefs depends on what the arguments hold.
    """
    start = time.perf_counter()
    source = read(given)
    with entered(source.module.operation):
        function = entry_function(source.module, entry)
        name = symbol_name(function)
        names = source.argument_names(function)
        refuse_misplaced(source.module, function, names)
        where = python_line(function.location)
        make_main(source.module, function)
        names = take_tuples_apart(source.module, names)
        declared = signature(main_function(source.module))
        run_mlir_passes(source.module, "symbol-dce")  # what nobody calls need not be compilable
    after_read = time.perf_counter()
    module, calls = lower(source.module, foreign=foreign)
    with entered(module.operation):
        forget_memory_spaces(module)
        strides_of_maps(module)
        give_ranks(module)
        write_parts_in_memory(module)
        refuse_what_is_not_compiled(module, keeps_globals=True)
        clones_as_copies(module)
        plan_stack_memory(module, on_memrefs=not _has_tensors(module))
        arithmetic_as_loops(module)
        round_as_said(module)
        settle_buffers(module)
        read_shapes(module)
        DropEquivalentBufferResults().apply(module)
        inline_calls(module)
        lay_out_allocations(module)
        main = main_function(module)
        require_return(main, name)
        give_single_exit(main)
        on_memrefs = not _has_tensors(module)
        vectors_as_arrays(main, on_memrefs)
        refuse_written_constants(module)
        if not on_memrefs:
            results_as_tensors(main)
        strided = strided_arguments(main, names, written_arguments(main) if on_memrefs else memref_arguments(main))
        plain_results(main)
        called, names = names, (*names, *(names[each.position] for each in strided for _ in range(each.open)))
        numbers, shown = numbers_as_tensors(main, on_memrefs)
        name_sizes(main, names, numbers)
        require_known_sizes(main, where)
        written = written_arguments(main) if on_memrefs else memref_arguments(main)
        count_in_integers(main)
        counted = deliver_counted(main, _elements(signature(main).results, declared.outputs))
        handed_over = {each.number for each in counted}
        outputs_of = [None if i in handed_over else kind for i, kind in enumerate(declared.outputs)]
        specs = _with_signs(specs_of(main, names, numbers, written), declared.inputs)
        results = with_counted(_with_signs(results_of(main, shown), outputs_of), counted)
        checks = size_checks(main)
        tensors, stored = keep_tensors(module, main, on_memrefs=on_memrefs)
        for each in defined_functions(module):
            guard_demands(each, is_entry=each == main)
            if not on_memrefs:
                take_snapshots(each, arguments_apart=each == main)
        GuardIndices(positions=True).apply(module)
        returned = returned_arguments(main) if on_memrefs else {}
        outputs = [None if i in handed_over else returned.get(i, number) for i, number in enumerate(shown)]
        kept = tuple(spec for i, spec in enumerate(results) if i not in returned)
        state = keep_globals(module, main) if on_memrefs else ()
        if on_memrefs:
            settle_returned_memory(module, main)
            results_as_arguments(module, main, kept)
        bounds = declared_bounds(main)
        verify(module, "reading the program")
    inputs = as_memory(specs, strided)
    return Captured(
        shown=as_called(specs, strided) if strided else (),
        module=module,
        arguments=(*inputs, *state, *tensors),
        results=kept,
        constraints=bounds,
        calling=MlirCalling(called, numbers, outputs, strided),
        timings={"read": after_read - start, "import": time.perf_counter() - after_read},
        assumptions=checks,
        kind="numpy",
        name=name,
        foreign=(*those_left(calls, module), *(each.call for each in counted)),
        on_memrefs=on_memrefs,
        state=tuple(range(len(inputs), len(inputs) + len(state) + stored)),
    )


def _with_signs(specs: Sequence[TensorSpec], declared: Sequence[ir.Type | None]) -> list[TensorSpec]:
    """Arguments or results with the integers that the program declares: lowering may leave them without a sign."""
    found = [None if kind is None else _unsigned(kind) for kind in declared]
    found += [None] * (len(specs) - len(found))
    return [spec if dtype is None else replace(spec, dtype=dtype) for spec, dtype in zip(specs, found, strict=False)]


def _unsigned(kind: ir.Type) -> str | None:
    """The element type of a tensor of unsigned integers, as arrays have it; None for another type."""
    element = element_of(kind) if is_any_tensor(kind) else ""
    return DTYPES[element] if re.fullmatch(r"ui\d+", element) else None


def _elements(results: Sequence[Formal], declared: Sequence[ir.Type]) -> list[str | None]:
    """The element types of results as the program declares them; None for what is no array."""
    kinds = [each.type for each in results]
    found = [DTYPES.get(element_of(kind)) if is_any_tensor(kind) or is_memref(kind) else None for kind in kinds]
    return [_unsigned(kind) or dtype for kind, dtype in zip(declared, found, strict=True)]


def _has_tensors(module: ir.Module) -> bool:
    """Whether any value of a module is a tensor."""
    types = (value.type for op in nested_ops(module.operation) for value in (*op.operands, *op.results))
    return any(map(is_any_tensor, (*signature(main_function(module)).types, *types)))
