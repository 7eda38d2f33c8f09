"""Pipelines as text: steps of ours and of MLIR's, options, and text that is no pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
from torch_mlir import ir

from hotdesk.errors import InvalidIRError, OptionError, PassError
from hotdesk.explain import Decision
from hotdesk.passes import textual
from hotdesk.passes.base import Pass
from hotdesk.passes.textual import MLIRPasses, parse_pipeline
from tests.unit.parsing import parse


@dataclass(frozen=True, slots=True)
class Sized(Pass):
    """A pass with options."""

    name: ClassVar[str] = "sized"
    max_bytes: int = 1024
    strict: bool = False
    mode: str = "fast"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Breaking(Pass):
    """A pass that leaves a function whose type contradicts its results."""

    name: ClassVar[str] = "breaking"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        function = module.body.operations[0].operation
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], [ir.IndexType.get()]))
        return ()


@pytest.fixture(autouse=True)
def options(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"sized": Sized, "breaking": Breaking}
    load = textual.load
    names = (*textual.pass_names(), *known)
    monkeypatch.setattr(textual, "pass_names", lambda: names)
    monkeypatch.setattr(textual, "load", lambda name: known.get(name) or load(name))


@pytest.mark.parametrize(
    "text",
    [
        "builtin.module()",
        "builtin.module(hotdesk-choose-destinations)",
        "builtin.module(hotdesk-choose-destinations,canonicalize,func.func(cse,canonicalize),hotdesk-split-prepare)",
        "builtin.module(canonicalize{max-iterations=3 top-down=false},hotdesk-split-prepare,cse)",
        "builtin.module(sized{max-bytes=8 strict=true mode=slow})",
    ],
)
def test_a_pipeline_prints_back_as_it_was_written(text: str) -> None:
    assert str(parse_pipeline(text)) == text


def test_spaces_and_lines_do_not_matter() -> None:
    text = " builtin.module( hotdesk-split-prepare ,\n func.func( cse ) ) "
    assert str(parse_pipeline(text)) == "builtin.module(hotdesk-split-prepare,func.func( cse ))"


def test_consecutive_steps_of_mlir_are_one_pipeline() -> None:
    passes = parse_pipeline("builtin.module(cse,canonicalize,hotdesk-split-prepare,cse)").passes
    assert [one.pipeline for one in passes if isinstance(one, MLIRPasses)] == ["cse,canonicalize", "cse"]


def test_options_become_fields() -> None:
    assert parse_pipeline("builtin.module(sized{mode=slow  max-bytes=8})").passes == (Sized(8, False, "slow"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("canonicalize", "expected 'builtin.module"),
        ("builtin.module(cse", "expected 'builtin.module"),
        ("builtin.module(cse,,cse)", "closed brackets"),
        ("builtin.module(func.func(cse)", "closed brackets"),
        ("builtin.module(cse),func.func(cse)", "closed brackets"),
        ("builtin.module(func.func(hotdesk-split-prepare))", "expected a step of builtin.module"),
        ("builtin.module(hotdesk-split-prepar)", "Did you mean hotdesk-split-prepare"),
        ("builtin.module(hotdesk-reshapes-as-views{x=1})", "it has: none"),
        ("builtin.module(sized{max-byte=1})", "it has: max-bytes, strict, mode"),
        ("builtin.module(sized{max-bytes})", "it has: max-bytes, strict, mode"),
        ("builtin.module(sized{max-bytes=many})", "expected a value of type int, got 'many'"),
        ("builtin.module(sized{strict=2})", "expected a value of type bool, got '2'"),
        ("builtin.module(sized{max-byte=1})", "Did you mean 'max-bytes', not 'max-byte'?"),
        ("builtin.module(sized{max-bytes})", "'max-bytes' needs a value."),
        ("builtin.module(sized{other=1})", "It has no option 'other'."),
        (
            "builtin.module(nonsense)",
            "'nonsense' does not refer to a registered pass or pass pipeline. `hotdesk-opt --help`",
        ),
        (
            "builtin.module(cse{other=1})",
            "pass pipeline: no such option other; failed to add `cse` with options `other=1`",
        ),
        ("builtin.module(cse{x=1})", "no such option x"),
    ],
)
def test_text_that_is_no_pipeline(text: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        parse_pipeline(text)


def test_the_module_is_verified_after_each_pass() -> None:
    with pytest.raises(InvalidIRError, match="does not verify after breaking"):
        parse_pipeline("builtin.module(breaking,canonicalize)").run(parse("func.func @f() { return }"))


def test_a_pass_of_mlir_that_fails() -> None:
    module = parse("""
      func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
        %y = "tosa.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
        return %y : tensor<4xf32>
      }""")
    with pytest.raises(PassError, match="op was not bufferized"):
        parse_pipeline("builtin.module(one-shot-bufferize)").run(module)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("dialect-filter=tensor dialect-filter=scf,func", "dialect-filter=tensor,scf,func"),
        ("dialect-filter={tensor,scf}", "dialect-filter=tensor,scf"),
        ("dialect-filter='tensor,scf' results=\"returned\"", "results=returned dialect-filter=tensor,scf"),
        (
            "buffer-alignment=8 buffer-alignment=0x40 copy-before-write=True",
            "copy-before-write=true buffer-alignment=64",
        ),
        ("copy-before-write=TRUE copy-before-write=FALSE", ""),
    ],
)
def test_values_are_read_as_mlir_reads_them(options: str, wanted: str) -> None:
    found = str(parse_pipeline(f"builtin.module(hotdesk-one-shot-bufferize{{{options}}})"))
    assert found == f"builtin.module(hotdesk-one-shot-bufferize{f'{{{wanted}}}' if wanted else ''})"
