"""SASE+ back to text: `parse(to_text(p)) == p`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cereus.clauses.print import window_text
from cereus.expr import tree as ex
from cereus.expr.print import Level, Printed, Printer, path_text
from cereus.languages.sase import tree as sase
from cereus.syntax.literals import quote_name

_STREAM_NAME = re.compile(r"[^\W\d]\w*(?:-\w+)*")


def to_text(program: sase.Program) -> str:
    """A program, one clause a line."""
    return "\n\n".join("\nUNION\n".join(map(query_text, each.blocks)) for each in program.queries)


def query_text(query: sase.Query) -> str:
    lines = [] if query.source is None else [f"FROM {_stream(query.source)}"]
    lines.append(f"PATTERN {pattern_text(query.pattern)}")
    if query.where:
        lines.append(f"WHERE {' AND '.join(_group(query, each) for each in query.where)}")
    if query.window is not None:
        timeouts = " WITH TIMEOUTS" if query.timeouts else ""
        lines.append(f"WITHIN {window_text(query.window)}{timeouts}")
    if query.having is not None:
        lines.append(f"HAVING {expression_text(query.having)}")
    if query.skip is not None:
        lines.append(f"AFTER MATCH SKIP {query.skip}")
    return "\n".join((*lines, *_output(query.output)))


def pattern_text(part: sase.Sequence | sase.Part) -> str:
    match part:
        case sase.Sequence(parts):
            return f"SEQ({', '.join(map(pattern_text, parts))})"
        case sase.Negated(sase.Kleene() as component):
            return f"~({pattern_text(component)})"
        case sase.Negated(component):
            return f"~{pattern_text(component)}"
        case sase.Kleene(types, variable):
            return f"{_types(types)}+ {quote_name(variable)}[]"
        case sase.Component(types, variable):
            return f"{_types(types)} {quote_name(variable)}"


def expression_text(expression: ex.Expression) -> str:
    return _Printer(bare=False).at(Level.OR, expression)


class _Printer(Printer):
    """Conditions with what SASE+ reads of arrays."""

    def value(self, node: ex.Expression) -> Printed:
        text = _array_text(node)
        return super().value(node) if text is None else (Level.PRIMARY, text)


def _array_text(node: ex.Expression) -> str | None:
    match node:
        case sase.Item(path, str(variable), at):
            return f"{_at(variable, at)}.{path_text(path)}"
        case sase.Aggregate(function, variable, attribute, running, k, parameter=parameter):
            array = _at(variable, "..i-1" if running else "")
            read = "" if attribute is None else f".{path_text(attribute)}"
            more = parameter if k is None else k
            return f"{function}({array}{read}{'' if more is None else f', {more!r}'})"
        case sase.Series(variable, path):
            return f"{_at(variable, '')}.{path_text(path)}"
        case sase.Record(variable, paths, at):
            owner = quote_name(variable) if at is None else _at(variable, at)
            return f"{owner}.({_paths(paths)})"
        case sase.Records(variable, paths):
            return f"{_at(variable, '')}.({_paths(paths)})"
        case sase.Equivalence(paths):
            return f"[{_paths(paths)}]"
    return None


def _at(variable: str, index: str) -> str:
    name = quote_name(variable)
    return f"{name}[{name}.LEN]" if index == sase.Index.LAST else f"{name}[{index}]"


def _paths(paths: Iterable[sase.Path]) -> str:
    return ", ".join(map(path_text, paths))


def _types(types: tuple[str, ...]) -> str:
    names = ", ".join(map(quote_name, types))
    return names if len(types) == 1 else f"ANY({names})"


def _group(query: sase.Query, group: sase.Group) -> str:
    body = " AND ".join(map(clause_text, group.clauses))
    if group.strategy is None:
        return body
    heads = ", ".join(_head(query, variable) for variable in group.variables)
    return f"{group.strategy}({heads}) {{ {body} }}"


def clause_text(clause: sase.Clause) -> str:
    text = _Printer(bare=False).at(Level.NOT, clause.condition)
    return f"partition({text})" if clause.partition else text


def _head(query: sase.Query, variable: sase.Variable) -> str:
    array = isinstance(query.component(variable.name), sase.Kleene)
    return f"{quote_name(variable.name)}{'[]' if array else ''}{'!' if variable.stops else ''}"


def _output(output: sase.Output) -> Iterable[str]:
    if output.values:
        yield f"RETURN {', '.join(map(expression_text, output.values))}"
    if output.type is not None:
        names = ", ".join(map(quote_name, output.names))
        yield f"AS {quote_name(output.type)}{f'({names})' if names else ''}"
    if output.stream is not None:
        yield f"IN STREAM {_stream(output.stream)}"


def _stream(name: str) -> str:
    return name if _STREAM_NAME.fullmatch(name) else '"' + name.replace('"', '""') + '"'
