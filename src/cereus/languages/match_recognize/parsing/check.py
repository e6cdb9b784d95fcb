"""Checks a clause as far as that is possible without its table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from math import factorial

from cereus.errors import RefusedError, Span, UnknownNameError, did_you_mean
from cereus.expr import tree as ex
from cereus.languages.match_recognize import tree

MOST_ORDERS = 5040
"""The most orders of a PERMUTE: those of seven parts."""


def check(clause: tree.Clause) -> None:
    """Refuse a clause that is wrong for any table."""
    _check_subsets(clause)
    _check_definitions(clause)
    _check_pattern(clause)
    _check_skip(clause)
    _check_within(clause)
    _check_output(clause)
    for measure in clause.measures:
        _Expressions(clause).check(measure.value)
    for definition in clause.define:
        _Expressions(clause, defines=True).check(definition.condition)


def _check_subsets(clause: tree.Clause) -> None:
    variables, seen = clause.variables(), set[str]()
    for subset in clause.subsets:
        if subset.name in variables:
            raise RefusedError(
                f"{subset.name} is a variable of the pattern, and cannot be a SUBSET too",
                span=subset.span,
                hint="give the SUBSET another name",
            )
        if subset.name in seen:
            raise RefusedError(
                f"the SUBSET {subset.name} is defined twice",
                span=subset.span,
                hint="leave one of them out, or give it another name",
            )
        seen.add(subset.name)
        for member in subset.members:
            if member not in variables:
                raise _unknown(member, variables, subset.span)


def _check_definitions(clause: tree.Clause) -> None:
    variables, seen = clause.variables(), set[str]()
    subsets = [subset.name for subset in clause.subsets]
    for definition in clause.define:
        name = definition.variable
        if name in subsets:
            raise RefusedError(
                f"{name} is a SUBSET: its members are defined, not the whole",
                span=definition.span,
                hint="define its members",
            )
        if name not in variables:
            raise _unknown(name, variables, definition.span)
        if name in seen:
            raise RefusedError(f"{name} is defined twice", span=definition.span, hint="use AND")
        seen.add(name)


def _check_pattern(clause: tree.Clause) -> None:
    for node in clause.pattern.walk():
        if isinstance(node, tree.Exclusion) and clause.rows is tree.Rows.UNMATCHED:
            raise RefusedError(
                "{- -} cannot be combined with WITH UNMATCHED ROWS",
                span=node.span,
                hint="leave one of them out",
            )
        if isinstance(node, tree.Permutation) and factorial(len(node.parts)) > MOST_ORDERS:
            raise RefusedError(
                f"PERMUTE of {len(node.parts)} parts has too many orders",
                span=node.span,
                hint="seven parts are the most",
            )


def _check_skip(clause: tree.Clause) -> None:
    known = _known(clause)
    if clause.skip.variable is not None and clause.skip.variable not in known:
        raise _unknown(clause.skip.variable, known, clause.skip.span)


def _check_within(clause: tree.Clause) -> None:
    within = clause.within
    if within is None:
        return
    if not clause.order:
        raise RefusedError(
            "WITHIN needs ORDER BY: its first column says the time",
            span=within.span,
            hint="write ORDER BY ts",
        )
    if clause.order[0].descending:
        raise RefusedError(
            "WITHIN needs a time that rises", span=clause.order[0].span, hint="leave out DESC"
        )
    if within.length <= timedelta(0):
        raise RefusedError(
            "WITHIN takes an interval above zero", span=within.span, hint="write INTERVAL '1' HOUR"
        )
    if within.timeouts and clause.rows is tree.Rows.UNMATCHED:
        raise RefusedError(
            "WITH TIMEOUTS cannot be combined with WITH UNMATCHED ROWS",
            span=within.span,
            hint="rows of a match that timed out are rows of no match: leave one of them out",
        )


def _check_output(clause: tree.Clause) -> None:
    if clause.rows is tree.Rows.ONE and not clause.measures and not clause.partition:
        raise RefusedError(
            "ONE ROW PER MATCH emits the columns of PARTITION BY and the measures, "
            "and there are none",
            span=clause.span,
            hint="add MEASURES MATCH_NUMBER() AS match, or write ALL ROWS PER MATCH",
        )
    seen = {path[-1].lower() for path in clause.partition}
    if clause.rows is not tree.Rows.ONE:
        seen |= {order.path[-1].lower() for order in clause.order}
    if clause.timeouts:
        seen |= set(tree.TIMEOUTS)
    for measure in clause.measures:
        if measure.name.lower() in seen:
            raise RefusedError(
                f"the output has two columns {measure.name!r}",
                span=measure.span,
                hint="give the measure another name",
            )
        seen.add(measure.name.lower())


def _known(clause: tree.Clause) -> tuple[str, ...]:
    return (*clause.variables(), *(subset.name for subset in clause.subsets))


def _unknown(name: str, known: Iterable[str], span: Span | None) -> UnknownNameError:
    return UnknownNameError(
        f"{name} is not a variable of the pattern", span=span, hint=did_you_mean(name, known)
    )


# ---------------------------------------------------------------- expressions


class _Expressions:
    """The rules for navigation, aggregates and CLASSIFIER in one expression."""

    def __init__(self, clause: tree.Clause, *, defines: bool = False) -> None:
        self.known, self.defines = _known(clause), defines

    def check(self, node: ex.Expression) -> None:
        match node:
            case tree.Step():
                self.step(node)
            case tree.Aggregate():
                self.aggregate(node)
            case tree.Classifier():
                self.classifier(node)
            case tree.Listed():
                raise RefusedError(
                    "lists cannot be written here",
                    span=node.span,
                    hint="write x IN (1, 2), or emit array_agg(x)",
                )
            case ex.Call(function="match_rowtime" | "match_proctime" as name):
                raise RefusedError(
                    f"{name.upper()} is Flink's: not supported here",
                    span=node.span,
                    hint="with ORDER BY ts, MATCH_ROWTIME() and LAST(ts) are the time of a match",
                )
            case _:
                for child in node.children():
                    self.check(child)

    def classifier(self, node: tree.Classifier) -> None:
        if node.variable is not None and node.variable not in self.known:
            raise _unknown(node.variable, self.known, node.span)

    def semantics(self, node: tree.Step | tree.Aggregate) -> None:
        if self.defines and node.semantics is tree.Semantics.FINAL:
            raise RefusedError(
                "FINAL has no meaning in DEFINE: the match has not ended",
                span=node.span,
                hint="leave it out",
            )

    def step(self, node: tree.Step) -> None:
        self.semantics(node)
        physical = node.function in ("PREV", "NEXT")
        inner = node.argument
        if physical and isinstance(inner, tree.Step) and inner.function in ("FIRST", "LAST"):
            self.step(inner)
            return
        for below in inner.walk():
            if isinstance(below, tree.Step):
                raise RefusedError(
                    f"{below.function} cannot stand inside {node.function} here",
                    span=below.span,
                    hint="only FIRST and LAST may stand directly in PREV and NEXT: "
                    "PREV(FIRST(a.x, 1), 2)",
                )
            if isinstance(below, tree.Aggregate):
                raise RefusedError(
                    f"an aggregate cannot stand inside {node.function}",
                    span=below.span,
                    hint="aggregate outside of it, or in a measure of its own",
                )
        self.one_variable(node, (inner,), node.function)
        if not any(isinstance(n, ex.Attribute | tree.Classifier) for n in inner.walk()):
            raise RefusedError(
                f"{node.function} needs a column or CLASSIFIER() in its argument",
                span=node.span,
                hint="write LAST(a.price), or LAST(CLASSIFIER())",
            )

    def aggregate(self, node: tree.Aggregate) -> None:
        self.semantics(node)
        if node.star:
            if node.variable is not None and node.variable not in self.known:
                raise _unknown(node.variable, self.known, node.span)
            return
        _check_arguments(node)
        for argument in node.arguments:
            for below in argument.walk():
                if isinstance(below, tree.Step | tree.Aggregate):
                    what = below.function if isinstance(below, tree.Step) else "an aggregate"
                    raise RefusedError(
                        f"{what} cannot stand inside the aggregate {node.function}",
                        span=below.span,
                        hint="aggregate a column of the rows",
                    )
        self.one_variable(node, node.arguments, node.function)

    def one_variable(
        self, node: ex.Expression, arguments: tuple[ex.Expression, ...], function: str
    ) -> None:
        """Check that all columns inside one navigation or aggregate are of one variable."""
        seen = list(dict.fromkeys(v for each in arguments for v in _variables(each)))
        for each in arguments:
            self.check(each)
        if len(seen) > 1:
            names = " and ".join("all rows" if name is None else name for name in seen)
            raise RefusedError(
                f"{function} reads columns of one variable, and these are of {names}",
                span=node.span,
                hint="use one call for each variable",
            )


def _check_arguments(node: tree.Aggregate) -> None:
    least, most = tree.ARGUMENTS.get(node.function, (1, 1))
    if not least <= len(node.arguments) <= most:
        count = str(least) if least == most else f"{least} or {most}"
        plural = "" if count == "1" else "s"
        raise RefusedError(f"{node.function} takes {count} argument{plural}", span=node.span)
    if node.function == "percentile":
        _check_part(node)
    if node.function.endswith("_n"):
        _check_number(node)
    if node.function not in ("string_agg", "listagg"):
        return
    for separator in node.arguments[1:]:
        if not (isinstance(separator, ex.Literal) and isinstance(separator.value, str)):
            raise RefusedError(
                f"the separator of {node.function} is a text",
                span=separator.span or node.span,
                hint="write it in quotes: ','",
            )


def _check_part(node: tree.Aggregate) -> None:
    part = node.arguments[1]
    share = part.value if isinstance(part, ex.Literal) else None
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise RefusedError(
            "percentile takes values and a part from 0 to 1",
            span=part.span or node.span,
            hint="write percentile(a.price, 0.95)",
        )


def _check_number(node: tree.Aggregate) -> None:
    number = node.arguments[-1]
    most = number.value if isinstance(number, ex.Literal) else None
    if type(most) is not int or most < 1:
        name = node.function.removesuffix("_n")
        raise RefusedError(
            f"the last argument of {name} is how many values are emitted",
            span=number.span or node.span,
            hint=f"write {name}(a.x, 3)"
            if name in ("min", "max")
            else f"write {name}(a.x, a.y, 3)",
        )


def _variables(expression: ex.Expression) -> Iterator[str | None]:
    for node in expression.walk():
        if isinstance(node, ex.Attribute | tree.Classifier):
            yield node.variable
