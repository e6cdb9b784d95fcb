"""A SASE+ text in plain English: a sentence for each query block."""

from __future__ import annotations

from collections.abc import Iterator

from cereus.explain.phrases import (
    condition_words,
    event_words,
    keys_words,
    listed,
    plural,
    sentence,
    window_words,
    with_article,
)
from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase
from cereus.languages.sase.explaining.anatomy import names_in, only_single_events, plain
from cereus.languages.sase.print import expression_text

STRATEGIES = {
    sase.Strategy.STRICT: "without a gap",
    sase.Strategy.PARTITION: "without a gap among the events of the same partition",
    sase.Strategy.NEXT: "each time taking the next event that fits",
    sase.Strategy.ANY: "with any events between",
}


def words(program: sase.Program) -> str:
    return "\n".join(_block(block) for union in program.queries for block in union.blocks)


def _block(block: sase.Query) -> str:
    return sentence(_parts(block))


def _parts(block: sase.Query) -> Iterator[str]:
    source = "" if block.source is None else f"in the stream {block.source}, "
    yield source + ", then ".join(_part(block, part) for part in block.parts)
    between = [
        _condition(clause.condition)
        for clause in block.clauses
        if not isinstance(clause.condition, sase.Equivalence) and not _is_beside(clause)
    ]
    if between:
        yield f"where {listed(between)}"
    if block.equivalences:
        yield keys_words(block.equivalences)
    strategies = {block.strategy(each.variable) for each in block.components}
    yield from (STRATEGIES[each] for each in sorted(strategies))
    if block.window is not None:
        yield window_words(block.window)
    if block.timeouts:
        yield "and also partial matches that are not complete by then"
    if block.having is not None:
        yield f"keeping only those where {_condition(block.having)}"
    if block.output.values:
        yield f"reporting {listed(expression_text(each) for each in block.output.values)}"
    if block.output.stream is not None:
        yield f"into the stream {block.output.stream}"


def _part(block: sase.Query, part: sase.Part) -> str:
    component = part.component if isinstance(part, sase.Negated) else part
    noun = " or ".join(component.types)
    conditions = [
        plain(clause.condition)
        for clause in block.clauses
        if names_in(clause.condition) == {component.variable} and _is_beside(clause)
    ]
    several = isinstance(component, sase.Kleene)
    noun = plural(noun) if several else noun
    phrase = event_words(noun, conditions, component.variable, many=several)
    if isinstance(part, sase.Negated):
        return f"no {'series of ' if several else ''}{phrase}"
    return f"one or more {phrase}" if several else with_article(phrase)


def _is_beside(clause: sase.Clause) -> bool:
    """Whether a clause is about single events of one variable: it stands beside their noun."""
    return len(names_in(clause.condition)) == 1 and only_single_events(clause.condition)


def _condition(condition: ex.Expression) -> str:
    return condition_words(_named(condition))


PLACES = {
    sase.Index.FIRST: "the first {}",
    sase.Index.EACH: "each {}",
    sase.Index.PREVIOUS: "the {} before",
    sase.Index.LAST: "the last {}",
}


def _named(node: ex.Expression) -> ex.Expression:
    """`a[i-1].price` as an attribute of "the a before"."""
    if isinstance(node, sase.Item):
        return ex.Attribute(node.path, PLACES[node.at].format(node.variable))
    if isinstance(node, sase.Aggregate):
        so_far = f"{node.variable} so far" if node.running else node.variable
        return ex.Aggregate(node.function, so_far, node.attribute)
    return ex.rebuild(node, _named)
