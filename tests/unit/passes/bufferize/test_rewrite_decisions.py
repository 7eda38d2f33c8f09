"""What decisions say about copies and allocations: the conflict, the aliases in it, and hints that keep what they promise."""

from __future__ import annotations

import pytest

from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.context import entered
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.tensor.destinations import ChooseDestinations
from hotdesk.passes.tensor.rematerialize import RematerializeCheapOps
from tests.unit.parsing import parse

T, H = "tensor<8xf32>", "tensor<4xf32>"
MISSED = (Outcome.COPIED, Outcome.ALLOCATED)


def decisions(text: str, *, prepared: bool = False) -> list[Decision]:
    module = parse(text)
    with entered(module.operation):
        if prepared:
            RematerializeCheapOps().run(module)
            ChooseDestinations().run(module)
        found = OneShotBufferize().run(module)
        module.operation.verify()
    return list(found)


def missed(text: str, *, prepared: bool = False) -> list[Decision]:
    return [decision for decision in decisions(text, prepared=prepared) if decision.outcome in MISSED]


def program(lines: list[str], arguments: str = f"%x: {T} {{hotdesk.donated}}", results: str = T) -> str:
    return "\n".join([f"func.func @main({arguments}, %c: f32, %n: index) -> ({results}) {{", *lines, "}"])


def exp(value: str, init: str, kind: str = T) -> str:
    return f"linalg.exp ins({value} : {kind}) outs({init} : {kind}) -> {kind}"


VIEW = f"%v = tensor.extract_slice %x[0] [4] [1] : {T} to {H}"
INSERT = f"%1 = tensor.insert %c into %x[%n] : {T}"
EMPTY = f"%e = tensor.empty() : {H}"
READ = f"%2 = {exp('%v', '%e', H)}"
BOTH = {"results": f"{T}, {H}"}


def test_the_read_the_write_the_definition_and_the_aliases_between_them() -> None:
    (copied,) = missed(program([VIEW, INSERT, EMPTY, READ, f"return %1, %2 : {T}, {H}"], **BOTH))
    assert copied == Decision(
        "result of tensor.insert",
        Outcome.COPIED,
        Reason.READ_LATER,
        (Source("tensor.insert", "-:3:6"), Source("linalg.exp", "-:5:6")),
        32,
        read=Source("linalg.exp", "-:5:6"),
        write=Source("tensor.insert", "-:3:6"),
        definition=Source("argument 0", "-:1:17"),
        path=(Source("tensor.extract_slice", "-:2:6"), Source("argument 0", "-:1:17")),
        hint="Move `linalg.exp` (-:5:6) before `tensor.insert` (-:3:6).",
    )


def test_aliases_lead_through_what_is_overwritten() -> None:
    """%1 lies where %x lies, and a view of %1 is read after %2 would have overwritten it."""
    lines = [INSERT, VIEW.replace("%x", "%1"), INSERT.replace("%1", "%2").replace("%x", "%1")]
    (copied,) = missed(program([*lines, EMPTY, READ.replace("%2", "%3"), f"return %2, %3 : {T}, {H}"], **BOTH))
    assert copied.write == Source("tensor.insert", "-:4:6")
    assert copied.definition == Source("tensor.insert", "-:2:6")
    assert [source.op for source in copied.path] == ["tensor.extract_slice", "tensor.insert"]


def test_an_earlier_op_has_taken_the_memory() -> None:
    lines = [INSERT, f"%2 = tensor.insert %c into %x[%n] : {T}", f"return %1, %2 : {T}, {T}"]
    (copied,) = [d for d in missed(program(lines, results=f"{T}, {T}")) if d.subject.endswith("insert")]
    assert copied.definition in (Source("argument 0", "-:1:17"), Source("tensor.insert", "-:2:6"))
    assert copied.read in (Source("func.return", "-:4:1"), Source("tensor.insert", "-:3:6"))
    assert copied.write in (Source("tensor.insert", "-:2:6"), Source("tensor.insert", "-:3:6"))


HINTS = {
    "a read moves": (
        program([VIEW, INSERT, EMPTY, READ, f"return %1, %2 : {T}, {H}"], **BOTH),
        "Move `linalg.exp` (-:5:6) before `tensor.insert` (-:3:6).",
        program([VIEW, EMPTY, READ, INSERT, f"return %1, %2 : {T}, {H}"], **BOTH),
    ),
    "an argument is donated": (
        program([INSERT, f"return %1 : {T}"], f"%x: {T}"),
        "Donate argument 0 with `hotdesk.donated` and let the result lie there (`results-in-donated`).",
        program([INSERT, f"return %1 : {T}"]),
    ),
    "an argument is donated and a read moves": (
        program([INSERT, VIEW, EMPTY, READ, f"return %1, %2 : {T}, {H}"], f"%x: {T}", **BOTH),
        (
            "Donate argument 0 with `hotdesk.donated` and let the result lie there (`results-in-donated`), "
            "and move `linalg.exp` (-:5:6) before `tensor.insert` (-:2:6)."
        ),
        program([VIEW, EMPTY, READ, INSERT, f"return %1, %2 : {T}, {H}"], **BOTH),
    ),
    "a constant is filled": (
        program([f"%x = arith.constant dense<2.0> : {T}", INSERT, f"return %1 : {T}"], "%y: index"),
        "Start from `linalg.fill` instead of a constant.",
        program(
            [
                f"%e = tensor.empty() : {T}",
                "%two = arith.constant 2.0 : f32",
                f"%x = linalg.fill ins(%two : f32) outs(%e : {T}) -> {T}",
                INSERT,
                f"return %1 : {T}",
            ],
            "%y: index",
        ),
    ),
    "a constant is passed": (
        program(
            [f"%x = arith.constant dense<[1.,2.,3.,4.,5.,6.,7.,8.]> : {T}", INSERT, f"return %1 : {T}"], "%y: index"
        ),
        "Pass it as an argument with `hotdesk.donated`.",
        program([INSERT, f"return %1 : {T}"]),
    ),
    "it is returned once": (
        program(
            [f"%e = tensor.empty() : {T}", f"%1 = {exp('%x', '%e')}", f"return %1, %1 : {T}, {T}"],
            results=f"{T}, {T}",
        ),
        "Return it once: the caller can use it twice.",
        program([f"%e = tensor.empty() : {T}", f"%1 = {exp('%x', '%e')}", f"return %1 : {T}"]),
    ),
}


@pytest.mark.parametrize("name", HINTS)
def test_what_a_hint_names_removes_the_copy(name: str) -> None:
    before, hint, after = HINTS[name]
    copied = [decision for decision in missed(before) if decision.hint]
    assert hint in [decision.hint for decision in copied]
    reasons = {decision.reason for decision in copied if decision.hint == hint}
    assert not [decision for decision in missed(after) if decision.reason in reasons]


def test_a_cheap_definition_is_computed_again() -> None:
    lines = [
        f"%e = tensor.empty() : {T}",
        f"%0 = linalg.fill ins(%c : f32) outs(%e : {T}) -> {T}",
        INSERT.replace("%x", "%0"),
        f"%2 = tensor.insert %c into %0[%n] : {T}",
        f"%3 = linalg.add ins(%1, %2 : {T}, {T}) outs(%1 : {T}) -> {T}",
        f"return %3 : {T}",
    ]
    copied = missed(program(lines, "%y: index"))[-1]
    assert copied.hint == "Compute `linalg.fill` (-:3:6) again for each use, as `hotdesk-rematerialize-cheap-ops` does."
    assert all(left.outcome is Outcome.ALLOCATED for left in missed(program(lines, "%y: index"), prepared=True))


def test_a_read_that_needs_the_write_stays_where_it_is() -> None:
    lines = [INSERT, f"%2 = linalg.add ins(%x, %1 : {T}, {T}) outs(%1 : {T}) -> {T}", f"return %2 : {T}"]
    (copied,) = missed(program(lines))
    assert (copied.reason, copied.read, copied.hint) == (Reason.READ_LATER, Source("linalg.add", "-:3:6"), "")


def test_a_destination_that_another_pass_would_have_chosen() -> None:
    lines = [f"%e = tensor.empty() : {T}", f"%1 = {exp('%x', '%e')}", f"%f = tensor.empty() : {T}"]
    text = program([*lines, f"%2 = {exp('%1', '%f')}", f"return %2 : {T}"])
    (allocated,) = missed(text)
    assert allocated.reason is Reason.OVERWRITTEN_UNREAD
    assert allocated.hint == (
        "Run `hotdesk-choose-destinations` before: it lets the op overwrite argument 0 (-:1:17), which dies here."
    )
    assert not [d for d in missed(text, prepared=True) if d.outcome is Outcome.ALLOCATED]


def test_what_a_loop_yields_and_copies() -> None:
    text = f"""
      func.func @main(%x: {T} {{hotdesk.donated}}, %y: {T} {{hotdesk.donated}}, %c: f32, %n: index) -> ({T}, {T}) {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %a, %b = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %x) -> ({T}, {T}) {{
          %1 = tensor.insert %c into %p[%i] : {T}
          scf.yield %1, %q : {T}, {T}
        }}
        return %a, %b : {T}, {T}
      }}"""
    (copied,) = [d for d in missed(text) if d.subject.endswith("scf.for")]
    assert (copied.reason, copied.read) == (Reason.READ_LATER, Source("scf.yield", "-:7:11"))
    assert copied.write == Source("tensor.insert", "-:6:16")
    assert copied.definition == Source("argument 2 of scf.for", "-:5:18")


def test_results_name_what_returns_and_what_makes_them() -> None:
    returned = f"return %x, %1, %v : {T}, {T}, {H}"
    text = program([f"%0 = tensor.empty() : {T}", f"%1 = {exp('%x', '%0')}", VIEW, returned], results=f"{T}, {T}, {H}")
    found = {d.subject: d for d in decisions(text) if d.subject.startswith("result ") and d.subject[7:].isdigit()}
    assert found["result 0"].because == (Source("argument 0", "-:1:17"), Source("func.return", "-:5:1"))
    assert found["result 0"].hint == "Leave the result out: the caller has the argument."
    assert found["result 1"].because[0] == Source("linalg.exp", "-:3:6")
    assert [source.op for source in found["result 2"].path] == ["tensor.extract_slice", "argument 0"]
