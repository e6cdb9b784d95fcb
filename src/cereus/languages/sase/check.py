"""Checks the rules of SASE+ beyond its grammar (A.1, §2.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cereus.clauses.tree import AttributeWindow
from cereus.errors import RefusedError, UnknownNameError, did_you_mean
from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase
from cereus.languages.sase.places import (
    ClausePlace,
    Identifier,
    atoms,
    identifiers,
    last_variable,
    rank,
)
from cereus.languages.sase.streams import check_streams

COMPOSITES = (sase.Series, sase.Record, sase.Records)
ITERATED = (ClausePlace.EACH, ClausePlace.LATER)


def check(program: sase.Program, aggregates: Iterable[str] = ()) -> None:
    """Check the queries of a program, whose names are resolved, one by one and together.
    `aggregates` are the names of those that the user adds."""
    known = frozenset((*sase.BUILT_IN, *aggregates))
    for union in program.queries:
        for block in union.blocks:
            _check_query(block, known)
        _check_union(union)
    check_streams(program)
    check_timeouts(program)


def check_timeouts(program: sase.Program) -> None:
    """Refuse a program that cannot have time-outs."""
    blocks = [block for union in program.queries for block in union.blocks]
    for block in (each for each in blocks if each.timeouts):
        for why, hint in _without_timeouts(block, alone=len(blocks) == 1):
            raise RefusedError(f"WITH TIMEOUTS {why}", span=block.pattern.span, hint=hint)


def _without_timeouts(query: sase.Query, *, alone: bool) -> Iterator[tuple[str, str]]:
    if query.window is None:
        yield "needs a window, whose end is the time-out", "write WITHIN 5 minutes WITH TIMEOUTS"
    if isinstance(query.window, AttributeWindow):
        yield "needs a window of time or of events", "write WITHIN 5 minutes, or WITHIN 100 EVENTS"
    if not alone:
        yield "is for a text of one query, and this one has several", "take them one by one"
    if query.skip is not None:
        yield "does not go with AFTER MATCH SKIP", "keep one of them"
    if isinstance(query.parts[0], sase.Negated):
        yield "does not go with a negation at the beginning", "name what the pattern begins with"
    if len(query.components) < 2:
        yield (
            "needs a pattern of several components",
            "write them one after the other: SEQ(A a, B b)",
        )


def _check_query(query: sase.Query, aggregates: frozenset[str]) -> None:
    _check_pattern(query)
    _check_heads(query)
    for clause in query.clauses:
        _check_terms(clause.condition, aggregates)
        _check_clause(query, clause)
    on_matches = (*query.output.values, *(() if query.having is None else (query.having,)))
    for expression in on_matches:
        _check_complete(query, expression)
        _check_terms(expression, aggregates, returned=expression is not query.having)
    _check_output(query.output)


# ---------------------------------------------------------------- pattern


def _check_pattern(query: sase.Query) -> None:
    parts = query.parts
    if not query.components:
        raise RefusedError(
            "a pattern needs a component that is not negated",
            span=query.pattern.span,
            hint="a match consists of the events that were found",
        )
    for part, end in ((parts[0], "begins"), (parts[-1], "ends")):
        if isinstance(part, sase.Negated) and query.window is None:
            raise RefusedError(
                f"the pattern {end} with a negation, and nothing bounds it",
                span=part.span,
                hint="add WITHIN: the window says how far no such event may be",
            )


def _check_heads(query: sase.Query) -> None:
    seen: set[str] = set()
    for head in (head for group in query.where for head in group.variables):
        if head.name in seen:
            raise RefusedError(
                f"{head.name!r} already has a strategy", span=head.span, hint="keep one of the two"
            )
        seen.add(head.name)
        kleene = isinstance(query.component(head.name), sase.Kleene)
        if head.stops and (not kleene or query.is_negated(head.name)):
            raise RefusedError(
                f"! ends a Kleene plus, and {head.name!r} is none that a match holds",
                span=head.span,
                hint="leave out the !",
            )


# ---------------------------------------------------------------- clauses


def _check_clause(query: sase.Query, clause: sase.Clause) -> None:
    condition = clause.condition
    if isinstance(condition, sase.Equivalence):
        return
    variable = last_variable(query, condition)
    if variable is None:
        raise RefusedError(
            "this condition mentions no event",
            span=condition.span,
            hint="leave it out, or compare an attribute of a variable",
        )
    _check_negated(query, condition)
    _check_iteration(condition, variable)
    if clause.partition:
        _check_partition(condition, variable)
    of_variable = [node for node in identifiers(condition) if node.variable == variable]
    stage = max(map(_stage, of_variable))
    for atom in atoms(condition):
        if not any(
            node.variable == variable and _stage(node) is stage for node in identifiers(atom)
        ):
            last = _written(variable, stage, isinstance(query.component(variable), sase.Kleene))
            raise RefusedError(
                f"this clause is decided at {last}, which this part of it does not mention",
                span=atom.span,
                hint="every part of an OR has to mention the last component of the clause, in SEQ "
                "order; split it into clauses joined by AND, or into queries joined by UNION",
            )


def _check_partition(condition: ex.Expression, variable: str) -> None:
    """Check that each event alone decides its partition (§2.2.1)."""
    for node in identifiers(condition):
        last = node.variable == variable and rank(node) is ClausePlace.LAST
        if last or isinstance(node, sase.Aggregate):
            raise RefusedError(
                "what defines a partition uses no aggregate and no last event",
                span=node.span,
                hint="compare the event at hand with earlier ones: partition(a[i].k = a[i-1].k)",
            )


def _stage(node: Identifier) -> ClausePlace:
    """The state in which an identifier gets its value: `a[i-1]` is read where `a[i]` is taken."""
    place = rank(node)
    return ClausePlace.EACH if place is ClausePlace.LATER else place


def _written(variable: str, stage: ClausePlace, array: bool) -> str:
    index = {ClausePlace.FIRST: "1", ClausePlace.EACH: "i", ClausePlace.LAST: f"{variable}.LEN"}[
        stage
    ]
    return f"{variable}[{index}]" if array else variable


def _check_negated(query: sase.Query, condition: ex.Expression) -> None:
    named = {n.variable for n in identifiers(condition) if query.is_negated(str(n.variable))}
    if len(named) > 1:
        one, other = sorted(map(str, named))[:2]
        raise RefusedError(
            f"{one!r} and {other!r} are both negated, so no event of either is there to compare",
            span=condition.span,
            hint="a condition may mention one negated component and the others around it",
        )


def _check_iteration(condition: ex.Expression, variable: str) -> None:
    """Check that `i` runs over the last component, while that is being selected."""
    nodes = list(identifiers(condition))
    complete = any(n.variable == variable and rank(n) is ClausePlace.LAST for n in nodes)
    for node in nodes:
        if rank(node) not in ITERATED:
            continue
        name = node.variable
        if name != variable or complete:
            raise RefusedError(
                f"{name}[i] has no meaning here: all of {name}[] is selected when this is decided",
                span=node.span,
                hint=f"compare with {name}[1], {name}[{name}.LEN], min({name}[].x) or "
                f"max({name}[].x)",
            )


# ---------------------------------------------------------------- terms


def _check_terms(
    expression: ex.Expression, aggregates: frozenset[str], *, returned: bool = False
) -> None:
    for node in expression.walk():
        if isinstance(node, sase.Aggregate) and node.function not in aggregates:
            raise UnknownNameError(
                f"unknown aggregate {node.function!r}",
                span=node.span,
                hint=did_you_mean(node.function, aggregates),
            )
    alone = returned or isinstance(expression, sase.Equivalence)
    if not (alone and _many_valued(expression)):
        _check_values(expression)


def _many_valued(node: ex.Expression) -> bool:
    ranked = isinstance(node, sase.Aggregate) and node.k is not None
    return ranked or isinstance(node, (*COMPOSITES, sase.Equivalence))


def _check_values(node: ex.Expression) -> None:
    """Refuse sequences, tuples and equivalence tests as operands, except highest and lowest in a
    comparison."""
    if _many_valued(node):
        raise RefusedError(_no_operand(node), span=node.span, hint=_operand_hint(node))
    for child in node.children():
        ranked = isinstance(child, sase.Aggregate) and isinstance(node, ex.Comparison)
        if not ranked:
            _check_values(child)


def _no_operand(node: ex.Expression) -> str:
    if isinstance(node, sase.Equivalence):
        return "an equivalence test is a clause of its own"
    return "this is a sequence or a tuple, not one value"


def _operand_hint(node: ex.Expression) -> str:
    if isinstance(node, sase.Equivalence):
        return "join it to the others with AND"
    if isinstance(node, sase.Aggregate):
        return f"{node.function} stands in RETURN, or alone on one side of a comparison"
    if isinstance(node, sase.Series):
        name, path = node.variable, ".".join(node.path)
        return f"write {name}[i].{path} for every event, or an aggregate: max({name}[].{path})"
    return "tuples stand in RETURN"


def _check_complete(query: sase.Query, expression: ex.Expression) -> None:
    """Check HAVING and RETURN, which see whole matches: no `i`, and no negated component."""
    for node in expression.walk():
        name = getattr(node, "variable", None)
        if isinstance(node, sase.Equivalence):
            raise RefusedError(
                "an equivalence test belongs into WHERE", span=node.span, hint="move it there"
            )
        if name is not None and query.is_negated(name):
            raise RefusedError(
                f"{name!r} is negated, so a match holds no event of it",
                span=node.span,
                hint="conditions on it stand in WHERE",
            )
        read = isinstance(node, ex.Attribute | sase.Aggregate)
        iterated = read and rank(node) in ITERATED  # type: ignore[arg-type]
        if iterated or getattr(node, "at", None) in (sase.Index.EACH, sase.Index.PREVIOUS):
            raise RefusedError(
                f"{name}[i] stands in WHERE only; here the match is complete",
                span=node.span,
                hint=f"write {name}[1], {name}[{name}.LEN], or an aggregate of {name}[]",
            )


# ---------------------------------------------------------------- output


def _check_output(output: sase.Output) -> None:
    if output.names and len(output.names) != len(output.values):
        raise RefusedError(
            f"{len(output.names)} names for {len(output.values)} values",
            span=output.span,
            hint="AS TYPE(…) names every value of RETURN, or none",
        )
    for index, name in enumerate(output.names):
        if name in output.names[:index]:
            raise RefusedError(
                f"{name!r} is named twice", span=output.span, hint="give each value its own name"
            )


def _check_union(union: sase.Union) -> None:
    first, *others = union.blocks
    streams = {b.output.stream for b in union.blocks} - {None}
    for block in others:
        if len(block.output.values) != len(first.output.values):
            raise RefusedError(
                "the queries of a UNION return different numbers of values",
                span=block.output.span,
                hint=f"the first returns {len(first.output.values)}",
            )
        if len(streams) > 1:
            raise RefusedError(
                "the queries of a UNION have one output stream",
                span=block.output.span,
                hint="name one of them, or write two queries without UNION",
            )
