"""In-place decisions: each numbered rule where it fires and where it does not, with its reason and the op behind it."""

from __future__ import annotations

from dataclasses import replace

from hotdesk.analysis.in_place.displacement import Displacement, find_displacement
from hotdesk.analysis.in_place.inplace import OperandDecision, analyse_in_place
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.explain import Reason
from hotdesk.models.model import OpModel
from hotdesk.models.registry import choosing
from tests.unit.parsing import elementwise, function, parse

T = "tensor<8xf32>"
DONATED = f"%x: {T} {{hotdesk.donated}}, %y: {T} {{hotdesk.donated}}"


def record(arguments: str, *lines: str, reload_scalars: bool = False) -> TensorProgram:
    returned = lines[-1].removeprefix("return ")
    body = "\n".join(f"  {line}" for line in lines[:-1])
    kinds = ", ".join([T] * len(returned.split(",")))
    module = parse(f"func.func @main({arguments}) -> ({kinds}) {{\n{body}\n  return {returned} : {kinds}\n}}")
    return read_function(function(module), reload_scalars=reload_scalars)


def decisions(arguments: str, *lines: str, reload_scalars: bool = False) -> list[OperandDecision]:
    return list(analyse_in_place(record(arguments, *lines, reload_scalars=reload_scalars)).decisions)


def tanh(result: str, source: str, init: str) -> str:
    return f"{result} = linalg.map {{ math.tanh }} ins({source} : {T}) outs({init} : {T})"


def add(result: str, a: str, b: str, init: str) -> str:
    return f"{result} = linalg.map {{ arith.addf }} ins({a}, {b} : {T}, {T}) outs({init} : {T})"


# 1. The buffer may be written.


def test_rule_1_a_donated_argument_is_written() -> None:
    assert decisions(DONATED, tanh("%r", "%x", "%x"), "return %r") == [OperandDecision(0, 1, True, Reason.DIES_HERE)]


def test_rule_1_an_argument_of_the_callers_is_not() -> None:
    (only,) = decisions(f"%x: {T}", tanh("%r", "%x", "%x"), "return %r")
    assert only == OperandDecision(0, 1, False, Reason.NOT_WRITABLE_INPUT)


def test_rule_1_nor_is_a_weight_or_what_was_prepared_from_one() -> None:
    for kind in ("weight", "prepared"):
        (only,) = decisions(f'%x: {T} {{hotdesk.kind = "{kind}"}}', tanh("%r", "%x", "%x"), "return %r")
        assert only.reason is Reason.NOT_WRITABLE_WEIGHT


def test_rule_1_nor_is_a_constant() -> None:
    (only,) = decisions("", f"%c = arith.constant dense<1.0> : {T}", tanh("%r", "%c", "%c"), "return %r")
    assert (only.op, only.in_place, only.reason) == (1, False, Reason.NOT_WRITABLE_CONSTANT)


def test_rule_1_a_view_is_as_writable_as_its_source() -> None:
    views = (
        f"%v = tensor.expand_shape %x [[0, 1]] output_shape [2, 4] : {T} into tensor<2x4xf32>",
        f"%w = tensor.collapse_shape %v [[0, 1]] : tensor<2x4xf32> into {T}",
    )
    (only,) = decisions(f"%x: {T}", *views, tanh("%r", "%w", "%w"), "return %r")
    assert only.reason is Reason.NOT_WRITABLE_INPUT
    (only,) = decisions(DONATED, *views, tanh("%r", "%w", "%w"), "return %r")
    assert only.in_place


# 2. Nobody reads the contents later.


def test_rule_2_a_later_reader_keeps_the_contents_and_is_named() -> None:
    first, second = decisions(DONATED, tanh("%a", "%x", "%x"), add("%r", "%x", "%a", "%y"), "return %r")
    assert first == OperandDecision(0, 1, False, Reason.READ_LATER, conflict=1)
    assert second.in_place


def test_rule_2_the_last_of_several_readers_is_named() -> None:
    lines = (tanh("%a", "%x", "%x"), add("%b", "%x", "%a", "%y"), add("%r", "%x", "%b", "%b"))
    assert decisions(DONATED, *lines, "return %r")[0].conflict == 2


def test_rule_2_a_return_is_a_reader() -> None:
    (only,) = decisions(DONATED, tanh("%a", "%x", "%x"), "return %a, %x")
    assert only == OperandDecision(0, 1, False, Reason.READ_LATER, conflict=1)


def test_rule_2_a_reader_of_a_view_counts_wherever_the_view_is_made() -> None:
    view = f"%v = tensor.cast %x : {T} to tensor<?xf32>"
    back = f"%w = tensor.cast %v : tensor<?xf32> to {T}"
    for lines in ((view, back, tanh("%a", "%x", "%x")), (tanh("%a", "%x", "%x"), view, back)):
        first = decisions(DONATED, *lines, add("%r", "%w", "%a", "%y"), "return %r")[0]
        assert (first.in_place, first.reason, first.conflict) == (False, Reason.READ_LATER, 3)


def test_rule_2_a_reader_inside_a_region_counts() -> None:
    body = "%i = arith.constant 0 : index\n %u = tensor.extract %x[%i] : tensor<8xf32>\n %t = arith.addf %a0, %u : f32"
    inner = "%r = " + elementwise("", ["%a"], "%y", body=body)
    first = decisions(DONATED, tanh("%a", "%x", "%x"), inner, "return %r")[0]
    assert (first.in_place, first.reason, first.conflict) == (False, Reason.READ_LATER, 1)


def test_rule_2_an_op_that_uses_a_scalar_reads_what_the_scalar_comes_from() -> None:
    lines = (
        "%i = arith.constant 0 : index",
        f"%s = tensor.extract %x[%i] : {T}",
        "%t = arith.addf %s, %s : f32",
        tanh("%a", "%x", "%x"),
        f"%r = linalg.fill ins(%t : f32) outs(%y : {T}) -> {T}",
    )
    first = decisions(DONATED, *lines, "return %r, %a", reload_scalars=True)[0]
    assert (first.op, first.in_place, first.reason, first.conflict) == (3, False, Reason.READ_LATER, 4)
    assert decisions(DONATED, *lines, "return %r, %a")[0].in_place  # the scalar is computed before


def test_rule_2_a_model_says_that_its_op_takes_scalars_as_they_were_computed() -> None:
    lines = (
        "%i = arith.constant 0 : index",
        f"%s = tensor.extract %x[%i] : {T}",
        tanh("%a", "%x", "%x"),
        f"%r = linalg.fill ins(%s : f32) outs(%y : {T}) -> {T}",
        "return %r, %a",
    )
    assert not decisions(DONATED, *lines, reload_scalars=True)[0].in_place

    def taking(name: str, model: OpModel | None) -> OpModel | None:
        return replace(model, takes_scalars=True) if model is not None and name == "linalg.fill" else model

    with choosing(taking):
        assert decisions(DONATED, *lines, reload_scalars=True)[0].in_place


def test_rule_2_an_op_that_only_overwrites_is_no_reader() -> None:
    first, second = decisions(DONATED, tanh("%a", "%x", "%x"), tanh("%r", "%a", "%x"), "return %r")
    assert first.in_place
    assert second.in_place  # over the first result, which lies there now and dies element by element


# 3. The op itself reads only what it is about to overwrite.


def test_rule_3_the_same_element_of_the_same_value() -> None:
    (only,) = decisions(DONATED, add("%r", "%x", "%x", "%x"), "return %r")
    assert only.in_place


def test_rule_3_another_element_of_it() -> None:
    maps = "affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>"
    transposed = f"""%t = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
      ins(%v : tensor<4x4xf32>) outs(%v : tensor<4x4xf32>) {{
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }} -> tensor<4x4xf32>"""
    module = parse(f"""
      func.func @main(%v: tensor<4x4xf32> {{hotdesk.donated}}) -> tensor<4x4xf32> {{
        {transposed}
        return %t : tensor<4x4xf32>
      }}""")
    (only,) = analyse_in_place(read_function(function(module))).decisions
    assert only == OperandDecision(0, 1, False, Reason.READ_BY_SAME_OP, conflict=0)


def test_rule_3_another_view_of_it() -> None:
    lines = (f"%v = tensor.cast %x : {T} to tensor<?xf32>", f"%w = tensor.cast %v : tensor<?xf32> to {T}")
    (only,) = decisions(DONATED, *lines, tanh("%r", "%w", "%x"), "return %r")
    assert only.in_place  # the same elements in the same places


def test_rule_3_its_region() -> None:
    body = "%i = arith.constant 0 : index\n %u = tensor.extract %x[%i] : tensor<8xf32>\n %t = arith.addf %a0, %u : f32"
    (only,) = decisions(DONATED, "%r = " + elementwise("", ["%x"], "%x", body=body), "return %r")
    assert only == OperandDecision(0, 1, False, Reason.READ_BY_SAME_OP, conflict=0)


def test_rule_3_an_insertion_of_a_part_into_its_whole() -> None:
    lines = (
        f"%v = tensor.extract_slice %x[0] [4] [1] : {T} to tensor<4xf32>",
        f"%r = tensor.insert_slice %v into %x[2] [4] [1] : tensor<4xf32> into {T}",
    )
    (only,) = decisions(DONATED, *lines, "return %r")
    assert only == OperandDecision(1, 1, False, Reason.READ_BY_SAME_OP, conflict=1)


def test_rule_3_a_contraction_reads_its_inputs_at_other_places() -> None:
    module = parse("""
      func.func @main(%v: tensor<4x4xf32> {hotdesk.donated}) -> tensor<4x4xf32> {
        %t = linalg.matmul ins(%v, %v : tensor<4x4xf32>, tensor<4x4xf32>) outs(%v : tensor<4x4xf32>) -> tensor<4x4xf32>
        return %t : tensor<4x4xf32>
      }""")
    (only,) = analyse_in_place(read_function(function(module))).decisions
    assert only == OperandDecision(0, 2, False, Reason.READ_BY_SAME_OP, conflict=0)


# 4. Undefined contents.


def test_rule_4_nobody_misses_undefined_contents() -> None:
    lines = (f"%e = tensor.empty() : {T}", tanh("%a", "%x", "%e"))
    first = decisions(f"%x: {T}", *lines, "return %a, %e")[0]
    assert (first.in_place, first.fresh, first.reason) == (True, True, Reason.NOT_WRITABLE_INPUT)


def test_rule_4_what_is_inserted_into_them_is_defined() -> None:
    lines = (
        f"%e = tensor.empty() : {T}",
        f"%a = tensor.insert_slice %v into %e[0] [4] [1] : tensor<4xf32> into {T}",
        tanh("%r", "%a", "%a"),
    )
    first, second = decisions("%v: tensor<4xf32>", *lines, "return %r, %a")
    assert (first.in_place, first.fresh) == (True, True)
    assert second == OperandDecision(2, 1, False, Reason.READ_LATER, conflict=3)


# 5. The buffer holds an earlier result.


def test_rule_5_one_buffer_holds_one_result() -> None:
    first, second = decisions(DONATED, tanh("%a", "%y", "%x"), tanh("%b", "%y", "%x"), "return %a, %b")
    assert first.in_place
    assert second == OperandDecision(1, 1, False, Reason.ALREADY_OVERWRITTEN, conflict=0)


def test_rule_5_undefined_or_not() -> None:
    lines = (f"%e = tensor.empty() : {T}", tanh("%a", "%x", "%e"), tanh("%b", "%x", "%e"))
    first, second = decisions(f"%x: {T}", *lines, "return %a, %b")
    assert [first.fresh, second.fresh] == [True, True]  # each a buffer of its own


def test_rule_5_the_result_itself_may_be_overwritten_again() -> None:
    first, second = decisions(DONATED, tanh("%a", "%x", "%x"), tanh("%r", "%a", "%a"), "return %r")
    assert first.in_place
    assert second == OperandDecision(1, 1, True, Reason.DIES_HERE)


def test_decisions_are_found_by_op_and_operand() -> None:
    analysis = analyse_in_place(record(DONATED, tanh("%a", "%x", "%x"), tanh("%r", "%a", "%y"), "return %r"))
    assert analysis.by_operand == {(0, 1): analysis.decisions[0], (1, 1): analysis.decisions[1]}


# Displacement: why no operand was overwritten


def displaced(module_text: str) -> Displacement:
    found = read_function(function(parse(module_text)))
    readers = Readers(found)
    return find_displacement(found, found.ops[-2], 0, Places(found, readers), readers)


def program(arguments: str, result: str, *lines: str, returned: str = "%r") -> str:
    body = "\n".join(lines)
    kinds = f"{result}, {T}" if "," in returned else result
    return f"func.func @main({arguments}) -> ({kinds}) {{\n{body}\nreturn {returned} : {kinds}\n}}"


def test_an_operand_that_dies_is_displaced() -> None:
    found = displaced(program(DONATED, T, f"%e = tensor.empty() : {T}", tanh("%r", "%x", "%e")))
    assert found == Displacement(0, Reason.DIES_HERE)


def test_a_later_reader_is_named() -> None:
    lines = (f"%e = tensor.empty() : {T}", tanh("%r", "%x", "%e"))
    assert displaced(program(DONATED, T, *lines, returned="%r, %x")) == Displacement(None, Reason.READ_LATER, 2)


def test_the_operand_that_came_closest_gives_the_reason() -> None:
    lines = (f"%e = tensor.empty() : {T}", add("%r", "%z", "%x", "%e"))
    found = displaced(program(f"%z: {T}, {DONATED}", T, *lines, returned="%r, %x"))
    assert found.reason is Reason.NOT_WRITABLE_INPUT


def test_another_element_type() -> None:
    lines = (
        "%e = tensor.empty() : tensor<8xi32>",
        f"%r = linalg.map {{ arith.fptosi }} ins(%x : {T}) outs(%e : tensor<8xi32>)",
    )
    assert displaced(program(DONATED, "tensor<8xi32>", *lines)) == Displacement(None, Reason.DIFFERENT_ELEMENT_TYPE)


def test_another_size() -> None:
    lines = (
        "%e = tensor.empty() : tensor<2x8xf32>",
        f"%r = linalg.broadcast ins(%x : {T}) outs(%e : tensor<2x8xf32>) dimensions = [0]",
    )
    found = displaced(program(DONATED, "tensor<2x8xf32>", *lines))
    assert found == Displacement(None, Reason.NO_DEAD_OPERAND_OF_SAME_SIZE)


def test_sizes_that_may_differ() -> None:
    dynamic = "tensor<?xf32>"
    lines = (
        "%i = arith.constant 0 : index",
        f"%n = tensor.dim %y, %i : {dynamic}",
        f"%e = tensor.empty(%n) : {dynamic}",
        f"%r = linalg.map {{ math.tanh }} ins(%x : {dynamic}) outs(%e : {dynamic})",
    )
    for other, reason in (("m", Reason.SIZE_NOT_PROVEN_EQUAL), ("n", Reason.DIES_HERE)):
        arguments = (
            f'%x: {dynamic} {{hotdesk.donated, hotdesk.shape = ["n"]}}, %y: {dynamic} {{hotdesk.shape = ["{other}"]}}'
        )
        assert displaced(program(arguments, dynamic, *lines)).reason is reason


def test_another_order() -> None:
    square = "tensor<4x4xf32>"
    lines = (
        f"%e = tensor.empty() : {square}",
        f"%r = linalg.transpose ins(%x : {square}) outs(%e : {square}) permutation = [1, 0]",
    )
    found = displaced(program(f"%x: {square} {{hotdesk.donated}}", square, *lines))
    assert found == Displacement(None, Reason.READ_BY_SAME_OP, 1)


def test_a_part_of_a_larger_buffer() -> None:
    small = "tensor<4xf32>"
    lines = (
        f"%v = tensor.extract_slice %x[0] [4] [1] : {T} to {small}",
        f"%e = tensor.empty() : {small}",
        f"%r = linalg.map {{ math.tanh }} ins(%v : {small}) outs(%e : {small})",
    )
    assert displaced(program(DONATED, small, *lines)) == Displacement(None, Reason.PARTIAL_VIEW)
