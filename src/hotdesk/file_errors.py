"""What errors say of a file that cannot be read: the nearest name there is, that it is a folder, or why the system refuses."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import cast

from hotdesk.errors import OptionError


def path_of(given: str | os.PathLike[str], what: str) -> str:
    """The name of a file or folder as text. Raises OptionError, about `what`, for anything else."""
    if not isinstance(cast(object, given), (str, os.PathLike)):
        raise OptionError(what, expected="a name or a `pathlib.Path`", got=repr(given))
    return os.fspath(given)


def found_instead(path: str | os.PathLike[str], error: OSError) -> str:
    """What is at a path that an error is about, in a few words: `none of that name; there is 'model.py'`."""
    place = Path(path)
    if isinstance(error, IsADirectoryError):
        return "a folder"
    if not isinstance(error, FileNotFoundError):
        return error.strerror or str(error)
    if not place.parent.is_dir():
        return f"no folder '{place.parent}'"
    near = nearest(place)
    return f"none of that name; there is '{near}'" if near else "none of that name"


def nearest(path: Path) -> str | None:
    """The file beside a path whose name is most like it, if one is; of names that are alike, one with the same ending."""
    try:
        names = sorted(os.listdir(path.parent))
    except OSError:
        return None
    found = get_close_matches(path.name, names, n=3, cutoff=0.7)
    found.sort(key=lambda name: Path(name).suffix != path.suffix)
    return str(path.parent / found[0]) if found else None
