"""The parent's side of a measurement: starts the children, asks them, and turns what goes wrong into a message."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .interposer import preloaded
from .material import Facts

ROOT = Path(__file__).resolve().parents[1]
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
CHILD_SECONDS = 900.0
BURST_SECONDS = 0.02
LONGEST_BURST = 50
PAUSE_SECONDS = 0.01
MOST_ROUNDS = 200


class ChildError(RuntimeError):
    """A child reported an error, died or did not answer in time."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds. `median` and `best` are over `calls` steady calls; `prepare` and `first_call` happen once.

    `turns` are medians of bursts, one for each round, so that those of two contenders stand beside each other: they were
    taken within seconds, whatever else the machine was doing.
    """

    median: float
    best: float
    calls: int
    prepare: float
    first_call: float
    turns: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Bench:
    """Where and how children run: the directory of the model's material and logs, and the threads each may use."""

    directory: Path
    threads: int

    def material(self, model: str) -> Facts:
        with self._child("material", model) as child:
            return Facts(**child.answer())

    def memory(self, model: str, contender: str) -> dict[str, Any]:
        """What `worker.measure_memory` found; sizes are bytes. Another child finds out which modules to import first."""
        compiling = {"HOTDESK_CACHE": "code"}  # what stays when a program is compiled, not read from disk
        with self._child("modules", model, contender, compiling) as child:
            child.answer()
        # Python's own allocator keeps what is freed; without it every byte that is counted is in use.
        environment = {**preloaded(), **compiling, "PYTHONMALLOC": "malloc"}
        with self._child("memory", model, contender, environment) as child:
            return child.answer()

    def latencies(
        self, model: str, contenders: list[str], budget: float, rounds: int
    ) -> dict[str, Latency | ChildError]:
        """Median times of calls that take turns in random order, in about `budget` seconds beside the time to prepare.

        No fewer than `rounds`, however long they take. Contenders get ready one after another. A turn is a burst of calls
        at least `BURST_SECONDS` long; in bursts of more than one call the first, which finds the caches full of the
        others' data, is not counted.
        """
        runners: dict[str, _Runner] = {}
        found: dict[str, Latency | ChildError] = {}
        try:
            for contender in contenders:
                try:
                    runners[contender] = _Runner(start(self._command("latency", model, contender), *self._place(model)))
                except ChildError as error:
                    found[contender] = error
            found |= _take_turns(dict(runners), budget, rounds)
        finally:
            for runner in runners.values():
                runner.child.stop()
        return found

    @contextmanager
    def _child(
        self, task: str, model: str, contender: str | None = None, extra: Mapping[str, str] | None = None
    ) -> Generator[Child, None, None]:
        environment, log = self._place(model)
        child = start(self._command(task, model, contender), {**environment, **(extra or {})}, log)
        try:
            yield child
        finally:
            child.stop()

    def _command(self, task: str, model: str, contender: str | None) -> list[str]:
        command = [sys.executable, "-m", "benchmarks.worker", task, model, str(self.directory)]
        if contender:
            command += ["--contender", contender, "--threads", str(self.threads)]
        return command

    def _place(self, model: str) -> tuple[dict[str, str], Path]:
        threads = dict.fromkeys(THREAD_VARIABLES, str(self.threads))
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        return {**os.environ, **threads, "PYTHONPATH": path}, self.directory / f"{model}.log"


class Child:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def answer(self, within: float = CHILD_SECONDS) -> dict[str, Any]:
        """The next line the child writes, in so many seconds. Raises `ChildError`."""
        assert self._process.stdout
        if not select.select([self._process.stdout], [], [], within)[0]:
            raise ChildError(f"no answer within {within:.0f} s")
        line = self._process.stdout.readline()
        if not line:
            raise ChildError(_ending(self._process.wait()))
        reply = json.loads(line)
        if "error" in reply:
            raise ChildError(" ".join(reply["error"].split()))
        return reply

    def ask(self, line: str) -> dict[str, Any]:
        assert self._process.stdin
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise ChildError(_ending(self._process.wait())) from None
        return self.answer()

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


class _Runner:
    """A child that is ready to be timed."""

    def __init__(self, child: Child) -> None:
        self.child = child
        try:
            ready = child.answer()
        except ChildError:
            child.stop()
            raise
        self.prepare: float = ready["prepare"]
        self.first_call: float = ready["first_call"]
        self._quickest: float = ready["steady_call"]
        self.seconds: list[float] = []
        self.turns: list[float] = []

    def turn(self) -> None:
        calls = min(LONGEST_BURST, 1 + int(BURST_SECONDS / self._quickest))
        seconds = self.child.ask(str(calls))["seconds"]
        counted = seconds[1:] or seconds
        self.seconds += counted
        self.turns.append(statistics.median(counted))
        self._quickest = min(self._quickest, *seconds)

    def latency(self) -> Latency:
        return Latency(
            median=statistics.median(self.seconds),
            best=min(self.seconds),
            calls=len(self.seconds),
            prepare=self.prepare,
            first_call=self.first_call,
            turns=tuple(self.turns),
        )


def _take_turns(runners: dict[str, _Runner], budget: float, rounds: int) -> dict[str, Latency | ChildError]:
    found: dict[str, Latency | ChildError] = {}
    dice = random.Random(0)
    started = time.monotonic()
    for turns in range(MOST_ROUNDS):
        if turns >= rounds and time.monotonic() - started > budget:
            break
        for contender in dice.sample(list(runners), len(runners)):
            time.sleep(PAUSE_SECONDS)
            try:
                runners[contender].turn()
            except ChildError as error:
                found[contender] = error
                del runners[contender]
    return found | {contender: runner.latency() for contender, runner in runners.items()}


def start(command: list[str], environment: dict[str, str], log: Path) -> Child:
    with log.open("a") as errors:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    return Child(process)


def _ending(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code} and no answer"
