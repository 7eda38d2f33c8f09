"""Every way in which a constraint of copy removal fails, by its number and reason; a listing holds that none is left out."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

import pytest

from hotdesk.analysis.copying import source_reuse, target_reuse
from hotdesk.analysis.copying.context import BufferReuse, CopyContext, Refusal
from hotdesk.analysis.copying.copies import Copy
from hotdesk.explain import Reason
from tests.unit.parsing import function, parse

FILL = "linalg.fill ins(%z : f32) outs({} : memref<8xf32>)\n"
COPY = "memref.copy %s, %t : memref<8xf32> to memref<8xf32>\n"
READ = "memref.copy {}, %o : memref<8xf32> to memref<8xf32>\n"
ALLOC = "{} = memref.alloc() : memref<8xf32>\n"
FREE = "memref.dealloc {} : memref<8xf32>\n"
S, T = ALLOC.format("%s"), ALLOC.format("%t")
WRITE_S, WRITE_T = FILL.format("%s"), FILL.format("%t")
READ_T = READ.format("%t")
MADE = S + WRITE_S
AS_ARGUMENTS = "%s = memref.cast %x : memref<8xf32> to memref<8xf32>\n"
TO_ARGUMENT = "%t = memref.cast %y : memref<8xf32> to memref<8xf32>\n"
MAYBE = "%e = arith.select %c, {}, %u : memref<8xf32>\n" + FREE.format("%e")
FREED_AS_VIEW = "%v = memref.cast {} : memref<8xf32> to memref<?xf32>\nmemref.dealloc %v : memref<?xf32>\n"
OTHER = ALLOC.format("%u") + FILL.format("%u")
ALIGNED = "%q = memref.assume_alignment {}, 32 : memref<8xf32>\nlinalg.fill ins(%z : f32) outs(%q : memref<8xf32>)\n"
CALLED = "func.call @use({}) : (memref<8xf32>) -> ()\n"
PART = "memref<8xf32, strided<[1], offset: 4>>"

SOURCE: dict[str, tuple[int, Reason, str]] = {
    "the target is an argument": (1, Reason.NOT_ALLOCATED_HERE, MADE + TO_ARGUMENT + COPY),
    "the target was written before": (2, Reason.TOUCHED_BETWEEN, MADE + T + WRITE_T + COPY + READ_T),
    "the target is viewed before the source is there": (
        2,
        Reason.DESTINATION_LATER,
        T + "%v = memref.cast %t : memref<8xf32> to memref<?xf32>\n" + MADE + COPY + WRITE_T,
    ),
    "both are used": (3, Reason.STILL_USED, AS_ARGUMENTS + T + COPY + WRITE_T + READ.format("%s")),
    "both are used until the source is freed": (
        3,
        Reason.STILL_USED,
        AS_ARGUMENTS + T + COPY + WRITE_T + READ.format("%s") + FREE.format("%s") + READ_T + FREE.format("%t"),
    ),
    "a call takes no other layout of what is freed": (
        5,
        Reason.OTHER_TYPE,
        f"%w = memref.alloc() : memref<16xf32>\n%s = memref.subview %w[4] [8] [1] : memref<16xf32> to {PART}\n" + T
        + f"memref.copy %s, %t : {PART} to memref<8xf32>\nmemref.dealloc %s : {PART}\n" + CALLED.format("%t"),
    ),
    "what is transferred is freed through a view": (
        4,
        Reason.FREED_ELSEWHERE,
        MADE + T + COPY + READ_T + FREED_AS_VIEW.format("%s") + FREE.format("%t"),
    ),
    "the target is returned": (4, Reason.LEAVES_SCOPE, AS_ARGUMENTS + T + COPY + "return %t : memref<8xf32>\n"),
    "what frees the target may free another": (
        4,
        Reason.LEAVES_SCOPE,
        OTHER + AS_ARGUMENTS + T + COPY + READ_T + MAYBE.format("%t"),
    ),
    "the target is freed through a view": (
        4,
        Reason.FREED_ELSEWHERE,
        AS_ARGUMENTS + T + COPY + READ_T + FREED_AS_VIEW.format("%t"),
    ),
    "the source is freed while the target is read": (
        4,
        Reason.FREED_ELSEWHERE,
        AS_ARGUMENTS + T + COPY + "scf.if %c {\n" + FREE.format("%x") + "}\n" + READ_T + FREE.format("%t"),
    ),
    "a call takes no other layout": (
        5,
        Reason.OTHER_TYPE,
        f"%w = memref.alloc() : memref<16xf32>\n%v = memref.subview %w[4] [8] [1] : memref<16xf32> to {PART}\n" + T
        + f"memref.copy %v, %t : {PART} to memref<8xf32>\n" + CALLED.format("%t"),
    ),
    "an op counts on the target's alignment": (
        5,
        Reason.ALIGNMENT_ASSUMED,
        MADE + T + COPY + ALIGNED.format("%t") + READ_T,
    ),
}  # fmt: skip
SOURCE["the target is memory of a device"] = (
    1,
    Reason.NOT_ORDINARY_MEMORY,
    MADE + "%t = gpu.alloc () : memref<8xf32>\n" + COPY + READ_T + "gpu.dealloc %t : memref<8xf32>\n",
)
SOURCE["what is transferred is freed by another op than the caller's"] = (
    4,
    Reason.FREED_BY_ANOTHER_OP,
    "%s = gpu.alloc () : memref<8xf32>\n" + WRITE_S + T + COPY + "return %t : memref<8xf32>\n",
)
TARGET: dict[str, tuple[int, Reason, str]] = {
    "the source is an argument": (1, Reason.NOT_ALLOCATED_HERE, AS_ARGUMENTS + TO_ARGUMENT + COPY),
    "the source has contents from the start": (
        1,
        Reason.DOES_MORE_THAN_ALLOCATE,
        "%s = bufferization.clone %x : memref<8xf32> to memref<8xf32>\n" + WRITE_S + TO_ARGUMENT + COPY,
    ),
    "the source is returned": (
        1,
        Reason.LEAVES_SCOPE,
        MADE + TO_ARGUMENT + COPY + "return %s : memref<8xf32>\n",
    ),
    "nobody wrote the source": (2, Reason.DESTINATION_LATER, S + TO_ARGUMENT + COPY),
    "the target is made later": (
        2,
        Reason.DESTINATION_LATER,
        MADE + "%t = memref.alloc() : memref<8xf32>\n" + COPY + READ_T,
    ),
    "the target is read in between": (
        3,
        Reason.TOUCHED_BETWEEN,
        TO_ARGUMENT + MADE + READ_T + COPY,
    ),
    "the target's memory is freed in between": (
        3,
        Reason.TOUCHED_BETWEEN,
        T + MADE + FREE.format("%t") + COPY,
    ),
    "the source is used afterwards": (4, Reason.STILL_USED, TO_ARGUMENT + MADE + COPY + WRITE_S),
    "a call takes no other layout": (
        5,
        Reason.OTHER_TYPE,
        f"%w = memref.alloc() : memref<16xf32>\n%v = memref.subview %w[4] [8] [1] : memref<16xf32> to {PART}\n" + S
        + CALLED.format("%s") + f"memref.copy %s, %v : memref<8xf32> to {PART}\n",
    ),
    "an op counts on the source's alignment": (5, Reason.ALIGNMENT_ASSUMED, TO_ARGUMENT + S + ALIGNED.format("%s") + COPY),
    "the source is freed through a view": (
        6,
        Reason.FREED_ELSEWHERE,
        TO_ARGUMENT + MADE + COPY + FREED_AS_VIEW.format("%s"),
    ),
}  # fmt: skip
SIDES = {source_reuse: SOURCE, target_reuse: TARGET}


def found(side: ModuleType, body: str) -> Refusal | BufferReuse:
    """What one side says of the copy between %s and %t, or a view of 16 elements."""
    result = " -> memref<8xf32>" if "return %" in body else ""
    end = "" if "return %" in body else "return"
    module = parse(f"""
    func.func private @use(memref<8xf32>)
    func.func @f(%x: memref<8xf32>, %y: memref<8xf32>, %z: f32, %c: i1){result} {{
      %o = memref.alloc() : memref<8xf32>
      {body}
      {end}
    }}""")
    context = CopyContext(function(module))
    copies = [copy for copy in context.memory.copies if _is_asked(context, copy)]
    assert len(copies) == 1
    serves = side.source_serves if side is source_reuse else side.target_serves
    return serves(context, copies[0])


def _is_asked(context: CopyContext, copy: Copy) -> bool:
    """Whether it is not one of the copies to %o, the first allocation, which is what reads a buffer here."""
    return context.program.buffers[copy.target].producer != 0


@pytest.mark.parametrize("name", SOURCE)
def test_the_source_does_not_serve(name: str) -> None:
    number, reason, body = SOURCE[name]
    refusal = found(source_reuse, body)
    assert isinstance(refusal, Refusal)
    assert (refusal.number, refusal.reason) == (number, reason)


@pytest.mark.parametrize("name", TARGET)
def test_the_target_does_not_serve(name: str) -> None:
    number, reason, body = TARGET[name]
    refusal = found(target_reuse, body)
    assert isinstance(refusal, Refusal)
    assert (refusal.number, refusal.reason) == (number, reason)


@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.__name__)
def test_every_refusal_is_listed(side: ModuleType) -> None:
    """Each `Refusal` in the code has a case here, and each constraint of the docstring has one in the code."""
    written: set[tuple[int, str]] = set()
    numbers: set[int] = set()
    for node in ast.walk(ast.parse(inspect.getsource(side))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refusal":
            number = ast.literal_eval(node.args[0])
            numbers.add(number)
            if isinstance(node.args[1], ast.Attribute):
                written.add((number, node.args[1].attr))
    cases = {(number, reason.name) for number, reason, _ in SIDES[side].values()}
    assert written <= cases
    assert numbers == {number for number, _ in cases}
    stated = {int(line.split(".")[0]) for line in (side.__doc__ or "").splitlines() if line[:1].isdigit()}
    assert stated == numbers


def test_both_serve_where_nothing_forbids_it() -> None:
    assert isinstance(found(source_reuse, MADE + T + COPY + READ_T), BufferReuse)
    assert isinstance(found(target_reuse, TO_ARGUMENT + MADE + COPY), BufferReuse)
