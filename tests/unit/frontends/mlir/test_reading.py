"""Reading MLIR: the names of arguments, the function that is compiled, and the one that becomes `@main`."""

from __future__ import annotations

import re

import pytest

from hotdesk._bindings import ir
from hotdesk.errors import InvalidIRError, OptionError
from hotdesk.frontends.mlir.capture import capture
from hotdesk.frontends.mlir.reading import ParsedModule, entry_function, make_main, read
from hotdesk.ir.context import bytecode, entered
from hotdesk.ir.walking import defined_functions, symbol_name

NAMES = """func.func @f(%x: f32, %long_name.with$signs-too : tensor<?xf32>,
    %2: i32, %arg7 : index loc("given")) {
  return
}
"""


def names_of(source: ParsedModule) -> tuple[str, ...]:
    with entered(source.module.operation):
        return source.argument_names(defined_functions(source.module)[0])


def test_names_are_those_of_the_text() -> None:
    assert names_of(read(NAMES)) == ("%x", "%long_name.with$signs-too", "%arg2", "%given")


def test_bytecode_has_names_in_locations_only() -> None:
    assert names_of(read(bytecode(read(NAMES).module))) == ("%arg0", "%arg1", "%arg2", "%given")


def test_names_that_are_not_distinct_are_numbers() -> None:
    assert names_of(read('func.func @f(%x: f32 loc("a"), %y: f32 loc("a")) {\n  return\n}')) == ("%arg0", "%arg1")


@pytest.mark.parametrize(
    ("functions", "entry", "found"),
    [
        (["public f"], None, "f"),
        (["private f", "public g"], None, "g"),
        (["public f", "public main"], None, "main"),
        (["public f", "public g"], "f", "f"),
        (["private f", "public g"], "@f", "f"),
        (["private f"], None, "expected a public func.func with a body, got none"),
        (["public f", "public g"], None, "expected one of @f, @g, got no choice between them"),
        (["public f", "public g"], "h", "expected one of @f, @g, got 'h'"),
    ],
)
def test_the_function_that_is_compiled(functions: list[str], entry: str | None, found: str) -> None:
    texts = (each.replace(" ", " @", 1) for each in functions)
    source = read("\n".join(f"func.func {text}() {{\n  return\n}}" for text in texts))
    if " " not in found:
        assert symbol_name(entry_function(source.module, entry)) == found
        return
    kind = InvalidIRError if found.endswith("none") else OptionError
    with pytest.raises(kind, match=re.escape(found)):
        entry_function(source.module, entry)


def test_main_and_prepare_are_names_of_parts() -> None:
    source = read("""func.func @main() {
  return
}
func.func @prepare() {
  call @main() : () -> ()
  return
}
func.func @f() {
  call @prepare() : () -> ()
  return
}""")
    with entered(source.module.operation):
        make_main(source.module, entry_function(source.module, "f"))
    text = str(source.module)
    assert re.findall(r"func\.func (?:private )?@(\w+)", text) == ["main_0", "prepare_0", "main"]
    assert re.findall(r"call @(\w+)", text) == ["main_0", "prepare_0"]
    assert re.findall(r"func\.func private @(\w+)", text) == ["main_0", "prepare_0"]


def test_a_function_that_calls_itself_stays_what_it_is() -> None:
    source = read("func.func @f(%n: index) {\n  call @f(%n) : (index) -> ()\n  return\n}")
    with entered(source.module.operation):
        make_main(source.module, entry_function(source.module, None))
    assert re.findall(r"func\.func (?:private )?@(\w+)", str(source.module)) == ["main", "f"]
    assert re.findall(r"call @(\w+)", str(source.module)) == ["f", "f"]


def test_the_context_is_of_its_own() -> None:
    with ir.Context() as context:
        module = ir.Module.parse("func.func @f() {\n  return\n}")
        assert read(module).module.context != context


def test_functions_get_no_name_that_something_else_has() -> None:
    text = """memref.global "private" constant @main_0 : memref<2xf32> = dense<1.0>
      memref.global "private" constant @entry_0 : memref<2xf32> = dense<1.0>
      func.func @main(%n: i32) -> i32 { return %n : i32 }
      func.func @f(%n: i32) -> i32 { %a = call @main(%n) : (i32) -> i32  %b = call @f(%a) : (i32) -> i32  return %b : i32 }"""
    module = read(text).module
    with entered(module.operation):
        make_main(module, entry_function(module, "f"))
        assert module.operation.verify()
        assert [symbol_name(each) for each in defined_functions(module)] == ["main", "main_1", "f"]


def test_modules_inside_are_left_out() -> None:
    text = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
      module @inner {
        func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32>
        func.func @h(%x: tensor<4xf32>) -> tensor<4xf32> {
          %r = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
          return %r : tensor<4xf32>
        }
      }"""
    captured = capture(text)
    assert str(captured.module).count("module") == 1
    assert "@g" not in str(captured.module)
