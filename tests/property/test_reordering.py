"""Programs in other orders: what the rules allow changes no value, and what the pass makes runs as before."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from hotdesk.analysis.order.schedules import read_stretch, used_in_other_blocks
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.ir.context import entered
from hotdesk.ir.walking import defined_functions
from hotdesk.passes.tensor.reorder import ReorderForPeak
from hotdesk.planning.scheduling.checker import check_order
from hotdesk.planning.scheduling.problem import ScheduleProblem
from tests import reference
from tests.harness import check_module
from tests.programs import GREATEST_SYMBOL, LEAST_SYMBOL, programs
from tests.programs import Program as StraightProgram
from tests.running.examples import EXAMPLES, inputs_of
from tests.running.executable import main_of
from tests.structured import Program, structured_programs
from tests.unit.parsing import elementwise, parse, run

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def shuffled(problem: ScheduleProblem, numbers: random.Random) -> tuple[int, ...]:
    """An order that is allowed, drawn at random."""
    maker = {value: number for number, task in enumerate(problem.tasks) for value in task.results}
    needs = [{*task.after, *(maker[v] for v in task.operands if v in maker)} for task in problem.tasks]
    order: list[int] = []
    while len(order) < len(needs):
        done = set(order)
        order.append(numbers.choice([i for i, before in enumerate(needs) if i not in done and before <= done]))
    assert check_order(problem, order) == ()
    return tuple(order)


def shuffle(text: str, seed: int) -> str:
    """The program with every block in an order drawn at random."""
    module, numbers = parse(text), random.Random(seed)
    with entered(module.operation):
        for function in defined_functions(module):
            record = read_function(function)
            elsewhere = used_in_other_blocks(record)
            for block in record.blocks:
                stretch = read_stretch(record, block, {}, elsewhere, 4, returned=False)
                if not stretch.operations:
                    continue
                terminator = list(stretch.operations[0].block.operations)[-1]
                for position in stretch.arranged(shuffled(stretch.problem, numbers)):
                    stretch.operations[position].move_before(terminator)
        module.operation.verify()
    return str(module)


def assert_same_values(before: str, after: str, inputs: list[object]) -> None:
    first, second = parse(before), parse(after)
    with first.context:
        wanted = reference.expected(main_of(first), inputs)
    with second.context:
        got = reference.expected(main_of(second), inputs)
    for a, b in zip(wanted, got, strict=True):
        assert (a.defined == b.defined).all()
        assert a.values[a.defined].tobytes() == b.values[a.defined].tobytes()


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_in_any_order(name: str) -> None:
    text = EXAMPLES[name].read_text(encoding="utf-8")
    for seed in range(2):
        assert_same_values(text, shuffle(text, seed), inputs_of(text))


def test_orders_are_drawn() -> None:
    kind = "tensor<8xf32>"
    text = f"""
    func.func @main(%x: {kind}) -> ({kind}, {kind}) {{
      %e = tensor.empty() : {kind}
      %a = {elementwise("arith.addf", ["%x", "%x"], "%e")}
      %b = {elementwise("arith.mulf", ["%x", "%x"], "%e")}
      return %a, %b : {kind}, {kind}
    }}"""
    assert len({shuffle(text, seed) for seed in range(8)}) == 2


@settings(max_examples=25, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_control_flow_in_any_order(program: Program, seed: int) -> None:
    note(program.text)
    assert_same_values(program.text, shuffle(program.text, seed), program.inputs(0))


@settings(max_examples=5, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(programs(), st.integers(LEAST_SYMBOL, GREATEST_SYMBOL))
def test_compiled_after_the_pass(program: StraightProgram, symbol: int) -> None:
    note(program.text)
    check_module(run(parse(program.text), ReorderForPeak()), *program.inputs((symbol, symbol), seed=0))


@settings(max_examples=6, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(programs(), st.integers(0, 9))
def test_compiled_in_any_order(program: StraightProgram, seed: int) -> None:
    note(program.text)
    check_module(shuffle(program.text, seed), *program.inputs((5, 3), seed=0), pipelines=["buffers alone"])


@pytest.mark.slow
@settings(max_examples=300, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_many_programs_in_any_order(program: Program, seed: int) -> None:
    note(program.text)
    assert_same_values(program.text, shuffle(program.text, seed), program.inputs(0))


@pytest.mark.slow
@settings(max_examples=100, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(programs(), st.integers(0, 9))
def test_many_compiled_in_any_order(program: StraightProgram, seed: int) -> None:
    note(program.text)
    check_module(shuffle(program.text, seed), *program.inputs((5, 3), seed=0))
