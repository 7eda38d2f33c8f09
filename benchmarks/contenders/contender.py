"""What a contender is: one way to run one model, in a process of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from benchmarks.interposer import Counters


class Contender(ABC):
    """One way to run one model. The worker calls `rehearse`, `load`, `prepare` once, in this order, then `run` often."""

    name: ClassVar[str]

    def __init__(self, model: str, material: Path, threads: int) -> None:
        self.model = model
        self.material = material
        self.threads = threads

    @abstractmethod
    def rehearse(self) -> None:
        """Imports the libraries and takes a one-layer model through a few calls: what follows is the model's own."""

    @abstractmethod
    def load(self) -> int:
        """Brings in inputs and weights. Returns the bytes of weights that come only with `prepare`."""

    @abstractmethod
    def prepare(self) -> None:
        """Compiles; afterwards the contender holds no copy of the weights that its runs do not need."""

    @abstractmethod
    def run(self) -> Any:
        """One call on the inputs."""

    @abstractmethod
    def arrays(self, results: Any) -> list[np.ndarray]:
        """The results of a call, in order."""

    def details(self) -> dict[str, Any]:
        """What the contender knows about its own memory and time."""
        return {}

    def steady_details(self, counters: Counters) -> dict[str, Any]:
        """What only this contender can be asked to do in a steady call, measured."""
        del counters
        return {}
