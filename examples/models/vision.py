"""Image classifiers from `transformers`, at their published sizes."""

from __future__ import annotations

import torch
from torch import nn

from .norms import settle_batch_norms
from .spec import ModelSpec, normal
from .wrap import Logits


def _resnet50() -> nn.Module:
    from transformers import ResNetConfig, ResNetForImageClassification

    model = Logits(ResNetForImageClassification(ResNetConfig(num_labels=1000)), "pixel_values")
    return settle_batch_norms(model, torch.randn(2, 3, 224, 224))


def _mobilenetv2() -> nn.Module:
    from transformers import MobileNetV2Config, MobileNetV2ForImageClassification

    # Symmetric padding, as PyTorch ports have it; TensorFlow's would add a pad before each convolution.
    config = MobileNetV2Config(num_labels=1000, tf_padding=False)
    model = Logits(MobileNetV2ForImageClassification(config), "pixel_values")
    return settle_batch_norms(model, torch.randn(2, 3, 224, 224))


def _vit_b16() -> nn.Module:
    from transformers import ViTConfig, ViTForImageClassification

    return Logits(ViTForImageClassification(ViTConfig(num_labels=1000)), "pixel_values")


SPECS = (
    ModelSpec(
        name="resnet50",
        title="ResNet-50, 224 x 224",
        factory=_resnet50,
        sample=normal(3, 224, 224),
    ),
    ModelSpec(
        name="mobilenetv2",
        title="MobileNetV2 1.0, 224 x 224",
        factory=_mobilenetv2,
        sample=normal(3, 224, 224),
    ),
    ModelSpec(
        name="vit_b16",
        title="Vision transformer B/16, 224 x 224",
        factory=_vit_b16,
        sample=normal(3, 224, 224),
    ),
)
