"""What is said of files that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from hotdesk.file_errors import found_instead


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("modle.onnx", "none of that name; there is '{folder}/model.onnx'"),
        ("model.onx", "none of that name; there is '{folder}/model.onnx'"),
        ("model.p", "none of that name; there is '{folder}/model.py'"),
        ("else", "none of that name"),
        ("no/model.py", "no folder '{folder}/no'"),
        ("folder", "a folder"),
    ],
)
def test_what_came(name: str, told: str, tmp_path: Path) -> None:
    for each in ("model.py", "model.onnx"):
        (tmp_path / each).touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="[Dd]irectory") as error:
        (tmp_path / name).read_text()
    assert found_instead(tmp_path / name, error.value) == told.format(folder=tmp_path)
