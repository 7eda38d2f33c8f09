"""A speech encoder from `transformers`."""

from __future__ import annotations

from torch import nn

from .spec import ModelSpec, normal
from .wrap import LastHiddenState


def _whisper_tiny_encoder() -> nn.Module:
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    config = WhisperConfig(
        d_model=384,
        encoder_layers=4,
        encoder_attention_heads=6,
        encoder_ffn_dim=1536,
        num_mel_bins=80,
        max_source_positions=1500,
    )
    return LastHiddenState(WhisperEncoder(config), "input_features")


SPECS = (
    ModelSpec(
        name="whisper_tiny_encoder",
        title="Whisper tiny, encoder, thirty seconds of mel bins",
        factory=_whisper_tiny_encoder,
        sample=normal(80, 3000),
    ),
)
