"""Object files as code in memory: what LLVM makes runs, and what is damaged is refused instead of loaded."""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import struct
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hotdesk._bindings import ir, make_engine, object_file, packed_entry
from hotdesk.ir.context import make_context
from hotdesk.runtime.code import jit
from hotdesk.runtime.code.jit import CompiledCode
from hotdesk.runtime.code.objects import ObjectCode, ObjectError, is_loadable, linked

MODULE = """
llvm.mlir.global internal @calls(0 : i64) : i64
llvm.mlir.global internal constant @table(dense<[3, 5, 7, 11]> : tensor<4xi64>) : !llvm.array<4 x i64>
llvm.func @cosf(f32) -> f32
llvm.func @given(!llvm.ptr)
llvm.func @main(%to: !llvm.ptr, %which: i64) {
  %a = llvm.mlir.addressof @table : !llvm.ptr
  %p = llvm.getelementptr %a[%which] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %v = llvm.load %p : !llvm.ptr -> i64
  %c = llvm.mlir.addressof @calls : !llvm.ptr
  %one = llvm.mlir.constant(1 : i64) : i64
  %old = llvm.atomicrmw add %c, %one acq_rel : !llvm.ptr, i64
  %sum = llvm.add %v, %old : i64
  llvm.store %sum, %to : i64, !llvm.ptr
  %f = llvm.sitofp %v : i64 to f32
  %g = llvm.call @cosf(%f) : (f32) -> f32
  %q = llvm.getelementptr %to[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %g, %q : f32, !llvm.ptr
  llvm.call @given(%to) : (!llvm.ptr) -> ()
  llvm.return
}
"""
_GIVEN = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
GIVEN = ctypes.cast(_GIVEN, ctypes.c_void_p).value or 0


def _module() -> ir.Module:
    with make_context():
        return ir.Module.parse(MODULE)


@cache
def _object() -> bytes:
    engine = make_engine(_module(), 2)
    engine.raw_register_runtime("given", ctypes.c_void_p(GIVEN))
    assert packed_entry(engine, "main")
    return object_file(engine)


def _find(name: str) -> int | None:
    return {"given": GIVEN}.get(name) or ctypes.cast(getattr(ctypes.CDLL("libm.so.6"), name), ctypes.c_void_p).value


def _calls(machine: CompiledCode) -> list[tuple[int, float]]:
    found: list[tuple[int, float]] = []
    for which in range(4):
        result = np.zeros(2, np.int64)
        machine.call("main", result.ctypes.data, which)
        found.append((int(result[0]), float(result[1:].view(np.float32)[0])))
    return found


EXPECTED = [(value + calls, float(np.cos(np.float32(value)))) for calls, value in enumerate((3, 5, 7, 11))]


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOTDESK_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("HOTDESK_CACHE", raising=False)
    return tmp_path


pytestmark = pytest.mark.skipif(not is_loadable(), reason="another system than Linux on x86-64")


def _is_expected(found: list[tuple[int, float]]) -> bool:
    return [n for n, _ in found] == [n for n, _ in EXPECTED] and np.allclose(
        [v for _, v in found], [v for _, v in EXPECTED]
    )


def test_code_constants_variables_and_functions_of_others(own_cache: Path) -> None:
    machine = CompiledCode(_module(), ["main"], {"given": GIVEN})
    assert machine.object is not None
    assert machine.object.address("_mlir_main")
    assert machine.object.address("nothing") is None
    assert _is_expected(_calls(machine))


def test_kept_code_needs_no_llvm(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _is_expected(_calls(CompiledCode(_module(), ["main"], {"given": GIVEN})))

    def refuse(*_: object) -> None:
        raise AssertionError("LLVM was asked")

    monkeypatch.setattr(jit, "make_engine", refuse)
    assert _is_expected(_calls(CompiledCode(_module(), ["main"], {"given": GIVEN})))  # its variables begin anew
    with pytest.raises(AssertionError, match="LLVM was asked"):
        CompiledCode(_module(), ["main"], {"given": GIVEN}, level=1)


def test_a_kept_file_that_is_no_object_is_made_again(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "key_of", lambda *_: "ab" * 32)
    found = jit.the_cache()
    assert found is not None
    found.write("ab" * 32, b"\x7fELF no object")
    assert _is_expected(_calls(CompiledCode(_module(), ["main"], {"given": GIVEN})))
    assert found.read("ab" * 32) == _machine_code(found.read("ab" * 32))


def _machine_code(data: bytes | None) -> bytes:
    assert data is not None
    ObjectCode(data, _find)
    return data


def test_without_a_cache_code_runs_all_the_same(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTDESK_CACHE", "0")
    assert _is_expected(_calls(CompiledCode(_module(), ["main"], {"given": GIVEN})))
    assert not any(own_cache.rglob("*"))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_after_a_fork_child_and_parent_have_variables_of_their_own(own_cache: Path) -> None:
    machine = CompiledCode(_module(), ["main"], {"given": GIVEN})
    result = np.zeros(2, np.int64)
    child = os.fork()
    if not child:
        machine.call("main", result.ctypes.data, 0)  # the child's first call
        os._exit(int(result[0]))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    machine.call("main", result.ctypes.data, 0)  # the parent's first call
    assert result[0] == 3


def _refused(*_: object, **__: object) -> None:
    raise PermissionError("not here")


@pytest.mark.parametrize(("where", "what"), [(mmap, "mmap"), (ObjectCode, "protect"), (jit, "object_file")])
def test_where_the_system_does_not_let_us_load_code_the_engine_stays(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, where: object, what: str
) -> None:
    for kept in (False, True):  # on disk
        with monkeypatch.context() as refusing:
            refusing.setattr(where, what, _refused)
            if not kept or what != "object_file":
                machine = CompiledCode(_module(), ["main"], {"given": GIVEN})
                assert machine.object is None
                assert _is_expected(_calls(machine))
                continue
        assert CompiledCode(_module(), ["main"], {"given": GIVEN}).object is not None


def _file_with(contents: bytearray, folder: Path) -> tuple[int, int, int]:
    """An open file that has an image behind a page of something else: its descriptor, where the image begins, and its bytes."""
    path = folder / "image"
    path.write_bytes(bytes(mmap.PAGESIZE) + contents)
    return os.open(path, os.O_RDONLY), mmap.PAGESIZE, len(contents)


def _called(code: ObjectCode) -> list[tuple[int, float]]:
    machine = CompiledCode.__new__(CompiledCode)
    machine.object = code
    return _calls(machine)


def test_an_image_runs_from_the_pages_of_a_file_wherever_they_are(tmp_path: Path) -> None:
    contents, links = linked(_object())
    assert (contents, links) == linked(_object())
    descriptor, *place = _file_with(contents, tmp_path)
    codes = [ObjectCode.mapped(descriptor, *place, links, _find) for _ in range(2)]
    os.close(descriptor)
    addresses = [code.address("_mlir_main") or 0 for code in codes]
    assert addresses[0] != addresses[1]
    for code, address in zip(codes, addresses, strict=True):
        start = address - links.symbols["_mlir_main"]
        assert (
            ctypes.string_at(start, links.writable) == contents[: links.writable]
        )  # no page of code has an address in it
        assert _is_expected(_called(code))  # its variables are its own


def test_an_image_is_copied_where_the_system_runs_no_code_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents, links = linked(_object())
    descriptor, *place = _file_with(contents, tmp_path)
    protect, asked = ObjectCode.protect, list[None]()

    def refuse_the_first(code: ObjectCode, writable: int) -> None:
        asked.append(None)
        if len(asked) == 1:
            raise PermissionError("a file system without code")
        protect(code, writable)

    monkeypatch.setattr(ObjectCode, "protect", refuse_the_first)
    code = ObjectCode.mapped(descriptor, *place, links, _find)
    os.close(descriptor)
    assert len(asked) == 2
    assert _is_expected(_called(code))


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"writable": 1}, "code that ends at"),
        ({"writable": 1 << 40}, "code that ends at"),
        ({"relative": [0]}, "where none belongs"),
        ({"relative": [-8]}, "where none belongs"),
        ({"named": [(1 << 40, "given")]}, "where none belongs"),
        ({"named": [(0, "nothing")]}, "nobody defines"),
        ({"symbols": {"main": -1}}, "outside of the code"),
    ],
)
def test_links_out_of_an_image_are_refused(change: dict[str, Any], refusal: str, tmp_path: Path) -> None:
    contents, links = linked(_object())
    descriptor, *place = _file_with(contents, tmp_path)
    with pytest.raises(ObjectError, match=refusal):
        ObjectCode.mapped(descriptor, *place, links._replace(**change), {"given": GIVEN, "cosf": GIVEN}.get)
    with pytest.raises(ObjectError, match="no code"):
        ObjectCode.mapped(descriptor, place[0], 0, links, _find)
    os.close(descriptor)


def test_a_symbol_that_nobody_defines() -> None:
    with pytest.raises(ObjectError, match="nobody defines `given`"):
        ObjectCode(_object(), lambda name: None if name == "given" else _find(name))


def test_a_file_cut_off_anywhere_is_refused() -> None:
    whole = _object()
    for end in range(0, len(whole), 7):
        with pytest.raises(ObjectError):
            ObjectCode(whole[:end], _find)


def test_numbers_out_of_bounds_are_refused_or_harmless() -> None:
    """Sections, symbols and relocations with any numbers: loading ends with code or an error, and touches nothing else."""
    whole, dice = _object(), random.Random(0)
    table = struct.unpack_from("<Q", whole, 40)[0]
    refused = 0
    for _ in range(1500):
        damaged = bytearray(whole)
        at = dice.choice([dice.randrange(64), dice.randrange(table, len(whole)), dice.randrange(len(whole))])
        damaged[at] = dice.choice([0, 1, 0x7F, 0x80, 0xFF, damaged[at] ^ (1 << dice.randrange(8))])
        try:
            ObjectCode(bytes(damaged), _find)
        except (ObjectError, AttributeError):  # AttributeError: `_find` of a name that has changed
            refused += 1
    assert refused > 300


def test_tables_that_are_larger_than_the_file_are_refused() -> None:
    data = _object()
    start, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    entries = [data[start + 64 * i : start + 64 * i + 64] for i in range(count)]
    symbols = next(each for each in entries if struct.unpack_from("<I", each, 4)[0] == 2)
    made = bytearray(data + b"".join(entries) + symbols * 1000)
    struct.pack_into("<Q", made, 40, len(data))
    struct.pack_into("<H", made, 60, count + 1000)
    assert struct.unpack_from("<Q", symbols, 32)[0] * 1001 > len(made)
    with pytest.raises(ObjectError, match="larger than the file"):
        ObjectCode(bytes(made), lambda _: GIVEN)
