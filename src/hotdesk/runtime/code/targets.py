"""The processors that code is generated for, besides the one it runs on: levels of x86-64, and the targets of `export_c`."""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk.kernels.machine import AVX2, AVX512, GENERIC, NEON, Machine


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
