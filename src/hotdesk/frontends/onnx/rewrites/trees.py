"""Ensembles of decision trees of `ai.onnx.ml`: their nodes are tables, and each row goes down all trees at once, level by level.

    y = TreeEnsemble(x)    ->    at = roots                                                       : [trees]
                                 at = Where(x[row, feature[at]] <= split[at], yes[at], no[at])    for each level
                                 y = ReduceSum(weight[at])

Leaves lead to themselves, so trees need not be equally deep. What is written grows with their depth, not with their number.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hotdesk.frontends.onnx.elements import F32, F64, I64
from hotdesk.frontends.onnx.rewrites.nodes import Array, NotRewritten, OnnxNode, OnnxTensor, Rewrites

_LEQ, _EQ, _MEMBER = 0, 4, 6
_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
"""What nodes ask, by number."""
_ANSWERS: tuple[Callable[[OnnxTensor, OnnxTensor], OnnxTensor], ...] = (
    *(operator.le, operator.lt, operator.ge, operator.gt),
    lambda value, split: value.equals(split),
    lambda value, split: ~value.equals(split),
)
"""What a node says of a value that it compares, by the same numbers."""
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
_START = {"MIN": np.inf, "MAX": -np.inf}
"""What a target has before any leaf votes for it, if not 0."""
_JOIN: dict[str, Any] = {"MIN": np.minimum, "MAX": np.maximum}
"""What becomes of votes for one target, if not their sum."""
_DEEPEST = 256
"""Levels that are written out."""


@dataclass(frozen=True, slots=True)
class Trees:
    """The nodes of all trees as arrays, leaves among them.

    Attributes:
        features: the column that a node looks at.
        modes: what it asks, by number.
        splits: what it compares with.
        missing: whether NaN is a yes.
        yes, no: the nodes that follow; a leaf is followed by itself.
        roots: the first node of each tree.
        voters, wanted, weights: votes: of which leaf, for which target, and how much.
    """

    features: Array
    modes: Array
    splits: Array
    missing: Array
    yes: Array
    no: Array
    roots: Array
    voters: Array
    wanted: Array
    weights: Array

    @property
    def inner(self) -> Array:
        """Whether a node decides something."""
        here: Any = np.arange(len(self.yes))
        return (self.yes != here) | (self.no != here)

    def levels(self) -> int:
        """The number of decisions on the longest way to a leaf."""
        inner, at = self.inner, self.roots
        for level in range(_DEEPEST + 1):
            at = np.unique(at[inner[at]])
            if not at.size:
                return level
            at = np.concatenate([self.yes[at], self.no[at]])
        raise NotRewritten(f"trees of at most {_DEEPEST} levels", "deeper ones, or a circle")

    def targets(self) -> Array | None:
        """For each tree the one target that it has votes for, -1 if it has none; None if one has several, or a leaf two votes."""
        owners = self._owners()
        if owners is None or len(np.unique(self.voters)) < len(self.voters):
            return None
        trees = owners[self.voters]
        trees, wanted = trees[trees >= 0], self.wanted[trees >= 0]
        found: Any = np.full(len(self.roots), -1)
        found[trees] = wanted
        return found if (found[trees] == wanted).all() else None

    def _owners(self) -> Array | None:
        """For each node the number of its tree, -1 if none leads there; None if one belongs to several."""
        inner, owners = self.inner, np.full(len(self.yes), -1)
        at, trees = self.roots, np.arange(len(self.roots))
        while at.size:
            is_taken = (owners[at] != -1) & (owners[at] != trees)
            owners[at] = trees
            if is_taken.any() or (owners[at] != trees).any():
                return None
            at = np.unique(at[inner[at]])
            trees = np.tile(owners[at], 2)
            at = np.concatenate([self.yes[at], self.no[at]])
        return owners

    def with_leaf(self) -> Trees:
        """With one more leaf, which votes for nothing."""
        last = len(self.yes)
        more = {"features": 0, "modes": _LEQ, "splits": 0, "missing": False, "yes": last, "no": last}
        return replace(self, **{name: np.append(getattr(self, name), value) for name, value in more.items()})


def _ensemble(op: OnnxNode) -> Any:
    """Trees of opset 5, whose leaves have a vote each."""
    aggregate: int = op.attribute("aggregate_function", 1)
    transform: int = op.attribute("post_transform", 0)
    sums = _aggregated(op, _linked(op), op.attribute("n_targets", 1), _AGGREGATES[aggregate])
    return _transformed(sums, _TRANSFORMS[transform]).cast(op.x.element)


def _regressor(op: OnnxNode) -> Any:
    count = op.attribute("n_targets", 1)
    sums = _aggregated(op, _listed(op, "target", count), count, op.attribute("aggregate_function", "SUM"))
    return _transformed(_with_base(op, sums), op.attribute("post_transform", "NONE")).cast(F32)


def _classifier(op: OnnxNode) -> Any:
    labels, graph = op.attribute("classlabels_int64s"), op.graph
    if labels is None or len(labels) < 2:
        raise NotRewritten("two integers as labels, or more", "others")
    trees, transform = _listed(op, "class", len(labels)), op.attribute("post_transform", "NONE")
    names = graph.value(np.asarray(labels, np.int64))
    if len(labels) == 2:
        return _of_two(op, trees, names, transform)
    scores = _with_base(op, _aggregated(op, trees, len(labels), "SUM"))
    best = graph.op("ArgMax", scores, axis=1, keepdims=0)
    return names.gather(best), _transformed(scores, transform).cast(F32)


def _of_two(op: OnnxNode, trees: Trees, names: OnnxTensor, transform: str) -> Any:
    """Two classes, whose votes are all for the first, as exporters write them: a score for the second one.

    The first has what is left of 1, or the negative if a vote may be negative.
    """
    if trees.wanted.any() or transform not in ("NONE", "LOGISTIC"):
        raise NotRewritten("two classes of one score, which is the first one's, as it is or LOGISTIC", "others")
    score = _with_base(op, _aggregated(op, trees, 1, "SUM"))
    is_part = bool((trees.weights >= 0).all())
    label = names.gather((score > (0.5 if is_part else 0.0)).cast(I64).squeeze(1))
    other = 1.0 - score if is_part and transform == "NONE" else -score
    scores = op.graph.concat([other, score], 1)
    return label, (op.graph.op("Sigmoid", scores) if transform == "LOGISTIC" else scores).cast(F32)


def _aggregated(op: OnnxNode, trees: Trees, count: int, aggregate: str) -> OnnxTensor:
    """What the trees say of each target: [rows, targets]."""
    if aggregate not in _AGGREGATES:
        raise NotRewritten(f"one of {', '.join(_AGGREGATES)}", aggregate)
    x = _rows(op, trees)
    start, join = _START.get(aggregate, 0.0), _JOIN.get(aggregate, np.add)
    wanted = trees.targets()
    trees, roots = trees.with_leaf(), trees.roots
    many = 0 if wanted is None else max(1, int(np.bincount(wanted[wanted >= 0], minlength=1).max()))
    if wanted is not None and many * count <= 2 * len(roots):
        grid: Any = np.full((count, many), len(trees.yes) - 1)
        for target in range(count):
            own = roots[wanted == target]
            grid[target, : len(own)] = own
        table: Any = np.full(len(trees.yes), start)
        join.at(table, trees.voters, trees.weights)
        votes = x.graph.value(table, x).gather(_reached(x, trees, grid.reshape(-1)))
        votes = votes.unsqueeze(1) if count == 1 else votes.reshape(-1, count, many)
        axis = 2
    else:
        table = np.full((len(trees.yes), count), start)
        join.at(table, (trees.voters, trees.wanted), trees.weights)
        votes, axis = x.graph.value(table, x).gather(_reached(x, trees, roots)), 1
    if aggregate in _START:
        best = votes.reduce(aggregate.capitalize(), [axis])
        return x.graph.op("IsInf", best).where(0.0, best)
    sums = votes.reduce("Sum", [axis])
    return sums / float(len(roots)) if aggregate == "AVERAGE" else sums


def _rows(op: OnnxNode, trees: Trees) -> OnnxTensor:
    """The rows, in the floats that are computed with."""
    x = op.x
    if x.rank != 2:
        raise NotRewritten("a tensor of rows and features", f"one of rank {x.rank}")
    if x.shape[1] is not None and trees.features.max(initial=0) >= x.shape[1]:
        raise NotRewritten("features that the tensor has", f"feature {trees.features.max()} of {x.shape[1]}")
    is_double = x.element == F64 or np.float64 in (trees.splits.dtype, trees.weights.dtype)
    return x.cast(F64 if is_double else F32)


def _reached(x: OnnxTensor, trees: Trees, roots: Array) -> OnnxTensor:
    """The leaf of each tree that each row comes to: [rows, trees]."""
    graph, inner = x.graph, trees.inner
    modes: list[int] = np.unique(trees.modes[inner]).tolist() or [_LEQ]
    features, kinds, yes, no = (
        graph.value(np.asarray(each, np.int64)) for each in (trees.features, trees.modes, trees.yes, trees.no)
    )
    splits, missing = graph.value(trees.splits, x), graph.value(trees.missing)
    at = graph.value(roots)
    for _ in range(max(trees.levels(), 1)):
        feature, split = features.gather(at), splits.gather(at)
        is_known = feature.constant is not None
        value = x.gather(feature, 1) if is_known else graph.op("GatherElements", x, feature, axis=1)
        says_yes = _ANSWERS[modes[0]](value, split)
        if len(modes) > 1:
            kind = kinds.gather(at)
            says_yes = says_yes & kind.equals(modes[0])
            for mode in modes[1:]:
                says_yes = says_yes | (_ANSWERS[mode](value, split) & kind.equals(mode))
        if trees.missing[inner].any():
            is_missing = graph.op("IsNaN", value)
            says_yes = says_yes | (is_missing if trees.missing[inner].all() else is_missing & missing.gather(at))
        at = says_yes.where(yes.gather(at), no.gather(at))
    return at


def _with_base(op: OnnxNode, scores: OnnxTensor) -> OnnxTensor:
    base: Any = _numbers(op, "base_values")
    if base is not None and len(base) != scores.shape[1]:
        raise NotRewritten(f"base values of {scores.shape[1]} targets", f"of {len(base)}")
    return scores if base is None else scores + base


def _transformed(scores: OnnxTensor, transform: str) -> OnnxTensor:
    """Scores of several targets; runtimes do not agree about what becomes of one alone."""
    if transform == "NONE":
        return scores
    if transform not in ("LOGISTIC", "SOFTMAX") or scores.shape[1] == 1:
        raise NotRewritten("scores as they are, or LOGISTIC or SOFTMAX of several", transform)
    return scores.graph.op("Sigmoid", scores) if transform == "LOGISTIC" else scores.graph.op("Softmax", scores, axis=1)


# How nodes are given.


def _linked(op: OnnxNode) -> Trees:
    """Nodes that say whether a node or a leaf follows; leaves are put behind the nodes."""
    modes, weights = _required(op, "nodes_modes").astype(np.int64), _required(op, "leaf_weights")
    inner, leaves = len(modes), len(weights)
    itself, missing = inner + np.arange(leaves), _numbers(op, "nodes_missing_value_tracks_true")

    def after(way: str) -> Array:
        return _required(op, f"nodes_{way}nodeids") + inner * (_required(op, f"nodes_{way}leafs") != 0)

    def with_leaves(nodes: Array) -> Array:
        return np.append(nodes, np.zeros(leaves, nodes.dtype))

    trees = Trees(
        features=with_leaves(_required(op, "nodes_featureids")),
        modes=with_leaves(modes),
        splits=with_leaves(_required(op, "nodes_splits")),
        missing=with_leaves(np.zeros(inner, np.bool_) if missing is None else missing != 0),
        yes=np.append(after("true"), itself),
        no=np.append(after("false"), itself),
        roots=_required(op, "tree_roots"),
        voters=itself,
        wanted=_required(op, "leaf_targetids"),
        weights=weights,
    )
    return _checked(_without_sets(trees, _numbers(op, "membership_values")), op.attribute("n_targets", 1))


def _without_sets(trees: Trees, members: Array | None) -> Trees:
    """A node that asks for a set as one for each of its members; sets end with a NaN each."""
    asking = np.flatnonzero(trees.modes == _MEMBER).tolist()
    listed: Any = np.empty(0) if members is None else members
    ends: Any = np.flatnonzero(np.isnan(listed)) + 1
    if len(ends) != len(asking):
        raise NotRewritten("a set for each node that asks for one", f"{len(ends)} for {len(asking)}")
    if not asking:
        return trees
    table: dict[str, Any] = {
        name: getattr(trees, name).tolist() for name in ("features", "modes", "splits", "missing", "yes", "no")
    }
    sets: list[Array] = np.split(listed, ends)
    for node, found in zip(asking, sets, strict=False):
        first, *others = found[:-1].tolist() or [float("nan")]
        table["modes"][node], table["splits"][node] = _EQ, first
        for value in others:
            for column in table.values():
                column.append(column[node])
            table["splits"][-1] = value
            table["no"][node] = len(table["no"]) - 1
    return replace(trees, **{name: np.asarray(column, getattr(trees, name).dtype) for name, column in table.items()})


def _listed(op: OnnxNode, votes: str, count: int) -> Trees:
    """Nodes that are named by the number of a tree and their own in it."""
    names = list(zip(_required(op, "nodes_treeids").tolist(), _required(op, "nodes_nodeids").tolist(), strict=True))
    places = {name: place for place, name in enumerate(names)}
    modes: list[str] = op.attribute("nodes_modes", [])
    is_leaf = [each == "LEAF" for each in modes]
    missing = _numbers(op, "nodes_missing_value_tracks_true")

    def place(name: tuple[int, int]) -> int:
        if name not in places:
            raise NotRewritten("nodes that there are", f"node {name[1]} of tree {name[0]}")
        return places[name]

    def after(way: str) -> Array:
        rows = zip(names, _required(op, way).tolist(), is_leaf, strict=True)
        return np.array([place(name if leads_nowhere else (name[0], node)) for name, node, leads_nowhere in rows])

    voters = zip(_required(op, f"{votes}_treeids").tolist(), _required(op, f"{votes}_nodeids").tolist(), strict=True)
    _, roots = np.unique([tree for tree, _ in names], return_index=True)
    trees = Trees(
        features=np.where(is_leaf, 0, _required(op, "nodes_featureids")),
        modes=np.array([_MODES.index(each) if each in _MODES else _LEQ if each == "LEAF" else -1 for each in modes]),
        splits=_required(op, "nodes_values"),
        missing=np.zeros(len(names), np.bool_) if missing is None else missing != 0,
        yes=after("nodes_truenodeids"),
        no=after("nodes_falsenodeids"),
        roots=roots,
        voters=np.array([place(each) for each in voters]),
        wanted=_required(op, f"{votes}_ids"),
        weights=_required(op, f"{votes}_weights"),
    )
    return _checked(trees, count)


def _checked(trees: Trees, count: int) -> Trees:
    """Raises NotRewritten where a number stands for nothing, and for circles."""
    nodes = len(trees.yes)
    numbers = {
        "nodes": ((trees.yes, trees.no, trees.roots, trees.voters), nodes),
        "modes": ((trees.modes,), len(_MODES)),
        "targets": ((trees.wanted,), count),
        "features": ((trees.features,), None),
    }
    for what, (given, end) in numbers.items():
        for each in given:
            wrong = each[(each < 0) | (each >= (np.inf if end is None else end))]
            if wrong.size:
                below = "" if end is None else f" and below {end}"
                raise NotRewritten(f"numbers of {what} from 0 on{below}", str(wrong[0]))
    of_nodes = (trees.features, trees.modes, trees.splits, trees.missing, trees.no)
    of_votes = (trees.voters, trees.wanted)
    if any(len(each) != nodes for each in of_nodes) or any(len(each) != len(trees.weights) for each in of_votes):
        raise NotRewritten("attributes of equal lengths", "others")
    trees.levels()
    return trees


def _required(op: OnnxNode, name: str) -> Array:
    found = _numbers(op, name)
    if found is None:
        raise NotRewritten(f"attribute '{name}'", "none")
    return found


def _numbers(op: OnnxNode, name: str) -> Array | None:
    """An attribute of numbers, in whichever form it is."""
    found: Any = op.attribute(f"{name}_as_tensor")
    if found is None:
        found = op.attribute(name)
    if found is None or not len(found):
        return None
    array: Any = np.asarray(found)
    return array.astype(np.float32) if isinstance(found, list) and array.dtype.kind == "f" else array


REWRITES: Rewrites = {
    "ai.onnx.ml.TreeEnsemble": _ensemble,
    "ai.onnx.ml.TreeEnsembleClassifier": _classifier,
    "ai.onnx.ml.TreeEnsembleRegressor": _regressor,
}
