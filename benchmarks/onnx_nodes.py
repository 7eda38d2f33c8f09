"""ONNX's own tests of operators and models (`onnx.backend.test`) through `hotdesk.compile`, each compared with its data.

    python benchmarks/onnx_nodes.py [--tests test_abs,test_add] [--again]

Every test is a model with arguments and results. A child process goes through them; one that dies or does not end is counted,
and the next child goes on behind the test at fault. What is found is appended to `build/onnx_nodes.jsonl`, a line for each
test; a run that was interrupted goes on from there, and tests that are named are tried again. Writes `docs/coverage-onnx.md`
and `tests/data/onnx_nodes.json` from all that is recorded.
"""

# ONNX is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from benchmarks.children import go_through, recorded

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "coverage-onnx.md"
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")
KEPT = ROOT / "tests" / "data" / "onnx_nodes.json"
"""By op and test, what became of it: `right`, or the code of the refusal."""
RECORD = ROOT / "build" / "onnx_nodes.jsonl"
SECONDS = 600
"""Of wall time, after which a test counts as endless."""
_EPSILON = {"bfloat16": 2**-7, "float16": 2**-10}
_TRANSFORMS = ("DFT", "STFT")
_SPREAD = 2 * 2**-23
"""Of the largest element of a transform: what small ones, sums of all elements, are rounded by, in ONNX's data as here."""
BAD = ("crash", "hang", "raw", "wrong")


@dataclass(frozen=True, slots=True)
class Case:
    """A model, and sets of arguments and results as protos, or as arrays; a model with shipped data reads them when asked."""

    name: str
    kind: str
    rtol: float
    atol: float
    load: Callable[[], tuple[Any, Sequence[tuple[Sequence[Any], Sequence[Any]]]]]


@cache
def cases() -> Mapping[str, Case]:
    """The tests of ONNX's that ship with their data, by name; those of models have their kind in front."""
    from onnx.backend.test.loader import load_model_tests

    made: dict[str, Case] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy's, while ONNX computes what it expects
        for each in load_model_tests(kind="node"):
            made[each.name] = Case(each.name, "node", each.rtol, each.atol, partial(_of_node, each))
    for kind in KINDS[1:]:
        for each in sorted(load_model_tests(kind=kind), key=lambda case: case.name):
            load = (
                partial(_of_files, each.model_dir) if each.model_dir else partial(_of_light_model, cast(str, each.url))
            )
            made[f"{kind}/{each.name}"] = Case(f"{kind}/{each.name}", kind, each.rtol, each.atol, load)
    return made


def _of_node(case: Any) -> Any:
    return case.model, case.data_sets


def _of_files(folder: str) -> Any:
    import onnx

    model = onnx.load(str(Path(folder) / "model.onnx"))
    own = {each.name for each in model.graph.initializer}
    types = (
        [each.type for each in model.graph.input if each.name not in own],
        [each.type for each in model.graph.output],
    )
    sets = sorted(Path(folder).glob("test_data_set_*"))
    return model, [
        tuple(_protos(each, stem, kinds) for stem, kinds in zip(("input", "output"), types, strict=True))
        for each in sets
    ]


def _protos(folder: Path, stem: str, types: Sequence[Any]) -> list[Any]:
    import onnx

    classes = {
        "tensor_type": onnx.TensorProto,
        "sequence_type": onnx.SequenceProto,
        "optional_type": onnx.OptionalProto,
    }
    return [
        classes[kind.WhichOneof("value")].FromString((folder / f"{stem}_{number}.pb").read_bytes())
        for number, kind in enumerate(types)
    ]


def _of_light_model(url: str) -> Any:
    """A whole model whose weights are made by it, with the argument that ONNX's runner makes and the result that ships."""
    import onnx
    from onnx.backend.test.runner import Runner

    path = Path(onnx.__file__).parents[1] / url
    model = onnx.load(str(path))
    own = {each.name for each in model.graph.initializer}
    inputs = [
        cast(Any, Runner).generate_dummy_data(each, seed=0, name=path.stem, random=False)
        for each in model.graph.input
        if each.name not in own
    ]
    outputs = [
        onnx.TensorProto.FromString(path.with_name(f"{path.stem}_output_{number}.pb").read_bytes())
        for number in range(len(model.graph.output))
    ]
    return model, [(inputs, outputs)]


def operator(name: str) -> str:
    """The op that a test is of; of a function written out it is the function, of a model the kind of test."""
    if "/" in name:
        return f"models: {cases()[name].kind}"
    whole = cases().get(re.sub(r"_expanded(_ver\d+)?$", "", name), cases()[name])
    node = whole.load()[0].graph.node[-1]
    domain = "" if node.domain in ("", "ai.onnx") else f"{node.domain}."
    return f"{domain}{node.op_type}"


def outcome(name: str) -> tuple[str, str]:
    """`right`, `wrong`, `raw` (an exception of another kind), or the code of what it is refused with; and the message."""
    import hotdesk

    case = cases()[name]
    try:
        model, data_sets = case.load()
        program = hotdesk.compile(model)
        for inputs, outputs in data_sets:
            given = [value for value in map(_array, inputs) if value is not None]
            got: Any = program(*given)
            found, wanted = (got if isinstance(got, tuple) else (got,)), [_array(value) for value in outputs]
            said = _difference(case, _flat(found), _flat(wanted))
            if said:
                return "wrong", said
    except hotdesk.HotdeskError as error:
        return error.code, _short(error)
    except Exception as error:
        return "raw", f"{type(error).__name__}: {_short(error)}"
    return "right", ""


def _array(value: Any) -> Any:
    import numpy as np
    import onnx
    from onnx import numpy_helper

    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, onnx.SequenceProto):
        return numpy_helper.to_list(value)
    if isinstance(value, onnx.OptionalProto):
        return numpy_helper.to_optional(value)
    return np.asarray(value) if isinstance(value, np.generic) else value


def _flat(values: Sequence[Any]) -> list[Any]:
    """Tensors one by one, those of lists behind the length of each."""
    flat: list[Any] = []
    for value in values:
        flat += [len(value), *value] if isinstance(value, list) else [value]
    return flat


def _difference(case: Any, found: Sequence[Any], expected: Sequence[Any]) -> str:
    """How results differ from what is expected, "" if they agree."""
    import numpy as np

    if len(found) != len(expected):
        return f"{len(found)} results instead of {len(expected)}"
    for number, (got, wanted) in enumerate(zip(found, expected, strict=True)):
        got, wanted = np.asarray(got), np.asarray(wanted)
        if (got.dtype, got.shape) != (wanted.dtype, wanted.shape):
            return f"result {number}: {got.dtype}{list(got.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
        # Halves differ by rounding in between, of which each result and each value in front of it has one.
        rtol = max(case.rtol, 2 * _EPSILON.get(str(got.dtype), 0.0))
        if got.dtype.kind not in "iufbc":  # bf16, which NumPy has as an extension
            got, wanted = got.astype(np.float32), wanted.astype(np.float32)
        spread = _SPREAD if operator(case.name) in _TRANSFORMS and wanted.size else 0.0
        try:
            np.testing.assert_allclose(
                got, wanted, rtol=rtol, atol=max(case.atol, spread * float(np.abs(wanted).max(initial=0)))
            )
        except AssertionError as error:
            return f"result {number}: {_short(error)}"
    return ""


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]


def work() -> None:
    """The child: goes through the tests named on standard input, with a line of JSON before and after each."""
    for name in sys.stdin.read().split():
        print(json.dumps({"name": name}), flush=True)
        print(json.dumps({"name": name, "outcome": outcome(name)}), flush=True)


# The page.

Found = Mapping[str, tuple[str, str]]
"""By test, the outcome and the message."""


def kind(outcome: str) -> str:
    return outcome if outcome in ("right", *BAD) else "refused"


def page(found: Found) -> str:
    """The page: ops by the share of their tests that are right, and what the others are refused with."""
    import onnx

    lines = [
        "# ONNX's operators",
        "",
        "Made by `make coverage-onnx`, which sends the tests that ONNX has of operators (kind `node`) and of models, as far as",
        f"their data ships with it (`onnx.backend.test`, onnx {onnx.__version__}), through `hotdesk.compile`; results",
        "are compared with the test's, by its tolerance, element type and shape; halves by twice the distance of two, Fourier",
        "transforms by twice the rounding of their largest element, which small ones are sums of. What is *refused* raises a",
        "`HotdeskError` that says the node and the reason.",
        "",
        "| kind | tests | right | refused | " + " | ".join(BAD) + " | right, in % |",
        "|---" * (len(BAD) + 5) + "|",
    ]
    for name in (*KINDS, "all"):
        outcomes = [each for test, (each, _) in found.items() if name in ("all", cases()[test].kind)]
        kinds = Counter(map(kind, outcomes))
        counts = [len(outcomes), *(kinds[each] for each in ("right", "refused", *BAD))]
        share = 100 * kinds["right"] / max(1, len(outcomes))
        lines.append(f"| {name} | {' | '.join(map(str, counts))} | {share:.1f} |")
    by_op: dict[str, list[str]] = {}
    for name in found:
        by_op.setdefault(operator(name), []).append(name)
    whole = sorted(op for op, names in by_op.items() if all(found[name][0] == "right" for name in names))
    lines += ["", "## All tests right", "", ", ".join(f"`{op}`" for op in whole)]
    lines += ["", "## Some or all tests refused", "", "| op | tests | right | the first refusal |", "|---" * 4 + "|"]
    for op in sorted(by_op.keys() - set(whole)):
        names = by_op[op]
        right = sum(found[name][0] == "right" for name in names)
        first = next(name for name in sorted(names) if found[name][0] != "right")
        said = re.sub(r"^node (\d+, of )?'.*?': ", "", found[first][1]).replace("|", "\\|")
        lines.append(f"| `{op}` | {len(names)} | {right} | `{first}`: {said} |")
    return "\n".join(lines) + "\n"


def kept(found: Found) -> dict[str, dict[str, str]]:
    """By op and test, the outcomes."""
    pairs = sorted((operator(name), name) for name in found)
    return {op: {name: found[name][0] for _, name in group} for op, group in groupby(pairs, key=lambda pair: pair[0])}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--tests", default="", help="these only, whatever is recorded of them")
    parser.add_argument("--again", action="store_true", help="begin anew: forget what is recorded")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return work()
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    if options.again:
        RECORD.unlink(missing_ok=True)
    done = recorded(RECORD)
    names = [name for name in options.tests.split(",") if name] or [name for name in cases() if name not in done]
    go_through([sys.executable, "-m", "benchmarks.onnx_nodes", "--child"], names, RECORD, SECONDS)
    entries = recorded(RECORD)
    found = {name: cast("tuple[str, str]", tuple(entries[name])) for name in sorted(cases()) if name in entries}
    PAGE.write_text(page(found))
    KEPT.write_text(json.dumps(kept(found), indent=1) + "\n")
    return None


if __name__ == "__main__":
    main()
