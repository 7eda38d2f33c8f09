"""Traces of other tools: samples that the tools have made, snapshots, and what is refused."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from hotdesk.cli.main import main
from hotdesk.errors import TraceError
from hotdesk.traces import read_trace
from hotdesk.traces.reading import load_trace

DATA = Path(__file__).parents[2] / "data" / "traces"
HISTORY: list[dict[str, Any]] = [
    {"action": "segment_alloc", "addr": 0, "size": 4096},
    {"action": "alloc", "addr": 0, "size": 512},
    {"action": "alloc", "addr": 512, "size": 1024},
    {"action": "free_requested", "addr": 0, "size": 512},
    {"action": "free_completed", "addr": 0, "size": 512},
    {"action": "alloc", "addr": 0, "size": 256},
    {"action": "free_completed", "addr": 9999, "size": 64},
    {"action": "segment_free", "addr": 0, "size": 4096},
    {"action": "oom", "size": 1 << 40, "device_free": 0},
]


ASSIGNMENT = (DATA / "jax-buffer-assignment.txt").read_bytes()
RANGES = (DATA / "jax-live-range.txt").read_text(encoding="utf-8")


def _snapshot(history: list[dict[str, Any]]) -> bytes:
    return pickle.dumps({"segments": [], "device_traces": [history, []]})


def _ranges(buffers: Any) -> list[tuple[int, int, int]]:
    return [(each.lower, each.upper, each.size) for each in buffers]


def test_pytorch_profiler() -> None:
    found = load_trace(DATA / "profiler.json")
    assert (found.tool, found.peak, found.total, found.taken) == ("PyTorch's profiler", 65536, 73728, None)
    assert _ranges(found.buffers) == [(0, 2, 32768), (1, 4, 32768), (3, 5, 8192)]


def test_pytorch_snapshot() -> None:
    found = read_trace(_snapshot(HISTORY))
    assert (found.tool, found.taken, found.left_out) == ("PyTorch's memory snapshot", 4096, 1)
    assert _ranges(found.buffers) == [(0, 2, 512), (1, 5, 1024), (3, 5, 256)]
    assert found.peak == 1536


def test_memory_taken_again_at_an_address_ends_what_was_there() -> None:
    history = [{"action": "alloc", "addr": 0, "size": size} for size in (64, 32)]
    found = read_trace(_snapshot(history))
    assert _ranges(found.buffers) == [(0, 1, 64), (1, 2, 32)]
    assert found.left_out == 1


def test_xla() -> None:
    found = load_trace(DATA / "jax-buffer-assignment.txt")
    assert (found.tool, found.taken, found.peak, found.left_out) == ("XLA's buffer assignment", 163840, 163840, 0)
    by_name = {str(each.id): (each.lower, each.upper, each.size) for each in found.buffers}
    assert by_name["ynn_fusion.5"] == (4, 5, 131072)  # its reader writes over it
    assert by_name["wrapped_tanh"] == (5, 7, 131072)
    assert by_name["ynn_fusion.3"] == (8, 14, 32768)


def test_what_a_loop_of_xla_carries() -> None:
    """`(phi)` values: what the condition and the body are given, and what the loop is."""
    found = load_trace(DATA / "jax-loop-buffer-assignment.txt")
    assert (found.taken, found.peak, found.left_out) == (16516, 16392, 0)
    by_name = {str(each.id): (each.lower, each.upper, each.size) for each in found.buffers}
    assert by_name["arg_tuple.5{0}"] == (5, 9, 4)  # where the body's begins, which lies in the same place
    assert by_name["arg_tuple.6{0}"] == (9, 15, 4)
    assert by_name["while.1"] == (18, 20, 16)


@pytest.mark.parametrize("name", ["jax", "jax-loop"])
def test_an_assignment_of_xla_that_is_cut_between_lines(name: str) -> None:
    lines = (DATA / f"{name}-buffer-assignment.txt").read_bytes().splitlines(keepends=True)
    ranges = (DATA / f"{name}-live-range.txt").read_text(encoding="utf-8")
    assert read_trace(b"".join(lines), "file.txt", ranges).buffers
    for count in range(2, len(lines)):
        with pytest.raises(TraceError, match="expected a place for every value that has a live range"):
            read_trace(b"".join(lines[:count]), "file.txt", ranges)


def test_csv() -> None:
    found = read_trace(b"id,lower,upper,size\na,0,2,64\nb,1,3,32\n")
    assert (found.tool, found.peak, found.total, found.taken) == ("CSV", 96, 96, None)


class _Runs:
    def __reduce__(self) -> Any:
        return (print, ("a pickle that runs something",))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (pickle.dumps(_Runs()), "it names builtins.print, and a snapshot is of plain values"),
        (pickle.dumps({"segments": []}), "_record_memory_history"),
        (_snapshot([]), "_record_memory_history"),
        (b"\x80\x04", "a pickle that is none"),
        (pickle.dumps({"device_traces": [1, 2]}), "a history that is none"),
        (pickle.dumps({"device_traces": [[1, 2]]}), "a history that is none"),
        (
            pickle.dumps({"device_traces": [[{"action": "alloc", "addr": 1}]]}),
            "a history that is none: KeyError('size')",
        ),
        (pickle.dumps({"device_traces": [[{"action": "alloc", "addr": 1, "size": 1.5}]]}), "an integer for size"),
        (_snapshot([{"action": "alloc", "addr": 0, "size": 1 << 80}]), f"got {1 << 80}"),
        (_snapshot([{"action": "alloc", "addr": 0, "size": 10**5000}]), "a history that is none"),
        (b"\x80\x04})" + b"\x85" * 1_000_000 + b"K\x01s.", "what read it ended with status"),  # a key, nested deep
        (b"id,lower,upper,size\na,0,2,1208925819614629174706176\n", "none of these"),
        (b"[" * 200_000, "JSON that is cut off or wrong"),
        (b"[" + b"9" * 5000 + b"]", "JSON that is cut off or wrong"),
        (b'{"traceEvents": [{"name": "[memory]"}]}', "events that are none: KeyError('ts')"),
        (
            b'{"traceEvents": [{"name": "[memory]", "ts": 1, "args": {"Addr": [1], "Bytes": 4}}]}',
            "events that are none",
        ),
        (b"\xff\xfe\x00", "bytes that are no text"),
        (b"{", "JSON that is cut off or wrong"),
        (b'{"a": 1}', "other JSON"),
        (b'{"traceEvents": []}', "Record it with profile_memory=True."),
        (json.dumps([{"args": {"output_size": "4"}}]).encode(), "a session profile of onnxruntime without"),
        (b"BufferAssignment:\n", "one without allocations"),
        (ASSIGNMENT, "-live-range.txt"),
        (ASSIGNMENT.rpartition(b",offset")[0], "one that ends within a line"),
        (
            b'{"traceEvents": [{"name": "[memory]", "ts": 1, "args": {"Addr": 1, "Bytes": 4, "Total Reserved": "a"}}]}',
            "an integer for bytes taken",
        ),
        (b"hello", "none of these"),
    ],
)
def test_what_is_refused(data: bytes, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TraceError, match="file.bin: ") as caught:
        read_trace(data, "file.bin")
    assert told in str(caught.value)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("data", "ranges", "told"),
    [
        (ASSIGNMENT.replace(b"size=32768,", b"size=" + b"3" * 5000 + b","), RANGES, "entries that are none: Exceeds"),
        (ASSIGNMENT, RANGES.replace("wrapped_tanh{}:5-6", "wrapped_tanh{}:9-6"), "expected lower < upper, got [9, 7)"),
    ],
)
def test_hostile_assignments_of_xla(data: bytes, ranges: str, told: str) -> None:
    with pytest.raises(TraceError) as caught:
        read_trace(data, "file.txt", ranges)
    assert told in str(caught.value)


def test_live_ranges_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "f-buffer-assignment.txt"
    path.write_bytes(ASSIGNMENT)
    (tmp_path / "f-live-range.txt").write_bytes(b"\xff" + RANGES.encode())
    assert len(load_trace(path).buffers) == 6


@pytest.mark.parametrize("shapes", ["float", [5], {"float": [8]}, [{"float": ["a"]}], [{"float": [-1]}], None])
def test_session_profiles_with_shapes_of_other_types(shapes: object, tmp_path: Path) -> None:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Exp", ["x"], ["y"], name="e")], "g", values[:1], values[1:])
    (tmp_path / "run.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    told = {"output_size": "32", "output_type_shape": shapes}
    events = json.dumps([5, {"name": "e_kernel_time", "args": told}]).encode()
    assert read_trace(events, graph=tmp_path / "run.onnx").buffers == ()
    with pytest.raises(TraceError, match="entries that are none: 'int' object is not iterable"):
        read_trace(events.replace(json.dumps(shapes).encode(), b"5"), graph=tmp_path / "run.onnx")


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(_snapshot(HISTORY))
    written = tmp_path / "problem.csv"
    assert main(["plan", "trace", str(path), "--csv", str(written)]) == 0
    page = (Path(__file__).parents[3] / "docs" / "traces.md").read_text(encoding="utf-8")
    assert f"```text\n{capsys.readouterr().out}```" in page
    assert len(written.read_text().splitlines()) == 4
    assert main(["plan", str(written)]) == 0
    capsys.readouterr()
    assert main(["plan", "trace", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["plan"] == 1536


def test_a_recording_made_here(tmp_path: Path) -> None:
    import torch
    from torch.profiler import ProfilerActivity, profile

    x = torch.ones(64, 64)
    with torch.no_grad(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        y = torch.exp(x)
        z = torch.exp(y)
        del y, z
    recorded.export_chrome_trace(str(tmp_path / "trace.json"))
    found = load_trace(tmp_path / "trace.json")
    assert [each.size for each in found.buffers if each.size >= 64 * 64 * 4] == [64 * 64 * 4] * 2
    assert found.peak >= 2 * 64 * 64 * 4


def test_onnxruntime_with_the_graph_that_it_ran(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """x → a = exp → b = neg → c = a + b → y = c · w: a and b are both there for c, which dies for y."""
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name, size in (("x", [8, 64]), ("y", [8, 2]))
    ]
    nodes = [
        helper.make_node("Exp", ["x"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Max", ["a", "b"], ["c"]),
        helper.make_node("MatMul", ["c", "w"], ["y"]),
    ]
    weight = numpy_helper.from_array(np.ones((64, 2), np.float32), "w")
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    settings: Any = cast(Any, onnxruntime).SessionOptions()
    settings.enable_profiling, settings.profile_file_prefix = True, str(tmp_path / "profile")
    settings.optimized_model_filepath = str(tmp_path / "run.onnx")
    session: Any = cast(Any, onnxruntime).InferenceSession(model.SerializeToString(), settings)
    for _ in range(2):
        session.run(None, {"x": np.ones((8, 64), np.float32)})
    profile = session.end_profiling()
    found = load_trace(Path(profile), tmp_path / "run.onnx")
    assert _ranges(found.buffers) == [(0, 3, 2048), (1, 3, 2048), (2, 4, 2048), (3, 4, 64)]
    assert (found.tool, found.taken, found.left_out) == ("onnxruntime's session profile", None, 0)
    assert main(["plan", "trace", profile, "--model", str(tmp_path / "run.onnx")]) == 0
    assert "bound      6.00 KiB (6,144): no plan can be smaller" in capsys.readouterr().out
    with pytest.raises(TraceError, match="expected the graph that was run beside it"):
        load_trace(Path(profile))
    other = tmp_path / "other.onnx"
    other.write_bytes(helper.make_model(helper.make_graph(nodes[:1], "g", values[:1], values[:1])).SerializeToString())
    with pytest.raises(TraceError, match="got one without 3 of the 4 nodes that ran"):
        load_trace(Path(profile), other)
