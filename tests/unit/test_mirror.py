"""tests/unit mirrors src/hotdesk: what a module does is tested in the same folder, by files that begin with the module's name.

`analysis/memrefs/aliasing.py` is tested by `analysis/memrefs/test_aliasing.py` or `test_aliasing_slices.py`; a package as a whole
by files with the package's name, such as `passes/buffers/test_buffers_growth.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

_TESTS = Path(__file__).parent
_SOURCE = _TESTS.parents[1] / "src" / "hotdesk"
_OF_THE_WHOLE = {"test_architecture.py", "test_floors.py", "test_mirror.py"}
"""Tests of the source code itself."""


def test_every_folder_is_there_in_src() -> None:
    folders = {path.parent.relative_to(_TESTS) for path in _TESTS.rglob("*.py")}
    assert [str(folder) for folder in sorted(folders) if not (_SOURCE / folder).is_dir()] == []


def test_every_file_is_named_after_a_module() -> None:
    files = (path.relative_to(_TESTS) for path in sorted(_TESTS.rglob("test_*.py")))
    assert list(_astray(path for path in files if str(path) not in _OF_THE_WHOLE)) == []


def test_files_of_no_module_are_found() -> None:
    files = [
        "test_pipeline_x.py",
        "test_nothing.py",
        "ir/test_context.py",
        "ir/test_ir.py",
        "ir/test_contexts.py",
        "ir/test_pipeline.py",
    ]
    assert list(_astray(map(Path, files))) == ["test_nothing.py", "ir/test_contexts.py", "ir/test_pipeline.py"]


def _astray(files: Iterable[Path]) -> Iterator[str]:
    """Those whose name begins with that of no module or package of their folder, nor with that of the folder itself."""
    for file in files:
        subject = file.stem.removeprefix("test_")
        names = {path.stem for path in (_SOURCE / file.parent).iterdir()} | {file.parent.name}
        if not any(subject == name or subject.startswith(f"{name}_") for name in names - {""}):
            yield str(file)
