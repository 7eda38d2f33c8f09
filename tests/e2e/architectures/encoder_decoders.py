"""Encoders and decoders of text together."""

from __future__ import annotations

from typing import Any

from tests.e2e.architectures.architecture import SPECIAL, Architecture, Inputs, ids, mask

_ONCE = {"use_cache": False}
_BART: dict[str, Any] = {
    **SPECIAL,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "decoder_start_token_id": 1,
    "forced_eos_token_id": None,
}
_T5: dict[str, Any] = {
    "vocab_size": 99,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_decoder_layers": 2,
    "num_heads": 4,
    "pad_token_id": 0,
    "eos_token_id": 2,
    "decoder_start_token_id": 0,
    "relative_attention_num_buckets": 8,
}


def both() -> Inputs:
    """Ids for the encoder, some of them padding, and for the decoder."""
    return {"input_ids": ids(), "attention_mask": mask(), "decoder_input_ids": ids(7)}


ENCODER_DECODERS = {
    "bart": Architecture("BartModel", _BART, both, _ONCE),
    "blenderbot": Architecture("BlenderbotForConditionalGeneration", _BART, both, _ONCE),
    "led": Architecture(
        "LEDModel",
        {
            **_BART,
            "attention_window": [4, 4],
            "max_encoder_position_embeddings": 64,
            "max_decoder_position_embeddings": 64,
        },
        both,
        _ONCE,
        unexported="Could not guard on data-dependent expression",
    ),
    "longt5": Architecture("LongT5Model", {**_T5, "local_radius": 3}, both, _ONCE),
    "m2m_100": Architecture("M2M100Model", _BART, both, _ONCE),
    "marian": Architecture("MarianModel", {**_BART, "decoder_vocab_size": 99}, both, _ONCE),
    "mbart": Architecture("MBartModel", _BART, both, _ONCE),
    "pegasus": Architecture("PegasusModel", _BART, both, _ONCE),
    "switch_transformers": Architecture(
        "SwitchTransformersModel",
        {
            **_T5,
            "num_experts": 4,
            "num_sparse_encoder_layers": 1,
            "num_sparse_decoder_layers": 1,
            "expert_capacity": 8,
            "router_jitter_noise": 0.0,
        },
        both,
        _ONCE,
        unexported="Couldn't swap Linear.weight",
    ),
    "t5": Architecture("T5ForConditionalGeneration", _T5, both, _ONCE),
}
