"""MLIR read from a file, from text, from bytecode or from a module, and the function in it that a program is compiled of."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

from hotdesk._bindings import ir
from hotdesk.errors import InvalidIRError, OptionError
from hotdesk.file_errors import found_instead
from hotdesk.frontends.lowering_process import LoweringDied, try_parsing
from hotdesk.frontends.mlir.jax_lowered import is_lowered_by_jax, text_of
from hotdesk.ir.argument_sizes import BOUNDS
from hotdesk.ir.context import bytecode, make_context
from hotdesk.ir.functions import find_uses, is_private, named_functions, returns_of
from hotdesk.ir.locations import FILE_LINE_COLUMN, python_line
from hotdesk.ir.signature import new_function, signature
from hotdesk.ir.symbols import Symbols
from hotdesk.ir.walking import entry_block, is_declaration, is_module, symbol_name
from hotdesk.models.hotdesk import ROLL_BACK

Given: TypeAlias = "str | bytes | os.PathLike[str] | ir.Module"

_MAGIC = b"ML\xefR"
_NAME = re.compile(r"%([\w$.-]+)")
_NAMED_LOCATION = re.compile(r'loc\("([A-Za-z_]\w*)"')
_DIALECT = re.compile(r"Dialect `(\w*)' not found|unregistered dialect")


@dataclass(frozen=True, slots=True)
class ParsedModule:
    """A module in a context of its own, and the lines of the text that it comes from; none of bytecode."""

    module: ir.Module
    lines: tuple[str, ...] = ()

    def argument_names(self, function: ir.Operation) -> tuple[str, ...]:
        """The names of a function's arguments, such as `%x`: as in the text, else `%arg0` and so on."""
        names: list[str] = []
        for number, argument in enumerate(entry_block(function).arguments):
            name = self._name_at(str(argument.location))
            names.append(f"%{number}" if name is None else name)
        plain = [f"%arg{number}" for number in range(len(names))]
        names = [fallback if name[1:].isdigit() else name for name, fallback in zip(names, plain, strict=True)]
        return tuple(names if len(set(names)) == len(names) else plain)

    def _name_at(self, location: str) -> str | None:
        """The name that the text has at a location, or that the location itself gives."""
        found = FILE_LINE_COLUMN.search(location)
        if found is not None and 0 < int(found[2]) <= len(self.lines):
            name = _NAME.match(self.lines[int(found[2]) - 1], int(found[3]) - 1)
            if name is not None:
                return f"%{name[1]}"
        named = _NAMED_LOCATION.match(location)
        return None if named is None else f"%{named[1]}"


def is_given(model: object) -> bool:
    """Whether a model is one in MLIR: a path or text, bytecode, a module, or a function that JAX has lowered."""
    return isinstance(model, str | bytes | os.PathLike | ir.Module) or is_lowered_by_jax(model)


def read(given: Given) -> ParsedModule:
    """The module of a file, of text, of bytecode, a copy of one, or the StableHLO of what JAX has lowered.

    A string is the name of a file if it is one line without brackets.

    Raises:
        InvalidIRError: it does not parse or verify.
        OptionError: there is no such file.
    """
    if is_lowered_by_jax(given):
        given = text_of(given)
    if isinstance(given, ir.Module):
        return ParsedModule(_module(bytecode(given)))
    if isinstance(given, bytes):
        return _of_bytes(given, None)
    if isinstance(given, str) and not _is_name(given):
        return ParsedModule(_parsed(given), tuple(given.split("\n")))
    path = os.fspath(given)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise OptionError(f"model '{path}'", expected="a file", got=found_instead(path, error)) from error
    return _of_bytes(content, path)


def _is_name(text: str) -> bool:
    return "\n" not in text and not re.search(r"[(){}]|^\s*$", text)


def _of_bytes(content: bytes, path: str | None) -> ParsedModule:
    """Bytecode, or text in a file of that name."""
    if content.startswith(_MAGIC):
        return ParsedModule(_parsed(content))
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InvalidIRError(
            "the input", expected="MLIR text in UTF-8, or bytecode", got=str(error), where=path
        ) from error
    return ParsedModule(_parsed(text, path), tuple(text.split("\n")))


def _parsed(content: str | bytes, path: str | None = None) -> ir.Module:
    """What `_module` makes, unless MLIR dies of it."""
    if not isinstance(content, bytes) and "\0" in content:
        raise InvalidIRError("the input", expected="MLIR text", got="a zero byte", where=path)
    try:
        try_parsing(content)
    except LoweringDied as error:
        got = f"what MLIR's parser dies of: {error.how}"
        raise InvalidIRError("the MLIR does not parse", got=got, where=path) from error
    return _module(content, path)


def _module(content: str | bytes, path: str | None = None) -> ir.Module:
    """A module in a context of its own; `path` is the file that the text comes from, for locations."""
    is_text = not isinstance(content, bytes)
    context = make_context(stablehlo=not is_text or re.search(r"\b(stablehlo|chlo|vhlo)\.", content) is not None)
    try:
        return ir.Module.parse(content, context) if path is None else ir.Module.parseFile(path, context)
    except ir.MLIRError as error:
        raise _unparsed(error) from error


def _unparsed(error: ir.MLIRError) -> InvalidIRError:
    """What the parser or the verifier says, and where."""
    found = next(iter(error.error_diagnostics), None)
    message = str(error) if found is None else str(found.message)
    where = None if found is None else python_line(found.location).removesuffix("-:0:0")
    hint = "Dialects other than those of MLIR, torch-mlir and StableHLO have to be lowered first."
    return InvalidIRError(
        "the MLIR does not parse",
        got=message.strip().partition(". If this is intended")[0],
        where=where,
        hint=hint if _DIALECT.search(message) else None,
    )


def entry_function(module: ir.Module, name: str | None) -> ir.Operation:
    """The function of that name; without one the only public function that has a body, or else `main`.

    Raises:
        InvalidIRError: there is none at all.
        OptionError: there is no such function, or there are several.
    """
    if name is not None and not isinstance(cast(object, name), str):
        raise OptionError("option 'entry'", expected="the name of a function, or None", got=repr(name))
    functions = {key: each for key, each in named_functions(module).items() if not is_declaration(each)}
    public = [key for key, each in functions.items() if not is_private(each)]
    if name is None and len(public) != 1 and "main" not in functions:
        if not public:
            raise InvalidIRError("the program", expected=_one_of(public), got="none")
        hint = 'Say which: `entry="name"`.'
        raise OptionError("option 'entry'", expected=_one_of(public), got="no choice between them", hint=hint)
    chosen = name if name is not None else public[0] if len(public) == 1 else "main"
    found = functions.get(chosen.removeprefix("@"))
    if found is None:
        raise OptionError("option 'entry'", expected=_one_of(list(functions)), got=repr(chosen))
    return found


def _one_of(names: Sequence[str]) -> str:
    if not names:
        return "a public func.func with a body"
    return f"{'one of ' if len(names) > 1 else ''}{', '.join(f'@{name}' for name in names)}"


def require_return(main: ir.Operation, name: str) -> None:
    """Raises InvalidIRError for a function of that name that never ends."""
    if not returns_of(main):
        where = python_line(main.location)
        raise InvalidIRError(
            f"function @{name}", expected="a return that is reached", got="a loop without an end", where=where
        )


def make_main(module: ir.Module, entry: ir.Operation) -> None:
    """Calls a function `@main` and makes all others private; one that has the name of a part of a program gets another.

    Where the function is called by others or itself, `@main` is a new one that calls it. Modules inside of the module go: nothing
    of theirs is called.
    """
    for op in list(module.body.operations):
        if is_module(op.operation):
            op.operation.erase()
    symbols = Symbols()
    if symbol_name(entry) in find_uses(module):
        entry = _calling(module, entry, symbols.unused(entry, "entry"))
    functions = named_functions(module)
    for name, function in functions.items():
        if function != entry and name in ("main", "prepare"):
            _rename(module, function, symbols.unused(function, name))
    if symbol_name(entry) != "main":
        _rename(module, entry, "main")
    for function in functions.values():
        if function != entry:
            function.attributes["sym_visibility"] = ir.StringAttr.get("private")
        elif "sym_visibility" in function.attributes:
            del function.attributes["sym_visibility"]


def _calling(module: ir.Module, entry: ir.Operation, name: str) -> ir.Operation:
    """A function that does nothing but to call another one, of the same signature."""
    given = signature(entry)
    function, block = new_function(name, given, ir.InsertionPoint.at_block_begin(module.body), entry.location)
    callee: dict[str, ir.Attribute] = {"callee": ir.FlatSymbolRefAttr.get(symbol_name(entry))}
    with ir.InsertionPoint(block), entry.location:
        made = ir.Operation.create("func.call", list(given.outputs), list(block.arguments), callee)
        ir.Operation.create("func.return", operands=list(made.results))
    for said in (BOUNDS, ROLL_BACK):
        if said in entry.attributes:
            function.attributes[said] = entry.attributes[said]
    return function


def _rename(module: ir.Module, function: ir.Operation, name: str) -> None:
    table: Any = ir.SymbolTable
    table.replace_all_symbol_uses(symbol_name(function), name, module.operation)
    cast(Any, function.attributes)["sym_name"] = ir.StringAttr.get(name)
