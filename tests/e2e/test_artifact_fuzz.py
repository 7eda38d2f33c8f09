"""Mutated files are refused by an error with a code, or are the program as it was: whatever else is in them, nothing crashes.

Code of a file is run as it is, so mutations of where addresses belong in it are placed, and not run; and no mutated program is
called.
"""

# What JSON holds is of any type.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
import os
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import torch

import hotdesk
from hotdesk.artifacts.container import Container, write
from hotdesk.artifacts.decoding import decoded
from hotdesk.artifacts.records import BufferUseRecord, FunctionRecord, LinksRecord, ProgramRecord, WeightRecord
from hotdesk.errors import ArtifactError, FileError
from hotdesk.runtime.code.objects import Links, ObjectCode, ObjectError

FEW, MANY = 400, 100_000
ODD = [
    0,
    1,
    -1,
    2,
    63,
    64,
    65,
    1 << 31,
    (1 << 62) - 1,
    -(1 << 62) + 1,
    1 << 70,
    None,
    "",
    "a",
    [],
    {},
    True,
    1.5,
    [[]],
    "weights",
]
_HEAD, _ENTRY = struct.Struct("<8sIIQ"), struct.Struct("<16sQQI")


class Model(torch.nn.Module):
    """Constants, weights, prepared values, sizes that vary, and a nest of results."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> Any:
        y = self.linear(x).softmax(-1)
        return {"a": y, "b": [y.T @ y + torch.arange(4), x.shape[0]]}


class Counted(Model):
    """Results of sizes that only a run knows, besides."""

    def forward(self, x: torch.Tensor) -> Any:
        return {**super().forward(x), "places": x.nonzero()}


@pytest.fixture(scope="module", params=["varying", "fixed", "counted"])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fuzz") / "model.hotdesk"
    shapes = ({0: torch.export.Dim("batch", max=32)},) if request.param == "varying" else None
    model = Counted() if request.param == "counted" else Model()
    hotdesk.compile(model, (torch.ones(3, 8),), dynamic_shapes=shapes).save(path)
    return path


def _loads(path: Path) -> bool:
    """Whether a file is loaded; it may be refused, by an error with a code."""
    try:
        hotdesk.load(path)
    except FileError:
        return False
    return True


def _bytes_changed(data: bytes, rng: random.Random) -> bytes:
    """Some bytes are others, gone or new."""
    made = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(len(made)) if made else 0
        match rng.randrange(5):
            case 0:
                made[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                made[at : at + 8] = struct.pack(
                    "<Q", rng.choice([0, 1, 1 << 31, 1 << 63, (1 << 64) - 1, rng.randrange(1 << 16)])
                )
            case 2:
                del made[at : at + rng.choice([1, 7, 64, 4096])]
            case 3:
                made[at:at] = rng.randbytes(rng.choice([1, 8, 100]))
            case _:
                del made[at:]
    return bytes(made)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, (list, dict)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _places(value[key], (*path, key))


def _value_changed(text: bytes, rng: random.Random) -> bytes:
    """A value of the text is another one, or gone, or there twice."""
    root = json.loads(text)
    *path, last = rng.choice([each for each in _places(root) if each])
    holder = root
    for key in path:
        holder = holder[key]
    old = holder[last]
    if isinstance(holder, list) and rng.random() < 0.2:
        holder.insert(last, old) if rng.random() < 0.5 else holder.pop(last)
    elif isinstance(old, int) and rng.random() < 0.6:
        holder[last] = old + rng.choice([1, -1, 64, -64, 1 << 20])
    else:
        holder[last] = rng.choice(ODD)
    return json.dumps(root).encode()


def _table_changed(data: bytes, rng: random.Random) -> bytes:
    """The head or an entry of the table says something else, under a checksum that is right."""
    made = bytearray(data)
    count = _HEAD.unpack_from(data)[2]
    end = _HEAD.size + count * _ENTRY.size
    at = rng.randrange(end)
    made[at : at + 1] = bytes([rng.randrange(256)])
    if rng.random() < 0.5:
        entry = _HEAD.size + rng.randrange(count) * _ENTRY.size + 16 + 8 * rng.randrange(2)
        struct.pack_into(
            "<Q", made, entry, rng.choice([0, 64, 1 << 20, 1 << 40, (1 << 64) - 64, rng.randrange(1 << 20)])
        )
    checksum = crc32(made[_HEAD.size : end], crc32(made[: _HEAD.size]))
    struct.pack_into("<I", made, end, checksum)
    return bytes(made)


def _values_exchanged(text: bytes, rng: random.Random) -> bytes:
    """A value of the text stands where another one did, or in a list as often as thousands of times."""
    root = json.loads(text)
    places = [each for each in _places(root) if each]
    (*path, last), source = rng.choice(places), rng.choice(places)
    holder, value = root, root
    for key in path:
        holder = holder[key]
    for key in source:
        value = value[key]
    holder[last] = json.loads(json.dumps(value * rng.choice([1, 1, 2, 3000]) if isinstance(value, list) else value))
    return json.dumps(root).encode()


def _entries_changed(data: bytes, rng: random.Random) -> bytes:
    """Sections lie far beyond the file, where others do, in another order or under another name; checksums are right."""
    made = bytearray(data)
    count = _HEAD.unpack_from(data)[2]
    end = _HEAD.size + count * _ENTRY.size
    one, other = (_HEAD.size + rng.randrange(count) * _ENTRY.size for _ in range(2))
    match rng.randrange(4):
        case 0:
            far = [*range((1 << 63) - 64, (1 << 63) + 65, 64), (1 << 64) - 64, 1 << 62, 1 << 47, (1 << 31) - 64]
            struct.pack_into("<Q", made, one + 16 + 8 * rng.randrange(2), rng.choice(far))
        case 1:
            made[one : one + _ENTRY.size] = data[other : other + _ENTRY.size]
            made[other : other + _ENTRY.size] = data[one : one + _ENTRY.size]
        case 2:
            made[one : one + 16] = data[other : other + 16]
        case _:
            made[one + 16 : one + _ENTRY.size] = data[other + 16 : other + _ENTRY.size]
    struct.pack_into("<I", made, end, crc32(made[_HEAD.size : end], crc32(made[: _HEAD.size])))
    return bytes(made)


def _run(saved: Path, folder: Path, count: int) -> None:
    data, path = saved.read_bytes(), folder / "mutated.hotdesk"
    with Container(saved) as container:
        sections = {name: container.read(name) for name in container.sections}
    links = [name for name in sections if name.endswith(".at")]
    rng = random.Random(0)
    loaded = 0
    for number in range(count):
        match number % 6:
            case 0:
                path.write_bytes(_bytes_changed(data, rng))
            case 1:
                change = _value_changed if rng.random() < 0.8 else _bytes_changed
                changed = {**sections, "program": change(sections["program"], rng)}
                write(path, {name: [each] for name, each in changed.items()}, changed)
            case 2:
                path.write_bytes(_table_changed(data, rng))
            case 3:
                changed = {**sections, "program": _values_exchanged(sections["program"], rng)}
                write(path, {name: [each] for name, each in changed.items()}, changed)
            case 4:
                made = _entries_changed(data, rng)
                if made == data:
                    continue
                path.write_bytes(made)
            case _:
                name = rng.choice(links)
                _place(saved, name.removesuffix(".at"), _value_changed(sections[name], rng))
                continue
        loaded += _loads(path)
        path.unlink()
    assert loaded < count / 4  # most are refused


def _place(path: Path, name: str, links: bytes) -> None:
    """Places the code of a section with other links, and runs nothing of it."""
    with Container(path) as container:
        section = container.section(name)
        place = container.descriptor, section.offset, section.bytes
        try:
            code = ObjectCode.mapped(*place, Links(*decoded(LinksRecord, links)), lambda name: 0x1000)
        except (ObjectError, ArtifactError):
            return
    code.function("_mlir_hotdesk_main")


def test_mutations(saved: Path, tmp_path: Path) -> None:
    assert _loads(saved)
    _run(saved, tmp_path, FEW)


@pytest.mark.slow
def test_many_mutations(saved: Path, tmp_path: Path) -> None:
    _run(saved, tmp_path, MANY // 3)


def test_every_length(saved: Path, tmp_path: Path) -> None:
    """A file that was cut off, wherever, is refused."""
    data = saved.read_bytes()
    path = tmp_path / "short.hotdesk"
    for length in [*range(200), *range(200, len(data), 997)]:
        path.write_bytes(data[:length])
        assert not _loads(path)
        path.unlink()


def _at(kind: Any, field: str) -> int:
    """The place of a field in the list that stands for a record."""
    return kind._fields.index(field)


def _rewritten(path: Path, root: Any) -> None:
    with Container(path) as container:
        sections = {name: [container.read(name)] for name in container.sections}
    write(path, {**sections, "program": [json.dumps(root).encode()]}, sections)


def _text(path: Path) -> Any:
    with Container(path) as container:
        return json.loads(container.read("program"))


class Scaled(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale


class Grown(Scaled):
    """What it multiplies with is prepared."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale.exp()


def test_a_weight_that_is_read_is_there(tmp_path: Path) -> None:
    path = tmp_path / "program"
    hotdesk.compile(Scaled(), (torch.ones(3),)).save(path)
    root = _text(path)
    weight = root[_at(ProgramRecord, "weights")][0]
    weight[_at(WeightRecord, "offset")], weight[_at(WeightRecord, "read")] = None, False
    _rewritten(path, root)
    with pytest.raises(ArtifactError, match="one that is read, as its argument is"):
        hotdesk.load(path)


def test_what_is_prepared_is_not_written_into_weights(tmp_path: Path) -> None:
    path = tmp_path / "program"
    model = Grown()
    hotdesk.compile(model, (torch.ones(3),)).save(path, weights="given")
    root = _text(path)
    prepare = root[_at(ProgramRecord, "prepare")]
    places, buffers = prepare[_at(FunctionRecord, "result_places")], prepare[_at(FunctionRecord, "buffers")]
    buffers[places[0]][_at(BufferUseRecord, "kind")] = "alloc"
    buffers[places[0]][_at(BufferUseRecord, "upper")] = buffers[places[0]][_at(BufferUseRecord, "lower")]
    places[0] = 0
    prepare[_at(FunctionRecord, "windows")] = []
    _rewritten(path, root)
    with pytest.raises(ArtifactError, match="arguments of `prepare` of the program: expected each once"):
        hotdesk.load(path, weights=model.state_dict())


def test_ops_are_as_many_as_the_text_names(tmp_path: Path) -> None:
    """What they are called is read when a report is asked for; how many they are bounds what is made to load."""
    path = tmp_path / "program"
    x = torch.ones(3)
    hotdesk.compile(Scaled(), (x,)).save(path)
    with Container(path) as container:
        sections = {name: [container.read(name)] for name in container.sections}
    write(path, {**sections, "sources": [b"[" + b" " * 1000 + b"[],[]]"]}, sections)
    program = hotdesk.load(path)
    assert torch.equal(program(x), x * torch.tensor([1.0, 2, 3]))
    with pytest.raises(ArtifactError, match="the ops of the program: expected 2, got 0"):
        program.buffers()
    root = _text(path)
    main = root[_at(ProgramRecord, "main")]
    main[_at(FunctionRecord, "steps")] = 1 << 40
    _rewritten(path, root)
    with pytest.raises(ArtifactError, match="the number of ops of the program"):
        hotdesk.load(path)


@pytest.mark.parametrize("kind", ["loop", "nothing", "folder", "device", "pipe"])
@pytest.mark.parametrize("role", ["program", "weights"])
def test_links_to_what_is_no_file(kind: str, role: str, tmp_path: Path) -> None:
    model, path = Scaled(), tmp_path / "program"
    hotdesk.compile(model, (torch.ones(3),)).save(path, weights="given")
    link = tmp_path / "link"
    targets = {"loop": link, "nothing": tmp_path / "none", "folder": tmp_path, "device": Path("/dev/zero")}
    if kind == "pipe":
        os.mkfifo(tmp_path / "pipe")
    link.symlink_to(targets.get(kind, tmp_path / "pipe"))
    with pytest.raises(FileError, match="link"):
        hotdesk.load(link if role == "program" else path, weights=model.state_dict() if role == "program" else link)
