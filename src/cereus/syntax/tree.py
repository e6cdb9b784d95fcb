"""The common part of the syntax trees of all languages: parts, walks and copies with other parts.

Nodes are immutable and compare by meaning. `span` is the place in the text; it is kept for error
messages and ignored in comparisons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from operator import is_
from typing import Any, ClassVar, Generic, TypeVar, cast

from cereus.errors import Span

CHILDREN = "_children"
"""The attribute in which a node caches its children."""


@dataclass(frozen=True)
class Node:
    """A part of a syntax tree."""

    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


T = TypeVar("T", bound="Tree[Any]")


@dataclass(frozen=True)
class Tree(Node, Generic[T]):
    """A node with nodes of its family below it: in its fields, or in tuples there.

    The family is the class right below this one, with all its subclasses: `class
    Formula(Tree["Formula"])`.
    """

    family: ClassVar[type[Tree[Any]]]
    field_names: ClassVar[tuple[str, ...] | None] = None

    def __init_subclass__(cls) -> None:
        cls.field_names = None
        if Tree in cls.__bases__:
            cls.family = cls

    def children(self) -> tuple[T, ...]:
        """The nodes right below this one; cached, since every walk over a tree needs them."""
        known: tuple[T, ...] | None = self.__dict__.get(CHILDREN)
        if known is None:
            values = [getattr(self, name) for name in names_of(type(self))]
            known = self.__dict__[CHILDREN] = tuple(_nodes(self.family, values))
        return known

    def walk(self) -> Iterator[T]:
        """This node and all below it, top down, in the order of the text."""
        waiting: list[Any] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children())

    def __getstate__(self) -> dict[str, Any]:
        # cached values do not travel: texts hash differently in every process
        return {each.name: getattr(self, each.name) for each in fields(self)}


def names_of(kind: type[Tree[Any]]) -> tuple[str, ...]:
    """The fields of a class of nodes that carry meaning."""
    if kind.field_names is None:
        kind.field_names = tuple(each.name for each in fields(kind) if each.name != "span")
    return kind.field_names


def rebuild(node: Tree[T], change: Callable[[T], T]) -> T:
    """A copy of `node` whose children went through `change`; the node itself if none changed."""
    same = cast(T, node)
    if not node.children():
        return same
    changed: dict[str, Any] = {}
    for name in names_of(type(node)):
        value = getattr(node, name)
        if isinstance(value, node.family):
            part: Any = change(cast(T, value))
        elif isinstance(value, tuple):
            part = _changed(node.family, value, change)
        else:
            continue
        if part is not value:
            changed[name] = part
    return replace(same, **changed) if changed else same


def bottom_up(node: T, change: Callable[[T], T]) -> T:
    """`change` applied to every part of a tree, the inner parts first."""
    return change(rebuild(node, lambda part: bottom_up(part, change)))


def _nodes(kind: type[Tree[Any]], values: Iterable[Any]) -> list[Any]:
    nodes = []
    for value in values:
        if isinstance(value, kind):
            nodes.append(value)
        elif isinstance(value, tuple):
            nodes += _nodes(kind, value)
    return nodes


def _changed(
    kind: type[Tree[Any]], values: tuple[Any, ...], change: Callable[[Any], Any]
) -> tuple[Any, ...]:
    """A tuple whose nodes went through `change`; the tuple itself if none changed."""
    made = []
    for value in values:
        if isinstance(value, kind):
            made.append(change(value))
        else:
            made.append(_changed(kind, value, change) if isinstance(value, tuple) else value)
    return values if all(map(is_, made, values)) else tuple(made)
