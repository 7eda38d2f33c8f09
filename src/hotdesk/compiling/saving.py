"""What there is to save of a program, for `saved/`, which is imported when something is saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hotdesk.compiling.linked_program import LinkedProgram
from hotdesk.runtime.function import Function


@dataclass(frozen=True, slots=True)
class Saving:
    """What there is to save: implements `runtime.interface.Saver`.

    Attributes:
        made: the program, lowered.
        main, prepare: its functions with their plans.
        changing: the arguments, by number, that calls change.
        prepared: address and bytes of what `@prepare` has made.
    """

    made: LinkedProgram
    main: Function
    prepare: Function | None
    changing: frozenset[int]
    prepared: tuple[tuple[int, int], ...]

    def save(self, path: str, weights: str, cpu: Sequence[str]) -> None:
        """As `Program.save`."""
        from hotdesk.saved.file import save

        save(self, path, weights, cpu)

    def export_c(self, folder: str, target: str, name: str) -> tuple[Path, ...]:
        """As `Program.export_c`."""
        from hotdesk.saved.export_c import export_c

        return export_c(self, folder, target, name)
