"""Pipelines of `hotdesk-opt`: made of the flags of passes, written out with all options, and one pass at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hotdesk._bindings import PassManager, ir
from hotdesk.cli.arguments import ALIASES, PassFlag
from hotdesk.errors import OptionError
from hotdesk.ir.context import make_context
from hotdesk.passes.base import Pass
from hotdesk.passes.registry import pass_names
from hotdesk.passes.textual import MODULE, NEST, MLIRPasses, PassPipeline, parse_pipeline, refusal_of, split_steps

_NO_PASS = "does not refer to a registered pass"
_NAME = re.compile(r"[a-z][\w-]+")
_RESTRICTED = re.compile(r"restricted to '([\w.-]+)'")
_DIALECTS = re.compile(r"Available dialects: (.*?)(?: \(\* corresponding|;|$)")


def is_known_to_mlir(name: str) -> bool:
    """Whether MLIR has a pass or a pipeline of that name."""
    return _NAME.fullmatch(name) is not None and _NO_PASS not in (refusal_of(f"any({name})") or "")


def flag_pipeline(flags: Sequence[PassFlag], anchor: str = MODULE) -> PassPipeline:
    """The pipeline that flags make for an op of that name, in their order.

    Raises:
        OptionError: a pass does not take its options, or does not run on such an op or inside it.
    """
    return parse_pipeline(f"{anchor}({','.join(_step(flag, anchor) for flag in flags)})")


def single_passes(pipeline: PassPipeline) -> PassPipeline:
    """The same pipeline with each pass on its own, MLIR's nested as it was: to time passes or to look between them.

    A pipeline that MLIR knows by a name stays whole when one of its passes has no name of its own.
    """
    singles: list[Pass] = []
    with ir.Context():
        for one in pipeline.passes:
            if isinstance(one, MLIRPasses):
                singles.extend(map(MLIRPasses, _singles(one.pipeline, (pipeline.anchor,))))
            else:
                singles.extend(one.expanded())
    return PassPipeline(tuple(singles), pipeline.anchor)


def written_out(pipeline: PassPipeline) -> PassPipeline:
    """The same pipeline with every option of MLIR's passes spelled out, where MLIR reads back what it prints."""
    with ir.Context():
        passes = tuple(_spelled_out(one, pipeline.anchor) for one in pipeline.passes)
    return PassPipeline(passes, pipeline.anchor)


def dialects() -> list[str]:
    """The names of the dialects that can be read, as MLIR lists them for whoever asks for one that it does not know."""
    context = make_context()
    context.allow_unregistered_dialects = False
    try:
        ir.Module.parse("unknown.op", context)
    except ir.MLIRError as error:
        notes = [str(note.message) for one in error.error_diagnostics for note in one.notes]
        listed = next(found[1] for found in map(_DIALECTS.search, notes) if found is not None)
        return [name.removesuffix(" (*)") for name in listed.split(", ")]
    return []


def _step(flag: PassFlag, anchor: str) -> str:
    """A flag as a step; a pass of MLIR's that is restricted to another op is nested in it."""
    name = ALIASES.get(flag.name, flag.name)
    step = f"{name}{{{flag.options}}}" if flag.options else name
    refusal = None if name in pass_names() else refusal_of(f"{anchor}({step})")
    if refusal is None:
        return step
    restricted = _RESTRICTED.search(refusal)
    nested = step if restricted is None else f"{restricted[1]}({step})"
    refusal = refusal_of(f"{anchor}({nested})")
    if refusal is not None:
        raise OptionError(f"pass '{name}': {refusal}")
    return nested


def _spelled_out(one: Pass, anchor: str) -> Pass:
    if not isinstance(one, MLIRPasses):
        return one
    return MLIRPasses(_printed(one.pipeline, (anchor,)) or one.pipeline)


def _printed(steps: str, anchors: tuple[str, ...]) -> str | None:
    """The steps under nested ops as MLIR prints them, if it reads that back."""
    opening, closing = "(".join(anchors) + "(", ")" * len(anchors)
    try:
        text = str(PassManager.parse(f"{opening}{steps}{closing}"))
        PassManager.parse(text)
    except ValueError:
        return None
    return text.removeprefix(opening).removesuffix(closing)


def _singles(steps: str, anchors: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for step in split_steps(steps, steps):
        nest = NEST.fullmatch(step)
        if nest is not None:
            found += [f"{nest[1]}({inner})" for inner in _singles(nest[2], (*anchors, nest[1]))]
            continue
        printed = _printed(step, anchors)
        is_pass = printed is None or printed.partition("{")[0] == step.partition("{")[0].strip()
        found += [step] if is_pass or printed is None else _singles(printed, anchors)
    return found
