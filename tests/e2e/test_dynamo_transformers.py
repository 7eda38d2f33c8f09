"""Small random models of transformers by `torch.compile(model, backend="hotdesk")`: one graph each, eager's numbers."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest
import torch

import hotdesk
from hotdesk.torch_compile.backend import backend
from tests.e2e.test_dynamo import assert_same

pytestmark = pytest.mark.slow

TEXT: dict[str, Any] = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


@pytest.fixture(autouse=True)
def without_gradients(fresh_dynamo: None) -> Generator[None]:
    with torch.no_grad():
        yield


def bert() -> Callable[..., Any]:
    from transformers import BertConfig, BertModel

    return BertModel(BertConfig(**TEXT, intermediate_size=37)).eval()


def gpt2() -> Callable[..., Any]:
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64)).eval()
    return lambda ids: model(ids, use_cache=False).logits


def llama() -> Callable[..., Any]:
    from transformers import LlamaConfig, LlamaForCausalLM

    model = LlamaForCausalLM(LlamaConfig(**TEXT, num_key_value_heads=2, intermediate_size=37)).eval()
    return lambda ids: model(ids).logits


def t5() -> Callable[..., Any]:
    from transformers import T5Config, T5Model

    model = T5Model(T5Config(vocab_size=99, d_model=32, d_kv=8, d_ff=37, num_layers=2, num_heads=4)).eval()
    return lambda ids: model(input_ids=ids, decoder_input_ids=ids, use_cache=False).last_hidden_state


def vit() -> Callable[..., Any]:
    from transformers import ViTConfig, ViTModel

    sizes: dict[str, Any] = {"image_size": 32, "patch_size": 8, "intermediate_size": 37}
    return ViTModel(ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, **sizes)).eval()


def resnet() -> Callable[..., Any]:
    from transformers import ResNetConfig, ResNetModel

    return ResNetModel(ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1])).eval()


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("make", [bert, gpt2, llama, t5])
def test_text(make: Callable[[], Callable[..., Any]], dynamic: bool) -> None:
    model = make()
    compiled = torch.compile(model, backend=backend, dynamic=dynamic)
    for length in (9, 12) if dynamic else (9,):
        ids = torch.randint(0, 99, (2, length))
        assert_same(pytree_of(compiled(ids)), pytree_of(model(ids)), 1e-4)
    assert [graph.kind for graph in hotdesk.dynamo_report().graphs] == ["inference"]


@pytest.mark.parametrize("make", [vit, resnet])
def test_images(make: Callable[[], Callable[..., Any]]) -> None:
    model, x = make(), torch.randn(2, 3, 32, 32)
    assert_same(pytree_of(torch.compile(model, backend=backend)(x)), pytree_of(model(x)), 1e-4)
    assert [graph.kind for graph in hotdesk.dynamo_report().graphs] == ["inference"]


def pytree_of(output: Any) -> Any:
    """What a model returns, as plain tuples."""
    return output.to_tuple() if hasattr(output, "to_tuple") else output
