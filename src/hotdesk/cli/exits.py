"""How commands end: what one raises becomes a line on stderr and exit code 1, or 2 where the command line makes no sense.

0 is success. 1: something was found, such as a fault or a peak above its limit, or failed, such as a file that is not there or a
model that does not compile. 2: options that are unknown, missing, wrong by themselves, contradict each other, or do not go with
what they are given to. 130, as shells have it: Ctrl-C. Parsers end with 2 by themselves; what they cannot see is a `UsageError`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from hotdesk.errors import HotdeskError, OptionError
from hotdesk.file_errors import found_instead


class UsageError(OptionError):
    """Options that a parser takes and that make no sense together, or with the model that they are given to."""


def exit_code(command: str, run: Callable[[], int], *, debug: bool) -> int:
    """The exit code of a command of that name, which `run` gives or, by raising an error, does not."""
    try:
        with _interrupts() as pressed:
            code = run()
        if pressed:
            raise KeyboardInterrupt
        return code
    except UsageError as error:
        complain(f"error: {error}")
        return 2
    except HotdeskError as error:
        complain(f"error: {error}")
    except UnicodeDecodeError as error:
        complain(f"error: the input is not text in UTF-8: {error}")
    except BrokenPipeError:  # who reads the output has seen enough; nothing is left to flush at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        complain(f"{command}: interrupted")
        return 130
    except OSError as error:
        complain(f"error: {of_the_system(error)}")
    except Exception as error:
        complain(f"error: internal error in {command}: {type(error).__name__}: {error}")
        complain(
            "Please report it on Hotdesk's issue tracker, with the command and the input; --debug shows the traceback."
        )
    if debug:
        complain(traceback.format_exc())
    return 1


def of_the_system(error: OSError) -> str:
    """What a file that cannot be read or written ends with, as a line."""
    if not error.filename:
        return f"input or output: {error.strerror or error}"
    name = os.fsdecode(error.filename)
    if isinstance(error, FileExistsError | NotADirectoryError):
        return f"{name}: expected a folder, got a file"
    return f"{name}: expected a file, got {found_instead(name, error)}"


@contextmanager
def _interrupts() -> Generator[list[int]]:
    """The presses of Ctrl-C inside the `with`. Each raises KeyboardInterrupt, which Python drops in `__del__` and callbacks."""
    pressed: list[int] = []
    own = threading.current_thread() is threading.main_thread()
    if not own or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield pressed
        return

    def handle(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, handle)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def let_interrupts_end() -> None:
    """Lets Ctrl-C end the process at once where it only has to end yet: Python would drop KeyboardInterrupt."""
    with suppress(OSError):
        sys.stdout.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def usage(*options: str) -> Generator[None]:
    """What is refused of these options inside the `with` is a UsageError; of all options where none are named."""
    try:
        yield
    except UsageError:
        raise
    except OptionError as error:
        if options and error.what not in {f"option '{name}'" for name in options}:
            raise
        raise UsageError(
            error.what, expected=error.expected, got=error.got, where=error.where, hint=error.hint
        ) from error


def require_unused(parser: ArgumentParser, given: Namespace, names: Sequence[str], model: str, expected: str) -> None:
    """Raises UsageError for the first of these options that is not as the parser leaves it, since `model` does not take it."""
    for name in names:
        if getattr(given, name) != parser.get_default(name):
            option = f"option '--{name.replace('_', '-')}'"
            raise UsageError(option, expected=expected, got=model)


def complain(line: str) -> None:
    """A line on stderr."""
    print(line, file=sys.stderr, flush=True)
