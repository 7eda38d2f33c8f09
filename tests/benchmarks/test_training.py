"""What the page of the steps of training says follows from the figures."""

from __future__ import annotations

import pytest
import torch

from benchmarks.steps.contenders import CONTENDERS, Training, cross_entropy
from benchmarks.training import FROM_ZERO, OF_BAR, Figures, allowed, bars, distance, rows

EAGER = Figures((2.0, 0.5), 1000, 0, 1.0, (0.5, 0.4, 0.6))
OURS = Figures((2.0001, 0.5), 100, 400, 9.0, (0.4, 0.2, 0.6))
HALF = Figures((2.0, 0.5), 50, 200, 9.0, (0.8,))


def verdicts(found: dict[str, Figures | str]) -> dict[str, str]:
    cells = (line.strip("| ").split(" | ") for line in bars(found)[2:])
    return {name: verdict for name, *_, verdict in cells}


def test_bars() -> None:
    found: dict[str, Figures | str] = {"eager": EAGER, "inductor": "died", "hotdesk": OURS, OF_BAR: HALF}
    assert verdicts(found) == {
        "peak over eager's": "holds",
        "peak over inductor's": "not known",
        "half of the bar, peak over it": "holds",
        "half of the bar, time over that without": "**does not hold**",
        "half of the bar, losses": "holds",
        "losses": "holds",
    }
    assert allowed(found) == 600
    assert allowed({**found, "inductor": Figures((), 500, 0, 1.0, ())}) == 400
    assert distance(OURS, EAGER) == pytest.approx(5e-5)
    assert verdicts({**found, "inductor": Figures((), 600, 0, 1.0, ())})["peak over inductor's"] == "**does not hold**"


def test_steps_from_zero_are_compared_with_eager_ones_from_zero() -> None:
    begun = Figures((7.0, 6.0), 1000, 0, 1.0)
    found: dict[str, Figures | str] = {"eager": EAGER, "hotdesk": Figures((2.1, 0.5), 100, 400, 9.0)}
    found |= {f"eager{FROM_ZERO}": begun, f"hotdesk{FROM_ZERO}": Figures((7.0, 6.00006), 100, 400, 9.0)}
    assert verdicts(found)["losses"] == "**does not hold**"
    assert verdicts(found)[f"losses{FROM_ZERO}"] == "holds"
    assert rows(found)[-1].endswith("| 1.0e-05, 2 steps |")


def test_rows() -> None:
    shown = rows({"eager": EAGER, "inductor": "died", "hotdesk": OURS})
    assert shown[2].startswith("| eager | 0.0 | 1.00 | 0.50 | 1.00 | 1 |")
    assert shown[3].startswith("| inductor | died |")
    assert shown[4].endswith("| 0.0 | 0.50 | 0.40 | 0.80 | 9 | 5.0e-05, 2 steps |")


@pytest.mark.parametrize("name", ["eager", "checkpoint", "hotdesk"])
def test_contenders_make_the_same_steps(name: str) -> None:
    losses: list[list[float]] = []
    for contender in ("eager", name):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3 * 8 * 8, 16), torch.nn.GELU(), torch.nn.Linear(16, 5))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for parameter in model.parameters():
            optimizer.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)
        made = CONTENDERS[contender](Small("unet", model, optimizer, torch.float32), None)
        made.prepare()
        losses.append([made.step(*made.trained.example(number)).item() for number in range(3)])
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


class Small(Training):
    def example(self, step: int) -> tuple[torch.Tensor, torch.Tensor]:
        generator = torch.Generator().manual_seed(step)
        return torch.randn(4, 192, generator=generator), torch.randint(5, (4,), generator=generator)


def test_words_and_classes() -> None:
    scores, labels = torch.randn(2, 3, 7), torch.randint(7, (2, 3))
    expected = torch.nn.functional.cross_entropy(scores.transpose(1, 2), labels)
    torch.testing.assert_close(cross_entropy(scores, labels), expected)
