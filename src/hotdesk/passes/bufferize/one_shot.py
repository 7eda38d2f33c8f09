"""Tensors become buffers: every decision of the in-place analysis, carried out in one rewrite.

    func @main(%x: tensor<8xf32>) -> tensor<8xf32> {      func @main(%x: memref<8xf32>, %out: memref<8xf32> {bufferize.result}) {
      %e = tensor.empty()
      %r = linalg.generic ins(%x) outs(%e)            ->    linalg.generic ins(%x) outs(%out)
      return %r }                                           return }

1. A tied operand decided in place is written where it lies; otherwise it gets a new buffer, and a copy of its contents only if
   the op reads them or overwrites a part.
2. An undefined tensor becomes a `memref.alloc` right in front of the first op that writes it, or of the op with the region out of
   which it is passed; one that nobody writes, none.
3. What control flow passes on is a memref too: copied only where the analysis says so.
4. Results become arguments at the end, `bufferize.result`: memory of the caller's. An allocation that a result covers entirely is
   that argument; a result that is an argument itself, a part of a buffer, or returned twice is copied into it
   (`returned-input`, `returned-weight`, `returned-twice`, `returned-view`, `partial-view-returned`).

A result is written over an operand, and what control flow passes on stays where it lies, iff

5. that memory may be written: it is no constant, no weight and no argument of a caller's who has not donated it
   (`not-writable-constant`, `not-writable-weight`, `not-writable-input`, `not-writable-memory`);
6. nobody wants later what is overwritten: no op reads it, not even the same one at places that it has written already, no other
   result was given the memory before, and no iterations share it that run at the same time (`read-later`, `read-by-same-op`,
   `already-overwritten`, `runs-in-parallel`, `slice-instead`, `slice-overwritten`); an insertion of another part of the same
   memory may move elements one by one (`moved-within`);
7. a destination without contents is an operand that dies there, with the result's elements in number, type and order, in one
   memory space (`no-dead-operand-of-same-size`, `size-not-proven-equal`, `different-element-type`, `different-layout`,
   `other-memory-space`);
8. it is a whole buffer, and the one in which it is wanted (`partial-view`, `lies-elsewhere`);
9. the function is analysed (`not-analysed`);
10. all is known that is done with the memory: it goes to no op that may keep or write it, and comes from none as a tensor without
   a rank (`not-followed`).

After the pass no tensor is left in the function; an op without a model is an error that names it. Options
change this: docs/one-shot-bufferize.md.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis, Premises
from hotdesk.analysis.in_place.orders import HEURISTICS, heuristic
from hotdesk.analysis.in_place.recursion import agree, with_calls
from hotdesk.analysis.in_place.search import search_in_place
from hotdesk.analysis.tensors.memory_spaces import USUAL_SPACES, SpaceRules
from hotdesk.analysis.tensors.program import TensorProgram, in_order
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.errors import OptionError
from hotdesk.explain import Decision, Reason
from hotdesk.ir.context import is_known_dialect
from hotdesk.ir.functions import single_exit
from hotdesk.ir.symbols import Symbols
from hotdesk.ir.walking import all_functions, dialect_of, modules, runs_every_call, symbol_name
from hotdesk.models.callee import assuming
from hotdesk.models.func import CALL, RETURN
from hotdesk.models.model import OpModel
from hotdesk.models.registry import choosing
from hotdesk.models.unknown import CONTIGUOUS, STRIDED
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.annotations import annotate
from hotdesk.passes.bufferize.conventions import Conventions
from hotdesk.passes.bufferize.expanding import copy_between_spaces, expand_ops
from hotdesk.passes.bufferize.finishing import align, retype_declarations
from hotdesk.passes.bufferize.leftover_tensors import refuse_elsewhere
from hotdesk.passes.bufferize.results import place_results
from hotdesk.passes.bufferize.returning_once import return_once
from hotdesk.passes.bufferize.rewriting import Rewriting
from hotdesk.passes.bufferize.unranked import buffers_of_unranked, tensors_at_edges
from hotdesk.passes.collecting import collection_put_off
from hotdesk.passes.properties import NO_TENSORS, Property
from hotdesk.program.calls import Callable, groups

RETURNED = "returned"
IDENTITY, DYNAMIC, INFERRED = "identity-layout-map", "fully-dynamic-layout-map", "infer-layout-map"


@dataclass(frozen=True, slots=True)
class OneShotBufferize(Pass):
    """Bufferizes every function of a module (rules in the module docstring).

    Options:
        analysis_heuristic: the order in which operands are decided: `top-down`, `bottom-up`, `bottom-up-from-terminators`,
            `largest-first` or `fuzzer`.
        analysis_fuzzer_seed: with the heuristic `fuzzer`, what the order is drawn from.
        bufferize_function_boundaries: signatures become memrefs; if not, arguments are only read and results stay tensors.
        function_boundary_type_conversion: in which layout arguments come: `identity-layout-map`, or any (the other two).
        results: `out-params`, memory of the caller's where possible, or `returned`, new memory.
        results_in_donated: a result in a donated argument's memory stays there (`hotdesk.holds`), and is not copied out.
        unknown_type_conversion: in which layout tensors of unknown ops are seen.
        allow_unknown_ops: ops without a model keep their tensors, between materializations.
        dialect_filter: only ops of these dialects are bufferized.
        copy_before_write: nothing is analysed; whatever is written is copied first.
        no_analysis_func_filter: the same for these functions alone.
        allow_return_allocs_from_loops: loops yield memory that an iteration made, where they would copy it back otherwise; if
            not, they do so only where sizes change. Mostly fewer copies, but one more buffer where the result has memory already.
        buffer_alignment: of each allocation, in bytes; 0 says nothing of it.
        check_parallel_regions: iterations of parallel loops may run at one time; if not, they run in order.
        must_infer_memory_space: a tensor whose memory space nothing says is an error, not in the default one.
        use_encoding_for_memory_space: the encoding of a tensor type is its memory space.
        reload_scalars: an op that uses a scalar counts as a read of the tensor the scalar was extracted from, for code generators
            that load scalars again.
        overlapping_moves: what is inserted may be another part of the tensor that it is inserted in, where both are slices of the
            same sizes and strides: it becomes a `hotdesk.move`, which overwrites no element before it is read.
        test_analysis_only: the decisions are written into the IR, and it stays on tensors.
        print_conflicts: with `test-analysis-only`, what is in the way of each copy is written too.
        dump_alias_sets: with `test-analysis-only`, which values lie together is written too.
    """

    name: ClassVar[str] = "hotdesk-one-shot-bufferize"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.DIES_HERE,
        Reason.OVERWRITTEN_UNREAD,
        Reason.WRITTEN_IN_DESTINATION,
        Reason.MOVED_WITHIN,
        Reason.RESULT_SLOT,
        Reason.RETURNED_AS_MADE,
        Reason.DONATED,
        Reason.EQUALS_ARGUMENT,
        Reason.ARGUMENT_AS_IS,
        Reason.ALREADY_OVERWRITTEN,
        Reason.DIFFERENT_ELEMENT_TYPE,
        Reason.DIFFERENT_LAYOUT,
        Reason.LIES_ELSEWHERE,
        Reason.NO_DEAD_OPERAND_OF_SAME_SIZE,
        Reason.NOT_ANALYSED,
        Reason.NOT_FOLLOWED,
        Reason.NOT_WRITABLE_CONSTANT,
        Reason.NOT_WRITABLE_MEMORY,
        Reason.NOT_WRITABLE_INPUT,
        Reason.NOT_WRITABLE_WEIGHT,
        Reason.OTHER_MEMORY_SPACE,
        Reason.PARTIAL_VIEW,
        Reason.PARTIAL_VIEW_RETURNED,
        Reason.READ_BY_SAME_OP,
        Reason.READ_LATER,
        Reason.RETURNED_INPUT,
        Reason.RETURNED_TWICE,
        Reason.RETURNED_VIEW,
        Reason.RETURNED_WEIGHT,
        Reason.RUNS_IN_PARALLEL,
        Reason.SIZE_NOT_PROVEN_EQUAL,
        Reason.SLICE_INSTEAD,
        Reason.SLICE_OVERWRITTEN,
    )
    analysis_heuristic: str = "top-down"
    analysis_fuzzer_seed: int = 0
    bufferize_function_boundaries: bool = True
    function_boundary_type_conversion: str = IDENTITY
    results: str = "out-params"
    results_in_donated: bool = False
    unknown_type_conversion: str = DYNAMIC
    allow_unknown_ops: bool = False
    dialect_filter: tuple[str, ...] = ()
    copy_before_write: bool = False
    no_analysis_func_filter: tuple[str, ...] = ()
    allow_return_allocs_from_loops: bool = True
    buffer_alignment: int = 0
    check_parallel_regions: bool = True
    must_infer_memory_space: bool = False
    use_encoding_for_memory_space: bool = False
    reload_scalars: bool = False
    overlapping_moves: bool = False
    test_analysis_only: bool = False
    print_conflicts: bool = False
    dump_alias_sets: bool = False

    def ensures(self) -> tuple[Property, ...]:
        conventions = self._conventions()
        is_whole = conventions.functions and not conventions.partial and not self.test_analysis_only
        return (NO_TENSORS,) if is_whole else ()

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        self._check(module)
        change = self._annotate if self.test_analysis_only else self._bufferize
        with collection_put_off(), choosing(self._choose):
            return tuple(decision for each in modules(module) for decision in change(each))

    def _bufferize(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        conventions = self._conventions()
        if conventions.functions:
            if not conventions.partial:
                refuse_elsewhere(module)
            return_once(module)
        without_rank = not conventions.partial and conventions.spaces == USUAL_SPACES
        if without_rank:
            functions, strided = conventions.functions, conventions.strided_arguments
            decisions.extend(buffers_of_unranked(module, functions=functions, strided=strided))
        symbols = Symbols()
        for node, given in self._functions(module):
            rewriting = Rewriting(self._decide(node, given), symbols, conventions)
            place_results(node, rewriting, rewriting.run())
            decisions.extend(rewriting.decided.decisions if runs_every_call(node.function) else ())
            if self.buffer_alignment:
                align(node.function, self.buffer_alignment)
        if conventions.functions:
            retype_declarations(module, conventions)
        elif without_rank:
            tensors_at_edges(module)
        return tuple(decisions)

    def _annotate(self, module: ir.Module) -> tuple[Decision, ...]:
        for node, given in self._functions(module):
            annotate(self._decide(node, given), conflicts=self.print_conflicts, aliases=self.dump_alias_sets)
        return ()

    def _functions(self, module: ir.Module) -> Generator[tuple[Callable, TensorProgram]]:
        """The functions, callees first; each as it is read, and in force what those that it calls in a cycle may assume."""
        for group in groups(module):
            for node in group:
                single_exit(node.function)
                expand_ops(node.function)
            if not (group[0].recursive and self._conventions().functions):
                yield from ((node, self._read(node)) for node in group)
                continue
            nodes = {symbol_name(node.function): node for node in group}
            records = {name: self._read(node) for name, node in nodes.items()}
            followed = {name: node.followed for name, node in nodes.items()}
            found = agree(records, followed, self._analyse)
            with assuming(found):
                yield from ((node, with_calls(records[name])) for name, node in nodes.items())

    def _read(self, node: Callable) -> TensorProgram:
        owned = node.followed and self._conventions().functions
        rules = self._spaces()

        def read() -> TensorProgram:
            return read_function(
                node.function,
                owned=owned,
                reload_scalars=self.reload_scalars,
                moves=self.overlapping_moves,
                spaces=rules,
            )

        record = read()
        record = read() if copy_between_spaces(record, rules) else record
        record = replace(record, gives_back=self.results == RETURNED and not node.recursive)
        return record if self.check_parallel_regions else in_order(record)

    def _spaces(self) -> SpaceRules:
        return SpaceRules(self.use_encoding_for_memory_space, self.must_infer_memory_space)

    def _decide(self, node: Callable, record: TensorProgram) -> InPlaceAnalysis:
        name = symbol_name(node.function)
        if node.recursive or self._copies_all(name):  # others rely on what was found for recursive functions
            return self._analyse(name, record)
        functions = self._conventions().functions
        stay = node.owned or self.results_in_donated or self.test_analysis_only  # results are where they are computed
        return search_in_place(record, self._premises(name, record), merging=functions, apart=functions and not stay)

    def _copies_all(self, name: str) -> bool:
        return self.copy_before_write or name in self.no_analysis_func_filter

    def _analyse(self, name: str, record: TensorProgram) -> InPlaceAnalysis:
        merging = self._conventions().functions and not self._copies_all(name)
        return search_in_place(record, self._premises(name, record), merging=merging, slicing=False)

    def _premises(self, name: str, record: TensorProgram) -> Premises:
        return Premises(
            order=heuristic(self.analysis_heuristic, record, self.analysis_fuzzer_seed),
            copy_before_write=self._copies_all(name),
            anew=self.allow_return_allocs_from_loops,
        )

    def _conventions(self) -> Conventions:
        functions = self.bufferize_function_boundaries and (not self.dialect_filter or "func" in self.dialect_filter)
        layout = self.function_boundary_type_conversion if functions else self.unknown_type_conversion
        partial = self.allow_unknown_ops or bool(self.dialect_filter)
        returned = self.results == RETURNED
        return Conventions(functions, returned, layout != IDENTITY, partial, self.results_in_donated, self._spaces())

    def _choose(self, name: str, model: OpModel | None) -> OpModel | None:
        """The model of an op, or that of an op which keeps its tensors."""
        unknown = CONTIGUOUS if self.unknown_type_conversion == IDENTITY else STRIDED
        if name == RETURN:
            return model
        if name == CALL and not self._conventions().functions:
            return unknown
        if self.dialect_filter and dialect_of(name) not in self.dialect_filter:
            return unknown
        return unknown if model is None and self.allow_unknown_ops else model

    def _check(self, module: ir.Module) -> None:
        layouts = (IDENTITY, DYNAMIC, INFERRED)
        choices = {
            "analysis-heuristic": (self.analysis_heuristic, HEURISTICS),
            "function-boundary-type-conversion": (self.function_boundary_type_conversion, layouts),
            "unknown-type-conversion": (self.unknown_type_conversion, (IDENTITY, DYNAMIC)),
            "results": (self.results, ("out-params", RETURNED)),
        }
        for option, (given, allowed) in choices.items():
            if given not in allowed:
                raise self._refused(option, "one of " + ", ".join(allowed), given)
        if (self.print_conflicts or self.dump_alias_sets) and not self.test_analysis_only:
            which = "print-conflicts" if self.print_conflicts else "dump-alias-sets"
            raise self._refused(which, "test-analysis-only with it", "true")
        if not 0 <= self.buffer_alignment < 1 << 63 or self.buffer_alignment & (self.buffer_alignment - 1):
            raise self._refused("buffer-alignment", "a power of two, or 0", str(self.buffer_alignment))
        for dialect in self.dialect_filter:
            if not is_known_dialect(dialect, module.context):
                raise self._refused("dialect-filter", "names of dialects", dialect)
        names = {symbol_name(function) for function in all_functions(module)}
        for name in self.no_analysis_func_filter:
            if name not in names:
                raise self._refused("no-analysis-func-filter", "names of functions with a body", name)

    def _refused(self, option: str, expected: str, given: str) -> OptionError:
        return OptionError(f"option '{option}' of pass '{self.name}'", expected=expected, got=repr(given))
