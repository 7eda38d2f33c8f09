"""The search for garbage is put off, and on again whatever happens."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

import hotdesk
from hotdesk._bindings import ir
from hotdesk.ir.context import entered, make_context
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from hotdesk.passes.collecting import collection_made_rare, collection_put_off
from tests.growing_programs import SHAPES


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    was, often = gc.isenabled(), gc.get_threshold()
    gc.enable()
    yield
    (gc.enable if was else gc.disable)()
    gc.set_threshold(*often)


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


def test_rare_until_the_last_thread_is_done() -> None:
    gc.set_threshold(700, 10, 10)
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(collection_made_rare())
        second.enter_context(collection_made_rare())
        assert gc.get_threshold() > (700, 10, 10)
        first.close()
        assert gc.get_threshold() > (700, 10, 10)
        second.close()
        assert gc.get_threshold() == (700, 10, 10)
    with pytest.raises(KeyError), collection_made_rare():
        raise KeyError
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("often", [(0, 10, 10), (50_000, 10, 10)])
def test_whoever_collects_more_rarely_still_does(often: tuple[int, int, int]) -> None:
    gc.set_threshold(*often)
    with collection_made_rare():
        assert gc.get_threshold() == often
    assert gc.get_threshold() == often


def test_what_others_say_meanwhile_stays() -> None:
    gc.set_threshold(700, 10, 10)
    with collection_made_rare():
        gc.set_threshold(0, 10, 10)
    assert gc.get_threshold()[0] == 0
    gc.set_threshold(700, 10, 10)
    with collection_made_rare():
        assert gc.get_threshold()[0] > 700
    assert gc.get_threshold() == (700, 10, 10)


def test_as_often_after_a_compilation_as_before() -> None:
    gc.set_threshold(701, 11, 12)
    hotdesk.compile("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }")
    assert gc.get_threshold() == (701, 11, 12)


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
