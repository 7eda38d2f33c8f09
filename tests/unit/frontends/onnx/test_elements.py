"""Element types of ONNX: the numbers are those of `TensorProto`, whose names say what the types are called here."""

from __future__ import annotations

import pytest

onnx = pytest.importorskip("onnx")

from hotdesk.frontends.onnx.elements import NARROW, PLAIN  # noqa: E402

OTHERS = {
    "f32": "FLOAT",
    "f64": "DOUBLE",
    "bf16": "BFLOAT16",
    "i1": "BOOL",
    "f4E2M1FN": "FLOAT4E2M1",
    "f8E8M0FNU": "FLOAT8E8M0",
}


@pytest.mark.parametrize("element", [*PLAIN, *NARROW])
def test_numbers_are_those_of_onnx(element: int) -> None:
    name = NARROW[element] if element in NARROW else PLAIN[element][0]
    spelled = OTHERS.get(name) or name.replace("f", "FLOAT").replace("u", "UINT").replace("i", "INT")
    assert onnx.TensorProto.DataType.Name(element) == spelled
