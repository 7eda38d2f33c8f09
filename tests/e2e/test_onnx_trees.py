"""Ensembles of trees of ONNX's, beside a walk of each row down each tree, and how much is written of them."""

# ONNX is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import hotdesk
from hotdesk.frontends.onnx.reading import make_ready, read_onnx

_ASKS: dict[str, Callable[[Any, Any], bool]] = {
    "BRANCH_LEQ": operator.le,
    "BRANCH_LT": operator.lt,
    "BRANCH_GTE": operator.ge,
    "BRANCH_GT": operator.gt,
    "BRANCH_EQ": operator.eq,
    "BRANCH_NEQ": operator.ne,
}
_FEATURES = 4


def forest(
    votes: Sequence[Sequence[int]], depth: int, asks: Sequence[str] = ("BRANCH_LEQ",), prefix: str = "target"
) -> dict[str, Any]:
    """The attributes of random trees: one for each of `votes`, which are the targets that its leaves vote for."""
    random = np.random.default_rng(len(votes))
    names = (
        "nodeids",
        "featureids",
        "values",
        "truenodeids",
        "falsenodeids",
        "missing_value_tracks_true",
        "modes",
        "treeids",
    )
    nodes: dict[str, list[Any]] = {name: [] for name in names}
    leaves: dict[str, list[Any]] = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}

    def grow(tree: int, start: int, level: int) -> int:
        place = len(nodes["nodeids"])
        row = (place - start, int(random.integers(_FEATURES)), float(random.integers(-2, 3)), 0, 0)
        is_leaf = level == 0 or (level < depth and random.random() < 0.2)
        rest = (int(random.integers(2)), "LEAF" if is_leaf else asks[int(random.integers(len(asks)))], tree)
        for column, value in zip(nodes.values(), (*row, *rest), strict=True):
            column.append(value)
        if not is_leaf:
            nodes["truenodeids"][place] = grow(tree, start, level - 1)
            nodes["falsenodeids"][place] = grow(tree, start, level - 1)
        for target in votes[tree] if is_leaf else ():
            for column, value in zip(leaves.values(), (tree, place - start, target, random.normal()), strict=True):
                column.append(value)
        return place - start

    for tree in range(len(votes)):
        grow(tree, len(nodes["nodeids"]), depth)
    return {f"nodes_{name}": each for name, each in nodes.items()} | {
        f"{prefix}_{name}": each for name, each in leaves.items()
    }


def walked(x: Any, trees: Mapping[str, Any], prefix: str = "target") -> list[list[tuple[int, float]]]:
    """For each row, the targets and weights of the votes that it gets."""
    places = {name: i for i, name in enumerate(zip(trees["nodes_treeids"], trees["nodes_nodeids"], strict=True))}
    votes: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for tree, node, *vote in zip(
        *(trees[f"{prefix}_{each}"] for each in ("treeids", "nodeids", "ids", "weights")), strict=True
    ):
        votes.setdefault((tree, node), []).append((vote[0], vote[1]))
    found: list[list[tuple[int, float]]] = []
    for row in x:
        found.append([])
        for tree in dict.fromkeys(trees["nodes_treeids"]):
            node = 0
            while trees["nodes_modes"][at := places[tree, node]] != "LEAF":
                value = row[trees["nodes_featureids"][at]]
                says_yes = _ASKS[trees["nodes_modes"][at]](value, trees["nodes_values"][at])
                says_yes = says_yes or (np.isnan(value) and bool(trees["nodes_missing_value_tracks_true"][at]))
                node = trees[f"nodes_{'true' if says_yes else 'false'}nodeids"][at]
            found[-1] += votes[tree, node]
    return found


def sums(votes: Sequence[Sequence[tuple[int, float]]], count: int) -> Any:
    return np.array(
        [[sum(weight for target, weight in row if target == each) for each in range(count)] for row in votes]
    )


def model_of(*nodes: Any) -> Any:
    """A model of ensembles that read one tensor."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", _FEATURES])
    results = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["n"])
        if node.op_type == "TreeEnsembleClassifier" and place == 0
        else helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", None])
        for node in nodes
        for place, name in enumerate(node.output)
    ]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(helper.make_graph(nodes, "trees", [x], results), opset_imports=imports, ir_version=9)


def classifier(name: str, labels: Sequence[int], trees: Mapping[str, Any], transform: str) -> Any:
    given: dict[str, Any] = {"classlabels_int64s": labels, "post_transform": transform, **trees}
    return helper.make_node("TreeEnsembleClassifier", ["x"], [name, f"{name}_scores"], domain="ai.onnx.ml", **given)


def regressor(name: str, trees: Mapping[str, Any], **attributes: Any) -> Any:
    return helper.make_node("TreeEnsembleRegressor", ["x"], [name], domain="ai.onnx.ml", **trees, **attributes)


def test_rows_go_down_every_tree() -> None:
    x = np.random.default_rng(1).integers(-3, 4, (20, _FEATURES)).astype(np.float32)
    x[::6, 1] = np.nan
    three = forest([[0], [1], [2], [0], [2]], 2, list(_ASKS), "class")
    two = forest([[0], [0], [0]], 2, prefix="class")
    both = forest([[0, 1], [1, 0], [0, 1]], 2)
    nodes = [
        classifier("a", [5, 7, 9], three, "SOFTMAX"),
        classifier("b", [3, 8], two, "LOGISTIC"),
        regressor("c", both, n_targets=2, aggregate_function="MAX", base_values=[0.5, -0.5]),
    ]
    a, a_scores, b, b_scores, c = hotdesk.compile(model_of(*nodes))(x)
    expected = sums(walked(x, three, "class"), 3)
    np.testing.assert_array_equal(a, np.array([5, 7, 9])[expected.argmax(1)])
    powers = np.exp(expected - expected.max(1, keepdims=True))
    np.testing.assert_allclose(a_scores, powers / powers.sum(1, keepdims=True), rtol=1e-5)
    score = sums(walked(x, two, "class"), 1)[:, 0]
    np.testing.assert_array_equal(b, np.where(score > 0, 8, 3))
    np.testing.assert_allclose(b_scores, 1 / (1 + np.exp(np.stack([score, -score], 1))), rtol=1e-5)
    votes = walked(x, both)
    greatest = [[max(weight for target, weight in row if target == each) for each in (0, 1)] for row in votes]
    np.testing.assert_allclose(c - np.array([0.5, -0.5]), greatest, rtol=1e-5, atol=1e-6)


def test_what_is_written_does_not_grow_with_the_number_of_trees() -> None:
    counts = {
        len(make_ready(read_onnx(model_of(regressor("y", forest([[0]] * many, 4), n_targets=1)))).proto.graph.node)
        for many in (3, 300)
    }
    assert len(counts) == 1


@pytest.mark.parametrize(
    ("node", "told"),
    [
        (classifier("y", [0, 1], forest([[1]], 1, prefix="class"), "NONE"), "one score, which is the first one's"),
        (classifier("y", [0, 1], forest([[0, 1]], 1, prefix="class"), "NONE"), "one score, which is the first one's"),
        (regressor("y", forest([[0]], 1), n_targets=1, post_transform="LOGISTIC"), "SOFTMAX of several"),
        (regressor("y", forest([[0, 1]], 1), n_targets=2, base_values=[1.0]), "base values of 2 targets"),
        (regressor("y", forest([[2]], 1), n_targets=2), "numbers of targets from 0 on and below 2 2"),
        (regressor("y", {**forest([[0]], 1), "nodes_truenodeids": [9, 0, 0]}), "nodes that there are node 9 of tree 0"),
        (regressor("y", {**forest([[0]], 1), "nodes_truenodeids": [0, 0, 0]}), "or a circle"),
        (regressor("y", {**forest([[0]], 1), "nodes_featureids": [9, 0, 0]}), "features that the tensor has"),
        (regressor("y", {**forest([[0]], 1), "nodes_modes": ["BRANCH", "LEAF", "LEAF"]}), "numbers of modes"),
    ],
)
def test_ensembles_that_say_what_is_not_there_are_refused(node: Any, told: str) -> None:
    (reason,) = make_ready(read_onnx(model_of(node))).reasons.values()
    assert told in " ".join(reason)
