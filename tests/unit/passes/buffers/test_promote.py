"""Options of promotion to the stack; what is moved and promoted, `promote-buffers-to-stack.mlir` shows."""

from __future__ import annotations

import pytest

from hotdesk.errors import OptionError
from hotdesk.passes.buffers.promote import PromoteBuffersToStack


@pytest.mark.parametrize(("size", "rank"), [(-1, 1), (1, -1)])
def test_limits_are_not_negative(size: int, rank: int) -> None:
    with pytest.raises(OptionError, match="0 or more"):
        PromoteBuffersToStack(size, rank)
