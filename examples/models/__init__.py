"""The models that the demo, the tests and the benchmarks share. Weights are random; nothing is downloaded."""

from . import dense, speech, text, unet, vision
from .spec import ModelSpec

MODELS: dict[str, ModelSpec] = {
    spec.name: spec for group in (dense, vision, text, speech, unet) for spec in group.SPECS
}

__all__ = ["MODELS", "ModelSpec"]
