"""`hotdesk.Options`: how to compile, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from hotdesk.errors import OptionError
from hotdesk.planning.problem.numbers import parse_bytes
from hotdesk.runtime.program import check_seed


@dataclass(frozen=True, slots=True)
class Options:
    """How to compile.

    Attributes:
        order: `given`, or `peak` to run operations in an order that makes the arena smaller, if one is found; see
            docs/scheduling.md. Takes longer to compile.
        budget: bytes that a call may take at its peak for the arena and its results, as a number or as in `"24 MiB"`; None
            for any number. The cheapest way to fit is looked for; PlanError if none is found. See docs/budget.md.
        foreign: whether the program may call kernels of PyTorch's, or of SciPy's, for ops that have no lowering; without, such a
            model is refused.
            See docs/operators.md.
        seed: where random numbers begin, an integer of 64 bits; `Program.seed` sets it again. See docs/state.md.
        winograd: whether convolutions of 3 by 3 taps may be computed by Winograd's filtering: a quarter of the multiplications,
            some six times the rounding error. See docs/convolutions.md.
        recompute: whether values may be computed late and made again where they are read much later, if that makes the arena
            smaller and the program does at most one part in twenty more; programs of open sizes stay as they are.
            `compile_step` does so unless it is told otherwise. See docs/training.md.
        private_memory: bytes that the peak of the arena may grow by so that threads can share parallel loops whose iterations
            allocate or reduce, as a number or as in `"1 MiB"`; 0 for none, None for any number. Within a budget such loops run
            one iteration after the other. See docs/control-flow.md.
        prepare: bytes of what may be computed from weights once and kept, such as weights in float32 of an integer model, as a
            number or as in `"1 MiB"`; 0 for nothing, None for any number. What has no room is computed in each call, the largest
            first; `memory().prepared` says how much is kept. See docs/how-it-works.md.
        roll_back: whether a call that fails while it runs leaves state and arguments as they were, also where that takes a copy
            of them in each call; without, what a check finds half written stays so. See docs/state.md.
        keep_ir: keep the IR after each stage, for `Program.ir(stage)`; costs time and memory.
    """

    order: str = "given"
    budget: int | str | None = None
    keep_ir: bool = False
    foreign: bool = True
    winograd: bool = True
    recompute: bool = False
    seed: int = 0
    private_memory: int | str | None = "256 KiB"
    prepare: int | str | None = None
    roll_back: bool = True

    @property
    def budget_bytes(self) -> int | None:
        return _bytes("budget", self.budget)

    @property
    def private_bytes(self) -> int | None:
        return _bytes("private_memory", self.private_memory)

    @property
    def prepared_bytes(self) -> int | None:
        return _bytes("prepare", self.prepare)

    def what_is_compiled(self) -> tuple[object, ...]:
        """What of the options decides which program is made: programs are kept on disk under it.

        Not `keep_ir`, since one with its IR is not kept, nor the seed, which is state of a program, and such are not kept.
        """
        sizes = (self.budget_bytes, self.private_bytes, self.prepared_bytes)
        return self.order, self.foreign, self.winograd, self.recompute, self.roll_back, *sizes

    def __post_init__(self) -> None:
        for option, given in (
            ("budget", self.budget),
            ("private_memory", self.private_memory),
            ("prepare", self.prepare),
        ):
            _bytes(option, given)
        check_seed("option 'seed'", self.seed)
        for option in ("keep_ir", "foreign", "winograd", "recompute", "roll_back"):
            check_bool(option, getattr(self, option))
        if not isinstance(cast(object, self.order), str) or self.order not in ("given", "peak"):
            raise OptionError("option 'order'", expected="'given' or 'peak'", got=repr(self.order))


def check_bool(option: str, given: object) -> None:
    """Raises OptionError for what is neither True nor False: nothing else is taken for one of them, such as `"no"` for True."""
    if not isinstance(given, bool):
        raise OptionError(f"option '{option}'", expected="True or False", got=repr(given))


def given_options(options: Options | None) -> Options:
    """Those that are given, or the default. Raises OptionError for anything else."""
    if options is not None and not isinstance(cast(object, options), Options):
        raise OptionError("options", expected="hotdesk.Options(…), or None", got=type(options).__name__)
    return options or Options()


def _bytes(option: str, given: int | str | None) -> int | None:
    try:
        return None if given is None else parse_bytes(given)
    except ValueError as error:
        expected = "bytes such as 25165824 or '24 MiB'"
        raise OptionError(f"option '{option}'", expected=expected, got=repr(given)) from error
