"""PyTorch's own samples of its operators (`op_db`) through `hotdesk.compile`, each compared with eager PyTorch.

    python benchmarks/operators.py [--dtypes float32,int64,bool] [--samples 3] [--ops add,mul] [--again]

Every operator's first samples are compiled and run on what they were sampled with: the tensors are arguments, the rest is
baked in. They are tried as one program and, unless all of it is compiled and right, one by one. A child process goes through the
operators; one that dies or does not end is counted, and the next child goes on behind the operator at fault. What is found is
appended to `build/operators.jsonl`, one line for each operator and type; a run that was interrupted goes on from there, and
operators that are named are tried again. Writes `docs/coverage.md` and `tests/data/operators.json` from all that is recorded.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnnecessaryCast=false

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "coverage.md"
KEPT = ROOT / "tests" / "data" / "operators.json"
"""By element type and operator, a letter for the outcome of each sample: what tests hold PyTorch's operators to."""
RECORD = ROOT / "build" / "operators.jsonl"
DTYPES = ("float32", "int64", "bool")
SAMPLES = 3
SECONDS = 1800
"""Of wall time, after which an operator's samples count as endless."""
RTOL, ATOL = 1e-3, 1e-4
NO_TWO_RUNS = (
    "empty",
    "rand",
    "bernoulli",
    "multinomial",
    "normal",
    "cauchy",
    "exponential",
    "fractional_max_pool",
    "geometric",
    "uniform",
)
"""Operators whose results follow from nothing: uninitialised memory and random numbers, by the start of their names."""
_SORTS = ("sort", "argsort")
"""Ours is stable, so it is compared with a stable one: PyTorch promises no order of equal elements otherwise."""
_ANY_OF_EQUALS = ("topk", "kthvalue")
"""PyTorch does not say which of equal elements is meant: the indices have to lead to the values."""
_DROPS = {
    "nn.functional.scaled_dot_product_attention": "dropout_p",
    "nn.functional.multi_head_attention_forward": "training",
}
"""Operators that draw random numbers for samples with a keyword argument: what eager PyTorch draws says nothing of a program."""
NOT_HERE = ("sparse", "to_sparse", "jiterator", "_scaled", "sampled_addmm", "item")
"""Operators on sparse tensors, on GPUs, or without a tensor as their result."""


def operators() -> list[tuple[str, Any]]:
    """PyTorch's operators by name, those aside that have no result to compare."""
    from torch.testing._internal.common_methods_invocations import op_db

    named = [(f"{op.name}.{op.variant_test_name}".strip("."), op) for op in cast("list[Any]", op_db)]
    return [(name, op) for name, op in named if not _is_left_out(name)]


def _is_left_out(name: str) -> bool:
    last = name.removeprefix("torch.").removeprefix("nn.functional.").removeprefix("new_").removeprefix("log_")
    return last.startswith((*NO_TWO_RUNS, *NOT_HERE)) or "dropout" in name or "sparse" in name or "rrelu" in name


def outcomes(op: Any, dtype: str, count: int) -> Iterator[tuple[int, str, str]]:
    """What became of each of an operator's first samples: its number, the outcome, and what is to be said of it."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        drawn = op.sample_inputs("cpu", getattr(torch, dtype), requires_grad=False)  # no garbage while PyTorch traces
        samples = list(islice(drawn, count))
    together = [("right", "")] * len(samples)
    if samples:
        together = [outcome(op, samples)] * len(samples)
    if len(samples) > 1 and together[0][0] != "right":
        together = [outcome(op, [sample]) for sample in samples]
    yield from ((number, *each) for number, each in enumerate(together))


def outcome(op: Any, samples: Sequence[Any]) -> tuple[str, str]:
    """`right`, `called` (right, with a foreign call), `wrong`, `refused`, `export fails`, `raw` or, where eager PyTorch raises
    too, `no result`; and the message."""
    import torch

    import hotdesk

    if any(sample.kwargs.get(_DROPS.get(op.name, "")) for sample in samples):
        return "no result", "random numbers"
    try:
        expected = [_leaves(call(op, sample)) for sample in samples]
    except Exception as error:
        return "no result", _short(error)
    model, arguments = as_model(op, samples)
    try:
        program = hotdesk.compile(model, arguments)
        got = cast(Any, program(*arguments))
    except hotdesk.HotdeskError as error:
        if any(
            not _agree(a, b) for a, b in zip(expected, [_leaves(call(op, sample)) for sample in samples], strict=True)
        ):
            return "no result", "eager PyTorch does not repeat it"
        refused = "refused" if error.code not in ("HD101", "HD103") or _exports(model, arguments) else "export fails"
        return refused, _short(error)
    except Exception as error:
        return "raw", f"{type(error).__name__}: {_short(error)}"
    for sample, wanted, found in zip(samples, expected, map(_leaves, got), strict=True):
        if len(wanted) != len(found):
            return "wrong", f"{len(found)} results instead of {len(wanted)}"
        if op.name in _ANY_OF_EQUALS:
            wanted, found = _taken(sample, wanted), _taken(sample, found)
        for a, b in zip(wanted, found, strict=True):
            try:
                torch.testing.assert_close(b, a, rtol=RTOL, atol=ATOL, equal_nan=True, check_stride=False)
            except AssertionError as error:
                return "wrong", _short(error)
    return ("called", ", ".join(program.foreign)) if program.foreign else ("right", "")


def _agree(wanted: list[Any], found: list[Any]) -> bool:
    import torch

    try:
        torch.testing.assert_close(found, wanted, rtol=RTOL, atol=ATOL, equal_nan=True)
    except AssertionError:
        return False
    return True


def _exports(model: Any, arguments: tuple[Any, ...]) -> bool:
    """Whether `torch.export` captures the model, whatever becomes of it then."""
    import torch

    try:
        with torch.no_grad():
            torch.export.export(model, arguments, strict=False)
    except Exception:
        return False
    return True


def _taken(sample: Any, results: list[Any]) -> list[Any]:
    """Values and indices of elements along a dim, with the elements at the indices in place of these."""
    import torch

    values, indices = results
    if not sample.input.dim():  # one element, at no place
        return results
    dim = sample.args[1] if len(sample.args) > 1 else sample.kwargs.get("dim", -1)
    wide = indices if indices.dim() == sample.input.dim() else indices.unsqueeze(dim)
    return [values, torch.take_along_dim(sample.input, wide, dim).reshape(indices.shape)]


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]


def _leaves(value: Any) -> list[Any]:
    from torch.utils import _pytree as pytree

    return [leaf for leaf in pytree.tree_leaves(value) if leaf is not None]


def call(op: Any, sample: Any) -> Any:
    """The operator on a sample, on copies of its tensors."""
    import torch
    from torch.utils import _pytree as pytree

    held = (sample.input, sample.args, sample.kwargs)
    given, args, kwargs = pytree.tree_map_only(torch.Tensor, torch.clone, held)
    if op.name in _SORTS:
        args, kwargs = (), {"stable": True, **dict(zip(("dim", "descending"), args, strict=False)), **kwargs}
    return op.op(given, *args, **kwargs)


def as_model(op: Any, samples: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
    """A module that applies the operator to every sample, and all tensors of the samples as its arguments."""
    import torch
    from torch.utils import _pytree as pytree

    leaves, spec = pytree.tree_flatten([(sample.input, sample.args, sample.kwargs) for sample in samples])
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    class Applied(torch.nn.Module):
        def forward(self, *tensors: torch.Tensor) -> Any:
            filled = list(leaves)
            for place, tensor in zip(places, tensors, strict=True):
                filled[place] = tensor
            given = cast("list[Any]", pytree.tree_unflatten(filled, spec))
            return [op.op(value, *args, **kwargs) for value, args, kwargs in given]

    return Applied().eval(), tuple(leaves[i].clone() for i in places)


# The child: one line of JSON before and after each operator.


def work(dtype: str, names: Sequence[str], count: int) -> None:
    by_name = dict(operators())
    for name in names:
        subject = {"op": name, "dtype": dtype, "samples": count}
        print(json.dumps(subject), flush=True)
        print(json.dumps(subject | {"outcomes": list(outcomes(by_name[name], dtype, count))}), flush=True)


# The parent.

Found = list[tuple[int, str, str]]
"""The outcomes of an operator's samples: number, outcome, message."""


def recorded(record: Path, count: int) -> dict[str, dict[str, Found]]:
    """By element type and operator, what was found last with so many samples."""
    found: dict[str, dict[str, Found]] = {}
    for line in record.read_text().splitlines() if record.exists() else ():
        entry = json.loads(line) if line.startswith("{") and line.endswith("}") else {}
        if "outcomes" in entry and entry["samples"] == count:
            found.setdefault(entry["dtype"], {})[entry["op"]] = entry["outcomes"]
    return found


def go_through(dtype: str, names: Sequence[str], count: int, record: Path) -> None:
    """Appends each operator's outcomes to the record. A child that ends early had the operator that it named last at fault."""
    left = list(names)
    while left:
        command = [sys.executable, __file__, "--child", dtype, "--samples", str(count), "--ops", ",".join(left)]
        with record.open("a+") as output, tempfile.TemporaryFile("w+") as noise:
            since = output.seek(0, 2)
            child = subprocess.Popen(command, stdout=output, stderr=noise, cwd=ROOT)
            ended = _watched(child, output.fileno())
            output.seek(since)
            lines = [json.loads(line) for line in output if line.startswith("{") and line.endswith("}\n")]
            done = {line["op"] for line in lines if "outcomes" in line}
            if ended != 0:
                fault = lines[-1]["op"] if lines else left[0]
                said = "does not end" if ended is None else f"ends with {ended}"
                entry = (0, "hang" if ended is None else "crash", f"the process {said}")
                output.write(
                    "\n" + json.dumps({"op": fault, "dtype": dtype, "samples": count, "outcomes": [entry]}) + "\n"
                )
                done.add(fault)
        left = [name for name in left if name not in done]
        print(f"{dtype}: {len(left)} left", file=sys.stderr, flush=True)


def _watched(child: subprocess.Popen[Any], output: int) -> int | None:
    """The child's exit code; None if it wrote nothing for too long and was killed."""
    import os

    written, since = 0, time.monotonic()
    while child.poll() is None:
        time.sleep(0.2)
        size = os.fstat(output).st_size
        if size != written:
            written, since = size, time.monotonic()
        elif time.monotonic() - since > SECONDS:
            child.kill()
            child.wait()
            return None
    return child.returncode


FINE = ("right", "called")
ORDER = ("crash", "hang", "wrong", "raw", "export fails", "refused", "called", "right")
"""Outcomes, the worst first: an operator's is the worst of its samples'; in part refused is told apart."""


LETTERS = {"right": "r", "called": "c", "refused": "f", "export fails": "x", "no result": "-"}


def letters(found: Found) -> str:
    """The outcomes of an operator's samples, a letter each; what must not be is a question mark."""
    return "".join(LETTERS.get(kind, "?") for _, kind, _ in found)


def verdict(found: Found) -> str:
    kinds = {kind for _, kind, _ in found} - {"no result"}
    worst = next((kind for kind in ORDER if kind in kinds), "no sample")
    return "right and refused" if worst in ("refused", "export fails") and kinds & {*FINE} else worst


def page(results: dict[str, dict[str, Found]], count: int, untried: dict[str, int]) -> str:
    """The page: a table of operators by outcome, and for all that are not right what is said of them.

    `untried` are the operators that nothing is recorded of, by element type.
    """
    import torch

    columns = ("right", "called", "right and refused", "refused", "export fails", "wrong", "crash", "hang", "raw")
    lines = [
        "# PyTorch's operators",
        "",
        "Made by `make coverage`, which sends the samples that PyTorch tests its operators with",
        "(`torch.testing._internal.common_methods_invocations.op_db`) through `hotdesk.compile`:",
        f"PyTorch {torch.__version__.partition('+')[0]}, the first {count} samples of each operator and type, results compared",
        f"with eager PyTorch (relative {RTOL}, absolute {ATOL}; NaN, element type and shape equal). Random and uninitialised",
        "results, sparse tensors and what runs on GPUs alone are left out. What is *called* is right too, by a kernel of",
        "PyTorch's ([operators](operators.md)); an operator counts as that if one of its samples does. What is *refused* raises",
        "a `HotdeskError` that names the op and the reason.",
        "",
        "| element type | operators | " + " | ".join(columns) + " | right or called, in % | not tried |",
        "|---" * (len(columns) + 4) + "|",
    ]
    verdicts = {dtype: {name: verdict(each) for name, each in found.items()} for dtype, found in results.items()}
    for dtype, by_name in verdicts.items():
        counted = [kind for kind in by_name.values() if kind != "no sample"]
        row = [str(counted.count(column)) for column in columns]
        share = 100 * (counted.count("right") + counted.count("called")) / max(1, len(counted))
        lines.append(f"| {dtype} | {len(counted)} | {' | '.join(row)} | {share:.1f} | {untried[dtype]} |")
    lines += [
        "",
        "By samples, those aside that `torch.export` does not export, that eager PyTorch raises for, or whose results it does",
    ]
    lines += ["not repeat (random numbers):", ""]
    lines += ["| element type | samples | right | called | both, in % | right, in % |", "|---" * 6 + "|"]
    for dtype, found in results.items():
        kinds = [kind for each in found.values() for _, kind, _ in each if kind not in ("no result", "export fails")]
        right, called = kinds.count("right"), kinds.count("called")
        shares = [f"{100 * part / max(1, len(kinds)):.1f}" for part in (right + called, right)]
        lines.append(f"| {dtype} | {len(kinds)} | {right} | {called} | {' | '.join(shares)} |")
    for dtype, by_name in verdicts.items():
        lines += ["", f"## {dtype}"]
        for column in columns[1:]:
            names = [name for name, kind in by_name.items() if kind == column]
            if names:
                lines += ["", f"### {column}", ""]
                said = [(_said(results[dtype][name]), name) for name in names]
                for message, group in groupby(sorted(said), key=lambda entry: entry[0]):
                    lines.append(f"- {', '.join(f'`{name}`' for _, name in group)}: {message}")
    return "\n".join(lines) + "\n"


def _said(found: Found) -> str:
    """What the first sample that is not right came to."""
    import re

    worst = min((entry for entry in found if entry[1] in ORDER), key=lambda entry: ORDER.index(entry[1]))
    said = re.sub(r" \((/[^)]*):\d+\)", "", worst[2])
    return re.sub(rf"\.+ (?:{_HINTS}).*?(?= \[HD\d+\]|$)", "", said).replace("|", "\\|")


_HINTS = "Replace it|Rewrite it|Write it with|Draw them|Call `|Convert it|Compile once|`torch.export"
"""How the hints of refusals begin, which are the same for many."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--ops", default="", help="these only, whatever is recorded of them")
    parser.add_argument("--again", action="store_true", help="begin anew: forget what is recorded")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    wanted = [name for name in options.ops.split(",") if name]
    if options.child:
        return work(options.child, wanted, options.samples)
    import torch

    known = operators()
    record: Path = options.record
    record.parent.mkdir(parents=True, exist_ok=True)
    if options.again:
        record.unlink(missing_ok=True)
    supported = {d: [name for name, op in known if getattr(torch, d) in op.supported_dtypes("cpu")] for d in DTYPES}
    for dtype in options.dtypes.split(","):
        done = recorded(record, options.samples).get(dtype, {})
        names = [name for name in supported[dtype] if (name in wanted if wanted else name not in done)]
        go_through(dtype, names, options.samples, record)
    found = recorded(record, options.samples)
    results = {d: {name: found[d][name] for name in supported[d] if name in found[d]} for d in DTYPES if d in found}
    untried = {d: len(supported[d]) - len(each) for d, each in results.items()}
    PAGE.write_text(page(results, options.samples, untried))
    if options.samples == SAMPLES:
        kept: dict[str, dict[str, str]] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        for dtype, by_name in results.items():
            kept[dtype] = dict(
                sorted((kept.get(dtype, {}) | {n: letters(each) for n, each in by_name.items()}).items())
            )
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    return None


if __name__ == "__main__":
    main()
