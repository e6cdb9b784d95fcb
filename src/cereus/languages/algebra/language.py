"""The event algebra as one of the languages of Cereus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cereus.errors import LimitError
from cereus.language.protocol import EquivalenceAnswer, Language, Option, OptionKind, Params
from cereus.limits import Limits
from cereus.stream import Stream

if TYPE_CHECKING:
    from cereus.languages.algebra.query import AlgebraQuery
    from cereus.languages.algebra.tree import EventExpression


class Algebra(Language):
    name = "algebra"
    title = "event algebra"
    suffixes = ("algebra",)
    result_time = "end"
    compares = True
    limits = ("steps_per_event",)
    options = (
        Option(
            "values",
            OptionKind.SWITCH,
            "instances carry the row numbers of their constituents, not only their interval",
        ),
        Option(
            "merge_ties",
            OptionKind.SWITCH,
            "of several instances of one primitive at one time the first counts; without it they "
            "are an error",
        ),
        Option(
            "optimise",
            OptionKind.SWITCH,
            "detect an equivalent expression with lower bounds, if the laws lead to one (on)",
        ),
    )

    def parse(self, text: str, *, params: Params | None = None, **options: Any) -> EventExpression:
        from cereus.languages.algebra.text import parse

        return parse(text, params)

    def printed(self, tree: EventExpression) -> str:
        from cereus.languages.algebra.text import to_text

        return to_text(tree)

    def accepts(self, source: object) -> bool:
        from cereus.languages.algebra.tree import EventExpression

        return isinstance(source, EventExpression)

    def compile(
        self,
        tree: EventExpression,
        stream: Stream,
        *,
        limits: Limits,
        text: str | None = None,
        values: bool = False,
        merge_ties: bool = False,
        optimise: bool = True,
        **options: Any,
    ) -> AlgebraQuery:
        from cereus.languages.algebra.optimise import optimise as optimised
        from cereus.languages.algebra.query import AlgebraQuery

        cheaper = optimised(tree, values=values) if optimise else None
        query = AlgebraQuery(
            tree, stream, limits, text, cheaper, values=values, merge_ties=merge_ties
        )
        _check_steps(query, limits.steps_per_event)
        return query

    def equivalent(self, first: str, second: str) -> EquivalenceAnswer:
        from cereus.languages.algebra.equivalence import equivalent
        from cereus.languages.algebra.text import parse

        verdict = equivalent(parse(first), parse(second))
        return EquivalenceAnswer(verdict.equivalent, str(verdict))


def _check_steps(query: AlgebraQuery, most: int | None) -> None:
    """Check the cost of an event against the limit: it is known before the first event."""
    if most is not None and query.bounds.steps > most:
        raise LimitError(
            f"an event may take {query.bounds.steps:,} steps, more than {most:,}",
            hint="shorten the expression, or raise Limits(steps_per_event=…)",
        )
