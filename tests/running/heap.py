"""Memory that shows what a program does to it: poisoned when made and when freed, between guards, never used again."""

from __future__ import annotations

from dataclasses import dataclass

from tests.guarded import Memory

_ALIGNMENT = 64


@dataclass(frozen=True)
class Traffic:
    """How often something happened, and to how many bytes. What concerns no byte is not counted."""

    count: int = 0
    bytes: int = 0

    def plus(self, size: int) -> Traffic:
        return Traffic(self.count + 1, self.bytes + size) if size else self


class Heap:
    """What a program allocates and frees in one run. Mistakes are kept until `check`, since callbacks cannot raise."""

    def __init__(self, poison: int) -> None:
        self._poison = poison
        self._live: dict[int, Memory] = {}
        self._dead: dict[int, Memory] = {}
        self._mistakes: list[str] = []
        self.frees = 0

    def allocate(self, size: int) -> int:
        memory = Memory(size, _ALIGNMENT, self._poison)
        self._live[memory.address] = memory
        return memory.address

    def free(self, address: int) -> None:
        if address not in self._live:
            self._mistakes.append("freed twice" if address in self._dead else "freed what nobody allocated")
            return
        memory = self._live.pop(address)
        memory.bytes[:] = self._poison
        self._dead[address] = memory
        self.frees += 1

    def holds(self, address: int) -> bool:
        """Whether memory was allocated there and is not freed yet."""
        return address in self._live

    @property
    def live(self) -> int:
        """How many allocations are not freed yet."""
        return len(self._live)

    def check(self) -> None:
        """Fails if memory was freed wrongly, written after it was freed, or written outside."""
        assert not self._mistakes, self._mistakes[0]
        for memory in (*self._live.values(), *self._dead.values()):
            memory.check("allocation")
        for memory in self._dead.values():
            assert (memory.bytes == self._poison).all(), "written after it was freed"
