"""Trees: children, walks, copies."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

from cereus.syntax.tree import Tree, bottom_up, rebuild


@dataclass(frozen=True)
class Sum(Tree["Sum"]):
    """A node of a small tree."""


@dataclass(frozen=True)
class Number(Sum):
    value: int


@dataclass(frozen=True)
class Plus(Sum):
    parts: tuple[Sum | tuple[Sum, ...], ...]
    rest: Sum | None = None


TREE = Plus((Number(1), (Number(2), Number(3))), Plus((Number(4),)))


def doubled(node: Sum) -> Sum:
    return replace(node, value=2 * node.value) if isinstance(node, Number) else node


def test_children_are_in_fields_and_in_tuples() -> None:
    assert TREE.children() == (Number(1), Number(2), Number(3), Plus((Number(4),)))
    assert Number(1).children() == ()


def test_a_walk_goes_top_down_in_the_order_of_the_text() -> None:
    assert [node.value for node in TREE.walk() if isinstance(node, Number)] == [1, 2, 3, 4]
    assert next(iter(TREE.walk())) is TREE


def test_rebuild_changes_children_only() -> None:
    made = rebuild(TREE, doubled)
    assert made == Plus((Number(2), (Number(4), Number(6))), Plus((Number(4),)))
    assert bottom_up(TREE, doubled) == Plus((Number(2), (Number(4), Number(6))), Plus((Number(8),)))


def test_what_does_not_change_is_not_copied() -> None:
    assert rebuild(TREE, lambda node: node) is TREE
    assert bottom_up(TREE, lambda node: node) is TREE


def test_a_pickled_node_keeps_its_fields_only() -> None:
    before = len(pickle.dumps(TREE))
    list(TREE.walk())
    assert len(pickle.dumps(TREE)) == before
    assert pickle.loads(pickle.dumps(TREE)) == TREE


def test_the_span_takes_no_part_in_equality() -> None:
    assert Number(1, span=(0, 1)) == Number(1)
