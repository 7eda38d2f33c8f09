"""What a function does with its arguments' memory."""

from __future__ import annotations

from hotdesk.analysis.in_place.access import Access, argument_access
from hotdesk.analysis.in_place.inplace import analyse_in_place
from hotdesk.analysis.tensors.reading import read_function
from tests.unit.parsing import elementwise, function, parse

T = "tensor<8xf32>"


def accesses(arguments: str, *lines: str) -> list[str | None]:
    kinds = ", ".join([T] * len(lines[-1].split(",")))
    body = "\n".join(lines[:-1])
    module = parse(f"func.func @main({arguments}) -> ({kinds}) {{\n{body}\nreturn {lines[-1]} : {kinds}\n}}")
    analysis = analyse_in_place(read_function(function(module)))
    return [access and access.value for access in argument_access(analysis)]


def tanh(result: str, source: str, init: str) -> str:
    return f"{result} = linalg.map {{ math.tanh }} ins({source} : {T}) outs({init} : {T})"


def test_the_words_are_those_of_mlir() -> None:
    assert [access.value for access in Access] == ["none", "read", "write", "read-write"]


def test_each_word() -> None:
    arguments = (
        f"%a: {T}, %b: {T}, %c: {T} {{hotdesk.donated}}, %d: {T} {{hotdesk.donated}}, %s: f32, %e: tensor<0xf32>"
    )
    lines = (tanh("%r", "%b", "%c"), tanh("%q", "%d", "%d"))
    assert accesses(arguments, *lines, "%r, %q") == ["none", "read", "write", "read-write", None, "none"]


def test_an_argument_that_may_not_be_written_is_not() -> None:
    assert accesses(f"%x: {T}, %y: {T}", tanh("%r", "%x", "%y"), "%r") == ["read", "none"]


def test_a_part_written_out_of_place_reads_the_rest() -> None:
    line = f"%r = tensor.insert_slice %v into %x[0] [4] [1] : tensor<4xf32> into {T}"
    assert accesses(f"%x: {T}, %v: tensor<4xf32>", line, "%r") == ["read", "read"]


def test_contents_that_replaced_the_arguments_are_not_its_own() -> None:
    lines = (tanh("%a", "%x", "%y"), tanh("%r", "%a", "%a"))
    assert accesses(f"%x: {T}, %y: {T} {{hotdesk.donated}}", *lines, "%r") == ["read", "write"]


def test_a_view_is_the_argument() -> None:
    lines = (f"%v = tensor.cast %x : {T} to tensor<?xf32>", f"%w = tensor.cast %v : tensor<?xf32> to {T}")
    assert accesses(f"%x: {T}, %y: {T} {{hotdesk.donated}}", *lines, tanh("%r", "%w", "%y"), "%r") == ["read", "write"]
    assert accesses(f"%x: {T} {{hotdesk.donated}}", *lines, tanh("%r", "%w", "%w"), "%r") == ["read-write"]


def test_a_return_reads() -> None:
    assert accesses(f"%x: {T}", "%x") == ["read"]


def test_regions_and_scalars_read() -> None:
    body = "%i = arith.constant 0 : index\n %u = tensor.extract %y[%i] : tensor<8xf32>\n %t = arith.addf %a0, %u : f32"
    line = "%r = " + elementwise("", ["%x"], "%z", body=body)
    assert accesses(f"%x: {T}, %y: {T}, %z: {T} {{hotdesk.donated}}", line, "%r") == ["read", "read", "write"]


def test_what_a_loop_gives_to_another_argument_is_written_behind_it() -> None:
    loop = (
        "%n = arith.constant 1 : index",
        "%s = arith.constant 1.0 : f32",
        f"%r:2 = scf.for %i = %n to %n step %n iter_args(%a = %x, %b = %y) -> ({T}, {T}) {{",
        f"scf.yield %b, %a : {T}, {T}",
        "}",
        f"%w = tensor.insert %s into %r#1[%n] : {T}",
    )
    donated = f"{T} {{hotdesk.donated}}"
    assert accesses(f"%x: {donated}, %y: {donated}", *loop, "%w") == ["read-write", "read-write"]
