"""Texts of several rows in conditions, `string_agg(a.x, ',') LIKE 'p,%'`, as states that runs
remember.

Whether a text is like a pattern depends on how far it has been matched. So a slot holds a state:
the places in the pattern that may come next, and whether a separator stands before the next value.
Adding a value leads from one state to another. Values that always lead to the same states are one
kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.expr import tree as ex
from cereus.expr.arrow.vector import Vector, constant
from cereus.expr.text_patterns import like_tokens
from cereus.expr.types import Kind
from cereus.languages.match_recognize import values
from cereus.languages.match_recognize.binding import LABEL
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.needs import Part, names_in, with_label
from cereus.languages.match_recognize.match.slots.code import Code
from cereus.languages.match_recognize.match.slots.columns import SlotColumns
from cereus.languages.match_recognize.match.slots.groups import SlotGroups
from cereus.languages.match_recognize.match.slots.tables import HERE, Loaded, NotForSlots, SlotGroup

MOST_STEPS = 1 << 14
"""The most states times different values that are worked out."""
MOST_PLACES = 1 << 10
"""The most states times kinds of values that a column of steps has room for."""
Places = frozenset[int]
State = tuple[bool, Places] | None
"""Whether there is a value, and the places in the pattern; None if there is no text."""


@dataclass(frozen=True)
class TextTest:
    """A test whether the text of a variable's rows matches a pattern. `null` stands for missing
    values, which are left out if there is no `null`. With `of_list`, a list of only missing values
    is a text too."""

    argument: ex.Expression
    variable: str | None
    separator: str
    tokens: tuple[str, ...]
    of_list: bool = False
    null: str | None = None


def text_test(node: ex.Expression, part: Part) -> tuple[TextTest, bool] | None:
    """The test of a condition on a text, and whether it must be true; None if it is something
    else."""
    match node:
        case ex.Like(ex.Attribute((name,)), pattern):
            tokens, wanted = like_tokens(pattern), True
        case ex.Comparison(
            "=" | "!=" as op, ex.Attribute((name,)), ex.Literal(str(text))
        ) | ex.Comparison("=" | "!=" as op, ex.Literal(str(text)), ex.Attribute((name,))):
            tokens, wanted = [f"\\{sign}" for sign in text], op == "="
        case _:
            return None
    match part.leaves[name]:
        case values.Over("string_agg", ex.Expression() as argument, variable, _, more, ()):
            separator = more[0].value if more and isinstance(more[0], ex.Literal) else ""
            return TextTest(argument, variable, str(separator), tuple(tokens)), wanted
        case values.Over("array_agg", ex.Expression() as argument, variable, _, _, (then,)) if (
            then.function == "array_join"
        ):
            joined = [str(each) for each in then.given]
            null = joined[1] if len(joined) > 1 else None
            return TextTest(argument, variable, joined[0], tuple(tokens), True, null), wanted
    return None


@dataclass(frozen=True)
class SlotTexts:
    """Makes slots and code for tests of texts."""

    code: Code
    columns: SlotColumns
    groups: SlotGroups

    def truth(self, test: TextTest, members: frozenset[str]) -> Loaded:
        """Whether the text of the rows of some variables matches a pattern."""
        key = ("text", test, members)
        group = self.groups.known(key)
        if group is None:
            group = self.groups.numbers(key, 1, 0)
            self.add_steps(test, members, group)
        to = self.code.register()
        holds, _, _ = self.columns.known_columns["holds", test, members]
        self.code.add(codes.AT_SLOT, to, holds, group.at)
        return Loaded(to, Kind.BOOLEAN)

    def add_steps(self, test: TextTest, members: frozenset[str], group: SlotGroup) -> None:
        """Let the rows of the variables lead from state to state."""
        of = {members: test.argument}
        if LABEL in names_in(test.argument):
            of = {frozenset((name,)): with_label(test.argument, name) for name in sorted(members)}
        every = pa.concat_arrays([self.texts(argument) for argument in of.values()])
        encoded = every.dictionary_encode()
        texts: list[str | None] = encoded.dictionary.to_pylist()
        numbers = np.asarray(encoded.indices.fill_null(len(texts))).astype(np.int64)
        steps = text_steps(test, [*texts, test.null] if test.of_list else texts)
        kinds = np.append(steps.kinds, 0)[numbers]
        valid = None if test.of_list else numbers < len(texts)
        self.columns.ranked = True
        table = self.columns.of_places(("steps", test, members), steps.steps)
        self.columns.of_places(("holds", test, members), steps.holds, first=False)
        size = len(self.columns.rows)
        for place, some in enumerate(of):
            rows = slice(place * size, (place + 1) * size)
            known = None if valid is None else valid[rows]
            column = self.columns.filled(
                Vector(Kind.INTEGER, kinds[rows], known), constant(None), HERE
            )
            number, _ = self.columns.add(column)
            self.groups.on_update(some, (codes.TEXT_STEP, group.at, number, table))

    def texts(self, argument: ex.Expression) -> pa.Array:
        """The values of an argument on all rows."""
        vector = self.columns.argument(argument)
        if vector.kind is not Kind.STRING:
            raise NotForSlots
        if isinstance(vector.values, pa.Scalar):
            return pa.repeat(vector.values, len(self.columns.rows))
        return vector.values


@dataclass(frozen=True)
class TextSteps:
    """How values lead from state to state. Value number v is of the kind `kinds[v]`. A state is the
    first of its places: `steps` has the next state for each kind of value, and `holds` whether its
    text matches the pattern. State 0 is that of no text."""

    kinds: npt.NDArray[np.int64]
    steps: npt.NDArray[np.int64]
    holds: npt.NDArray[np.int64]


def text_steps(test: TextTest, texts: Sequence[str | None]) -> TextSteps:
    """How these values lead from state to state."""
    begin = _with_skipped(test.tokens, {0})
    states: dict[State, int] = {None: 0}
    rows: list[list[int]] = []
    waiting: list[State] = [None]
    for state in waiting:
        if (len(rows) + 1) * len(texts) > MOST_STEPS:
            raise NotForSlots
        row = []
        for text in texts:
            there = _added(test, begin, state, text)
            if there not in states:
                states[there] = len(states)
                waiting.append(there)
            row.append(states[there])
        rows.append(row)
    if not texts:
        return TextSteps(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
    table = np.array(rows, np.int64)
    columns, kinds = np.unique(table, axis=1, return_inverse=True)
    size = max(columns.shape[1], 1)
    if len(rows) * size > MOST_PLACES:
        raise NotForSlots
    ends = [state is not None and len(test.tokens) in state[1] for state in waiting]
    return TextSteps(
        kinds.reshape(-1).astype(np.int64),
        (columns * size).reshape(-1),
        np.repeat(np.array(ends, np.int64), size),
    )


def _added(test: TextTest, begin: Places, state: State, text: str | None) -> State:
    """Where a text may be in the pattern after one more of its values."""
    has_text, places = state or (False, begin)
    if text is None:
        return state or (False, begin)
    read = test.separator + text if has_text else text
    for sign in read:
        there = {
            place + (test.tokens[place] != "%")
            for place in places
            if place < len(test.tokens) and _fits(test.tokens[place], sign)
        }
        places = _with_skipped(test.tokens, there)
    return True, places


def _fits(token: str, sign: str) -> bool:
    return token in ("%", "_") or token[-1] == sign


def _with_skipped(tokens: Sequence[str], places: set[int]) -> Places:
    """The places, and those after each % at one of them, which may stand for nothing."""
    every = set(places)
    for place in places:
        while place < len(tokens) and tokens[place] == "%":
            place += 1
            every.add(place)
    return frozenset(every)
