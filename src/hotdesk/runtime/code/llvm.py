"""Object files for other processors, by the LLVM that llvmlite brings: `compile_for` of modules in the LLVM dialect."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

from hotdesk._bindings import ir, translated
from hotdesk.errors import ArtifactMachineError, MissingExtraError
from hotdesk.python.interruptible import interruptible
from hotdesk.runtime.code.targets import Target

_LEVEL = 3  # of optimisation


def compile_for(module: ir.Module, target: Target) -> bytes:
    """The object file of a module in the LLVM dialect.

    Raises MissingExtraError without llvmlite, ArtifactMachineError for a target that LLVM does not know.
    """
    llvm, machine, text = _llvm(), _machine(target), _spelled_as_before(translated(module))

    def compiled() -> bytes:
        made = llvm.parse_assembly(text)
        made.triple, made.data_layout = target.triple, str(machine.target_data)
        _optimise(made, machine)
        return machine.emit_object(made)

    return interruptible(compiled, "hotdesk-llvm")


def compile_linked(modules: Sequence[ir.Module], target: Target, entry: str, name: str) -> tuple[bytes, frozenset[str]]:
    """The object file of modules linked to one, with the function `entry` as `name` and no other symbol; and what it calls."""
    llvm, machine = _llvm(), _machine(target)
    texts = [_spelled_as_before(translated(module)) for module in modules]
    return interruptible(lambda: _linked(llvm, machine, texts, target, entry, name), "hotdesk-llvm")


def _linked(
    llvm: Any, machine: Any, texts: Sequence[str], target: Target, entry: str, name: str
) -> tuple[bytes, frozenset[str]]:
    parsed = [llvm.parse_assembly(text) for text in texts]
    wanted = {f.name for each in parsed for f in each.functions if f.is_declaration} | {entry}
    for each in parsed:
        each.triple, each.data_layout = target.triple, str(machine.target_data)
        for function in each.functions:
            if not function.is_declaration and function.name not in wanted:
                function.linkage = "internal"
    linked, *others = parsed
    for each in others:
        linked.link_in(each)
    for function in linked.functions:
        if not function.is_declaration and function.name != entry:
            function.linkage = "internal"
    linked.get_function(entry).name = name
    _optimise(linked, machine)
    called = frozenset(f.name for f in linked.functions if f.is_declaration and not f.name.startswith("llvm."))
    return machine.emit_object(linked), called


def _optimise(made: Any, machine: Any) -> None:
    made.verify()
    llvm = _llvm()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=_LEVEL))
    builder.getModulePassManager().run(made, builder)


_FLOAT = re.compile(r"(?<![\w.%@\"])(?:f0x([0-9A-F]+)|([+-])(inf|qnan)|(-?\d+\.\d+(?:e[+-]\d+)?))(?![\w.])")
_TYPE = re.compile(r"\b(float|double|half|bfloat)\b")
_SPECIAL = {
    "half": ("0xH", 4, {"inf": 0x7C00, "qnan": 0x7E00}, 0x8000),
    "bfloat": ("0xR", 4, {"inf": 0x7F80, "qnan": 0x7FC0}, 0x8000),
    "float": ("0x", 16, {"inf": 0x7FF0000000000000, "qnan": 0x7FF8000000000000}, 1 << 63),
    "double": ("0x", 16, {"inf": 0x7FF0000000000000, "qnan": 0x7FF8000000000000}, 1 << 63),
}


def _spelled_as_before(text: str) -> str:
    """LLVM's text with floats as its last release reads them.

    MLIR's LLVM spells their bits `f0x3F800000`, infinity `+inf`, and the shortest decimal that rounds to a float, which was to be
    exact. Floats are spelled as the doubles of the same value.
    """
    return "\n".join(_with_old_floats(line) if _TYPE.search(line) else line for line in text.split("\n"))


def _with_old_floats(line: str) -> str:
    def old(found: re.Match[str]) -> str:
        kinds = _TYPE.findall(line, 0, found.start())
        if not kinds:
            return found[0]
        prefix, digits, special, sign = _SPECIAL[kinds[-1]]
        bits, decimal = found[1], found[4]
        if found[3] is not None:
            return f"{prefix}{special[found[3]] + (sign if found[2] == '-' else 0):0{digits}X}"
        if kinds[-1] == "double":
            return decimal or f"0x{bits.rjust(16, '0')}"
        if kinds[-1] != "float":
            return f"{prefix}{bits.rjust(4, '0')}" if bits else _short(float(decimal), kinds[-1], prefix)
        (value,) = struct.unpack(
            "<f", int(bits, 16).to_bytes(4, "little") if bits else struct.pack("<f", float(decimal))
        )
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"

    return _FLOAT.sub(old, line)


def _short(value: float, kind: str, prefix: str) -> str:
    """A float of 16 bits by its bits; a decimal is one that rounds to it."""
    if kind == "half":
        return f"{prefix}{struct.unpack('<H', struct.pack('<e', value))[0]:04X}"
    (wide,) = struct.unpack("<I", struct.pack("<f", value))
    return f"{prefix}{(wide + 0x7FFF + (wide >> 16 & 1)) >> 16:04X}"


@cache
def _llvm() -> Any:
    try:
        llvm: Any = import_module("llvmlite.binding")
    except ImportError as error:
        raise MissingExtraError.of("code for other processors", "aot", "llvmlite") from error
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


@cache
def _machine(target: Target) -> Any:
    llvm = _llvm()
    options = {"opt": _LEVEL, "reloc": "pic", "codemodel": target.model, "abiname": target.abi}
    try:
        found = llvm.Target.from_triple(target.triple)
        return found.create_target_machine(cpu=target.cpu, features=target.features, **options)
    except RuntimeError as error:
        raise ArtifactMachineError(
            "the target", expected="one that LLVM knows", got=f"{target.triple}: {error}"
        ) from error
