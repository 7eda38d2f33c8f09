"""The search for garbage is put off, and on again whatever happens."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from hotdesk._bindings import ir
from hotdesk.ir.context import entered, make_context
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from hotdesk.passes.collecting import collection_put_off
from tests.growing_programs import SHAPES


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    was = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if was else gc.disable)()


def test_within() -> None:
    with collection_put_off():
        assert not gc.isenabled()
        with collection_put_off():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_after_an_error() -> None:
    with pytest.raises(KeyError), collection_put_off():
        raise KeyError
    assert gc.isenabled()


def test_whoever_collects_nothing_still_does_not() -> None:
    gc.disable()
    with collection_put_off():
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_what_deallocation_makes_is_no_garbage() -> None:
    """Reference counts free the records, so that nothing waits for the search that was put off."""
    module = ir.Module.parse(SHAPES["yielded"](200), make_context())
    with entered(module.operation):
        DeallocateAfterLastUse().run(ir.Module.parse(SHAPES["yielded"](2)))  # models are looked up
        while gc.collect():  # what is freed may leave more behind, such as other tests' contexts
            pass
        gc.disable()
        DeallocateAfterLastUse().run(module)
        assert gc.collect() < 50
