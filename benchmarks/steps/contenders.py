"""Ways to make one step of training, and the models that are trained.

Each step is the same: forward pass, cross entropy, backward pass, SGD with momentum. Dropout is off, so that all see the same
numbers. Momentum begins as zeros, so that it is there before anything is measured.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from examples.models import MODELS

BATCH = 4
RATE, MOMENTUM = 1e-3, 0.9
PERTURBED = 1e-6

LONG = "gpt2_long"
"""GPT-2 on one sequence of as many words as it takes, where the others have `BATCH` examples."""
LONG_WORDS = 1024

BLOCKS: Mapping[str, str] = {
    "resnet50": "ResNetBottleNeckLayer",
    "vit_b16": "ViTLayer",
    "gpt2": "GPT2Block",
    LONG: "GPT2Block",
}
"""The class of the modules that are checkpointed. Of the U-Net, its double convolutions."""


@dataclass(frozen=True, slots=True)
class Training:
    """A model that is trained, its optimizer, and the examples of the steps."""

    name: str
    model: nn.Module
    optimizer: torch.optim.SGD
    dtype: torch.dtype

    def example(self, step: int) -> tuple[Tensor, Tensor]:
        """What the model takes at a step, and labels: the same for all contenders."""
        generator = torch.Generator().manual_seed(step)
        if self.name == LONG:
            words = torch.randint(50257, (1, LONG_WORDS), generator=generator)
            return words, words.roll(-1, -1)
        (x,) = MODELS[self.name].sample(BATCH, generator)
        classes, shape = _labels(self.name, x)
        return _as(x, self.dtype), torch.randint(classes, shape, generator=generator)


def training(name: str, dtype: torch.dtype, *, rate: float = RATE, from_zero: bool = False) -> Training:
    """A model of `examples.models` in training mode, with an optimizer that has begun.

    `from_zero`: the last batch norm of each residual block has weight 0, so that a block begins as what it adds to (Goyal et al.,
    "Accurate, Large Minibatch SGD", 2017, section 5.1).
    """
    model = MODELS["gpt2" if name == LONG else name].build().train().requires_grad_().to(dtype)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if from_zero and type(module).__name__ == BLOCKS[name]:
            nn.init.zeros_([each for each in module.modules() if isinstance(each, nn.BatchNorm2d)][-1].weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=MOMENTUM)
    for parameter in model.parameters():
        optimizer.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)
    return Training(name, model, optimizer, dtype)


def cross_entropy(scores: Tensor, labels: Tensor) -> Tensor:
    """Of classes in the second dim; of words in the last one."""
    if scores.dim() == 3:
        scores, labels = scores.flatten(0, 1), labels.flatten()
    return nn.functional.cross_entropy(scores, labels)


Step = Callable[[Tensor, Tensor], Tensor]
"""Makes a step on an example; returns the loss before it."""


class Contender:
    """`step` is made by `prepare`; `arena` are the bytes that it keeps between steps for its values."""

    step: Step
    arena: int = 0

    def __init__(self, trained: Training, budget: int | None) -> None:
        self.trained = trained
        self.budget = budget

    def prepare(self) -> None:
        self.step = partial(_eager_step, self.trained, self.model())

    def model(self) -> Callable[..., Tensor]:
        """What stands for the model."""
        return self.trained.model


class Eager(Contender):
    pass


class Perturbed(Contender):
    """Eager PyTorch whose images are larger by one part in a million: how much that changes losses is what rounding may do."""

    def model(self) -> Callable[..., Tensor]:
        def run(x: Tensor) -> Tensor:
            return self.trained.model(x * (1 + PERTURBED) if x.is_floating_point() else x)

        return run


class OneThread(Contender):
    """Eager PyTorch on one thread, which adds up in another order."""

    def prepare(self) -> None:
        torch.set_num_threads(1)
        super().prepare()


class Checkpointed(Contender):
    """Eager PyTorch that keeps only what goes into each block, and computes the block again."""

    def model(self) -> Callable[..., Tensor]:
        from torch.utils.checkpoint import checkpoint

        for module in self._blocks():
            module.forward = partial(checkpoint, module.forward, use_reentrant=False)
        return self.trained.model

    def _blocks(self) -> Sequence[Any]:
        kind = BLOCKS.get(self.trained.name, "Sequential")
        return [each for each in self.trained.model.modules() if type(each).__name__ == kind]


class Inductor(Contender):
    def model(self) -> Callable[..., Tensor]:
        return torch.compile(self.trained.model, dynamic=False)


class Hotdesk(Contender):
    def prepare(self) -> None:
        import hotdesk

        trained = self.trained
        made = hotdesk.compile_step(
            trained.model, cross_entropy, trained.optimizer, trained.example(0), budget=self.budget
        )
        self.step, self.arena = made, made.program.memory().arena


CONTENDERS: Mapping[str, type[Contender]] = {
    "eager": Eager,
    "eager, perturbed": Perturbed,
    "eager, one thread": OneThread,
    "checkpoint": Checkpointed,
    "inductor": Inductor,
    "hotdesk": Hotdesk,
    "hotdesk, half of the bar": Hotdesk,
    "hotdesk, half of its own": Hotdesk,
}


def _eager_step(trained: Training, model: Callable[..., Tensor], x: Tensor, labels: Tensor) -> Tensor:
    loss = cross_entropy(model(x), labels)
    loss.backward()
    trained.optimizer.step()
    trained.optimizer.zero_grad()
    return loss.detach()


def _labels(name: str, x: Tensor) -> tuple[int, tuple[int, ...]]:
    """How many classes there are, and of what shape labels are."""
    if name == "gpt2":
        return 50257, tuple(x.shape)
    return (2, (x.shape[0], *x.shape[2:])) if name == "unet" else (1000, (x.shape[0],))


def _as(x: Tensor, dtype: torch.dtype) -> Tensor:
    return x.to(dtype) if x.is_floating_point() else x
