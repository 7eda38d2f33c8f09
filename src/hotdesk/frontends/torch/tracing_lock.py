"""The lock under which PyTorch traces. What tracing sets is not of its thread alone: modes, warnings, kernels out of tables.

It is Dynamo's, which holds it while it compiles a graph, for our backend or another. With one of our own besides, a thread that
exports, and traces a subgraph by Dynamo meanwhile, and one that compiles for our backend would wait for one another.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def traced_alone() -> Generator[None]:
    """While it lasts, no other thread compiles by Dynamo, or traces under this lock, and no function loses an argument.

    A user's own `torch.export` takes no lock, nor do backward graphs, which are compiled when gradients are first asked for.
    """
    from torch._dynamo.convert_frame import compile_lock  # loaded by the first trace, not by `import hotdesk`

    from hotdesk.frontends.torch.weighted_l1 import weights_handed_on

    with compile_lock, weights_handed_on():
        yield


__all__ = ["traced_alone"]
