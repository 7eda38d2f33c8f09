"""What kernels are written for: the host's vectors, how many registers hold them, and its caches."""

from __future__ import annotations

import platform
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from itertools import count
from typing import Any

from hotdesk.elements import FLOAT_BITS
from hotdesk.kernels.amx import TILE_FLAGS, may_use_tiles


@dataclass(frozen=True, slots=True)
class Machine:
    """A processor core.

    Attributes:
        vector_bytes: bytes of a vector register.
        registers: how many of them there are.
        fma: whether it multiplies and adds in one instruction.
        l1_bytes, l2_bytes: its caches for data.
        bf16_dot: LLVM's name of its instruction that adds two products of bf16 to each f32 of a vector; empty without one.
        bf16_round: the name of that which rounds a vector of f32 to bf16, and makes 0 of what is smaller than the smallest
            normal number; subnormal: that of the test for such numbers.
        tiles: whether it multiplies tiles of bf16 (AMX), and the system lets this process use them.
        far_prefetch: whether a line can be asked for into the second cache alone. AMD's processors without AVX-512 bring it into
            the nearest one, too, where it drives out rows that are read, above all rows of 4 KiB, which share a set.
    """

    vector_bytes: int
    registers: int
    fma: bool
    l1_bytes: int = 32 * 1024
    l2_bytes: int = 512 * 1024
    bf16_dot: str = ""
    bf16_round: str = ""
    subnormal: str = ""
    tiles: bool = False
    far_prefetch: bool = True

    @property
    def slow_masked_stores(self) -> bool:
        """Whether two stores of half a vector take less time than one of some lanes: AVX2's may take a dozen cycles."""
        return self.vector_bytes == 32

    @property
    def masks(self) -> bool:
        """Whether it stores some lanes of a vector in one instruction."""
        return self.vector_bytes >= 32

    @property
    def cheap_masks(self) -> bool:
        """Whether storing under a mask takes no longer than storing the whole vector."""
        return self.vector_bytes >= 64

    def masks_of(self, element: str) -> bool:
        """Whether it loads and stores some lanes of a vector of a type in one instruction: AVX2 none of 16 bits."""
        return self.masks and (self.cheap_masks or self.bytes_of(element) >= 4)

    def lanes(self, element: str) -> int:
        """How many elements of the type a vector holds."""
        return self.vector_bytes // self.bytes_of(element)

    def sums_pairs(self, element: str) -> bool:
        """Whether it multiplies 16-bit floats of a type as they are, two in each lane (`bf16_dot`)."""
        return element == "bf16" and bool(self.bf16_dot)

    def multiplies_tiles(self, element: str) -> bool:
        """Whether it multiplies whole tiles of 16-bit floats of a type (`tiles`)."""
        return element == "bf16" and self.tiles

    def bytes_of(self, element: str) -> int:
        """How many bytes an element of the type has."""
        return FLOAT_BITS[element] // 8


AVX512 = Machine(64, 32, fma=True, l2_bytes=1024 * 1024)
AVX512_BF16 = replace(
    AVX512,
    bf16_dot="llvm.x86.avx512bf16.dpbf16ps.512",
    bf16_round="llvm.x86.avx512bf16.cvtneps2bf16.512",
    subnormal="llvm.x86.avx512.fpclass.ps.512",
)
AVX512_TILES = replace(AVX512_BF16, l2_bytes=2 * 1024 * 1024, tiles=True)
AVX2 = Machine(32, 16, fma=True)
NEON = Machine(16, 32, fma=True)
GENERIC = Machine(16, 16, fma=False)


@cache
def host() -> Machine:
    """The machine that this process runs on."""
    kind = of_features(_features(), platform.machine().lower())
    l1, l2 = _cache_bytes(1), _cache_bytes(2)
    tiles = bool(kind.bf16_dot) and _flags().issuperset(TILE_FLAGS) and may_use_tiles()
    far_prefetch = kind != AVX2 or _said_of_processor("vendor_id") != "AuthenticAMD"
    caches = replace(kind, l1_bytes=l1 or kind.l1_bytes, l2_bytes=l2 or kind.l2_bytes)
    return replace(caches, tiles=tiles, far_prefetch=far_prefetch)


_target: ContextVar[Machine | None] = ContextVar("target", default=None)


def target() -> Machine:
    """The machine that kernels are generated for: that of `generating_for`, else this one."""
    return _target.get() or host()


@contextmanager
def generating_for(machine: Machine) -> Generator[None]:
    """Has kernels generated for another machine, in this thread."""
    token = _target.set(machine)
    try:
        yield
    finally:
        _target.reset(token)


def of_features(features: Mapping[str, bool], architecture: str) -> Machine:
    """The kind of machine, with caches of a usual size."""
    if features.get("AVX512F"):
        return AVX512_BF16 if features.get("AVX512BF16") else AVX512
    if features.get("AVX2") and features.get("FMA3"):
        return AVX2
    if architecture in ("arm64", "aarch64"):  # whose base has both vectors and fused products
        return NEON
    return GENERIC


_CACHES = "/sys/devices/system/cpu/cpu0/cache"


def _flags() -> frozenset[str]:
    return frozenset(_said_of_processor("flags").split())


def _said_of_processor(name: str) -> str:
    """What Linux says of the first processor under a name; nothing where it does not."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            line = next((line for line in file if line.partition(":")[0].rstrip() == name), "")
    except OSError:
        return ""
    return line.partition(":")[2].strip()


def _features() -> Mapping[str, bool]:
    """What NumPy found out about this processor, on any system."""
    for name in ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath"):
        try:
            module: Any = import_module(name)
        except ImportError:
            continue
        return getattr(module, "__cpu_features__", {})
    return {}


def _cache_bytes(level: int) -> int | None:
    """The size of the first core's cache for data of a level, where the system says it."""
    for number in count():
        try:
            kind, found, size = (_told(f"{_CACHES}/index{number}/{what}") for what in ("type", "level", "size"))
        except OSError:
            return None
        if kind != "Instruction" and found == str(level) and size.endswith("K") and size[:-1].isdigit():
            return int(size[:-1]) * 1024
    return None


def _told(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read().strip()
