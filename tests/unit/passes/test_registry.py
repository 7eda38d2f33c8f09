"""Passes by name: Hotdesk's own, those of other packages, and names that do not exist."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from importlib.metadata import EntryPoint

import pytest

import hotdesk.passes
from hotdesk.errors import OptionError, PassError
from hotdesk.passes import registry
from hotdesk.passes.base import Pass
from hotdesk.passes.registry import BUILT_IN, load, pass_names
from hotdesk.passes.textual import MLIRPasses


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch):
    """Makes entry points appear to be installed."""

    def install(**targets: str) -> None:
        points = [EntryPoint(name.replace("_", "-"), target, registry.GROUP) for name, target in targets.items()]
        monkeypatch.setattr(registry, "entry_points", lambda group: points if group == registry.GROUP else [])
        registry._targets.cache_clear()

    yield install
    registry._targets.cache_clear()


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_name_leads_to_the_pass_of_that_name(name: str) -> None:
    assert load(name).name == name


def test_every_pass_is_registered() -> None:
    for module in pkgutil.walk_packages(hotdesk.passes.__path__, "hotdesk.passes."):
        importlib.import_module(module.name)
    assert {found.name for found in _passes(Pass)} - {MLIRPasses.name} == set(BUILT_IN)


def _passes(base: type[Pass]) -> Iterator[type[Pass]]:
    """Hotdesk's classes of passes that have a name; one that passes are derived from has none."""
    for found in base.__subclasses__():
        if found.__module__.startswith("hotdesk."):
            yield from (found,) if hasattr(found, "name") else ()
            yield from _passes(found)


def test_passes_of_other_packages(others) -> None:
    others(my_pass="hotdesk.passes.tensor.prepare:SplitPrepare", another="nowhere:Nothing")
    assert pass_names() == (*BUILT_IN, "another", "my-pass")
    assert load("my-pass").__name__ == "SplitPrepare"


def test_other_packages_do_not_replace_ours(others) -> None:
    others(hotdesk_split_prepare="nowhere:Nothing")
    assert load("hotdesk-split-prepare").__name__ == "SplitPrepare"


@pytest.mark.parametrize("target", ["nowhere.at.all:Nothing", "hotdesk.errors:Nothing", "hotdesk.errors:HotdeskError"])
def test_an_entry_point_that_leads_to_no_pass(others, target: str) -> None:
    others(broken=target)
    with pytest.raises(PassError, match=f"pass 'broken'.*{target}"):
        load("broken")


def test_an_unknown_name_gets_close_matches() -> None:
    with pytest.raises(OptionError, match="Did you mean hotdesk-one-shot-bufferize"):
        load("hotdesk-oneshot-bufferize")
    with pytest.raises(OptionError, match="--list-passes"):
        load("xyzzy")
