"""Where `custom.br` and `custom.cond_br` pass their operands, for `--load-models`."""

from torch_mlir import ir

from hotdesk.models import Facts, OpModel


def passed_on(op: ir.Operation) -> tuple[tuple[int, int, int], ...]:
    """Each operand becomes the argument of the one successor that has its number."""
    return tuple((number, 0, number) for number in range(len(op.operands)))


MODELS = {
    "custom.br": OpModel(lambda op: Facts(), branches=passed_on),
    "custom.cond_br": OpModel(lambda op: Facts(reads=frozenset({0})), branches=lambda op: ()),
}
