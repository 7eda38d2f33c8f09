"""The child process of one contender on one model: losses from the start, the bytes of a step, and times when asked for.

Answers in JSON lines on what was its standard output: losses and bytes, then for each number of steps on standard input their
seconds. Bytes are the interposer's: the highest level during a step above the level between steps, when no gradient is alive,
and the arena that is kept between them.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from typing import Any

from benchmarks.interposer import Counters
from benchmarks.worker import own_output

SETTLING, MEASURED = 2, 1


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("contender")
    parser.add_argument("model")
    parser.add_argument("--losses", type=int, default=SETTLING, help="steps whose losses are told")
    parser.add_argument("--budget", type=int, help="bytes of a step")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--rate", type=float, default=1e-3, help="the learning rate (0.001)")
    parser.add_argument("--from-zero", action="store_true", help="residual blocks begin as what they add to")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    replies = own_output()

    def reply(answer: dict[str, Any]) -> None:
        replies.write(json.dumps(answer) + "\n")
        replies.flush()

    try:
        contender, found = _measured(options)
    except Exception as error:
        reply({"error": f"{type(error).__name__}: {error}"})
        raise
    reply(found)
    example = contender.trained.example(0)
    for line in sys.stdin:
        reply({"seconds": [_timed(contender, example) for _ in range(int(line))]})


def _measured(options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    import torch

    from benchmarks.steps.contenders import CONTENDERS, training

    torch.set_num_threads(options.threads)
    trained = training(options.model, getattr(torch, options.dtype), rate=options.rate, from_zero=options.from_zero)
    contender = CONTENDERS[options.contender](trained, options.budget)
    started = time.perf_counter()
    contender.prepare()
    losses = [contender.step(*trained.example(0)).item()]
    prepared = time.perf_counter() - started
    losses += [contender.step(*trained.example(number)).item() for number in range(1, options.losses)]
    counters, example = Counters(), trained.example(0)
    gc.collect()
    gc.disable()
    peaks = [counters.during(lambda: contender.step(*example)).peak for _ in range(MEASURED)]
    gc.enable()
    return contender, {
        "losses": losses,
        "prepare": prepared,
        "transient": max(peaks),
        "arena": contender.arena,
        "last": _timed(contender, example),
    }


def _timed(contender: Any, example: tuple[Any, ...]) -> float:
    started = time.perf_counter()
    contender.step(*example)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
