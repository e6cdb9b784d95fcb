"""A clause back to text: `parse(to_text(clause)) == clause`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from decimal import Decimal
from enum import IntEnum

from cereus.expr import tree as ex
from cereus.expr.print import Level, Printed, Printer, path_text
from cereus.languages.match_recognize import tree
from cereus.syntax.literals import quote_name

SECOND = 1_000_000
UNITS = (
    ("DAY", 24 * 3600 * SECOND),
    ("HOUR", 3600 * SECOND),
    ("MINUTE", 60 * SECOND),
    ("SECOND", SECOND),
)


def to_text(clause: tree.Clause) -> str:
    lines = "\n".join(f"  {line}" for line in _lines(clause))
    return f"MATCH_RECOGNIZE (\n{lines}\n)"


def _lines(clause: tree.Clause) -> Iterator[str]:
    if clause.partition:
        yield f"PARTITION BY {', '.join(map(path_text, clause.partition))}"
    if clause.order:
        yield f"ORDER BY {', '.join(map(_order, clause.order))}"
    if clause.measures:
        measures = (f"{value_text(m.value)} AS {quote_name(m.name)}" for m in clause.measures)
        yield f"MEASURES {', '.join(measures)}"
    if clause.rows is not tree.Rows.ONE:
        yield str(clause.rows)
    if clause.skip != tree.Skip():
        yield f"AFTER MATCH SKIP {_skip(clause.skip)}"
    yield f"PATTERN ({pattern_text(clause.pattern)})"
    if clause.within is not None:
        yield within_text(clause.within)
    if clause.subsets:
        yield f"SUBSET {', '.join(map(_subset, clause.subsets))}"
    if clause.define:
        conditions = (
            f"{variable_text(each.variable)} AS {value_text(each.condition)}"
            for each in clause.define
        )
        yield f"DEFINE {', '.join(conditions)}"


def _order(order: tree.Order) -> str:
    words = [path_text(order.path)]
    if order.descending:
        words.append("DESC")
    if order.nulls_first is not None:
        words.append("NULLS FIRST" if order.nulls_first else "NULLS LAST")
    return " ".join(words)


def _skip(skip: tree.Skip) -> str:
    return str(skip.to) if skip.variable is None else f"{skip.to} {variable_text(skip.variable)}"


def within_text(within: tree.Within) -> str:
    return f"WITHIN {interval_text(within.length)}{' WITH TIMEOUTS' if within.timeouts else ''}"


def interval_text(length: timedelta) -> str:
    """A length of time as SQL writes it: in the largest unit that it has a whole number of, or in
    seconds."""
    micros = length // timedelta(microseconds=1)
    for unit, size in UNITS:
        if micros % size == 0:
            return f"INTERVAL '{micros // size}' {unit}"
    return f"INTERVAL '{Decimal(micros).scaleb(-6).normalize():f}' SECOND"


def _subset(subset: tree.Subset) -> str:
    return f"{variable_text(subset.name)} = ({', '.join(map(variable_text, subset.members))})"


def variable_text(name: str) -> str:
    """A variable as it is written: quoted where its case matters."""
    return quote_name(name) if name == name.upper() else '"' + name.replace('"', '""') + '"'


# ---------------------------------------------------------------- patterns


class Binding(IntEnum):
    """How tightly the outermost operator of a pattern binds."""

    ALTERNATION = 1
    CONCATENATION = 2
    QUANTIFIED = 3
    UNIT = 4


def pattern_text(pattern: tree.Pattern, level: Binding = Binding.ALTERNATION) -> str:
    binding, text = _pattern(pattern)
    return text if binding >= level else f"({text})"


def _pattern(pattern: tree.Pattern) -> tuple[Binding, str]:
    match pattern:
        case tree.Alternation(parts):
            texts = _listed(parts, Binding.CONCATENATION)
            return Binding.ALTERNATION, " | ".join(texts)
        case tree.Concatenation(parts):
            return Binding.CONCATENATION, " ".join(_listed(parts, Binding.QUANTIFIED))
        case tree.Quantified(part):
            return Binding.QUANTIFIED, pattern_text(part, Binding.UNIT) + _quantifier(pattern)
        case tree.Variable(name):
            return Binding.UNIT, variable_text(name)
        case tree.Exclusion(part):
            return Binding.UNIT, f"{{- {pattern_text(part)} -}}"
        case tree.Permutation(parts):
            return Binding.UNIT, f"PERMUTE({', '.join(_listed(parts, Binding.ALTERNATION))})"
        case tree.PartitionStart():
            return Binding.UNIT, "^"
        case tree.PartitionEnd():
            return Binding.UNIT, "$"
        case tree.Empty():
            return Binding.UNIT, "()"
    raise TypeError(f"no text for {pattern!r}")


def _listed(parts: Iterable[tree.Pattern], level: Binding) -> list[str]:
    return [pattern_text(part, level) for part in parts]


def _quantifier(pattern: tree.Quantified) -> str:
    low, high = pattern.low, pattern.high
    simple = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    text = simple.get((low, high))
    if text is None:
        bounds = f"{low}" if low == high else f"{low},{'' if high is None else high}"
        text = f"{{{bounds}}}"
    return text + ("?" if pattern.reluctant else "")


# ---------------------------------------------------------------- expressions


def value_text(value: ex.Expression) -> str:
    return _Values(bare=False).at(Level.OR, value)


class _Values(Printer):
    def value(self, node: ex.Expression) -> Printed:
        match node:
            case tree.Step(function, argument, offset, semantics):
                more = "" if offset is None else f", {offset}"
                inside = f"{self.at(Level.OR, argument)}{more}"
                return Level.PRIMARY, f"{_before(semantics)}{function}({inside})"
            case tree.Aggregate(function, arguments, star, variable, semantics):
                inside = self.listed(arguments)
                if star:
                    inside = "*" if variable is None else f"{variable_text(variable)}.*"
                name = function.removesuffix("_n")
                return Level.PRIMARY, f"{_before(semantics)}{name}({inside})"
            case tree.Taken(function, collection, arguments):
                return Level.PRIMARY, f"{function}({self.listed((collection, *arguments))})"
            case tree.Listed(items):
                return Level.PRIMARY, f"ARRAY[{self.listed(items)}]"
            case tree.Classifier(variable):
                inside = "" if variable is None else variable_text(variable)
                return Level.PRIMARY, f"CLASSIFIER({inside})"
            case tree.MatchNumber():
                return Level.PRIMARY, "MATCH_NUMBER()"
            case ex.Literal(timedelta() as length):
                text = interval_text(abs(length))
                before = length < timedelta()
                return (Level.UNARY, f"-{text}") if before else (Level.PRIMARY, text)
            case ex.Attribute(path, str(variable)):
                return Level.PRIMARY, f"{variable_text(variable)}.{path_text(path)}"
        return super().value(node)


def _before(semantics: tree.Semantics | None) -> str:
    return "" if semantics is None else f"{semantics} "
