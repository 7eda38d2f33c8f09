"""Models of images."""

from __future__ import annotations

from typing import Any

import torch

from tests.e2e.architectures.architecture import SIZES, Architecture, Inputs, image

_PATCHES: dict[str, Any] = {**SIZES, "image_size": 32, "patch_size": 8}
_WINDOWS: dict[str, Any] = {
    "image_size": 32,
    "patch_size": 4,
    "embed_dim": 16,
    "depths": [2, 2],
    "num_heads": [2, 4],
    "window_size": 4,
}


def _masked_image() -> Inputs:
    return {"pixel_values": torch.randn(2, 3, 32, 32), "noise": torch.rand(2, 16)}


def _video() -> Inputs:
    return {"pixel_values": torch.randn(2, 4, 3, 32, 32)}


VISION = {
    "beit": Architecture("BeitModel", {**_PATCHES, "use_relative_position_bias": True}, image()),
    "convnext": Architecture("ConvNextModel", {"hidden_sizes": [8, 16], "depths": [1, 2], "num_stages": 2}, image()),
    "deit": Architecture("DeiTModel", _PATCHES, image()),
    "dinov2": Architecture("Dinov2Model", _PATCHES, image()),
    "levit": Architecture(
        "LevitModel",
        {
            "image_size": 64,
            "hidden_sizes": [16, 32, 32],
            "num_attention_heads": [2, 2, 4],
            "depths": [1, 1, 1],
            "key_dim": [8, 8, 8],
            "mlp_ratio": [2, 2, 2],
            "attention_ratio": [2, 2, 2],
        },
        image(64),
    ),
    "mobilenet_v2": Architecture("MobileNetV2Model", {"depth_multiplier": 0.25, "image_size": 32}, image()),
    "mobilevit": Architecture(
        "MobileViTModel",
        {
            "image_size": 32,
            "hidden_sizes": [16, 16, 32],
            "neck_hidden_sizes": [8, 8, 8, 16, 16, 16, 32],
            "num_attention_heads": 4,
        },
        image(64),
    ),
    "poolformer": Architecture(
        "PoolFormerModel",
        {
            "hidden_sizes": [8, 16],
            "depths": [1, 2],
            "num_encoder_blocks": 2,
            "patch_sizes": [7, 3],
            "strides": [4, 2],
            "padding": [2, 1],
        },
        image(),
    ),
    "pvt": Architecture(
        "PvtModel",
        {
            "image_size": 64,
            "hidden_sizes": [8, 16, 16, 32],
            "depths": [1, 1, 1, 1],
            "num_attention_heads": [1, 2, 2, 4],
            "mlp_ratios": [2, 2, 2, 2],
        },
        image(64),
    ),
    "regnet": Architecture(
        "RegNetModel", {"embedding_size": 8, "hidden_sizes": [16, 32], "depths": [1, 2], "groups_width": 8}, image()
    ),
    "resnet": Architecture("ResNetModel", {"embedding_size": 8, "hidden_sizes": [16, 32], "depths": [1, 2]}, image()),
    "segformer": Architecture(
        "SegformerForSemanticSegmentation",
        {
            "hidden_sizes": [8, 16, 16, 32],
            "depths": [1, 1, 1, 1],
            "num_attention_heads": [1, 2, 2, 4],
            "decoder_hidden_size": 16,
            "num_labels": 4,
        },
        image(64),
    ),
    "swin": Architecture("SwinModel", _WINDOWS, image()),
    "swinv2": Architecture("Swinv2Model", _WINDOWS, image()),
    "vit": Architecture("ViTModel", _PATCHES, image()),
}
