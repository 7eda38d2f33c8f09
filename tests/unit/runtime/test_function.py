"""What a function that runs holds of the system."""

from __future__ import annotations

import os

import pytest

from hotdesk.runtime.function import DynamicRegion


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_with_regions_can_fork() -> None:
    """Their addresses, as many as the machine has memory each, are no memory that a child would need."""
    regions = [DynamicRegion() for _ in range(4)]
    child = os.fork()
    if not child:
        os._exit(len(regions))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
