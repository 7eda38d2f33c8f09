"""Models of sound and of series in time."""

from __future__ import annotations

from typing import Any

import torch

from tests.e2e.architectures.architecture import SIZES, SPECIAL, Architecture, Inputs, ids, waves

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


AUDIO = {
    "audio_spectrogram_transformer": Architecture(
        "ASTModel",
        {**SIZES, "patch_size": 4, "max_length": 24, "num_mel_bins": 16},
        lambda: {"input_values": torch.randn(2, 24, 16)},
    ),
    "data2vec_audio": Architecture(
        "Data2VecAudioModel", {**_WAVES, "num_conv_pos_embeddings": 5, "conv_pos_kernel_size": 5}, waves(400)
    ),
    "hubert": Architecture("HubertModel", _WAVES, waves(400)),
    "patchtst": Architecture(
        "PatchTSTForPrediction",
        {
            "context_length": 32,
            "patch_length": 8,
            "patch_stride": 8,
            "num_input_channels": 3,
            "d_model": 32,
            "ffn_dim": 48,
            "num_attention_heads": 4,
            "num_hidden_layers": 2,
            "prediction_length": 8,
        },
        _series,
    ),
    "sew": Architecture("SEWModel", {**_WAVES, "squeeze_factor": 2}, waves(400)),
    "speech_to_text": Architecture(
        "Speech2TextModel",
        {
            **_SPEECH,
            "input_feat_per_channel": 8,
            "input_channels": 1,
            "conv_channels": 32,
            "max_source_positions": 40,
            "max_target_positions": 20,
        },
        _speech,
        _ONCE,
    ),
    "unispeech": Architecture("UniSpeechModel", _WAVES, waves(400)),
    "wav2vec2": Architecture("Wav2Vec2Model", _WAVES, waves(400)),
    "wavlm": Architecture("WavLMModel", {**_WAVES, "num_buckets": 16}, waves(400)),
    "whisper": Architecture(
        "WhisperModel",
        {**_SPEECH, "num_mel_bins": 8, "max_source_positions": 20, "max_target_positions": 20},
        _whisper,
        _ONCE,
    ),
}
