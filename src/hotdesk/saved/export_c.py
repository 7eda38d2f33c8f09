"""A compiled program as C: what `Program.export_c` writes. See docs/export-c.md.

All modules that the program's code is made of are linked to one, in which nothing but its entry function is a symbol. There is no
pool of threads in it then, so LLVM sees that work is never shared out and no scratch memory is taken, and removes both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hotdesk.artifacts.code import CALLED
from hotdesk.errors import NotSavableError, OptionError
from hotdesk.kernels.machine import generating_for
from hotdesk.runtime.code.llvm import compile_linked
from hotdesk.runtime.code.products import common_functions, common_modules
from hotdesk.runtime.code.targets import TARGETS, Target
from hotdesk.runtime.interface import TensorSpec

if TYPE_CHECKING:
    from hotdesk.compiling.linked_program import LinkedProgram
    from hotdesk.compiling.saving import Saving
    from hotdesk.runtime.plans.layout import Layout

_TYPES = {
    **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
    "f32": "float",
    "f64": "double",
    "i1": "uint8_t",
    "f16": "uint16_t",
    "bf16": "uint16_t",
}
_FREESTANDING = frozenset(
    name for name in CALLED if not name.startswith(("pthread", "clock", "posix", "free", "sched"))
)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_BUILDS = ("all", "ALL_BUILD", "clean", "edit_cache", "help", "install", "INSTALL", "preinstall", "rebuild_cache")
_TAKEN = frozenset({"main", "ZERO_CHECK", *_BUILDS})
"""Not names of programs: the example is `main.c`, the others are targets that CMake makes itself (its policy CMP0037)."""


def export_c(saving: Saving, folder: str, target: str, name: str) -> tuple[Path, ...]:
    """As `Program.export_c`."""
    require_names(target, name)
    _refuse(saving)
    exported = _Exported(saving, name, TARGETS[target])
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    files = exported.files()
    for file, content in files.items():
        (path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    return tuple(path / file for file in files)


def require_names(target: str, name: str) -> None:
    """Raises OptionError for an unknown target, and for a name that files and functions cannot begin with."""
    if not isinstance(cast(object, target), str) or target not in TARGETS:
        raise OptionError("option 'target'", expected=f"one of {', '.join(TARGETS)}", got=repr(target))
    if not isinstance(cast(object, name), str) or not _NAME.fullmatch(name) or name in _TAKEN:
        raise OptionError(
            "option 'name'", expected=f"a name in C, but none of {', '.join(sorted(_TAKEN))}", got=repr(name)
        )


def _refuse(saving: Saving) -> None:
    from hotdesk.saved.file import require_own_kernels

    _require_known_sizes(saving.made)
    require_own_kernels("the program as C", saving.made)
    captured, lowered = saving.made.captured, saving.made.main
    specs = [*saving.made.captured.results, *(a for a in captured.arguments if isinstance(a, TensorSpec))]
    reasons = {
        "sizes that vary": any(not isinstance(size, int) for spec in specs for size in spec.shape)
        or any(not isinstance(use.bytes, int) for use in lowered.buffers),
        "memory without a limit, whose size only a run knows": lowered.takes_region,
        "tensors that calls change": bool(saving.changing) or bool(lowered.donated),
        "complex numbers": any(spec.dtype not in _TYPES for spec in specs),
    }
    for what, is_so in reasons.items():
        if is_so:
            raise NotSavableError("the program as C", expected="fixed sizes, and inputs that are only read", got=what)


def _require_known_sizes(made: LinkedProgram) -> None:
    """Raises NotSavableError for results whose sizes only a run knows: nothing allocates them in C."""
    counted = next((each for each in made.captured.results if each.counted), None)
    if counted is None:
        return
    number = made.captured.results.index(counted)
    raise NotSavableError(
        "the program as C",
        expected="results whose sizes follow from those of the inputs",
        got=f"result {number}: {counted}, whose sizes are known only when the program runs",
        hint="Return a result of the largest size, and how much of it counts.",
    )


@dataclass(frozen=True, slots=True)
class _Exported:
    saving: Saving
    name: str
    target: Target

    def files(self) -> Mapping[str, str | bytes]:
        """The contents of the files, by name."""
        name, layout = self.name, self.saving.main.layout({})
        blob, places = self._blob()
        return {
            f"{name}.h": self._header(layout),
            f"{name}.c": self._source(layout, places),
            f"{name}_kernels.o": self._object(),
            f"{name}_weights.S": _WEIGHTS.replace("NAME", name),
            f"{name}_weights.bin": blob,
            "main.c": self._main(),
            "CMakeLists.txt": _CMAKE.replace("NAME", name),
        }

    def _object(self) -> bytes:
        from hotdesk.saved.file import lowered_again

        made = self.saving.made
        with generating_for(self.target.machine):
            lowered = lowered_again(made)
            modules = [each.make() for each in common_modules(common_functions(lowered.module), self.target.machine)]
            data, called = compile_linked(
                [*modules, lowered.module], self.target, made.main.entry, f"{self.name}_kernels"
            )
        others = sorted(called - _FREESTANDING)
        if others:
            raise NotSavableError(
                "the program as C", expected="calls of libm alone", got=f"calls of {', '.join(others)}"
            )
        return data

    def _blob(self) -> tuple[bytes, dict[int, int]]:
        """Weights, prepared values and constants one after the other, and where each lies, by place."""
        from hotdesk.saved.file import SectionBuilder, bytes_at, memory_of

        pool, lowered = SectionBuilder(), self.saving.made.main
        found: dict[int, int] = {}
        for number, each in enumerate(self.saving.made.captured.arguments):
            use = lowered.buffers[number]
            if not isinstance(each, TensorSpec) and use.lower < use.upper:
                found[number] = pool.add(memory_of(each.tensor))
        first = len(self.saving.made.captured.arguments)
        for number, (address, count) in enumerate(self.saving.prepared):
            found[first + number] = pool.add(bytes_at(address, count))
        for place, data in lowered.constants.items():
            found[place] = pool.add(bytes_at(data.ctypes.data, data.nbytes))
        return b"".join(bytes(piece) for piece in pool.pieces) or bytes(64), found

    @property
    def _inputs(self) -> list[tuple[int, TensorSpec]]:
        arguments = self.saving.made.captured.arguments
        return [(number, each) for number, each in enumerate(arguments) if isinstance(each, TensorSpec)]

    def _names(self) -> list[str]:
        inputs = [re.sub(r"\W", "_", spec.name, flags=re.ASCII) for _, spec in self._inputs]
        results = [f"result{i}" for i in range(len(self.saving.made.captured.results))]
        return [f"in{i}_{each}" for i, each in enumerate(inputs)] + results

    def _parameters(self) -> Iterator[tuple[str, TensorSpec, str]]:
        """Declaration, tensor and name of each parameter: inputs, then results."""
        names = self._names()
        specs = [spec for _, spec in self._inputs]
        for i, (name, spec) in enumerate(zip(names, (*specs, *self.saving.made.captured.results), strict=True)):
            const = "const " if i < len(specs) else ""
            yield f"{const}{_TYPES[spec.dtype]} *{name}", spec, name

    def _signature(self) -> str:
        return f"int {self.name}_run({', '.join(declared for declared, _, _ in self._parameters()) or 'void'})"

    def _header(self, layout: Layout) -> str:
        upper = self.name.upper()
        lines = [f" *   {declared}: {spec}" for declared, spec, _ in self._parameters()]
        counts = "\n".join(
            f"#define {upper}_{name.upper()}_COUNT {_count(spec)}" for _, spec, name in self._parameters()
        )
        return f"""/* {self.name}: a tensor program, compiled by Hotdesk. */
#ifndef {upper}_H
#define {upper}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* Bytes of the one arena, which is static memory: nothing is allocated. */
#define {upper}_ARENA_BYTES {layout.plan.arena}

/* Elements of each tensor. */
{counts}

/* Runs the program on tensors that lie one element after the other, the last dimension fastest:
{chr(10).join(lines)}
 * Returns 0, or the number of a check that failed: see {self.name}_error. One call at a time. */
{self._signature()};

/* What a check says. */
const char *{self.name}_error(int code);

#ifdef __cplusplus
}}
#endif

#endif
"""

    def _source(self, layout: Layout, blob: Mapping[int, int]) -> str:
        made, name = self.saving.made, self.name
        count = len(made.main.buffers)
        names = self._names()
        lines = [f"table[{place}] = (void *)({name}_weights + {offset});" for place, offset in blob.items()]
        lines += [f"table[{place}] = arena + {offset};" for place, offset in layout.in_arena]
        places = [number for number, _ in self._inputs] + list(made.main.result_places)
        lines += [f"table[{place}] = (void *){each};" for place, each in zip(places, names, strict=True)]
        lines += [f"table[{place}] = (uint8_t *)table[{lender}] + {offset};" for place, lender, offset in layout.lent]
        body = "\n    ".join([*lines, f"table[{count}] = &status;"])
        arena = _ARENA.replace("BYTES", str(max(layout.plan.arena, 1))) if layout.in_arena else ""
        numbers = ", ".join(str(each) for each in list(layout.numbers)) or "0"
        cases = "\n".join(f"    case {each.code}: return {_quoted(each.message)};" for each in made.assertions)
        return f"""#include "{name}.h"

extern void {name}_kernels(void **table, const int64_t *numbers);
extern const uint8_t {name}_weights[];

{arena}static const int64_t numbers[] = {{{numbers}}};
static void *table[{count + 1}];

{self._signature()} {{
    int32_t status = 0;
    {body}
    {name}_kernels(table, numbers);
    return status;
}}

const char *{name}_error(int code) {{
    switch (code) {{
    case 0: return "";
{cases}
    default: return "unknown";
    }}
}}
"""

    def _main(self) -> str:
        declared: list[str] = []
        fill: list[str] = []
        show: list[str] = []
        inputs = len(self._inputs)
        for i, (_, spec, name) in enumerate(self._parameters()):
            count = _count(spec)
            declared.append(f"static {_TYPES[spec.dtype]} {name}[{max(count, 1)}];")
            if i < inputs:
                fill.append(f"    if (fread({name}, sizeof {name}[0], {count}, stdin) != {count}) return 2;")
            else:
                show.append(f"    fwrite({name}, sizeof {name}[0], {count}, stdout);")
        passed = ", ".join(name for _, _, name in self._parameters())
        return "\n".join(
            [
                "/* Reads the inputs from standard input, one after the other, and writes the results to standard output. */",
                "#include <stdio.h>",
                f'#include "{self.name}.h"',
                "",
                *declared,
                "",
                "int main(void) {",
                *fill,
                f"    int failed = {self.name}_run({passed});",
                f'    if (failed) {{ fprintf(stderr, "%s\\n", {self.name}_error(failed)); return 1; }}',
                *show,
                "    return 0;",
                "}",
                "",
            ]
        )


_ARENA = """#if __STDC_VERSION__ >= 201112L
#define ALIGNED _Alignas(64)
#else
#define ALIGNED __attribute__((aligned(64)))
#endif
static ALIGNED uint8_t arena[BYTES];
"""
"""C has `_Alignas` since 2011; compilers that have it in no form do not take GNU's assembly of the weights either."""

_WEIGHTS = """/* The weights, as a section that is only read. */
    .section .rodata.NAME_weights,"a"
    .balign 64
    .globl NAME_weights
NAME_weights:
    .incbin "NAME_weights.bin"
    .section .note.GNU-stack,""
"""

_CMAKE = """cmake_minimum_required(VERSION 3.16)
project(NAME C ASM)
add_library(NAME STATIC NAME.c NAME_weights.S ${CMAKE_CURRENT_SOURCE_DIR}/NAME_kernels.o)
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/NAME_kernels.o PROPERTIES EXTERNAL_OBJECT TRUE)
set_source_files_properties(NAME_weights.S PROPERTIES COMPILE_OPTIONS "-I${CMAKE_CURRENT_SOURCE_DIR}"
                            OBJECT_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/NAME_weights.bin)
target_include_directories(NAME PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(NAME PUBLIC m)
add_executable(NAME_example main.c)
target_link_libraries(NAME_example NAME)
"""


def _count(spec: TensorSpec) -> int:
    count = 1
    for size in cast("Sequence[int]", spec.shape):
        count *= size
    return count


def _quoted(text: str) -> str:
    plain = "".join(c if 32 <= ord(c) < 127 and c not in '"\\?' else "'" if c == '"' else " " for c in text)
    return f'"{plain}"'
