"""Names for new symbols: nobody has them in the module, and none is given twice."""

from __future__ import annotations

from torch_mlir import ir

from hotdesk.ir.context import make_context
from hotdesk.ir.symbols import Symbols
from hotdesk.ir.walking import defined_functions

_FUNCTION = "func.func @{}() {{\n return\n}}\n"


def test_names_are_unused_and_given_once() -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(
            "memref.global @constant_1 : memref<2xf32>\n" + _FUNCTION.format("f") + _FUNCTION.format("constant_3")
        )
        first, last = defined_functions(module)
        symbols = Symbols()
        names = [symbols.unused(function, "constant") for function in (first, last, first)]
        assert names == ["constant_0", "constant_2", "constant_4"]
        assert symbols.unused(last, "f") == "f_0"


def test_a_wanted_name_is_given_if_nothing_has_it() -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse("memref.global @g_1 : memref<2xf32>\n" + _FUNCTION.format("f") + _FUNCTION.format("g"))
        first, _ = defined_functions(module)
        symbols = Symbols()
        assert [symbols.named(first, name) for name in ("h", "g", "h", "g")] == ["h", "g_2", "h_1", "g_3"]
        assert symbols.unused(first, "h") == "h_0"
        assert symbols.unused(first, "h") == "h_2"


def test_each_module_has_names_of_its_own() -> None:
    with make_context(), ir.Location.unknown():
        inner = "module {\n" + _FUNCTION.format("g") + "}\n"
        module = ir.Module.parse(_FUNCTION.format("f") + inner)
        (outer,) = defined_functions(module)
        nested = module.body.operations[1].operation.regions[0].blocks[0].operations[0].operation
        symbols = Symbols()
        assert [symbols.unused(op, "constant") for op in (outer, nested)] == ["constant_0", "constant_0"]
