"""The Llama-shaped decoder with a static cache of keys and values: buffers in which each call writes the rows of its tokens."""

from __future__ import annotations

import torch
from torch import nn


class CachedDecoder(nn.Module):
    """`forward(input_ids, position)` reads tokens that follow `position` others, and returns the logits behind the last one.

    `input_ids` is an int64 tensor of sizes (1, tokens), `position` one of no dims; at most `length` tokens fit in the cache. The
    logits are of sizes (1, 1, vocabulary).
    """

    def __init__(self, length: int, *, layers: int = 12, vocabulary: int = 32000, hidden: int = 640) -> None:
        from transformers import LlamaConfig, LlamaForCausalLM
        from transformers.cache_utils import StaticCache

        super().__init__()
        heads = hidden // 64
        config = LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=hidden,
            intermediate_size=hidden * 14 // 5,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            num_key_value_heads=heads // 2,
            max_position_embeddings=length,
        )
        self.model = LlamaForCausalLM(config)
        self.cache = StaticCache(config=config, max_cache_len=length)
        self.cache.early_initialization(1, heads // 2, 64, torch.float32, torch.device("cpu"))
        for number, layer in enumerate(self.cache.layers):
            self.register_buffer(f"keys_{number}", layer.keys, persistent=False)
            self.register_buffer(f"values_{number}", layer.values, persistent=False)

    def forward(self, input_ids: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        for number, layer in enumerate(self.cache.layers):  # the layers are no modules: they are told what they hold
            layer.keys, layer.values = self.get_buffer(f"keys_{number}"), self.get_buffer(f"values_{number}")
            layer.cumulative_length = position.clone()  # on which the layer adds up
        return self.model(input_ids, past_key_values=self.cache, use_cache=True, logits_to_keep=1).logits
