"""Machine code of a saved program: for the best processor that this one is, linked to the C library and the process's threads.

The pages of the file are mapped, and shared with other processes, but for a page or two with variables and addresses. These are
checked as they are written (`runtime.code.objects`), and the code may call nothing but what kernels call: mathematics, memory and
the locks of the thread pool. What the code does nobody can check: it is run as it is.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from hotdesk.artifacts.container import Container
from hotdesk.artifacts.decoding import decoded
from hotdesk.artifacts.records import CodeRecord, LevelRecord, LinksRecord, ObjectRecord
from hotdesk.errors import ArtifactError, ArtifactMachineError
from hotdesk.kernels.amx import TILE_FLAGS, may_use_tiles
from hotdesk.kernels.sharing import USE_POOL
from hotdesk.runtime.code.objects import ENTRY, PACKED, Links, ObjectCode, ObjectError, c_function, is_loadable
from hotdesk.runtime.code.threads import ThreadPool, serve

_MATHEMATICS = (
    *(
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "cbrt",
        "ceil",
        "copysign",
        "cos",
        "cosh",
        "erf",
        "erfc",
    ),
    *(
        "exp",
        "exp10",
        "exp2",
        "expm1",
        "fabs",
        "fdim",
        "floor",
        "fma",
        "fmax",
        "fmin",
        "fmod",
        "frexp",
        "hypot",
        "ldexp",
    ),
    *("lgamma", "log", "log10", "log1p", "log2", "logb", "modf", "nearbyint", "pow", "remainder", "rint", "round"),
    *("roundeven", "sin", "sincos", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc"),
)
CALLED = frozenset(
    (
        *(name + suffix for name in _MATHEMATICS for suffix in ("", "f")),
        *("memcpy", "memmove", "memset", "memcmp", "bcmp", "posix_memalign", "free"),
        *("pthread_mutex_lock", "pthread_mutex_unlock", "pthread_cond_wait", "pthread_cond_signal"),
        *("pthread_cond_broadcast", "clock_gettime", "sched_getcpu", "sched_setaffinity"),
    )
)
"""The functions of the C library that code may call."""

_FEATURES = frozenset(
    (
        *("pni", "ssse3", "sse4_1", "sse4_2", "sse4a", "popcnt", "cx16", "lahf_lm"),
        *("fma", "fma4", "f16c", "bmi1", "bmi2", "abm", "movbe", "adx"),
        *("aes", "vaes", "pclmulqdq", "vpclmulqdq", "gfni", "sha_ni", "tbm"),
        *("xop", "rdrand", "rdseed", "fsgsbase", "clflushopt", "clwb"),
        *("movdiri", "movdir64b", "serialize", "prfchw", "3dnowprefetch"),
    )
)
_FAMILIES = ("avx", "amx", "xsave")
"""Features of a processor that code generation may rely on, by their names in /proc/cpuinfo, and how families of them begin."""

_shared: dict[tuple[int, int, tuple[int, ...]], LoadedCode] = {}
"""What files have in common, placed once a process and served by its threads until it ends: by the hash of its bytes, which has
64 bits and is another one in each process, by how many these are, and by what it calls."""


class LoadedCode:
    """Code of an image, called as `runtime.code.jit.CompiledCode` is. Keep it as long as it is called."""

    __slots__ = ("_before", "_code", "object")

    def __init__(self, code: ObjectCode, before: Sequence[LoadedCode] = ()) -> None:
        """`before` is code that this one calls."""
        self.object: ObjectCode | None = code
        self._code = code
        self._before = tuple(before)

    def entry(self, name: str) -> Callable[[int], None]:
        """A function of the address of packed arguments. Raises ArtifactError if there is none."""
        return ENTRY(self.packed(name))

    def packed(self, name: str) -> int:
        """The address of that function."""
        address = self._code.function(PACKED + name)
        if address is None:
            raise ArtifactError("the code of the program", expected=f"a function `{name}`", got="none of that name")
        return address

    def call(self, name: str, *arguments: int) -> None:
        """Calls a function of pointers and `i64`s."""
        values = np.array(arguments, np.int64)
        packed = values.ctypes.data + values.itemsize * np.arange(len(arguments))
        self.entry(name)(packed.ctypes.data)


def load_code(record: CodeRecord, container: Container, functions: Mapping[str, int]) -> LoadedCode:
    """The program's code, placed in memory and served by the threads of the process; it may call these `functions`.

    Raises:
        ArtifactMachineError: the code is for another machine.
        ArtifactError: an image is damaged, or calls what it may not.
    """
    level = _level(record)
    placed: list[LoadedCode] = []
    new: list[tuple[Any, LoadedCode]] = []
    pool: LoadedCode | None = None
    for each in level.objects:
        key = _key(container, each, placed)
        known = _shared.get(key) if each.role == "shared" else None
        own: Mapping[str, int] = functions if each.role == "program" else {}
        code = known or LoadedCode(_placed(container, each, placed, own), placed)
        if each.role == "pool":
            pool = code
            continue
        placed.append(code)
        if each.role == "shared":
            code.entry(USE_POOL)
            new.extend([(key, code)] if known is None else [])
    if not placed or level.objects[-1].role != "program":
        raise ArtifactError("the code of the program", expected="an object that is the program's", got="none")
    for key, code in new:
        serve(code, lambda: ThreadPool(pool), record.pool)
        _shared[key] = code
    return placed[-1]


def _key(container: Container, record: ObjectRecord, before: Sequence[LoadedCode]) -> tuple[int, int, tuple[int, ...]]:
    """What tells an image apart from others of this process. Raises ArtifactError for one whose checksum is wrong."""
    data, links = container.read(record.section), container.read(record.links)
    return hash((data, links)), len(data), tuple(map(id, before))


def _level(record: CodeRecord) -> LevelRecord:
    here = sys.platform, platform.machine()
    if not is_loadable() or (record.system, record.architecture) != here:
        raise ArtifactMachineError(
            "the code of the program",
            expected=f"{record.system} on {record.architecture}",
            got=" on ".join(here),
            hint="Save the program on a machine like this one.",
        )
    features = processor_features()
    for level in record.levels:
        if features.issuperset(level.features) and (TILE_FLAGS.isdisjoint(level.features) or may_use_tiles()):
            return level
    wanted = record.levels[-1]
    missing = sorted(set(wanted.features) - features)
    raise ArtifactMachineError(
        "the code of the program",
        expected=f"a processor with {', '.join(missing[:8] or sorted(TILE_FLAGS))}",
        got="one without" if missing else "a system that does not let programs use them",
        hint='Save it for processors such as this one: `program.save(path, cpu=["x86-64-v2"])`.',
    )


def _placed(
    container: Container, record: ObjectRecord, before: Sequence[LoadedCode], functions: Mapping[str, int]
) -> ObjectCode:
    def find(name: str) -> int | None:
        for each in before:
            address = each.object.function(name) if each.object is not None else None
            if address is not None:
                return address
        return functions.get(name) or (c_function(name) if name in CALLED else None)

    section = container.section(record.section)
    links = decoded(LinksRecord, container.read(record.links))
    try:
        return ObjectCode.mapped(container.descriptor, section.offset, section.bytes, Links(*links), find)
    except ObjectError as error:
        raise container.fault(f"code in section '{record.section}'", str(error)) from error


def processor_features() -> frozenset[str]:
    """What the first processor has, of what code generation may rely on."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            first = "".join(takewhile(str.strip, file))
    except OSError:
        return frozenset()
    flags = next((line.partition(":")[2] for line in first.splitlines() if line.startswith("flags")), "")
    return frozenset(flag for flag in flags.split() if flag in _FEATURES or flag.startswith(_FAMILIES))
