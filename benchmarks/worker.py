"""The child process of one measurement. Started by `measure.py`; answers in JSON lines on what was its standard output.

What libraries print goes to standard error, the parent's log.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from . import material
from .contenders import CONTENDERS, Contender
from .interposer import Counters

LARGE = 1024
SETTLING_CALLS = 8
STEADY_CALLS = 3


def make_material(model: str, directory: Path) -> dict[str, Any]:
    from examples.models import MODELS

    return asdict(material.make(MODELS[model], directory))


def find_modules(contender: Contender) -> list[str]:
    """The modules that are imported once the contender has prepared and run the model, in the order of their import."""
    contender.load()
    contender.prepare()
    contender.run()
    return [name for name in sys.modules if name != "__main__"]


def measure_memory(contender: Contender, modules: list[str]) -> dict[str, Any]:
    """The levels of this process around the contender's stages, and what one steady call takes. All sizes are bytes.

    retained: the level between calls, no result alive, above the level when weights and inputs just existed.
    transient: the peak of one steady call above the level just before it; the results count.
    machinery: what importing the modules left behind, all that preparing and running import. Part of neither.
    """
    counters = Counters(LARGE)
    start = _level(counters)
    for name in modules:
        with suppress(Exception):  # one that exists only once another has done something
            import_module(name)
    machinery = _level(counters) - start
    weights_to_come = contender.load()
    base = _level(counters) + weights_to_come
    contender.prepare()
    prepared = _level(counters)
    level = _settle(contender, counters)
    gc.disable()
    readings = [counters.during(contender.run) for _ in range(STEADY_CALLS)]
    gc.enable()
    return {
        "transient": max(reading.peak for reading in readings),
        "retained": level - base,
        "retained_before_first_call": prepared - base,
        "machinery": machinery,
        "large_allocations": max(reading.large_allocations for reading in readings),
        **contender.steady_details(counters),
        **asdict(material.compare(contender.material, contender.arrays(contender.run()))),
        **contender.details(),
    }


def _settle(contender: Contender, counters: Counters) -> int:
    """Calls until a call leaves the level as it found it: arenas grow at the first calls. Returns the level, in bytes."""
    level = _level(counters)
    for _ in range(SETTLING_CALLS):
        contender.run()
        before, level = level, _level(counters)
        if abs(level - before) < LARGE:
            break
    return level


def _level(counters: Counters) -> int:
    gc.collect()
    return counters.current()


def serve_latency(contender: Contender, replies: TextIO) -> None:
    """Prepares, then runs as many calls as each line of standard input asks for, and answers with their seconds.

    Garbage is collected before the answer, which lets the next contender begin, and among what is new alone: looking through all
    that PyTorch has imported takes the better part of a second, on one of the processors that the others are timed on.
    """
    contender.rehearse()
    contender.load()
    started = time.perf_counter()
    contender.prepare()
    prepared = time.perf_counter()
    contender.run()
    first = time.perf_counter()
    contender.run()
    steady = time.perf_counter()
    _reply(
        replies,
        {"prepare": prepared - started, "first_call": first - prepared, "steady_call": steady - first},
    )
    gc.disable()
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        seconds = [_timed(contender) for _ in range(int(line))]
        gc.collect()
        _reply(replies, {"seconds": seconds})


def _timed(contender: Contender) -> float:
    started = time.perf_counter()
    contender.run()
    return time.perf_counter() - started


def _reply(replies: TextIO, answer: dict[str, Any]) -> None:
    replies.write(json.dumps(answer) + "\n")
    replies.flush()


def own_output() -> TextIO:
    """The pipe to the parent, out of reach of code that prints."""
    pipe = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(pipe, "w")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=("material", "modules", "memory", "latency"))
    parser.add_argument("model")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--contender", choices=tuple(CONTENDERS))
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    replies = own_output()
    try:
        if arguments.task == "material":
            _reply(replies, make_material(arguments.model, arguments.directory))
            return 0
        contender = CONTENDERS[arguments.contender](arguments.model, arguments.directory, arguments.threads)
        modules = arguments.directory / f"{arguments.contender}.modules.json"
        if arguments.task == "modules":
            modules.write_text(json.dumps(find_modules(contender)))
            _reply(replies, {})
        elif arguments.task == "memory":
            _reply(replies, measure_memory(contender, json.loads(modules.read_text())))
        else:
            serve_latency(contender, replies)
    except Exception as error:
        _reply(replies, {"error": f"{type(error).__name__}: {error}"})
        raise
    return 0


if __name__ == "__main__":
    sys.exit(main())
