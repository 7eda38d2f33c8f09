"""Pipelines as text: MLIR's syntax, with Hotdesk's passes among MLIR's.

    builtin.module(hotdesk-choose-destinations,canonicalize,func.func(cse))

A step that names one of our passes is ours; each run of other steps is a pipeline for MLIR's `PassManager`. Ours change modules,
so they stand directly under `builtin.module`; their fields are options, `name{field=value other=value}`. A pipeline prints back
as the text that it was parsed from, spaces aside. All of it is checked before anything runs. Steps that are all MLIR's may
stand under another op, or under `any`.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import PassManager, ir
from hotdesk.errors import OptionError, PassError
from hotdesk.explain import Decision
from hotdesk.ir.context import entered, run_mlir_passes
from hotdesk.passes.base import Pass
from hotdesk.passes.manual import option_text
from hotdesk.passes.registry import load, pass_names

MODULE = "builtin.module"
NEST = re.compile(r"\s*([\w.-]+)\s*\((.*)\)\s*", re.DOTALL)
_BOOLEANS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "1": True,
    "false": False,
    "False": False,
    "FALSE": False,
    "0": False,
}
_INTEGER = re.compile(r"-?([0-9]{1,40}|0[xX][0-9a-fA-F]{1,40})")
_AROUND = (("'", "'"), ('"', '"'), ("{", "}"))
_POSITION = re.compile(r"MLIR Textual PassPipeline Parser:\d+:\d+: error: (.*)")
_STEP = re.compile(r"([\w.-]+)\s*(?:\{(.*)\})?\s*", re.DOTALL)
_OPTION = re.compile(r"""\s*([\w-]+)(?:=('[^']*'|"[^"]*"|\{[^{}]*\}|\S+))?(?=\s|$)\s*""")


@dataclass(frozen=True, slots=True)
class MLIRPasses(Pass):
    """Consecutive steps of a pipeline that are MLIR's own passes."""

    name: ClassVar[str] = "mlir"
    pipeline: str

    @property
    def argument(self) -> str:
        """The name of the pass if this is a single one, such as `cse` of `func.func(cse)`."""
        inner = self.pipeline
        while (nest := NEST.fullmatch(inner)) is not None:
            inner = nest[2]
        return inner.partition("{")[0].strip()

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        run_mlir_passes(module, self.pipeline)
        return ()

    def __str__(self) -> str:
        return self.pipeline


@dataclass(frozen=True, slots=True)
class PassPipeline:
    """Passes in the order in which they run on a module, or on an op of the name `anchor`."""

    passes: tuple[Pass, ...]
    anchor: str = MODULE

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(_spelled, self.passes))})"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        """Runs every pass and verifies after each; returns their decisions.

        Raises:
            InvalidIRError: a pass left a module that does not verify.
            PassError: a pass of MLIR's failed, or the pipeline is for another op.
        """
        if self.anchor not in (MODULE, "any"):
            raise PassError(f"pipeline `{self}`", expected="one for builtin.module", got=f"one for {self.anchor}")
        decisions: list[Decision] = []
        for one in self.passes:
            with entered(module.operation):
                decisions.extend(one.apply(module))
        return tuple(decisions)


def parse_pipeline(text: str) -> PassPipeline:
    """Reads a pipeline text.

    Raises:
        OptionError: the text is no pipeline, or a pass or an option does not exist.
    """
    whole = NEST.fullmatch(text)
    if whole is None:
        raise OptionError("pass pipeline", expected="'builtin.module(…)'", got=repr(text))
    anchor = whole[1]
    passes: list[Pass] = []
    for step in split_steps(whole[2], text):
        ours = step_pass(step)
        if ours is not None and anchor not in (MODULE, "any"):
            raise OptionError(f"pass '{ours.name}'", expected="a step of builtin.module", got=repr(text))
        if ours is not None:
            passes.append(ours)
        elif passes and isinstance(passes[-1], MLIRPasses):
            passes[-1] = MLIRPasses(f"{passes[-1].pipeline},{step}")
        else:
            passes.append(MLIRPasses(step))
    for one in passes:
        if isinstance(one, MLIRPasses):
            _check(anchor, one.pipeline)
    return PassPipeline(tuple(passes), anchor)


def step_pass(step: str) -> Pass | None:
    """The pass of ours that a step such as `name{option=value}` names, or None when it names none.

    Raises OptionError for an option that the pass does not have, and for a name that is ours by its prefix but unknown.
    """
    match = _STEP.fullmatch(step)
    if match is None or not (match[1] in pass_names() or match[1].startswith("hotdesk-")):
        return None
    return cast(Any, load(match[1]))(**_options(match[1], match[2] or ""))


def split_steps(text: str, whole: str) -> list[str]:
    """The steps between commas that are in no bracket."""
    if not text.strip():
        return []
    steps = [""]
    depth = 0
    for character in text:
        depth += (character in "({") - (character in ")}")
        if depth < 0:
            break
        if character == "," and depth == 0:
            steps.append("")
        else:
            steps[-1] += character
    steps = [step.strip() for step in steps]
    if depth or "" in steps:
        raise OptionError("pass pipeline", expected="passes between commas, and closed brackets", got=repr(whole))
    return steps


def _options(name: str, text: str) -> dict[str, object]:
    kinds = {
        f.name.replace("_", "-"): (f.name, getattr(f.type, "__name__", f.type))
        for f in dataclasses.fields(cast(Any, load(name)))
    }
    values: dict[str, object] = {}
    rest = text
    while rest.strip():
        match = _OPTION.match(rest)
        if match is None or match[1] not in kinds or (match[2] is None and kinds[match[1]][1] != "bool"):
            known = ", ".join(kinds) or "none"
            expected, hint = f"options 'name=value' (it has: {known})", match and _option_hint(match[1], list(kinds))
            raise OptionError(f"pass '{name}'", expected=expected, got=repr(text), hint=hint)
        field, kind = kinds[match[1]]
        found = _converted(name, match[1], _bare(match[2] or "true"), str(kind))
        values[field] = (*cast("tuple[str, ...]", values.get(field, ())), *found) if isinstance(found, tuple) else found
        rest = rest[match.end() :]
    return values


def _option_hint(option: str, known: list[str]) -> str:
    if option in known:
        return f"'{option}' needs a value."
    close = difflib.get_close_matches(option, known, n=1)
    return f"Did you mean '{close[0]}', not '{option}'?" if close else f"It has no option '{option}'."


def _bare(text: str) -> str:
    """A value without the quotes or braces around it."""
    return text[1:-1].strip() if len(text) > 1 and (text[0], text[-1]) in _AROUND else text


def _converted(name: str, option: str, text: str, kind: str) -> bool | int | str | tuple[str, ...]:
    if kind == "str":
        return text
    if kind == "bool" and text in _BOOLEANS:
        return _BOOLEANS[text]
    if kind == "int" and _INTEGER.fullmatch(text) is not None:
        return int(text, 0) if "x" in text.lower() else int(text)
    if kind.startswith("tuple[str"):
        return tuple(text.split(","))
    raise OptionError(f"option '{option}' of pass '{name}'", expected=f"a value of type {kind}", got=repr(text))


def _check(anchor: str, pipeline: str) -> None:
    inside = re.search(r"(?<![\w-])(hotdesk-[\w-]+)", pipeline)
    if inside is not None:
        raise OptionError(f"pass '{inside[1]}'", expected="a step of builtin.module", got=repr(pipeline))
    refusal = refusal_of(f"{anchor}({pipeline})")
    if refusal is not None:
        hint = "`hotdesk-opt --help` lists Hotdesk's." if "does not refer to a registered" in refusal else None
        raise OptionError(f"pass pipeline: {refusal}", hint=hint)


def refusal_of(pipeline: str) -> str | None:
    """What MLIR has against a pipeline text, in one line; None if it reads it."""
    with ir.Context():
        try:
            PassManager.parse(pipeline)
        except ValueError as error:
            return _in_one_line(str(error))
    return None


def _in_one_line(refusal: str) -> str:
    """MLIR's message without the pipeline that it repeats below."""
    lines = [line.strip().removeprefix("<Pass-Options-Parser>: ") for line in refusal.splitlines() if line.strip()]
    message = _POSITION.fullmatch(lines[0]) if lines else None
    return message[1] if message is not None else "; ".join(lines)


def _spelled(one: Pass) -> str:
    if isinstance(one, MLIRPasses):
        return one.pipeline
    fields = dataclasses.fields(cast(Any, one))
    given = [(f.name, getattr(one, f.name)) for f in fields if getattr(one, f.name) != f.default]
    options = " ".join(f"{n.replace('_', '-')}={option_text(v)}" for n, v in given)
    return f"{one.name}{{{options}}}" if options else one.name
