"""Language models from `transformers`: an encoder, and two decoders run over a whole prompt without a cache."""

from __future__ import annotations

import torch
from torch import nn

from .spec import ModelSpec, token_ids
from .wrap import LastHiddenState, Logits

BERT_VOCABULARY, BERT_LENGTH = 30522, 128
GPT2_VOCABULARY, GPT2_LENGTH = 50257, 128
LLAMA_VOCABULARY, LLAMA_LENGTH = 32000, 256


def _bert_base() -> nn.Module:
    from transformers import BertConfig, BertModel

    model = BertModel(BertConfig(vocab_size=BERT_VOCABULARY), add_pooling_layer=False)
    return LastHiddenState(model, "input_ids", "attention_mask")


def _bert_inputs(batch: int, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Ids, and a mask that hides the last eighth: the padding of a short sentence."""
    ids = torch.randint(BERT_VOCABULARY, (batch, BERT_LENGTH), generator=generator)
    mask = torch.ones(batch, BERT_LENGTH, dtype=torch.int64)
    mask[:, -BERT_LENGTH // 8 :] = 0
    return ids, mask


def _gpt2() -> nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    return Logits(GPT2LMHeadModel(GPT2Config(vocab_size=GPT2_VOCABULARY)), "input_ids", use_cache=False)


def _llama() -> nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=LLAMA_VOCABULARY,
        hidden_size=640,
        intermediate_size=1792,
        num_hidden_layers=12,
        num_attention_heads=10,
        num_key_value_heads=5,
        max_position_embeddings=2048,
    )
    return Logits(LlamaForCausalLM(config), "input_ids", use_cache=False)


SPECS = (
    ModelSpec(
        name="bert_base",
        title="BERT base, 128 tokens, the last sixteen masked",
        factory=_bert_base,
        sample=_bert_inputs,
    ),
    ModelSpec(
        name="gpt2",
        title="GPT-2 small, 128 tokens",
        factory=_gpt2,
        sample=token_ids(GPT2_LENGTH, GPT2_VOCABULARY),
    ),
    ModelSpec(
        name="llama",
        title="Llama shape, 96 M parameters, grouped-query attention, 256 tokens",
        factory=_llama,
        sample=token_ids(LLAMA_LENGTH, LLAMA_VOCABULARY),
    ),
)
