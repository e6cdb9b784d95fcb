"""Runs the rules of a group on one kernel."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.executor import PatternExecutor
from cereus.engine.results.event_rows import EventShape
from cereus.engine.rules.group import RuleGroup, plan_of
from cereus.engine.rules.reader import RuleReader
from cereus.engine.rules.substreams import RULE
from cereus.plan.plan import Plan


class GroupExecutor(PatternExecutor):
    """An executor of all rules of a group. Its results have the number of the rule in the column
    RULE, before the columns of the results of one rule."""

    def __init__(
        self,
        group: RuleGroup,
        plan: Plan,
        schema: pa.Schema,
        *,
        row_numbers: npt.NDArray[np.int64] | None = None,
        shape: EventShape | None = None,
    ) -> None:
        self.group = group
        super().__init__(
            plan_of(plan, len(group)),
            schema,
            limits=group.shape.limits,
            row_numbers=row_numbers,
            shape=shape,
            reader=partial(RuleReader, rules=group),
        )

    @property
    def header(self) -> dict[str, Any]:
        """The header of the automaton. The rules in the group may change; the automaton does
        not."""
        return {"version": self.plan.version, "rules": "a group"}

    def drop(self, number: int) -> None:
        """Forget a rule and all its partial matches."""
        rules, _ = self.runner.reader.key_index.parts()  # type: ignore[attr-defined]
        self.runner.drop_keys(np.flatnonzero(rules == number))
        self.group.remove(number)

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        for piece in self.group.pieces(batch):
            yield from super().push(piece)


def by_rule(batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The results of each rule, in their order, without the column RULE."""
    rules = batch.column(RULE).to_numpy()
    rest = batch.drop_columns([RULE])
    if len(rules) and rules[0] == rules[-1] and np.all(rules == rules[0]):
        yield int(rules[0]), rest
        return
    order = np.argsort(rules, kind="stable")
    rules, rest = rules[order], rest.take(pa.array(order))
    starts = np.flatnonzero(np.append(True, rules[1:] != rules[:-1]))
    ends = np.append(starts[1:], len(rules))
    for begin, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield int(rules[begin]), rest.slice(begin, end - begin)
