"""How commands end: what one raises becomes a line on stderr and exit code 1."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

from hotdesk.errors import HotdeskError


def exit_code(command: str, run: Callable[[], int], *, debug: bool) -> int:
    """The exit code of a command of that name, which `run` gives or, by raising an error, does not."""
    try:
        return run()
    except HotdeskError as error:
        complain(f"error: {error}")
    except UnicodeDecodeError as error:
        complain(f"error: the input is not text in UTF-8: {error}")
    except BrokenPipeError:  # who reads the output has seen enough; nothing is left to flush at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        complain(f"error: {error.filename or 'input or output'}: {error.strerror or error}")
    except Exception as error:
        complain(f"error: internal error in {command}: {type(error).__name__}: {error}")
        complain(
            "Please report it on Hotdesk's issue tracker, with the command and the input; --debug shows the traceback."
        )
    if debug:
        complain(traceback.format_exc())
    return 1


def complain(line: str) -> None:
    """A line on stderr."""
    print(line, file=sys.stderr, flush=True)
