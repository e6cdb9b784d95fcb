"""Finds the names in a SASE+ query that are variables: `a.price` of a single event, `a.LEN` of an
array."""

from __future__ import annotations

from dataclasses import replace

from cereus.errors import RefusedError, Span, UnknownNameError, did_you_mean, shortened
from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase

ARRAY_HINT = "write {0}[i].x of every event, {0}[1].x, {0}[i-1].x, {0}[{0}.LEN].x or sum({0}[].x)"


def resolved(query: sase.Query) -> sase.Query:
    """The query with every attribute read from the variable that it names."""
    names = _Names(query)
    having = None if query.having is None else names.read(query.having)
    where = tuple(
        replace(group, clauses=tuple(_clause(names, clause) for clause in group.clauses))
        for group in query.where
    )
    output = replace(query.output, values=tuple(map(names.read, query.output.values)))
    return replace(query, where=where, having=having, output=output)


def _clause(names: _Names, clause: sase.Clause) -> sase.Clause:
    return replace(clause, condition=names.read(clause.condition))


class _Names:
    def __init__(self, query: sase.Query) -> None:
        every = (p.component if isinstance(p, sase.Negated) else p for p in query.parts)
        self.arrays: dict[str, bool] = {}
        for component in every:
            if component.variable in self.arrays:
                raise RefusedError(
                    f"variable {component.variable!r} is declared twice",
                    span=component.span,
                    hint="give every component a variable of its own",
                )
            self.arrays[component.variable] = isinstance(component, sase.Kleene)
        for head in (head for group in query.where for head in group.variables):
            self.known(head.name, head.span)

    def read(self, node: ex.Expression) -> ex.Expression:
        match node:
            case sase.Item() | sase.Series() | sase.Records() | sase.Aggregate():
                assert node.variable is not None
                self.array(node.variable, node.span)
                if isinstance(node, sase.Item | sase.Series) and not node.path:
                    raise RefusedError(
                        "an event has no value of its own",
                        span=node.span,
                        hint=f"name an attribute of it, or write count({node.variable}[])",
                    )
                return node
            case sase.Record(variable, _, at):
                (self.single if at is None else self.array)(variable, node.span)
                return node
            case ex.Attribute(path):
                return self.attribute(node, path)
        return ex.rebuild(node, self.read)

    @property
    def heads(self) -> list[str]:
        return [f"{name}[]" if array else name for name, array in self.arrays.items()]

    def attribute(self, node: ex.Attribute, path: sase.Path) -> ex.Expression:
        variable, *rest = path
        if variable.lower() in list(sase.Strategy) and not rest:
            raise RefusedError(
                f"{variable} is a strategy, not a condition",
                span=node.span,
                hint=f"say it of variables: {variable}({', '.join(self.heads)}) {{ conditions }}",
            )
        if variable not in self.arrays and not rest:
            first, array = next(iter(self.arrays.items()))
            name = shortened(variable)
            raise UnknownNameError(
                f"{name!r} belongs to no variable",
                span=node.span,
                hint=f"write {first}{'[i]' if array else ''}.{name} to say which event's",
            )
        self.known(variable, node.span)
        if self.arrays[variable] and [name.upper() for name in rest] == ["LEN"]:
            return sase.Aggregate("count", variable, None, span=node.span)
        self.single(variable, node.span)
        if not rest:
            raise RefusedError(
                "an event has no value of its own",
                span=node.span,
                hint=f"name an attribute of it: {variable}.price",
            )
        return replace(node, path=tuple(rest), variable=variable)

    def known(self, name: str, span: Span | None) -> None:
        if name not in self.arrays:
            raise UnknownNameError(
                f"variable {name!r} is not in the pattern",
                span=span,
                hint=did_you_mean(name, self.arrays),
            )

    def array(self, name: str, span: Span | None) -> None:
        self.known(name, span)
        if not self.arrays[name]:
            raise RefusedError(
                f"{name!r} holds one event, so it has no index",
                span=span,
                hint=f"write {name}.price, or declare it with + to make it an array: T+ {name}[]",
            )

    def single(self, name: str, span: Span | None) -> None:
        self.known(name, span)
        if self.arrays[name]:
            raise RefusedError(
                f"{name!r} is an array of events", span=span, hint=ARRAY_HINT.format(name)
            )
