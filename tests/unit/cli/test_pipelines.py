"""Pipelines from flags, pass by pass, and written out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
from torch_mlir import ir

from hotdesk.cli.arguments import PassFlag
from hotdesk.cli.pipelines import dialects, flag_pipeline, is_known_to_mlir, single_passes, written_out
from hotdesk.errors import OptionError, PassError
from hotdesk.explain import Decision
from hotdesk.passes import textual
from hotdesk.passes.base import Pass
from hotdesk.passes.textual import MLIRPasses, parse_pipeline
from tests.unit.parsing import parse


def test_a_pass_restricted_to_another_op_is_nested_in_it() -> None:
    flags = [PassFlag("cse"), PassFlag("llvm-request-c-wrappers")]
    assert str(flag_pipeline(flags)) == "builtin.module(cse,func.func(llvm-request-c-wrappers))"
    assert str(flag_pipeline(flags, "func.func")) == "func.func(cse,llvm-request-c-wrappers)"


def test_a_pass_keeps_its_old_name() -> None:
    assert str(flag_pipeline([PassFlag("hotdesk-test-inplace")])) == "builtin.module(hotdesk-annotate-in-place)"


def test_options_that_a_pass_does_not_have() -> None:
    with pytest.raises(OptionError, match="no such option nothing"):
        flag_pipeline([PassFlag("canonicalize", "nothing=1")])


def test_passes_are_told_apart_wherever_they_are_nested() -> None:
    text = "builtin.module(cse,func.func(canonicalize{max-iterations=3},cse),hotdesk-split-prepare,sparsifier)"
    passes = single_passes(parse_pipeline(text)).passes
    names = [one.argument if isinstance(one, MLIRPasses) else one.name for one in passes]
    assert names[:4] == ["cse", "canonicalize", "cse", "hotdesk-split-prepare"]
    assert str(passes[1]) == "func.func(canonicalize{max-iterations=3})"
    assert "sparsifier" not in names
    assert "sparsification-and-bufferization" in names


def test_a_pipeline_whose_passes_have_no_names_stays_whole() -> None:
    text = "builtin.module(torch-backend-to-stablehlo-backend-pipeline)"
    assert str(single_passes(parse_pipeline(text))) == text


def test_options_are_written_out_and_read_back() -> None:
    written = written_out(
        parse_pipeline("builtin.module(hotdesk-split-prepare,func.func(canonicalize{max-iterations=3}))")
    )
    assert "max-iterations=3 max-num-rewrites=-1" in str(written)
    assert str(parse_pipeline(str(written))) == str(written)


def test_a_pipeline_for_functions_does_not_run_on_a_module() -> None:
    pipeline = parse_pipeline("func.func(cse)")
    assert str(pipeline) == "func.func(cse)"
    with pytest.raises(PassError, match="expected one for builtin.module, got one for func.func"):
        pipeline.run(parse("func.func @f() { return }"))
    with pytest.raises(OptionError, match="expected a step of builtin.module"):
        parse_pipeline("func.func(hotdesk-split-prepare)")


@dataclass(frozen=True, slots=True)
class Listed(Pass):
    """A pass whose option is a list."""

    name: ClassVar[str] = "listed"
    ops: tuple[str, ...] = ()

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        return ()


def test_options_that_are_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textual, "pass_names", lambda: ("listed",))
    monkeypatch.setattr(textual, "load", lambda name: Listed)
    pipeline = parse_pipeline("builtin.module(listed{ops=a.b,c.d})")
    assert pipeline.passes == (Listed(("a.b", "c.d")),)
    assert str(pipeline) == "builtin.module(listed{ops=a.b,c.d})"


def test_names_of_passes() -> None:
    assert is_known_to_mlir("cse")
    assert not is_known_to_mlir("hotdesk-split-prepare")
    assert not is_known_to_mlir("canonicalise")
    assert not is_known_to_mlir("cse,canonicalize")


def test_names_of_dialects() -> None:
    names = dialects()
    assert {"arith", "hotdesk", "linalg", "tm_tensor", "torch"} < set(names)
    assert all(name.replace("_", "").isalnum() for name in names)
