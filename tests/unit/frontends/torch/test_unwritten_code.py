"""Code of graph modules is written when they are called, and only for the thread that asked for it."""

from __future__ import annotations

import inspect
import threading
from typing import Any, cast

import torch
from torch.fx import Graph, GraphModule

from hotdesk.frontends.torch.unwritten_code import code_put_off


def _adding(number: int) -> Graph:
    graph = Graph()
    graph.output(graph.call_function(torch.add, (graph.placeholder("x"), number)))
    return graph


def _has_code(module: GraphModule) -> bool:
    return hasattr(module, "_code")


def _called(module: GraphModule, value: float) -> float:
    return float(cast(Any, module)(torch.tensor(value)))


def test_code_is_written_at_the_first_call() -> None:
    with code_put_off():
        module = GraphModule(torch.nn.Module(), _adding(1))
        assert not _has_code(module)
        assert _called(module, 2.0) == 3.0
        assert _has_code(module)


def test_code_is_written_at_a_call_afterwards() -> None:
    with code_put_off():
        module = GraphModule(torch.nn.Module(), _adding(1))
    assert not _has_code(module)
    assert _called(module, 2.0) == 3.0


def test_a_graph_that_has_changed_is_what_is_called() -> None:
    module = GraphModule(torch.nn.Module(), _adding(1))
    with code_put_off():
        module.graph = _adding(5)
        assert _called(module, 2.0) == 7.0
        assert _called(module, 3.0) == 8.0


def test_hooks_run_once() -> None:
    ran: list[str] = []

    def note(*_: object) -> None:
        ran.append("hook")

    with code_put_off():
        module = GraphModule(torch.nn.Module(), _adding(1))
        module.register_forward_hook(note)
        _called(module, 2.0)
        _called(module, 2.0)
    assert ran == ["hook", "hook"]


def test_other_threads_and_what_comes_behind_are_as_ever() -> None:
    made: list[GraphModule] = []
    before = cast(Any, GraphModule).recompile
    with code_put_off(), code_put_off():
        thread = threading.Thread(target=lambda: made.append(GraphModule(torch.nn.Module(), _adding(1))))
        thread.start()
        thread.join()
    assert _has_code(made[0])
    assert cast(Any, GraphModule).recompile is before
    assert _has_code(GraphModule(torch.nn.Module(), _adding(1)))


def test_a_module_with_a_signature_of_its_own_shows_it_at_once() -> None:
    """PyTorch reads the names of an exported program's arguments from it, to write checks of their sizes."""

    class Doubled(torch.nn.Module):
        def forward(self, x: torch.Tensor, *, scale: torch.Tensor) -> torch.Tensor:
            return x * scale

    exported = torch.export.export(Doubled(), (torch.ones(3),), {"scale": torch.ones(3)})
    with code_put_off():
        module = exported.module()
        assert list(inspect.signature(cast(Any, module).forward).parameters) == ["x", "scale"]
