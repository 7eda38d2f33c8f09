"""Pipelines of the command line: from flags, pass by pass, and with all options of MLIR's passes written out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from hotdesk._bindings import PassManager, ir
from hotdesk.errors import OptionError
from hotdesk.ir.context import is_known_dialect, make_context
from hotdesk.passes.base import Pass
from hotdesk.passes.registry import pass_names
from hotdesk.passes.textual import MODULE, NEST, MLIRPasses, PassPipeline, parse_pipeline, refusal_of, split_steps

_NO_PASS = "does not refer to a registered pass"
_NAME = re.compile(r"[a-z][\w-]+")
_RESTRICTED = re.compile(r"restricted to '([\w.-]+)'")

ALIASES = {"hotdesk-test-inplace": "hotdesk-annotate-in-place"}


@dataclass(frozen=True, slots=True)
class PassFlag:
    """A pass on the command line, with the text of its options."""

    name: str
    options: str = ""


def single_passes(pipeline: PassPipeline) -> PassPipeline:
    """The same pipeline with each pass of MLIR's on its own, nested as it was: to time passes or to look between them.

    A pipeline that MLIR knows by a name stays whole when one of its passes has no name of its own.
    """
    singles: list[Pass] = []
    with ir.Context():
        for one in pipeline.passes:
            if isinstance(one, MLIRPasses):
                singles.extend(map(MLIRPasses, _singles(one.pipeline, (pipeline.anchor,))))
            else:
                singles.append(one)
    return PassPipeline(tuple(singles), pipeline.anchor)


def written_out(pipeline: PassPipeline) -> PassPipeline:
    """The same pipeline with every option of MLIR's passes spelled out, where MLIR reads back what it prints."""
    with ir.Context():
        passes = tuple(_spelled_out(one, pipeline.anchor) for one in pipeline.passes)
    return PassPipeline(passes, pipeline.anchor)


def is_pass(name: str) -> bool:
    """Whether Hotdesk or MLIR has a pass or a pipeline of that name."""
    ours = name in pass_names() or name in ALIASES
    return ours or (_NAME.fullmatch(name) is not None and _NO_PASS not in (refusal_of(f"any({name})") or ""))


def flag_pipeline(flags: Sequence[PassFlag], anchor: str = MODULE) -> PassPipeline:
    """The pipeline that flags make for an op of that name, in their order.

    Raises:
        OptionError: a pass does not take its options, or does not run on such an op or inside it.
    """
    return parse_pipeline(f"{anchor}({','.join(_step(flag, anchor) for flag in flags)})")


def known_to_mlir() -> list[str]:
    """The names of MLIR's passes and pipelines. The bindings cannot list them; `mlir_passes.txt` has those that we know of,
    and a name that the bindings do not take is left out."""
    names = files("hotdesk.cli").joinpath("mlir_passes.txt").read_text(encoding="utf-8").split()
    with ir.Context():
        return [name for name in names if _NO_PASS not in (_refused(f"any({name})") or "")]


def known_dialects() -> list[str]:
    """The names of the dialects that can be read; `mlir_dialects.txt` has those that we know of, as of passes."""
    names = files("hotdesk.cli").joinpath("mlir_dialects.txt").read_text(encoding="utf-8").split()
    context = make_context()
    context.allow_unregistered_dialects = False
    return [name for name in names if is_known_dialect(name, context)]


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


def _refused(pipeline: str) -> str | None:
    try:
        PassManager.parse(pipeline)
    except ValueError as error:
        return str(error)
    return None


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
