"""Encoders of text."""

from __future__ import annotations

import torch

from tests.e2e.architectures.architecture import (
    LENGTH,
    SIZES,
    SPECIAL,
    Architecture,
    Inputs,
    ids,
    mask,
    masked_tokens,
    tokens,
)

_TEXT = {**SPECIAL, **SIZES, "max_position_embeddings": 64}


def _boxed() -> Inputs:
    corners = torch.randint(0, 30, (2, LENGTH, 2))
    return {"input_ids": ids(), "bbox": torch.cat([corners, corners + 5], -1), "attention_mask": mask()}


def _characters() -> Inputs:
    return {"input_ids": ids(32), "attention_mask": mask(32)}


def _long() -> Inputs:
    return {"input_ids": ids(16), "attention_mask": mask(16)}


ENCODERS = {
    "albert": Architecture("AlbertModel", {**_TEXT, "embedding_size": 16}, masked_tokens),
    "bert": Architecture("BertModel", _TEXT, masked_tokens),
    "bert_generation": Architecture("BertGenerationEncoder", _TEXT, masked_tokens),
    "big_bird": Architecture("BigBirdModel", {**_TEXT, "attention_type": "original_full"}, masked_tokens),
    "camembert": Architecture("CamembertForMaskedLM", _TEXT, masked_tokens),
    "canine": Architecture(
        "CanineModel",
        {
            **SIZES,
            "max_position_embeddings": 64,
            "num_hash_buckets": 64,
            "local_transformer_stride": 8,
            "downsampling_rate": 4,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
        _characters,
    ),
    "convbert": Architecture("ConvBertModel", {**_TEXT, "embedding_size": 32}, masked_tokens),
    "data2vec_text": Architecture("Data2VecTextModel", _TEXT, masked_tokens),
    "deberta": Architecture(
        "DebertaModel", {**_TEXT, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]}, masked_tokens
    ),
    "deberta_v2": Architecture(
        "DebertaV2Model",
        {
            **_TEXT,
            "relative_attention": True,
            "pos_att_type": ["c2p", "p2c"],
            "position_buckets": 8,
            "share_att_key": True,
            "conv_kernel_size": 3,
        },
        masked_tokens,
    ),
    "distilbert": Architecture(
        "DistilBertModel",
        {**SPECIAL, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": 64},
        masked_tokens,
    ),
    "electra": Architecture("ElectraModel", {**_TEXT, "embedding_size": 16}, masked_tokens),
    "ernie": Architecture("ErnieModel", {**_TEXT, "use_task_id": True, "task_type_vocab_size": 3}, masked_tokens),
    "esm": Architecture("EsmModel", {**_TEXT, "mask_token_id": 3, "position_embedding_type": "rotary"}, masked_tokens),
    "flaubert": Architecture(
        "FlaubertModel", {**SPECIAL, "n_words": 99, "emb_dim": 32, "n_layers": 2, "n_heads": 4}, masked_tokens
    ),
    "fnet": Architecture("FNetModel", _TEXT, tokens),
    "funnel": Architecture(
        "FunnelModel",
        {
            "vocab_size": 99,
            "block_sizes": [1, 1],
            "d_model": 32,
            "n_head": 4,
            "d_head": 8,
            "d_inner": 48,
            "num_decoder_layers": 1,
        },
        masked_tokens,
    ),
    "ibert": Architecture("IBertModel", _TEXT, masked_tokens),
    "layoutlm": Architecture("LayoutLMModel", {**_TEXT, "max_2d_position_embeddings": 64}, _boxed),
    "lilt": Architecture(
        "LiltModel", {**_TEXT, "hidden_size": 48, "max_2d_position_embeddings": 64, "channel_shrink_ratio": 4}, _boxed
    ),
    "longformer": Architecture(
        "LongformerModel",
        {**_TEXT, "attention_window": [8, 8]},
        _long,
        unexported="Could not guard on data-dependent expression",
    ),
    "luke": Architecture("LukeModel", {**_TEXT, "entity_vocab_size": 20, "entity_emb_size": 16}, masked_tokens),
    "megatron_bert": Architecture("MegatronBertModel", _TEXT, masked_tokens),
    "mobilebert": Architecture(
        "MobileBertModel",
        {**_TEXT, "embedding_size": 16, "true_hidden_size": 16, "intra_bottleneck_size": 16},
        masked_tokens,
    ),
    "modernbert": Architecture(
        "ModernBertModel",
        {**_TEXT, "cls_token_id": 1, "sep_token_id": 2, "local_attention": 8, "global_attn_every_n_layers": 2},
        masked_tokens,
    ),
    "mpnet": Architecture("MPNetModel", _TEXT, masked_tokens),
    "mra": Architecture("MraModel", {**_TEXT, "block_per_row": 2}, masked_tokens),
    "nomic_bert": Architecture("NomicBertModel", _TEXT, masked_tokens),
    "nystromformer": Architecture(
        "NystromformerModel", {**_TEXT, "segment_means_seq_len": LENGTH, "num_landmarks": LENGTH}, tokens
    ),
    "rembert": Architecture(
        "RemBertModel", {**_TEXT, "input_embedding_size": 16, "output_embedding_size": 16}, masked_tokens
    ),
    "roberta": Architecture("RobertaModel", _TEXT, masked_tokens),
    "roberta_prelayernorm": Architecture("RobertaPreLayerNormModel", _TEXT, masked_tokens),
    "roc_bert": Architecture(
        "RoCBertModel", {**_TEXT, "pronunciation_vocab_size": 99, "shape_vocab_size": 99}, masked_tokens
    ),
    "roformer": Architecture("RoFormerModel", {**_TEXT, "embedding_size": 16}, masked_tokens),
    "splinter": Architecture("SplinterModel", _TEXT, masked_tokens),
    "squeezebert": Architecture("SqueezeBertModel", {**_TEXT, "embedding_size": 32}, masked_tokens),
    "tapas": Architecture("TapasModel", {**_TEXT, "type_vocab_sizes": [3, 16, 16, 2, 16, 16, 4]}, masked_tokens),
    "xlm": Architecture(
        "XLMModel", {**SPECIAL, "n_words": 99, "emb_dim": 32, "n_layers": 2, "n_heads": 4}, masked_tokens
    ),
    "xlm_roberta": Architecture("XLMRobertaForSequenceClassification", _TEXT, masked_tokens),
    "xlnet": Architecture(
        "XLNetModel",
        {"vocab_size": 99, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48, "use_mems_eval": False},
        masked_tokens,
    ),
    "xmod": Architecture("XmodModel", {**_TEXT, "languages": ["en", "de"], "default_language": "en"}, masked_tokens),
    "yoso": Architecture("YosoModel", {**_TEXT, "use_expectation": True}, masked_tokens),
}
