"""The modules that are compared: captured models, models of growing depth, and generated programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.bufferization import generated
from benchmarks.bufferization.sides import RESULT_SHAPES
from hotdesk._bindings import ir
from hotdesk.ir.context import entered, run_mlir_passes
from hotdesk.ir.walking import main_function

if TYPE_CHECKING:
    from hotdesk.frontends.captured import Captured

_FUSE = "func.func(linalg-fuse-elementwise-ops),canonicalize,cse"
_SAME_MODULE = ("mlir", "one-shot")


@dataclass(frozen=True, slots=True)
class Program:
    """A module as text, and the sides that take it. `symbols` are the values of its symbolic sizes."""

    variant: str
    text: str
    sides: tuple[str, ...]
    symbols: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Case:
    """A module and its variants, made when they are asked for.

    Attributes:
        group: `models`, `depth` or `generated`.
        family, size: what it grows with, for the cases that are one program at several sizes.
    """

    name: str
    group: str
    programs: Callable[[], Iterator[Program]]
    family: str = ""
    size: int = 0


def cases() -> tuple[Case, ...]:
    """All of them, in the order of the page. Nothing is built or captured yet."""
    return (*_example_models(), encoder_case(), *_deep_models(), *_generated())


# Models


def _example_models() -> Iterator[Case]:
    from examples.models import MODELS

    for spec in MODELS.values():
        batch = {"batch": spec.batch}
        yield Case(spec.name, "models", _captured(spec.build, spec.inputs, spec.dynamic_shapes, batch, fused=True))


def encoder_case() -> Case:
    """`nn.TransformerEncoder` of four layers, width 256."""
    sample = _normal(2, 64, 256)
    return Case("transformer_encoder", "models", _captured(lambda: encoder(4, 256, 4, 1024), sample, fused=True))


def gpt2_case() -> Case:
    """GPT-2 small on 64 tokens."""
    from examples.models import MODELS

    return Case("gpt2, 64 tokens", "models", _captured(MODELS["gpt2"].build, _tokens(50257, 1, 64), fused=True))


def _deep_models() -> Iterator[Case]:
    for layers in (12, 24, 48):
        build = _deferred(encoder, layers, 64, 2, 128)
        yield Case(
            f"encoder, {layers} layers", "depth", _captured(build, _normal(2, 16, 64)), "TransformerEncoder", layers
        )
    for layers in (12, 24, 48):
        build = _deferred(gpt2, layers, 64, 2, 512)
        yield Case(f"GPT-2, {layers} layers", "depth", _captured(build, _tokens(512, 1, 16)), "GPT-2", layers)


def encoder(layers: int, width: int, heads: int, hidden: int) -> Any:
    """`nn.TransformerEncoder`, batch first."""
    import torch

    layer = torch.nn.TransformerEncoderLayer(width, heads, hidden, batch_first=True)
    return torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).eval().requires_grad_(False)


def gpt2(layers: int, width: int, heads: int, vocabulary: int) -> Any:
    """GPT-2 with a language-model head, without a cache."""
    from transformers import GPT2Config, GPT2LMHeadModel

    from examples.models.wrap import Logits

    ends: dict[str, Any] = {"bos_token_id": 0, "eos_token_id": 0}
    config = GPT2Config(vocab_size=vocabulary, n_positions=64, n_embd=width, n_layer=layers, n_head=heads, **ends)
    return Logits(GPT2LMHeadModel(config), "input_ids", use_cache=False).eval().requires_grad_(False)


def _deferred(build: Callable[..., Any], *arguments: int) -> Callable[[], Any]:
    return lambda: build(*arguments)


def _normal(*shape: int) -> Callable[[], tuple[Any, ...]]:
    def sample() -> tuple[Any, ...]:
        import torch

        return (torch.zeros(shape),)

    return sample


def _tokens(vocabulary: int, *shape: int) -> Callable[[], tuple[Any, ...]]:
    def sample() -> tuple[Any, ...]:
        import torch

        return (torch.randint(vocabulary, shape),)

    return sample


def _captured(
    build: Callable[[], Any],
    inputs: Callable[[], tuple[Any, ...]],
    dynamic_shapes: Any = None,
    symbols: Mapping[str, int] | None = None,
    fused: bool = False,
) -> Callable[[], Iterator[Program]]:
    def programs() -> Iterator[Program]:
        from hotdesk.frontends.torch.export import capture

        captured = capture(build(), inputs(), dynamic_shapes=dynamic_shapes)
        known = _symbols(captured, symbols or {})
        annotate(captured)
        yield Program("unfused", str(captured.module), (*_SAME_MODULE, "pipeline"), known)
        if fused:
            run_mlir_passes(captured.module, _FUSE)
            yield Program("fused", str(captured.module), _SAME_MODULE, known)

    return programs


def _symbols(captured: Captured, named: Mapping[str, int]) -> Mapping[str, int]:
    """Values for the symbols that capture made: there is one if any, and one value for it."""
    return dict.fromkeys(captured.constraints, next(iter(named.values()), 1))


def annotate(captured: Captured) -> None:
    """Says of each argument what it is, and its sizes; of all of them, that they are only read; and the results' sizes."""
    from hotdesk.frontends.captured import Weight

    main = main_function(captured.module)
    with entered(captured.module.operation):
        entries: list[ir.Attribute] = []
        for argument in captured.arguments:
            spec = argument.spec if isinstance(argument, Weight) else argument
            entry: dict[str, ir.Attribute] = {
                "hotdesk.kind": ir.StringAttr.get("weight" if isinstance(argument, Weight) else "input"),
                "bufferization.writable": ir.BoolAttr.get(False),
            }
            if any(not isinstance(size, int) for size in spec.shape):
                entry["hotdesk.shape"] = _strings(spec.shape)
            entries.append(ir.DictAttr.get(entry))
        main.attributes["arg_attrs"] = ir.ArrayAttr.get(entries)
        main.attributes[RESULT_SHAPES] = ir.ArrayAttr.get([_strings(result.shape) for result in captured.results])


def _strings(sizes: tuple[object, ...]) -> ir.Attribute:
    return ir.ArrayAttr.get([ir.StringAttr.get(str(size)) for size in sizes])


# Generated programs

_FAMILIES: tuple[tuple[str, Callable[[int], str], tuple[int, ...]], ...] = (
    ("elementwise ops, one shared tensor.empty", generated.shared_empty, (250, 1000)),
    ("elementwise ops, a tensor.empty each", generated.own_empties, (1000,)),
    ("insert_slice of argument rows", generated.insert_chain, (64, 256, 512)),
    ("insert_slice of computed rows", generated.computed_insert_chain, (64, 256)),
    ("extract, fill, insert in a loop", generated.loop_of_insertions, (32, 64, 128)),
    ("straight-line ops", generated.straight_line, (1_000, 10_000, 100_000)),
)


def _generated() -> Iterator[Case]:
    for family, make, sizes in _FAMILIES:
        for size in sizes:
            yield Case(f"{size:,} {family}", "generated", _text(make, size), family, size)


def _text(make: Callable[[int], str], size: int) -> Callable[[], Iterator[Program]]:
    return lambda: iter((Program("as generated", make(size), _SAME_MODULE),))
