"""Object files for other processors, by the LLVM that llvmlite brings: `compile_for` of modules in the LLVM dialect."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from hotdesk._bindings import ir, translated
from hotdesk.errors import ArtifactMachineError, MissingExtraError
from hotdesk.kernels.machine import AVX2, AVX512, GENERIC, NEON, Machine

_LEVEL = 3  # of optimisation


@dataclass(frozen=True, slots=True)
class Target:
    """What code is generated for.

    Attributes:
        triple, cpu, features: as LLVM names them.
        machine: what kernels are written for.
        model: LLVM's code model: `large` where code may lie anywhere, as what is loaded does.
        abi: the calling convention, where the processor has several.
        bits: of an address.
    """

    triple: str
    cpu: str
    machine: Machine
    features: str = ""
    model: str = "default"
    abi: str = ""
    bits: int = 64


LEVELS = {
    "x86-64": Target("x86_64-unknown-linux-gnu", "x86-64", GENERIC, model="large"),
    "x86-64-v2": Target("x86_64-unknown-linux-gnu", "x86-64-v2", GENERIC, model="large"),
    "x86-64-v3": Target("x86_64-unknown-linux-gnu", "x86-64-v3", AVX2, model="large"),
    "x86-64-v4": Target("x86_64-unknown-linux-gnu", "x86-64-v4", AVX512, model="large"),
}
"""Kinds of processors of x86-64, from the least to the most able, as the psABI names them."""

_V2 = ("cx16", "lahf_lm", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3")
_V3 = (*_V2, "abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
NEEDED = {"x86-64": (), "x86-64-v2": _V2, "x86-64-v3": _V3, "x86-64-v4": _V4}
"""The features that a level has, by their names in /proc/cpuinfo."""

TARGETS = {
    "x86-64": Target("x86_64-unknown-linux-gnu", "x86-64-v3", AVX2),
    "aarch64": Target("aarch64-unknown-linux-gnu", "generic", NEON),
    "armv7": Target("armv7-unknown-linux-gnueabihf", "generic", GENERIC, "+neon,+vfp3", bits=32),
    "thumbv7em": Target("thumbv7em-unknown-none-eabihf", "cortex-m7", GENERIC, bits=32),
    "riscv64": Target("riscv64-unknown-linux-gnu", "generic-rv64", GENERIC, "+m,+a,+f,+d,+c", abi="lp64d"),
    "riscv32": Target("riscv32-unknown-none-elf", "generic-rv32", GENERIC, "+m,+a,+f,+d,+c", abi="ilp32d", bits=32),
}
"""What `export_c` knows by name."""


def compile_for(module: ir.Module, target: Target, keep: Sequence[str] | None = None) -> bytes:
    """The object file of a module in the LLVM dialect. Given what to `keep`, other functions are no symbols of it.

    Raises MissingExtraError without llvmlite, ArtifactMachineError for a target that LLVM does not know.
    """
    return _machine(target).emit_object(optimised(module, target, keep))


def optimised(module: ir.Module, target: Target, keep: Sequence[str] | None = None) -> Any:
    """The module as llvmlite has it, optimised for a target."""
    return optimised_text(translated(module), target, keep)


def optimised_text(text: str, target: Target, keep: Sequence[str] | None = None) -> Any:
    """The same for LLVM's text."""
    llvm, machine = _llvm(), _machine(target)
    made = llvm.parse_assembly(_spelled_as_before(text))
    made.triple = target.triple
    made.data_layout = str(machine.target_data)
    if keep is not None:
        for function in made.functions:
            if not function.is_declaration and function.name not in keep:
                function.linkage = "internal"
    made.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=_LEVEL)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(made, builder)
    return made


def emit(made: Any, target: Target) -> bytes:
    """The object file of an optimised module."""
    return _machine(target).emit_object(made)


def linked_modules(modules: Sequence[ir.Module]) -> Any:
    """Modules as one, as llvmlite has it."""
    llvm = _llvm()
    first, *others = [llvm.parse_assembly(_spelled_as_before(translated(module))) for module in modules]
    for each in others:
        first.link_in(each)
    return first


_FLOAT = re.compile(r"(?<![\w.%@])(?:f0x([0-9A-F]+)|([+-])(inf|qnan))\b")
_TYPE = re.compile(r"\b(float|double|half|bfloat)\b")
_SPECIAL = {
    "half": ("0xH", 4, {"inf": 0x7C00, "qnan": 0x7E00}, 0x8000),
    "bfloat": ("0xR", 4, {"inf": 0x7F80, "qnan": 0x7FC0}, 0x8000),
    "float": ("0x", 16, {"inf": 0x7FF0000000000000, "qnan": 0x7FF8000000000000}, 1 << 63),
    "double": ("0x", 16, {"inf": 0x7FF0000000000000, "qnan": 0x7FF8000000000000}, 1 << 63),
}


def _spelled_as_before(text: str) -> str:
    """LLVM's text with floats as its last release reads them: MLIR's LLVM spells their bits `f0x3F800000`, infinity `+inf`."""
    return "\n".join(
        _with_old_floats(line) if "f0x" in line or "inf" in line or "qnan" in line else line
        for line in text.split("\n")
    )


def _with_old_floats(line: str) -> str:
    def old(found: re.Match[str]) -> str:
        kinds = _TYPE.findall(line, 0, found.start())
        kind = kinds[-1] if kinds else "float"
        prefix, digits, special, sign = _SPECIAL[kind]
        if found[1] is None:
            return f"{prefix}{special[found[3]] + (sign if found[2] == '-' else 0):0{digits}X}"
        if kind != "float":
            return f"{prefix}{found[1].rjust(digits, '0')}"
        (value,) = struct.unpack("<f", int(found[1], 16).to_bytes(4, "little"))
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"  # floats have been spelled as doubles

    return _FLOAT.sub(old, line)


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
    options = {"opt": _LEVEL, "reloc": "static", "codemodel": target.model, "abiname": target.abi}
    try:
        found = llvm.Target.from_triple(target.triple)
        return found.create_target_machine(cpu=target.cpu, features=target.features, **options)
    except RuntimeError as error:
        raise ArtifactMachineError(
            "the target", expected="one that LLVM knows", got=f"{target.triple}: {error}"
        ) from error
