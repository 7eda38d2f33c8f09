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
    "bit": Architecture(
        "BitModel",
        {
            "embedding_size": 16,
            "hidden_sizes": [16, 32],
            "depths": [1, 2],
            "num_groups": 4,
            "layer_type": "preactivation",
        },
        image(),
    ),
    "convnext": Architecture("ConvNextModel", {"hidden_sizes": [8, 16], "depths": [1, 2], "num_stages": 2}, image()),
    "deit": Architecture("DeiTModel", _PATCHES, image()),
    "detr": Architecture(
        "DetrForObjectDetection",
        {
            "backbone_config": {
                "model_type": "resnet",
                "embedding_size": 8,
                "hidden_sizes": [8, 16],
                "depths": [1, 1],
                "out_features": ["stage2"],
            },
            "use_timm_backbone": False,
            "use_pretrained_backbone": False,
            "backbone": None,
            "d_model": 32,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 48,
            "decoder_ffn_dim": 48,
            "num_queries": 5,
        },
        image(),
    ),
    "dinov2": Architecture("Dinov2Model", _PATCHES, image()),
    "efficientnet": Architecture(
        "EfficientNetModel",
        {
            "image_size": 32,
            "width_coefficient": 0.25,
            "depth_coefficient": 0.25,
            "hidden_dim": 320,
            "kernel_sizes": [3, 3],
            "in_channels": [32, 16],
            "out_channels": [16, 24],
            "depthwise_padding": [],
            "strides": [1, 2],
            "num_block_repeats": [1, 2],
            "expand_ratios": [1, 6],
        },
        image(),
    ),
    "focalnet": Architecture(
        "FocalNetModel",
        {
            "image_size": 32,
            "patch_size": 4,
            "embed_dim": 16,
            "hidden_sizes": [16, 32],
            "depths": [1, 2],
            "focal_levels": [2, 2],
            "focal_windows": [3, 3],
        },
        image(),
    ),
    "hiera": Architecture(
        "HieraModel",
        {
            "embed_dim": 16,
            "image_size": [32, 32],
            "depths": [1, 1],
            "num_heads": [1, 2],
            "query_stride": [2, 2],
            "num_query_pool": 1,
            "masked_unit_size": [4, 4],
            "masked_unit_attention": [True, False],
            "patch_size": [7, 7],
            "patch_stride": [4, 4],
            "patch_padding": [3, 3],
        },
        image(),
    ),
    "imagegpt": Architecture(
        "ImageGPTModel",
        {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
        lambda: {"input_ids": torch.randint(0, 99, (2, 16))},
        {"use_cache": False},
    ),
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
    "siglip_vision": Architecture("SiglipVisionModel", _PATCHES, image()),
    "swin": Architecture("SwinModel", _WINDOWS, image()),
    "swinv2": Architecture("Swinv2Model", _WINDOWS, image()),
    "timesformer": Architecture("TimesformerModel", {**_PATCHES, "num_frames": 4}, _video),
    "videomae": Architecture("VideoMAEModel", {**_PATCHES, "num_frames": 4, "tubelet_size": 2}, _video),
    "vit": Architecture("ViTModel", _PATCHES, image()),
    "vit_mae": Architecture(
        "ViTMAEForPreTraining",
        {
            **_PATCHES,
            "decoder_hidden_size": 32,
            "decoder_num_hidden_layers": 1,
            "decoder_num_attention_heads": 4,
            "decoder_intermediate_size": 48,
        },
        _masked_image,
    ),
    "yolos": Architecture(
        "YolosForObjectDetection",
        {**_PATCHES, "image_size": [32, 32], "num_detection_tokens": 4, "num_labels": 3},
        image(),
    ),
}
