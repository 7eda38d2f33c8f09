"""Ctrl-C during a compilation: it ends at once, whatever stage it is in, and the process can compile again."""

# pyright: reportPossiblyUnboundVariable=false

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

UNCACHED = {**os.environ, "HOTDESK_CACHE": "0"}  # LLVM has work to do each time

PROGRAM = """
import os, signal, threading, time
import torch, hotdesk

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell begins without
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 36, 10), torch.nn.LayerNorm(10)
).eval()
x = torch.rand(2, 3, 8, 8)
hotdesk.compile(model, (x,))
begin = time.monotonic()
hotdesk.compile(model, (x,))
whole = time.monotonic() - begin
interrupted = 0
for tenth in range(1, 10):
    timer = threading.Timer(whole * tenth / 10, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        hotdesk.compile(model, (x,))
        timer.cancel()
        timer.join()
    except KeyboardInterrupt:
        interrupted += 1
    timer.join()
    torch.testing.assert_close(hotdesk.compile(model, (x,))(x), model(x), rtol=1e-4, atol=1e-5)
print("interrupted", interrupted)
"""


def test_interrupts_at_every_stage() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=UNCACHED, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout.split()[-1]) > 0


LARGE = """
import os, signal, sys, threading
import torch, hotdesk
import hotdesk.runtime.code.jit as jit, hotdesk.runtime.code.llvm as llvm

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell begins without
layers = [torch.nn.Conv2d(4 + i, 5 + i, 3, padding=1) for i in range(20)]
large = torch.nn.Sequential(*[part for layer in layers for part in (layer, torch.nn.Tanh())]).eval()
image = torch.rand(1, 4, 16, 16)
small = torch.nn.Sequential(torch.nn.Linear(10, 10), torch.nn.LayerNorm(10)).eval()
x = torch.rand(3, 10)
is_wanted, may_end = threading.Event(), threading.Event()

def presses_before(work):
    def held(*arguments):
        if is_wanted.is_set():
            is_wanted.clear()
            os.kill(os.getpid(), signal.SIGINT)
            may_end.wait(60)  # one who waits for the work does not let it end before
        return work(*arguments)

    return held

def works():
    return [thread for thread in threading.enumerate() if thread.name == "hotdesk-llvm"]

jit.make_engine, llvm._linked = presses_before(jit.make_engine), presses_before(llvm._linked)
"""
GOES_ON = """
is_wanted.set()
try:
    hotdesk.compile(large, (image,))
except KeyboardInterrupt:
    is_at_work = bool(works())
torch.testing.assert_close(hotdesk.compile(small, (x,))(x), small(x), rtol=1e-4, atol=1e-5)
may_end.set()
torch.testing.assert_close(hotdesk.compile(large, (image,))(image), large(image), rtol=1e-4, atol=1e-5)
print(is_at_work)
"""


def test_llvm_is_not_waited_for() -> None:
    run = subprocess.run(
        [sys.executable, "-c", LARGE + GOES_ON], env=UNCACHED, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "True\n"


EXPORTS = """
import tempfile

program, other = hotdesk.compile(large[:8], (image,)), hotdesk.compile(small, (x,))
is_wanted.set()
with tempfile.TemporaryDirectory() as folder:
    try:
        program.export_c(folder)
    except KeyboardInterrupt:
        is_at_work = bool(works())
    files = other.export_c(folder)
    may_end.set()
    print(is_at_work and all(file.exists() for file in files))
"""


def test_llvm_is_not_waited_for_by_what_exports_c() -> None:
    run = subprocess.run(
        [sys.executable, "-c", LARGE + EXPORTS], env=UNCACHED, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "True\n"


TICKS = """
import itertools, time

seen, ticks = [], itertools.count()
make = jit.make_engine

def counted(*arguments):
    first = next(ticks)
    engine = make(*arguments)
    seen.append(next(ticks) - first - 1)
    return engine

def tick():
    while True:
        next(ticks)
        time.sleep(0.001)

jit.make_engine = counted
threading.Thread(target=tick, daemon=True).start()
hotdesk.compile(large, (image,))
print(max(seen) > 5)
"""


def test_llvm_releases_the_lock_of_python() -> None:
    run = subprocess.run(
        [sys.executable, "-c", LARGE + TICKS], env=UNCACHED, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "True\n"


def test_a_process_that_nobody_saves_ends_by_the_signal() -> None:
    """Also where code is made of text while it ends: PyTorch imports `tabulate` then, if it is there, which has named tuples."""
    at_exit = "atexit.register(lambda: print(eval('bool(works())')))"
    ends = f"import atexit, hotdesk.compiling.compile; {at_exit}\nis_wanted.set()\nhotdesk.compile(large, (image,))"
    run = subprocess.run(
        [sys.executable, "-c", LARGE + ends], env=UNCACHED, capture_output=True, text=True, check=False
    )
    assert run.returncode == -signal.SIGINT, run.stderr
    assert "KeyboardInterrupt" in run.stderr
    assert run.stdout == "True\n"


FIRST = """
import os, signal, sys, threading
import torch, hotdesk

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell begins without
model, x = torch.nn.Sequential(torch.nn.Linear(10, 10), torch.nn.LayerNorm(10)).eval(), torch.rand(3, 10)
jitted = hotdesk.jit(lambda x: model(x))
torch.set_grad_enabled(False)
package, call = sys.argv[1:]

class Presses:  # in the midst of an import, as soon as a module of the package has run
    def find_spec(self, name, path=None, target=None):
        if name.startswith(package + ".") and self in sys.meta_path:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

def called():
    if call == "compile":
        return hotdesk.compile(model, (x,))(x)
    if call == "jit":
        return jitted(x)
    return torch.compile(model, backend="hotdesk", options={"fallback": False})(x)

if call == "torch.compile":
    import torch._dynamo.backends.common  # not Hotdesk's to protect: PyTorch is in it before it asks for a backend
sys.meta_path.insert(0, Presses())
outcome = "not interrupted"
try:
    called()
except KeyboardInterrupt:
    outcome = "interrupted"
torch.testing.assert_close(called(), model(x), rtol=1e-4, atol=1e-5)
print(outcome, signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""
CALLS = {
    "compile": ("torch_mlir.dialects", "sympy", "torch._dynamo", "networkx"),
    "jit": ("hotdesk.frontends.torch", "torch_mlir.dialects", "sympy", "torch._dynamo"),
    "torch.compile": ("hotdesk.frontends.torch", "torch_mlir.dialects"),
}


@pytest.mark.parametrize(("call", "package"), [(call, package) for call in CALLS for package in CALLS[call]])
def test_interrupts_of_the_imports_of_the_first_compilation(call: str, package: str) -> None:
    """Python drops an interrupt that comes in the callback of a weak reference: that is tried again."""
    for _ in range(3):
        run = subprocess.run(
            [sys.executable, "-c", FIRST, package, call], env=UNCACHED, capture_output=True, text=True, check=False
        )
        if "Exception ignored in" not in run.stderr:
            break
    assert run.stdout == "interrupted True\n", run.stderr


SWAPPED = """
import os, signal
import torch, hotdesk
from torch.export import exported_program

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell begins without
model, x = torch.nn.LogSigmoid(), torch.randn(2, 4)  # is taken apart by PyTorch, not by `call_tracing`
loss, swap = torch.ops.aten.ctc_loss.IntList, exported_program._get_decomp_for_cia
kernels, pressed = dict(loss.py_kernels), []

def press(op):
    if op is loss:
        pressed.append(op)
        os.kill(os.getpid(), signal.SIGINT)
    return swap(op)

exported_program._get_decomp_for_cia = press
try:
    hotdesk.compile(model, (x,))
except KeyboardInterrupt:
    print("interrupted", len(pressed))
exported_program._get_decomp_for_cia = swap
assert loss.py_kernels == kernels
torch.testing.assert_close(hotdesk.compile(model, (x,))(x), model(x))
torch.testing.assert_close(torch.compile(model, backend="hotdesk")(x), model(x))
"""


def test_an_interrupt_leaves_no_kernels_of_an_export_behind() -> None:
    run = subprocess.run([sys.executable, "-c", SWAPPED], env=UNCACHED, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["interrupted", "1"]
