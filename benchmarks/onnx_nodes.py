"""ONNX's own tests of its operators (`onnx.backend.test`, kind `node`) through `hotdesk.compile`, each compared with its data.

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
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from benchmarks.children import go_through, recorded

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "coverage-onnx.md"
KEPT = ROOT / "tests" / "data" / "onnx_nodes.json"
"""By op and test, what became of it: `right`, or the code of the refusal."""
RECORD = ROOT / "build" / "onnx_nodes.jsonl"
SECONDS = 600
"""Of wall time, after which a test counts as endless."""
_EPSILON = {"bfloat16": 2**-7, "float16": 2**-10}
BAD = ("crash", "hang", "raw", "wrong")


@cache
def cases() -> Mapping[str, Any]:
    """ONNX's tests of its operators, by name."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy's, while ONNX computes what it expects
        return {case.name: case for case in load_model_tests(kind="node")}


def operator(name: str) -> str:
    """The op that a test is of; of a function written out it is the function."""
    whole = cases().get(re.sub(r"_expanded(_ver\d+)?$", "", name), cases()[name])
    node = whole.model.graph.node[-1]
    domain = "" if node.domain in ("", "ai.onnx") else f"{node.domain}."
    return f"{domain}{node.op_type}"


def outcome(name: str) -> tuple[str, str]:
    """`right`, `wrong`, `raw` (an exception of another kind), or the code of what it is refused with; and the message."""
    import hotdesk

    case = cases()[name]
    try:
        program = hotdesk.compile(case.model)
        for inputs, outputs in case.data_sets:
            given = [value for value in map(_array, inputs) if value is not None]
            got: Any = program(*given)
            said = _difference(case, got if isinstance(got, tuple) else (got,), [_array(value) for value in outputs])
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
    return np.asarray(value) if isinstance(value, np.generic) else value


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
        try:
            np.testing.assert_allclose(got, wanted, rtol=rtol, atol=case.atol)
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

    kinds = Counter(kind(each) for each, _ in found.values())
    share = 100 * kinds["right"] / max(1, len(found))
    lines = [
        "# ONNX's operators",
        "",
        "Made by `make coverage-onnx`, which sends the tests that ONNX has of its operators (`onnx.backend.test`, kind `node`,",
        f"onnx {onnx.__version__}) through `hotdesk.compile`; results are compared with the test's, by its tolerance, element",
        "type and shape; halves by twice the distance between two of them. What is *refused* raises a `HotdeskError` that",
        "says the node and the reason.",
        "",
        "| tests | right | refused | " + " | ".join(BAD) + " | right, in % |",
        "|---" * (len(BAD) + 4) + "|",
        " | ".join(
            map(str, ("", len(found), *(kinds[each] for each in ("right", "refused", *BAD)), f"{share:.1f} |"))
        ).lstrip(),
    ]
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
