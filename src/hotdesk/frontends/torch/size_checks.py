"""Checks of sizes and numbers that are known only when the program runs: PyTorch's, by `torch._check` and of its own.

They are taken out of a graph; each is made as soon as the size is known, in front of all that uses it.
"""

# PyTorch and SymPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import operator
from typing import Any, cast

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from hotdesk.frontends.torch.check_messages import CheckMessages, check_key
from hotdesk.frontends.torch.cutting import expression_of, settled, shape_expressions
from hotdesk.frontends.torch.lines import node_line
from hotdesk.frontends.torch.size_values import Check
from hotdesk.frontends.torch.symbolic_numbers import NUMBERS, expression_at, plain

aten: Any = torch.ops.aten
_algebra: Any = sympy  # SymPy's functions are not annotated
_RANGES = (
    aten.sym_constrain_range.default,
    aten.sym_constrain_range_for_size.default,
)
"""PyTorch says the same by `_assert_scalar`."""
_COMPARISONS = (operator.ge, operator.le, operator.gt, operator.lt, operator.eq, operator.ne, torch.sym_ite)


def take_size_checks(graph: torch.fx.Graph, messages: CheckMessages) -> tuple[Check, ...]:
    """Takes the checks of numbers that are known only when the program runs out of a graph, in the order they are written.

    PyTorch puts what it knows of a number's range in front of all. That says no more than the checks it follows from, and
    has not their words, so it goes behind them; but not behind a check that divides, as a division by 0 ends the process.
    """
    ranges: list[Check] = []
    found: list[Check] = []
    for node in graph.nodes:
        for symbol, value in settled(node).items():
            message, line = messages.of_nodes.get(node.name, ("", ""))
            found.append(Check(sympy.Eq(symbol, value, evaluate=False), line or node_line(node), message))
    for node in graph.find_nodes(op="call_function", target=aten.select.int):
        found += _checks_of_place(node)
    for node in list(graph.nodes):
        if node.target is aten._assert_scalar.default:
            given = node.args[0]
            value = given.meta.get("val") if isinstance(given, torch.fx.Node) else given
            if value is True or (isinstance(value, torch.SymBool) and expression_of(value) is sympy.true):
                graph.erase_node(node)
            elif isinstance(value, NUMBERS) and free_unbacked_symbols(value):
                key = check_key(value.node.expr)
                message, line = messages.of_relations.get(key, (_message(node), ""))
                is_range = not message and key not in messages.of_relations
                line = line or node_line(node) or (node_line(given) if isinstance(given, torch.fx.Node) else "")
                relation = _without_cases(plain(expression_at(given)))
                if _divides(relation):
                    found, ranges = [*found, *ranges], []
                if relation is not sympy.true:
                    (ranges if is_range and _is_bound(relation) else found).append(Check(relation, line, message))
                graph.erase_node(node)
        elif node.target in _RANGES:
            graph.erase_node(node)
    for node in reversed(list(graph.nodes)):
        if (
            not node.users
            and isinstance(node.meta.get("val"), torch.SymInt | torch.SymBool)
            and node.target in _COMPARISONS
        ):
            graph.erase_node(node)
    return (*found, *ranges)


def _is_bound(relation: Any) -> bool:
    """Whether a relation compares a number to a constant."""
    if not isinstance(relation, sympy.Ge | sympy.Le):
        return False
    number, constant = cast(Any, relation).args
    return isinstance(number, sympy.Symbol) and constant.is_number


def _divides(relation: Any) -> bool:
    """Whether a relation divides by what only a run knows."""
    remainders = (each.args[1] for each in relation.atoms(_algebra.Mod))
    quotients = (each.base for each in relation.atoms(_algebra.Pow) if each.exp.is_negative)
    return any(each.free_symbols for each in (*remainders, *quotients))


def _checks_of_place(node: torch.fx.Node) -> list[Check]:
    """That `select` takes a place that only the run knows from within its dim, which no other op asks."""
    given, dim, place = cast("tuple[Any, Any, Any]", node.args)
    index = place.meta["val"] if isinstance(place, torch.fx.Node) else place
    if not isinstance(index, torch.SymInt) or not free_unbacked_symbols(index):
        return []
    number, size = plain(expression_at(place)), shape_expressions(given.meta["val"])[dim]
    bounds = (_algebra.Lt(number, size), _algebra.Ge(number, -size))
    message = f"the index of `select` is not within dim {dim}"
    return [Check(relation, node_line(node), message) for relation in bounds if relation is not sympy.true]


def _message(node: torch.fx.Node) -> str:
    """What an assertion says itself; empty if PyTorch wrote that."""
    message = str(node.args[1]) if len(node.args) > 1 else ""
    return "" if message.startswith("Runtime assertion failed for expression") else message


def _without_cases(relation: Any) -> Any:
    """A relation without numbers that are one of two, as truths are that PyTorch counts with."""
    for number in sorted(relation.atoms(_algebra.Piecewise), key=str):
        if len(number.args) == 2 and number.args[1][1] is sympy.true:
            (first, condition), (second, _) = number.args
            ways = (
                _algebra.And(case, relation.subs(number, each))
                for case, each in ((condition, first), (_algebra.Not(condition), second))
            )
            relation = _algebra.Or(*ways)
    return relation


def forget_places(graph: torch.fx.Graph) -> None:
    """Takes out where views begin in memory, with PyTorch's checks that it is nowhere in front of it: nothing else asks."""
    for node in reversed(list(graph.nodes)):
        asserted = node.args[0] if node.target is aten._assert_scalar.default else None
        if _is_of_places(asserted) or (_is_of_places(node) and not node.users):
            graph.erase_node(node)


_OF_PLACES = (*_COMPARISONS, operator.add, operator.sub, operator.mul, operator.neg, operator.and_)


def _is_of_places(node: Any) -> bool:
    """Whether a number follows from where views begin, and from nothing else that varies."""
    if not isinstance(node, torch.fx.Node):
        return False
    if node.target is aten.sym_storage_offset.default:
        return True
    given = node.all_input_nodes
    return node.target in _OF_PLACES and bool(given) and all(map(_is_of_places, given))
