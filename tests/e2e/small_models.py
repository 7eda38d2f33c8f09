"""The families of the example models with few and narrow layers: the same ops, in a second or two under the memory checker."""

from __future__ import annotations

import torch
from torch import nn

from examples.models.norms import settle_batch_norms
from examples.models.spec import ModelSpec, normal, token_ids
from examples.models.unet import UNet
from examples.models.wrap import LastHiddenState, Logits

_VOCABULARY, _LENGTH = 50, 8


def _resnet() -> nn.Module:
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(embedding_size=8, hidden_sizes=[16, 16], depths=[1, 1], num_labels=10)
    return settle_batch_norms(Logits(ResNetForImageClassification(config), "pixel_values"), torch.randn(2, 3, 32, 32))


def _vit() -> nn.Module:
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        image_size=16,
        patch_size=4,
        num_labels=10,
    )
    return Logits(ViTForImageClassification(config), "pixel_values")


def _bert() -> nn.Module:
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=_VOCABULARY, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    return LastHiddenState(BertModel(config, add_pooling_layer=False), "input_ids", "attention_mask")


def _masked(batch: int, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Ids, and a mask that hides the last one."""
    mask = torch.ones(batch, _LENGTH, dtype=torch.int64)
    mask[:, -1] = 0
    return (*token_ids(_LENGTH, _VOCABULARY)(batch, generator), mask)


def _gpt2() -> nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=_VOCABULARY, n_positions=16, n_embd=16, n_layer=2, n_head=2)
    return Logits(GPT2LMHeadModel(config), "input_ids", use_cache=False)


def _llama() -> nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=_VOCABULARY,
        hidden_size=16,
        intermediate_size=40,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=16,
    )
    return Logits(LlamaForCausalLM(config), "input_ids", use_cache=False)


def _whisper() -> nn.Module:
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    config = WhisperConfig(
        d_model=16,
        encoder_layers=2,
        encoder_attention_heads=2,
        encoder_ffn_dim=32,
        num_mel_bins=8,
        max_source_positions=12,
    )
    return LastHiddenState(WhisperEncoder(config), "input_features")


def _unet() -> nn.Module:
    return settle_batch_norms(UNet(base=4, levels=2), torch.randn(1, 3, 16, 16))


SMALL_MODELS = {
    spec.name: spec
    for spec in (
        ModelSpec("resnet50", "two stages of bottlenecks", _resnet, normal(3, 32, 32)),
        ModelSpec("vit_b16", "sixteen patches, two layers", _vit, normal(3, 16, 16)),
        ModelSpec("bert_base", "eight tokens, two layers", _bert, _masked, batch=2),
        ModelSpec("gpt2", "eight tokens, two layers", _gpt2, token_ids(_LENGTH, _VOCABULARY), batch=2),
        ModelSpec("llama", "eight tokens, two layers", _llama, token_ids(_LENGTH, _VOCABULARY), batch=2),
        ModelSpec("whisper_tiny_encoder", "24 frames, two layers", _whisper, normal(8, 24)),
        ModelSpec("unet", "two levels", _unet, normal(3, 16, 16)),
    )
}
"""By the name of the example model that is like it."""
