"""Models of text and images together."""

from __future__ import annotations

from typing import Any

import torch

from tests.e2e.architectures.architecture import SIZES, SPECIAL, Architecture, Inputs, ids, mask

_TEXT: dict[str, Any] = {**SPECIAL, **SIZES, "max_position_embeddings": 64}
_IMAGE: dict[str, Any] = {**SIZES, "image_size": 16, "patch_size": 8}
_PAIR: dict[str, Any] = {"text_config": _TEXT, "vision_config": _IMAGE, "projection_dim": 16}


def pair() -> Inputs:
    """Texts and images."""
    return {"input_ids": ids(), "attention_mask": mask(), "pixel_values": torch.randn(2, 3, 16, 16)}


MULTIMODAL = {
    "chinese_clip": Architecture("ChineseCLIPModel", _PAIR, pair),
    "clip": Architecture("CLIPModel", _PAIR, pair),
    "git": Architecture("GitForCausalLM", {**_TEXT, "vision_config": _IMAGE}, pair, {"use_cache": False}),
}
