"""How tuples are packed and unpacked by two operations of one's own, for `--load-models`."""

from collections.abc import Sequence

from torch_mlir import ir

from hotdesk.ir.building import create
from hotdesk.passes.bufferize.decompositions import TypeDecomposition, register


def types(kind: ir.Type) -> Sequence[ir.Type] | None:
    return [kind.get_type(i) for i in range(kind.num_types)] if isinstance(kind, ir.TupleType) else None


def pack(kind: ir.Type, parts: Sequence[ir.Value], before: ir.Operation) -> ir.Value:
    return create("test.make_tuple", parts, [kind], before=before).results[0]


def unpack(value: ir.Value, before: ir.Operation) -> Sequence[ir.Value]:
    index = ir.IntegerType.get_signless(32)
    return [
        create(
            "test.get_tuple_element", [value], [kind], {"index": ir.IntegerAttr.get(index, i)}, before=before
        ).results[0]
        for i, kind in enumerate(types(value.type) or ())
    ]


register("tuples of test", TypeDecomposition(types, pack, unpack))

MODELS = {}
