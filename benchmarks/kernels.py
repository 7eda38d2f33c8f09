"""Products and convolutions of ours beside OpenBLAS's and PyTorch's: every distinct shape of the example models, and squares.

    python benchmarks/kernels.py [--models NAME …] [--kinds products convolutions] [--threads 1 2] [--output PAGE [--append]]

Shapes are read off the models as PyTorch runs them; transposed convolutions are left out. A convolution is run by the kernel
that a program would call, beside PyTorch's, which is oneDNN's. All contenders take turns, and the best of their times counts:
processor time on one thread, so that other processes on the machine disturb it little, elapsed time on several. There each turn
begins when no thread of another contender runs any more, and with calls that are not counted: a library's threads spin for a
while after a call and would hold a core that others need, and its own have to be woken. OpenBLAS comes from
`pip install 'hotdesk[blas]'`; without it its column is empty.

The roof is what fused multiply-adds on registers reach, which take turns too, for processors change their clock. The bound is the
roof, or, where that takes longer, PyTorch's copy of as many bytes as operands and result have: products of one row and
convolutions of one channel do few operations for each.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["OPENBLAS_NUM_THREADS"] = (
    "1"  # before the library is loaded: one buffer, and threads only when they are asked for
)

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from examples.models import MODELS  # noqa: E402
from hotdesk._bindings import ir  # noqa: E402
from hotdesk.ir.context import make_context  # noqa: E402
from hotdesk.kernels.machine import host  # noqa: E402
from hotdesk.kernels.parts import share_parts  # noqa: E402
from hotdesk.kernels.roof import operations_per_step, roof_elements, roof_module, roof_name  # noqa: E402
from hotdesk.kernels.shared import shared_name  # noqa: E402
from hotdesk.kernels.text import View  # noqa: E402
from hotdesk.passes.lower.convolution.dispatch import ConvolutionSpec, convolution, with_spread, workspace_bytes  # noqa: E402
from hotdesk.passes.lower.to_llvm import kernels_to_llvm  # noqa: E402
from hotdesk.runtime.cache import generators  # noqa: E402
from hotdesk.runtime.code.jit import CompiledCode  # noqa: E402
from hotdesk.runtime.code.products import CommonCode, common_code, linked  # noqa: E402
from hotdesk.runtime.code.threads import serve, set_num_threads  # noqa: E402

SQUARES = (64, 128, 256, 512, 1024)
# Seconds between looks at whether other contenders' threads still run, and how many looks there are at most; seconds of a turn on
# several threads, and its calls at most: as many go in front, uncounted.
_PAUSE, _MOST_PAUSES, _TURN, _MOST_CALLS = 0.01, 100, 0.03, 100
_STEPS = 100_000  # of multiply-adds on registers in a call
_ROOF, _COPY = "roof", "copy"  # beside the contenders
ROUNDS, SECONDS = 40, 0.1  # of one contender on one shape: whichever ends first, but no fewer than five rounds


@dataclass(frozen=True, slots=True)
class Shape:
    """`batch` products of m by k and k by n; `turned`: the second operand lies by columns, as a linear layer's weight."""

    batch: int
    m: int
    n: int
    k: int
    turned: bool

    @property
    def operations(self) -> int:
        return 2 * self.batch * self.m * self.n * self.k

    @property
    def elements(self) -> int:
        """Of both operands and the result."""
        return self.batch * (self.m * self.k + self.k * self.n + self.m * self.n)

    def __str__(self) -> str:
        return f"{self.batch} × {self.m} × {self.n} × {self.k}{' nk' if self.turned else ''}"


@dataclass(frozen=True, slots=True)
class Window:
    """A convolution: sizes of its image (with batch and channels) and of its filters, and how these are moved over it."""

    image: tuple[int, ...]
    filters: tuple[int, ...]
    output: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[int, ...]
    dilations: tuple[int, ...]
    groups: int

    @property
    def operations(self) -> int:
        return 2 * math.prod(self.output) * math.prod(self.filters[1:])

    @property
    def elements(self) -> int:
        """Of image, filters and result."""
        return sum(map(math.prod, (self.image, self.filters, self.output)))

    def __str__(self) -> str:
        def sizes(each: Sequence[int]) -> str:
            return "×".join(map(str, each))

        return f"{sizes(self.image)} * {sizes(self.filters)} / {sizes(self.strides)}" + (
            f", {self.groups} groups" if self.groups > 1 else ""
        )


class _Shapes(TorchDispatchMode):
    """Collects the shapes of products and convolutions that run under it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[Shape | Window, None] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name in ("mm", "addmm", "bmm", "baddbmm"):
            a, b = args[-2:]
            batch = a.shape[0] if a.dim() == 3 else 1
            shape = Shape(batch, a.shape[-2], b.shape[-1], a.shape[-1], turned=b.stride(-2) == 1 != b.stride(-1))
            self.found[shape] = None
        elif name == "convolution" and not args[6]:
            x, weight, _, strides, padding, dilations = args[:6]
            shapes = (tuple(each.shape) for each in (x, weight, result))
            moves = (tuple(each) for each in (strides, padding, dilations))
            self.found[Window(*shapes, *moves, args[8])] = None
        return result


def shapes_of(name: str) -> list[Shape | Window]:
    """The distinct shapes of a model, in the order in which it computes them."""
    spec = MODELS[name]
    model, inputs = spec.build(), spec.inputs(1)
    with torch.no_grad(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH), _Shapes() as shapes:
        model(*inputs)
    return list(shapes.found)


def copy_of(elements: int) -> Callable[[], object]:
    """PyTorch's copy of half as many float32 elements: it reads and writes as many bytes as all of them have."""
    source = torch.ones(max(1, elements // 2))
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


class Registers:
    """Fused multiply-adds on registers and nothing else, on one thread: the roof."""

    def __init__(self) -> None:
        machine = host()
        self._code = CompiledCode(lambda: roof_module(machine), [], source=f"roof {generators()} {machine}")
        self._results = np.zeros(roof_elements(machine, "f32"))
        self.operations = operations_per_step(machine, "f32") * _STEPS

    def __call__(self) -> None:
        self._code.call(roof_name("f32"), _STEPS, self._results.ctypes.data)


class OpenBlas:
    """`cblas_sgemm` of scipy-openblas32."""

    def __init__(self) -> None:
        import scipy_openblas32

        folder = Path(scipy_openblas32.get_lib_dir())
        path = next(path for path in sorted(folder.glob("libscipy_openblas*")) if path.suffix != ".a")
        self._library = ctypes.CDLL(str(path))

    def use(self, threads: int) -> None:
        self._library.scipy_openblas_set_num_threads(threads)

    def product(self, shape: Shape, a: Any, b: Any, c: Any) -> Callable[[], None]:
        function, one, zero = self._library.scipy_cblas_sgemm, ctypes.c_float(1), ctypes.c_float(0)
        transposed = 112 if shape.turned else 111
        leading = shape.k if shape.turned else shape.n
        addresses = [[ctypes.c_void_p(each[i].ctypes.data) for each in (a, b, c)] for i in range(shape.batch)]

        def run() -> None:
            for left, right, result in addresses:
                sizes = (shape.m, shape.n, shape.k)
                function(101, 111, transposed, *sizes, one, left, shape.k, right, leading, zero, result, shape.n)

        return run


def ours(products: CommonCode, a: Any, b: Any, c: Any) -> Callable[[], None]:
    numbers = [c.shape[0], c.shape[1], c.shape[2], a.shape[2]]
    for array in (a, b, c):
        numbers += [array.ctypes.data, *(stride // array.itemsize for stride in array.strides)]
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 17)(products.address)
    return lambda: function(*numbers, 0)


def convolution_kernel(window: Window, operands: Sequence[torch.Tensor]) -> Callable[[], None]:
    """The kernel that a program would call, compiled, on image, filters and result."""
    views = [View("f32", tuple(each.shape), tuple(each.stride())) for each in operands]
    spec = ConvolutionSpec(
        *views,
        groups=window.groups,
        strides=window.strides,
        dilations=window.dilations,
        pad_low=window.padding,
        pad_high=window.padding,
        input_dilations=(1,) * len(window.strides),
        accumulate=False,
        noalias=(True, True, True),
    )
    spec = with_spread(spec)
    wanted = workspace_bytes(spec)
    kernel = convolution(spec)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse("\n".join((*kernel.declarations, kernel.text)))
        kernels_to_llvm(module)
        share_parts(module)
        machine = linked(module, ["KERNEL"])
    entry = machine.entry("KERNEL")
    scratch = [torch.empty(wanted, dtype=torch.uint8)] if wanted else []
    arguments = [ctypes.c_void_p(each.data_ptr()) for each in (*operands, *scratch)]
    packed = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(each) for each in arguments))
    kept = (machine, arguments, scratch)
    return lambda kept=kept: entry(ctypes.addressof(packed))


def convolution_rates(window: Window, threads: int) -> dict[str, float]:
    """Operations a second of ours and of PyTorch's, of the roof, and as many as a copy of the bytes leaves time for."""
    x, w = torch.rand(window.image), torch.rand(window.filters)
    moves = (window.strides, window.padding, window.dilations, window.groups)
    convolve = torch.conv1d if len(window.strides) == 1 else torch.conv2d
    expected = convolve(x, w, None, *moves)
    y = torch.empty_like(expected)
    contenders = {"ours": convolution_kernel(window, (x, w, y)), "PyTorch": lambda: convolve(x, w, None, *moves)}
    contenders["ours"]()
    torch.testing.assert_close(y, expected, rtol=1e-4, atol=0)
    return _take_turns(contenders, window, threads)


def rates(shape: Shape, threads: int, products: CommonCode, blas: OpenBlas | None) -> dict[str, float]:
    """Operations a second of each contender, of the roof, and as many as a copy of the bytes leaves time for."""
    values = np.random.default_rng(0)
    a = values.random((shape.batch, shape.m, shape.k), np.float32)
    b = values.random((shape.batch, *((shape.n, shape.k) if shape.turned else (shape.k, shape.n))), np.float32)
    right = b.transpose(0, 2, 1) if shape.turned else b
    c = np.empty((shape.batch, shape.m, shape.n), np.float32)
    theirs = np.empty_like(c)
    tensors = [torch.from_numpy(each) for each in (a, right, np.empty_like(c))]
    contenders = {"ours": ours(products, a, right, c)}
    if blas is not None:
        blas.use(threads)
        contenders["OpenBLAS"] = blas.product(shape, a, b, theirs)
    contenders["PyTorch"] = lambda: torch.bmm(tensors[0], tensors[1], out=tensors[2])
    for run in contenders.values():
        run()
    if blas is not None:
        np.testing.assert_allclose(c, theirs, rtol=1e-4)
    return _take_turns(contenders, shape, threads)


def _take_turns(
    contenders: Mapping[str, Callable[[], object]], shape: Shape | Window, threads: int
) -> dict[str, float]:
    """Operations a second of each contender at its best, of the roof, and as many as a copy of the bytes leaves time for."""
    registers = Registers()
    contenders = {**contenders, _ROOF: registers, _COPY: copy_of(shape.elements)}
    clock = time.thread_time if threads == 1 else time.perf_counter
    best = dict.fromkeys(contenders, math.inf)
    end = time.perf_counter() + SECONDS * len(contenders)
    for done in range(ROUNDS):
        for name, run in contenders.items():
            if threads == 1:
                best[name] = min(best[name], *_times(run, clock, 2))
                continue
            _wait_for_sleep()
            (warm,) = _times(run, clock, 1)
            calls = max(2, min(_MOST_CALLS, int(_TURN / warm)))
            _times(run, clock, calls)
            best[name] = min(best[name], *_times(run, clock, calls))
        if done >= 4 and time.perf_counter() > end:
            break
    found = {name: shape.operations / seconds for name, seconds in best.items()}
    return found | {_ROOF: threads * registers.operations / best[_ROOF]}


def _wait_for_sleep() -> None:
    """Returns once no thread of this process takes processor time, or after a while where one goes on and on."""
    for _ in range(_MOST_PAUSES):
        before = time.process_time()
        time.sleep(_PAUSE)
        if time.process_time() - before < _PAUSE / 10:
            return


def _times(run: Callable[[], object], clock: Callable[[], float], count: int) -> list[float]:
    times: list[float] = []
    for _ in range(count):
        start = clock()
        run()
        times.append(clock() - start)
    return times


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", nargs="*", default=list(MODELS), help="whose shapes (default: of all models)")
    parser.add_argument(
        "--kinds", nargs="*", choices=("products", "convolutions"), default=["products", "convolutions"]
    )
    parser.add_argument("--append", action="store_true", help="add to the file what was measured, without the heading")
    parser.add_argument("--threads", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--output", type=Path, help="a file to write the page to, beside the terminal")
    options = parser.parse_args(arguments)
    try:
        blas: OpenBlas | None = OpenBlas()
    except ImportError:
        blas = None
    users: dict[Shape | Window, list[str]] = {Shape(1, size, size, size, turned=False): ["square"] for size in SQUARES}
    for model in options.models:
        for shape in shapes_of(model):
            users.setdefault(shape, []).append(model)
    products = common_code(shared_name("f32"), host())
    serve(products.machine)
    lines: list[str] = []

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    if not options.append:
        say("# Products and convolutions: GF/s beside OpenBLAS and PyTorch\n")
        say(
            "`make bench-kernels`; float32. nk: the second operand lies by columns. The roof: multiply-adds on registers, in"
        )
        say(
            "turns with the others. The bound: the roof, or what a copy of as many bytes as operands and result have leaves time"
        )
        say("for. Reading is quicker than copying, so a share of the bound may be more than all of it.\n")

    def table(threads: int, kind: type, contenders: Sequence[str], run: Callable[[Any], dict[str, float]]) -> None:
        say(f"| {' | '.join(contenders)} | share of the roof | share of the bound | × the fastest | of |")
        say("|---" * (len(contenders) + 4) + "|")
        shares: list[float] = []
        bounds: list[float] = []
        for shape, models in users.items():
            if not isinstance(shape, kind):
                continue
            found = run(shape)
            top = found.pop(_ROOF)
            bound = min(top, found.pop(_COPY))
            fastest = max(rate for name, rate in found.items() if name != "ours")
            shares.append(found["ours"] / fastest)
            bounds.append(found["ours"] / bound)
            numbers = " | ".join(f"{found[name] / 1e9:.1f}" if name in found else "" for name in contenders[1:])
            of = f"{found['ours'] / top:.0%} of {top / 1e9:.0f} | {found['ours'] / bound:.0%}"
            say(f"| {shape} | {numbers} | {of} | {found['ours'] / fastest:.2f} | {', '.join(models)} |")
        if shares:
            behind = sum(share < 0.95 for share in shares)
            median = statistics.median(shares)
            far = sum(share < 0.8 for share in bounds)
            say(f"\nMedian × the fastest: {median:.2f}; below 0.95 on {behind} of {len(shares)} shapes.")
            say(f"Below 80 % of the bound on {far}.\n")

    for threads in options.threads:
        torch.set_num_threads(threads)
        set_num_threads(threads)
        said = f"{threads} thread{'s' if threads > 1 else ''}"
        if "products" in options.kinds:
            say(f"## Products, {said}\n")
            names = ("batch × m × n × k", "ours", "OpenBLAS", "PyTorch")
            table(threads, Shape, names, lambda shape, threads=threads: rates(shape, threads, products, blas))
        if "convolutions" in options.kinds:
            say(f"## Convolutions, {said}\n")
            names = ("image * filters / strides", "ours", "PyTorch")
            table(threads, Window, names, lambda window, threads=threads: convolution_rates(window, threads))
    if options.output is not None:
        before = options.output.read_text(encoding="utf-8") + "\n" if options.append else ""
        options.output.write_text(before + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
