"""Ops without a lowering: PyTorch's kernels are called for them, in the middle of the program."""

# What a lambda is given is not annotated.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import hotdesk
from hotdesk.errors import DtypeError, ExecutionError, UnsupportedOpError
from hotdesk.explain import Outcome, Reason
from hotdesk.frontends.torch.foreign import foreign_op, store
from hotdesk.runtime.code.foreign import Lying
from tests.e2e.checking import Call, random
from tests.e2e.refusing import line_of


def uncompiled(x: Tensor) -> Tensor:
    """An elementwise op without a lowering."""
    return torch.igamma(x.abs() + 1, x.abs() + 0.5)


def spd(size: int) -> Tensor:
    x = random(size, size)
    return x @ x.t() + torch.eye(size)


OPS: dict[str, tuple[Callable[..., Any], tuple[Tensor, ...]]] = {
    "between compiled ops": (lambda x: uncompiled(x.sin() * 0.5).cos(), (random(3, 4),)),
    "one after the other": (lambda x: uncompiled(uncompiled(x) + 3), (random(3, 4),)),
    "the same twice": (lambda x: uncompiled(x.sin() * 0.5) + uncompiled(x.cos() * 0.5), (random(5),)),
    "several results": (lambda x: torch.linalg.qr(x), (random(4, 3),)),
    "one of several results": (lambda x: torch.linalg.svd(x).S, (random(4, 3),)),
    "inverse": (torch.linalg.inv, (spd(4),)),
    "solve": (lambda a, b: torch.linalg.solve(a, b) * 2, (spd(4), random(4, 2))),
    "cholesky": (torch.linalg.cholesky, (spd(3),)),
    "determinant of a large matrix": (torch.linalg.det, (spd(20),)),
    "complex numbers within": (lambda x: torch.fft.fft(x).abs(), (random(3, 8),)),
    "complex numbers of the type they have": (
        lambda x: torch.view_as_real(torch.view_as_complex(x).to(torch.complex64) * 1j),
        (random(3, 2),),
    ),
    "complex result": (lambda x: torch.fft.rfft(x), (random(3, 8),)),
    "complex argument": (lambda x: x * 2, (torch.complex(random(3), random(3)),)),
    "a transposed argument": (lambda x: uncompiled(x.t() * 0.1) + 1, (random(3, 4),)),
    "result without elements": (lambda x: (torch.complex(x[:0], x[:0]), x + 1), (random(3, 4),)),
    "zero dims": (lambda x: uncompiled(x.sum() + 30), (random(3),)),
    "integers": (lambda x, y: torch.gcd(x, y), (torch.arange(6), torch.arange(6) + 4)),
    "truths": (torch.signbit, (random(3, 4),)),
    "halves": (uncompiled, (random(7).mul(0.1).to(torch.bfloat16),)),
    "max_pool3d on integers": (lambda x: F.max_pool3d(x, 2), (torch.arange(64).reshape(1, 4, 4, 4),)),
    "depthwise conv_transpose2d of one image": (
        lambda x, w: F.conv_transpose2d(x, w, groups=4),
        (random(4, 5, 5), random(4, 1, 3, 3)),
    ),
    "grouped conv3d": (lambda x, w: F.conv3d(x, w, groups=2), (random(1, 4, 5, 5, 5), random(6, 2, 3, 3, 3))),
}


@pytest.mark.parametrize("name", OPS)
def test_agrees(name: str) -> None:
    op, args = OPS[name]
    program = hotdesk.compile(Call(op), args)
    torch.testing.assert_close(program(*args), op(*args), rtol=1e-4, atol=1e-4)
    if not any(arg.dtype.is_complex or arg.dtype == torch.bfloat16 for arg in args):
        assert program.check(*args).faults == ()


@pytest.mark.parametrize(
    ("op", "sizes"),
    [
        (lambda x: torch.igamma(x.abs() + 1, x.abs() + 0.5), (300, 400)),
        (lambda x: torch.special.laguerre_polynomial_l(x, 3), (300, 400)),
    ],
)
def test_kernels_write_where_their_results_belong(op: Callable[[Tensor], Tensor], sizes: tuple[int, int]) -> None:
    """PyTorch allocates nothing as large as the results, and the place of each is given."""
    x = random(*sizes)
    program = hotdesk.compile(Call(op), (x,))
    assert program.foreign
    out = torch.empty_like(x)
    with torch.profiler.profile(profile_memory=True) as seen:
        program(x, out=out)
    torch.testing.assert_close(out, op(x))
    assert max((each.self_cpu_memory_usage for each in seen.key_averages()), default=0) < out.nbytes


def test_memory_of_the_model_is_as_before_if_a_kernel_refuses_the_values() -> None:
    class Spectrum(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("values", torch.zeros(3))

        def forward(self, x: Tensor) -> Tensor:
            self.values.copy_(torch.linalg.eigvalsh(x))
            return x + 1

    model = Spectrum()
    program = hotdesk.compile(model, (torch.eye(3),))
    program(2 * torch.eye(3))
    with pytest.raises(ExecutionError):
        program(torch.full((3, 3), torch.nan))
    assert model.get_buffer("values").tolist() == [2.0] * 3


def test_a_result_in_the_memory_of_an_input_is_copied() -> None:
    x, kernel = torch.rand(4, 4) + 1, Call(lambda x: torch.igamma(x, x.t()))
    call = hotdesk.compile(kernel, (x,))
    torch.testing.assert_close(call(x), kernel(x))
    exported = torch.export.export(kernel, (x,), strict=False).run_decompositions({})
    node = next(each for each in exported.graph.nodes if str(each.target).startswith("aten.igamma"))
    runs = foreign_op(node, [0], 0).call.runs
    expected, where = kernel(x), Lying(x.data_ptr(), (4, 4), (4, 1))
    transposed = Lying(x.data_ptr(), (4, 4), (1, 4))
    runs([where, transposed], [], [where])
    torch.testing.assert_close(x, expected)


def test_sizes_may_vary() -> None:
    model = Call(lambda x: (uncompiled(x).view(-1, 2).flip(0), torch.fft.rfft(x, n=6, dim=1).abs()))
    program = hotdesk.compile(model, (random(6, 4),), dynamic_shapes=(({0: torch.export.Dim("b", min=2, max=64)},),))
    assert program.foreign
    for size in (2, 3, 17):
        x = random(size, 4)
        torch.testing.assert_close(program(x), model(x))


def test_of_weights_runs_once() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(spd(4))

        def forward(self, x: Tensor) -> Tensor:
            return x @ torch.linalg.inv(self.weight)

    model, x = Model(), random(2, 4)
    program = hotdesk.compile(model, (x,))
    torch.testing.assert_close(program(x), model(x).detach(), rtol=1e-4, atol=1e-4)
    assert program.memory(x).prepared == 4 * 4 * 4


def test_the_report_tells() -> None:
    x = random(3, 4) * 0.1
    program = hotdesk.compile(Call(lambda x: uncompiled(x) + uncompiled(x + 0.1)), (x,))
    assert dict(program.foreign) == {"aten.igamma": 2}
    told = [d for d in program.decisions(x) if d.outcome is Outcome.CALLED]
    assert [(d.subject, d.reason, d.bytes) for d in told] == [("aten.igamma", Reason.NO_LOWERING, 48)] * 2
    assert "2 called" in str(program.report(x))


def test_a_compiled_program_calls_nothing() -> None:
    x = random(3, 4)
    assert not hotdesk.compile(nn.Linear(4, 2), (x,)).foreign


def test_only_what_does_not_lower_is_called() -> None:
    x = random(1, 4, 6, 6)
    odd, even = random(4, 1, 3, 3), random(4, 4, 3, 3)
    model = Call(lambda x, even, odd: F.conv_transpose2d(F.conv2d(x, even)[0], odd, groups=4))
    assert dict(hotdesk.compile(model, (x, even, odd)).foreign) == {"aten.convolution": 1}


class Inverse(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return torch.linalg.inv(x), uncompiled(x)  # here


def test_a_kernel_that_raises() -> None:
    good = spd(3)
    program = hotdesk.compile(Inverse(), (good,))
    for _ in range(2):
        with pytest.raises(ExecutionError, match=r"aten\.linalg_inv_ex.*singular") as caught:
            program(torch.zeros(3, 3))
        assert caught.value.where == line_of(Inverse.forward)
        torch.testing.assert_close(program(good), Inverse()(good), rtol=1e-4, atol=1e-4)


def test_called_by_several_threads() -> None:
    program = hotdesk.compile(Inverse(), (spd(3),))
    wrong: list[int] = []

    def work(seed: int) -> None:
        x = torch.eye(3) * (seed + 2)
        for _ in range(20):
            (got, _) = cast("tuple[Tensor, Tensor]", program(x))
            if not torch.allclose(got, torch.eye(3) / (seed + 2)):
                wrong.append(seed)

    threads = [Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_complex_argument_is_one() -> None:
    x = torch.complex(random(3), random(3))
    program = hotdesk.compile(Call(lambda x: x * 2), (x,))
    with pytest.raises(DtypeError, match="complex64"):
        program(random(3, 2))


def test_forbidden() -> None:
    with pytest.raises(UnsupportedOpError, match="igamma"):
        hotdesk.compile(Call(uncompiled), (random(3),), options=hotdesk.Options(foreign=False))


def test_forbidden_with_a_check_of_its_own() -> None:
    """PyTorch checks what it has inverted by another op, which is no fault of the model's."""
    with pytest.raises(UnsupportedOpError, match=r"`aten.linalg_inv_ex.default`.*own kernel.*`foreign=False` forbids"):
        hotdesk.compile(Call(torch.linalg.inv), (torch.eye(3),), options=hotdesk.Options(foreign=False))


def test_forbidden_to_one_of_several_programs() -> None:
    x = random(3) * 0.1
    entries = {"plain": (Call(torch.exp), (x,)), "calling": (Call(uncompiled), (x,))}
    programs = hotdesk.compile_many(entries)
    assert {name: dict(program.foreign) for name, program in programs.items()} == {
        "plain": {},
        "calling": {"aten.igamma": 1},
    }
    torch.testing.assert_close(programs["calling"](x), uncompiled(x))
    torch.testing.assert_close(programs["plain"](x), torch.exp(x))
    with pytest.raises(UnsupportedOpError, match="igamma"):
        hotdesk.compile_many(entries, options=hotdesk.Options(foreign=False))


@pytest.mark.parametrize("made", [torch.zeros(1), torch.zeros(3, dtype=torch.float64)])
def test_results_that_are_not_as_planned_are_not_stored(made: Tensor) -> None:
    memory = torch.full((3,), 7.0)
    with pytest.raises(RuntimeError, match="was planned"):
        store(made, Lying(memory.data_ptr(), (3,), (1,)), torch.float32)
    assert memory.tolist() == [7.0] * 3
