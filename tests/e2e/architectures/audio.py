"""Models of sound and of series in time."""

from __future__ import annotations

from typing import Any

import torch

from tests.e2e.architectures.architecture import SIZES, SPECIAL, Inputs, ids

_WAVES: dict[str, Any] = {
    **SPECIAL,
    **SIZES,
    "conv_dim": [16, 16, 16],
    "conv_kernel": [8, 3, 3],
    "conv_stride": [4, 2, 2],
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 2,
    "num_feat_extract_layers": 3,
}
_SPEECH: dict[str, Any] = {
    "vocab_size": 99,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
}
_ONCE = {"use_cache": False}


def _whisper() -> Inputs:
    return {"input_features": torch.randn(2, 8, 40), "decoder_input_ids": ids(7)}


def _speech() -> Inputs:
    return {"input_features": torch.randn(2, 40, 8), "decoder_input_ids": ids(7)}


def _series() -> Inputs:
    return {"past_values": torch.randn(2, 32, 3)}


AUDIO = {}
