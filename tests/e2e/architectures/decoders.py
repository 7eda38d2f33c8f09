"""Decoders of text, which attend to what is behind them, and recurrent models."""

from __future__ import annotations

from typing import Any

from tests.e2e.architectures.architecture import SIZES, SPECIAL, VOCABULARY, Architecture, masked_tokens, tokens

_TEXT: dict[str, Any] = {**SPECIAL, **SIZES, "max_position_embeddings": 64}
_GROUPED: dict[str, Any] = {**_TEXT, "num_key_value_heads": 2}
_HEADS: dict[str, Any] = {**_GROUPED, "head_dim": 8}
_EXPERTS: dict[str, Any] = {
    **_HEADS,
    "num_experts": 4,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
}
_LATENT: dict[str, Any] = {
    **_TEXT,
    "num_key_value_heads": 4,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 2,
    "topk_group": 1,
    "n_shared_experts": 1,
    "moe_intermediate_size": 24,
    "first_k_dense_replace": 1,
}
_GPT: dict[str, Any] = {**SPECIAL, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
_SSM: dict[str, Any] = {**SPECIAL, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 8}
_ONCE = {"use_cache": False}


def _decoder(
    model: str, config: dict[str, Any], masked: bool = True, unexported: str | None = None, **more: Any
) -> Architecture:
    return Architecture(model, {**config, **more}, masked_tokens if masked else tokens, _ONCE, unexported)


DECODERS = {
    "apertus": _decoder("ApertusForCausalLM", _GROUPED),
    "arcee": _decoder("ArceeForCausalLM", _HEADS),
    "bamba": _decoder(
        "BambaForCausalLM",
        _GROUPED,
        attn_layer_indices=[1],
        mamba_n_heads=8,
        mamba_d_head="auto",
        mamba_n_groups=1,
        mamba_d_state=8,
        mamba_chunk_size=8,
    ),
    "biogpt": _decoder("BioGptForCausalLM", _TEXT),
    "bitnet": _decoder("BitNetForCausalLM", _GROUPED),
    "bloom": _decoder("BloomForCausalLM", {**SPECIAL, "hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "codegen": _decoder("CodeGenForCausalLM", _GPT, rotary_dim=4, n_ctx=64),
    "cohere": _decoder("CohereForCausalLM", _GROUPED),
    "cohere2": _decoder("Cohere2ForCausalLM", _HEADS, sliding_window=8),
    "ctrl": _decoder(
        "CTRLModel", {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4, "dff": 48, "n_positions": 64}
    ),
    "dbrx": _decoder(
        "DbrxForCausalLM",
        {**SPECIAL, "d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 64},
        unexported="data-dependent",
        attn_config={"kv_n_heads": 2, "clip_qkv": 8, "rope_theta": 10_000.0},
        ffn_config={"hidden_size": 32, "ffn_hidden_size": 24, "moe_num_experts": 4, "moe_top_k": 2},
    ),
    "deepseek_v2": _decoder("DeepseekV2ForCausalLM", _LATENT, topk_method="greedy"),
    "deepseek_v3": _decoder("DeepseekV3ForCausalLM", _LATENT),
    "diffllama": _decoder("DiffLlamaForCausalLM", _GROUPED),
    "dots1": _decoder("Dots1ForCausalLM", {**_LATENT, "head_dim": 8}),
    "ernie4_5": _decoder("Ernie4_5ForCausalLM", _HEADS),
    "exaone4": _decoder("Exaone4ForCausalLM", _GROUPED, sliding_window=8, sliding_window_pattern=2),
    "falcon": _decoder(
        "FalconForCausalLM",
        {**SPECIAL, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_hidden_size": 48},
    ),
    "falcon_alibi": _decoder(
        "FalconForCausalLM",
        {
            **SPECIAL,
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "ffn_hidden_size": 48,
            "alibi": True,
            "new_decoder_architecture": True,
            "num_kv_heads": 2,
        },
    ),
    "falcon_mamba": _decoder("FalconMambaForCausalLM", _SSM, masked=False),
    "gemma": _decoder("GemmaForCausalLM", _HEADS),
    "gemma2": _decoder("Gemma2ForCausalLM", _HEADS, sliding_window=8, query_pre_attn_scalar=8),
    "gemma3": _decoder("Gemma3ForCausalLM", _HEADS, sliding_window=8, query_pre_attn_scalar=8),
    "glm": _decoder("GlmForCausalLM", _HEADS),
    "glm4": _decoder("Glm4ForCausalLM", _HEADS),
    "glm4_moe": _decoder("Glm4MoeForCausalLM", {**_LATENT, "head_dim": 8}),
    "gpt2": _decoder("GPT2LMHeadModel", _GPT),
    "gpt_neo": _decoder(
        "GPTNeoForCausalLM",
        {
            **SPECIAL,
            "hidden_size": 32,
            "num_layers": 2,
            "num_heads": 4,
            "max_position_embeddings": 64,
            "attention_types": [[["global", "local"], 1]],
            "window_size": 4,
        },
    ),
    "gpt_neox": _decoder("GPTNeoXForCausalLM", _TEXT),
    "gpt_oss": _decoder("GptOssForCausalLM", _EXPERTS, sliding_window=8),
    "gptj": _decoder("GPTJForCausalLM", _GPT, rotary_dim=4),
    "granite": _decoder("GraniteForCausalLM", _GROUPED, logits_scaling=2.0, residual_multiplier=0.5),
    "jamba": _decoder(
        "JambaForCausalLM",
        _EXPERTS,
        attn_layer_period=2,
        attn_layer_offset=1,
        expert_layer_period=2,
        expert_layer_offset=1,
        mamba_d_state=8,
        mamba_dt_rank=4,
        use_mamba_kernels=False,
    ),
    "llama": _decoder("LlamaForCausalLM", _GROUPED),
    "mamba": _decoder("MambaForCausalLM", _SSM, masked=False),
    "mamba2": _decoder("Mamba2ForCausalLM", _SSM, masked=False, num_heads=8, head_dim=8, n_groups=2, chunk_size=8),
    "mistral": _decoder("MistralForCausalLM", _GROUPED, sliding_window=8),
    "mixtral": _decoder("MixtralForCausalLM", _EXPERTS),
    "mpt": _decoder("MptForCausalLM", {**SPECIAL, "d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 64}),
    "nemotron": _decoder("NemotronForCausalLM", _HEADS),
    "olmo2": _decoder("Olmo2ForCausalLM", _GROUPED),
    "opt": _decoder("OPTForCausalLM", _TEXT, ffn_dim=48, word_embed_proj_dim=16),
    "persimmon": _decoder("PersimmonForCausalLM", _TEXT),
    "phi": _decoder("PhiForCausalLM", _GROUPED),
    "phi3": _decoder("Phi3ForCausalLM", _GROUPED),
    "qwen2": _decoder("Qwen2ForCausalLM", _GROUPED),
    "qwen2_moe": _decoder("Qwen2MoeForCausalLM", _EXPERTS, shared_expert_intermediate_size=24),
    "qwen3": _decoder("Qwen3ForCausalLM", _HEADS),
    "recurrent_gemma": _decoder(
        "RecurrentGemmaForCausalLM",
        _HEADS,
        lru_width=32,
        attention_window_size=8,
        block_types=["recurrent", "attention"],
    ),
    "rwkv": _decoder(
        "RwkvForCausalLM", {**SPECIAL, "hidden_size": 32, "num_hidden_layers": 2, "attention_hidden_size": 32}, False
    ),
    "stablelm": _decoder("StableLmForCausalLM", _GROUPED),
    "starcoder2": _decoder("Starcoder2ForCausalLM", _GROUPED),
    "xglm": _decoder(
        "XGLMForCausalLM", {**SPECIAL, "d_model": 32, "num_layers": 2, "attention_heads": 4, "ffn_dim": 48}
    ),
}
