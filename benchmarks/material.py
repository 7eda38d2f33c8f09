"""What all contenders of one model share, made once and kept in a directory: the module, inputs, eager results,
an ONNX file, sizes.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import nn

    from examples.models import ModelSpec

MODULE, ONNX, REHEARSAL = "module.pt", "model.onnx", "rehearsal.onnx"
INPUTS, REFERENCE, FACTS = "inputs.npz", "reference.npz", "facts.json"

REHEARSAL_MODEL = """
<ir_version: 10, opset_import: ["" : 20]>
rehearsal (float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1, 2, 3, 4}> { z = MatMul(x, w)  y = Relu(z) }
"""


@dataclass(frozen=True, slots=True)
class Facts:
    """Sizes in bytes, the tolerance of the model, and why there is no ONNX file, if there is none."""

    weights: int
    inputs: int
    results: int
    rtol: float
    atol: float
    onnx_error: str | None


@dataclass(frozen=True, slots=True)
class Difference:
    """How far results are from eager ones: the largest absolute difference, and that over the largest eager value."""

    absolute: float
    relative: float
    close: bool


def make(spec: ModelSpec, directory: Path) -> Facts:
    """Builds the model of `spec`, runs it eagerly, exports it; writes all of it to `directory`."""
    import torch
    from torch.utils import _pytree as pytree

    module, inputs = spec.build(), spec.inputs()
    torch.save(module, directory / MODULE)
    with torch.inference_mode():
        results = [leaf.numpy() for leaf in pytree.tree_leaves(module(*inputs)) if isinstance(leaf, torch.Tensor)]
    np.savez(directory / INPUTS, *(value.numpy() for value in inputs))
    np.savez(directory / REFERENCE, *results)
    facts = Facts(
        weights=weight_bytes(module),
        inputs=sum(value.nbytes for value in inputs),
        results=sum(value.nbytes for value in results),
        rtol=spec.rtol,
        atol=spec.atol,
        onnx_error=_export(spec, module, directory),
    )
    (directory / FACTS).write_text(json.dumps(asdict(facts)))
    return facts


def weight_bytes(module: nn.Module) -> int:
    """Bytes of the storages of parameters and buffers; tied weights count once."""
    storages = {
        tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes()
        for tensor in (*module.parameters(), *module.buffers())
    }
    return sum(storages.values())


def _export(spec: ModelSpec, module: nn.Module, directory: Path) -> str | None:
    """Writes the ONNX file, weights inside: a file mapped beside it would hide them from the interposer."""
    import onnx.parser
    import torch

    onnx.save(onnx.parser.parse_model(REHEARSAL_MODEL), directory / REHEARSAL)
    try:
        program = torch.onnx.export(
            module, spec.inputs(), dynamo=True, dynamic_shapes=spec.dynamic_shapes, verbose=False
        )
        assert program is not None
        program.save(directory / ONNX, external_data=False)
    except Exception as error:
        return f"ONNX export: {type(error).__name__}: {error}"
    return None


def read_facts(directory: Path) -> Facts:
    return Facts(**json.loads((directory / FACTS).read_text()))


def read_module(directory: Path) -> nn.Module:
    """The module as `spec.build` made it, but never called in this process: building some models runs them."""
    import torch

    return torch.load(directory / MODULE, weights_only=False)


def read_inputs(directory: Path) -> list[np.ndarray]:
    return _arrays(directory / INPUTS)


def compare(directory: Path, results: list[np.ndarray]) -> Difference:
    """Holds `results` against the eager ones. Raises `ValueError` when their number or shapes differ."""
    expected = _arrays(directory / REFERENCE)
    shapes, wanted = [value.shape for value in results], [value.shape for value in expected]
    if shapes != wanted:
        raise ValueError(f"expected results of shapes {wanted}, got {shapes}")
    facts = read_facts(directory)
    pairs = [(got.astype(np.float64), want.astype(np.float64)) for got, want in zip(results, expected, strict=True)]
    differences = [float(np.abs(got - want).max()) for got, want in pairs]
    scales = [float(np.abs(want).max()) for _, want in pairs]
    return Difference(
        absolute=max(differences),
        relative=max(
            difference / scale if scale else difference for difference, scale in zip(differences, scales, strict=True)
        ),
        close=all(np.allclose(got, want, rtol=facts.rtol, atol=facts.atol) for got, want in pairs),
    )


def _arrays(path: Path) -> list[np.ndarray]:
    with np.load(path) as archive:
        return [archive[name] for name in archive.files]
