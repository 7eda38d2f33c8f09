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


def described() -> Inputs:
    """Images, and texts with a place for each patch of theirs."""
    tokens = ids()
    tokens[:, 1:5] = _IMAGE_TOKEN
    return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "pixel_values": torch.randn(2, 3, 16, 16)}


_IMAGE_TOKEN = 98
_LLAVA: dict[str, Any] = {
    "text_config": {"model_type": "llama", **_TEXT, "num_key_value_heads": 2},
    "vision_config": {"model_type": "clip_vision_model", **_IMAGE},
    "image_token_index": _IMAGE_TOKEN,
}
_VILT: dict[str, Any] = {**_TEXT, **_IMAGE, "max_image_length": -1}

MULTIMODAL = {
    "blip": Architecture("BlipModel", _PAIR, pair),
    "blip_matching": Architecture("BlipForImageTextRetrieval", {**_PAIR, "image_text_hidden_size": 16}, pair),
    "chinese_clip": Architecture("ChineseCLIPModel", _PAIR, pair),
    "clip": Architecture("CLIPModel", _PAIR, pair),
    "llava": Architecture("LlavaForConditionalGeneration", _LLAVA, described, {"use_cache": False}),
    "siglip": Architecture("SiglipModel", {"text_config": _TEXT, "vision_config": _IMAGE}, pair),
    "vilt": Architecture("ViltModel", _VILT, pair, unexported="data-dependent"),
    "git": Architecture("GitForCausalLM", {**_TEXT, "vision_config": _IMAGE}, pair, {"use_cache": False}),
}
