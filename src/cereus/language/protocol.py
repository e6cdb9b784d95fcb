"""Defines what a language is: how its texts become queries, and which options it takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, ClassVar

from cereus.errors import CereusError
from cereus.language.compiled import CompiledQuery
from cereus.limits import Limits
from cereus.stream import Stream

Params = Mapping[str, Any]
"""The values of a text's parameters, by name without the colon."""


Replace = Callable[[str, str], tuple[str, int]]
"""A function that takes a SELECT of the rows that a clause reads, and the clause. It returns the
name of the table with the clause's results, and how many columns it has."""


class OptionKind(StrEnum):
    """The kind of an option's value, which decides where it can be written."""

    SWITCH = "switch"  # true or false: a flag on the command line
    TEXT = "text"  # a text or a number
    OBJECT = "object"  # a Python object: from Python only


@dataclass(frozen=True)
class Option:
    """A keyword of one language's `compile`, as the command line and pipelines show it."""

    name: str
    kind: OptionKind
    help: str


@dataclass(frozen=True)
class EquivalenceAnswer:
    """Whether two queries are equivalent; None if that is not decided. `text` is the reason."""

    equivalent: bool | None
    text: str


class Language(ABC):
    """One language of queries. `register` makes it known to every surface.

    name      what `dialect=` and `--dialect` call it
    title     what people call it
    suffixes  of files with its texts, without the dot
    options   the keywords that its `compile` takes beside the common ones
    result_time  the column of its results that has their time
    limits    the names of the `Limits` that bound a run of it
    compares  `equivalent` is implemented
    embedded  its texts stand in statements of SQL, behind a table
    typed     its patterns ask for the types of events, so that a column has to say them
    signature what shows that a text is of this language, as a regular expression
    words     what it understands that its grammar takes for names: an editor offers them
    """

    name: ClassVar[str]
    title: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    options: ClassVar[tuple[Option, ...]] = ()
    result_time: ClassVar[str] = "end_time"
    limits: ClassVar[tuple[str, ...]] = tuple(each.name for each in fields(Limits))
    compares: ClassVar[bool] = False
    embedded: ClassVar[bool] = False
    typed: ClassVar[bool] = True
    signature: ClassVar[str | None] = None
    words: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def parse(self, text: str, *, params: Params | None = None, **options: Any) -> Any:
        """The syntax tree of a text, with the values of the parameters that it names (`:limit`).
        The options are those given to `compile`."""

    @abstractmethod
    def accepts(self, source: object) -> bool:
        """Whether an object is a syntax tree of this language."""

    def text_of(self, source: object) -> str | None:
        """The text that an object stands for, which is then parsed; None if the object is a
        tree."""
        return None

    @abstractmethod
    def compile(
        self,
        tree: Any,
        stream: Stream,
        *,
        limits: Limits,
        text: str | None = None,
        **options: Any,
    ) -> CompiledQuery:
        """The query of a syntax tree. `text` is what it was parsed from, for error messages."""

    def printed(self, tree: Any) -> str:
        """A syntax tree as text: parsing it gives the tree again."""
        raise CereusError(f"no way is known to print a query in {self.title}")

    def equivalent(self, first: str, second: str) -> EquivalenceAnswer:
        """Decide whether two texts mean the same, if the language `compares`."""
        raise NotImplementedError

    def rewritten(self, statement: str, replace: Replace) -> str:
        """A statement of SQL with every clause of this language, and the table before it,
        replaced by the table that `replace` makes of them, if the language is `embedded`."""
        raise NotImplementedError

    def option(self, name: str) -> Option | None:
        return next((option for option in self.options if option.name == name), None)


Options = Mapping[str, Any]
