"""What `custom.region_if` and `custom.region_if_yield` do, for `--load-models`."""

from torch_mlir import ir

from hotdesk.models import RESULTS, Facts, Flow, OpModel


def region_if(op: ir.Operation) -> Flow:
    """`then` or `else` runs with the operands, then `join` with what it yields; `join` yields the results."""
    operands, results = range(len(op.operands)), range(len(op.results))
    return Flow(
        entries=tuple((i, region, i) for region in (0, 1) for i in operands),
        exits=(*((region, i, 2, i) for region in (0, 1) for i in operands), *((2, i, RESULTS, i) for i in results)),
        follows=frozenset({(0, 2), (1, 2)}),
    )


MODELS = {
    "custom.region_if": OpModel(lambda op: Facts(), flow=region_if),
    "custom.region_if_yield": OpModel(lambda op: Facts()),
}
