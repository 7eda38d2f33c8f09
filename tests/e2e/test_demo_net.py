"""The demo network as another front end lowers it: reshapes by constants, splat constants, a batch that varies."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hotdesk.ir.context import entered
from hotdesk.pipeline import Log, bufferize, optimize_tensors
from tests import reference
from tests.running import Subject, check
from tests.unit.parsing import function, parse

DEMO_NET_LINALG = (Path(__file__).parent.parent / "data" / "demo_net_linalg.mlir").read_text()


def test_demo_net_linalg_allocates_nothing() -> None:
    """All but the product is one loop over the caller's memory, and nothing is prepared."""
    module = parse(DEMO_NET_LINALG)
    log = Log()
    optimize_tensors(module, log)
    bufferize(module, log)
    with entered(module.operation):
        text = str(module)
    assert "memref.alloc" not in text
    assert "@prepare" not in text
    assert "memref.copy" not in text
    assert text.count("linalg.generic") == 1
    assert text.count("memref.global") == 1  # what the product reads


def test_demo_net_linalg_computes_the_same() -> None:
    """Before and after the passes on tensors, for several batches."""
    before, after = parse(DEMO_NET_LINALG), parse(DEMO_NET_LINALG)
    optimize_tensors(after, Log())
    for batch in (1, 3):
        x = np.random.default_rng(batch).integers(-2, 3, (batch, 224)).astype(np.float32)
        with entered(before.operation):
            (wanted,) = reference.run(function(before), [x])
        with entered(after.operation):
            (found,) = reference.run(function(after), [x])
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_demo_net_linalg_one_shot() -> None:
    subject = Subject("one-shot", "builtin.module(hotdesk-reshapes-as-views,hotdesk-one-shot-bufferize)")
    check(DEMO_NET_LINALG, [np.ones((2, 224), np.float32)], subject)
