"""Random SASE+ queries, as texts, and random streams for them; from a seeded `Random`."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pyarrow as pa

TYPES = ("A", "B", "C")
SIGNS = ("=", "!=", "<", "<=", ">", ">=")
STRATEGIES = (
    "strict_contiguity",
    "partition_contiguity",
    "skip_till_next_match",
    "skip_till_any_match",
)
SIMPLE = ("count", "sum", "avg", "min", "max", "first", "last")
SECOND = 1_000_000
SCHEMA = pa.schema(
    [
        ("type", pa.string()),
        ("time", pa.timestamp("us")),
        ("x", pa.int64()),
        ("y", pa.int64()),
        ("k", pa.string()),
    ]
)

Event = dict[str, Any]


class LastDigit:
    """A user's aggregate: the sum of all values, modulo ten."""

    identity = 0

    @staticmethod
    def combine(left: int, right: int) -> int:
        return (left + right) % 10


AGGREGATES = {"last_digit": LastDigit()}


def events(draw: Random, largest: int = 7) -> list[Event]:
    """A stream in time order; some times are equal, and some values NULL. Times are numbers of
    microseconds, which is how a timestamp column of Arrow holds them."""
    made: list[Event] = []
    time = 0
    types = TYPES[: draw.choice((1, 2, 2, 3))]
    for _ in range(draw.choice((0, 1, *range(2, largest + 1), largest, largest))):
        time += draw.choice((0, 1, 1, 2)) * SECOND
        made.append(
            {
                "type": draw.choice(types),
                "time": time,
                "x": None if draw.random() < 0.06 else draw.randrange(4),
                "y": draw.randrange(3),
                "k": None if draw.random() < 0.06 else draw.choice("pq"),
            }
        )
    return made


def table(stream: list[Event]) -> pa.Table:
    return pa.Table.from_pylist(stream, schema=SCHEMA)


@dataclass
class Part:
    variable: str
    kleene: bool
    negated: bool = False

    @property
    def head(self) -> str:
        return f"{self.variable}[]" if self.kleene else self.variable


@dataclass
class Writer:
    """Writes one query; `strategy` None draws them, one for all or one per variable; `mixed`:
    strategies for some of the variables only."""

    draw: Random
    strategy: str | None = None
    stops: bool = True
    mixed: bool = False
    parts: list[Part] = field(default_factory=list)

    def text(self) -> str:
        window = self.window()
        pattern = self.pattern(bool(window))
        lines = [f"PATTERN SEQ({pattern})", self.where(), window, self.having()]
        lines.append(f"RETURN {', '.join(self.returned())}")
        return "\n".join(line for line in lines if line)

    # ------------------------------------------------------------ pattern

    def pattern(self, bounded: bool) -> str:
        components = [
            Part(name, self.draw.random() < 0.5) for name in "abc"[: self.draw.choice((1, 2, 2, 3))]
        ]
        for index, name in enumerate("nm"):
            if self.draw.random() < (0.3, 0.1)[index]:
                inner = range(1, len(components))
                places = range(len(components) + 1) if bounded else inner
                if len(places):
                    negated = Part(name, self.draw.random() < 0.5, True)
                    components.insert(self.draw.choice(places), negated)
        self.parts = components
        return ", ".join(map(self.component, components))

    def component(self, part: Part) -> str:
        draw = self.draw
        types = draw.choice("AAABBC") if draw.random() < 0.6 else "ANY(A, B)"
        text = f"{types}+ {part.variable}[]" if part.kleene else f"{types} {part.variable}"
        return f"~({text})" if part.negated and part.kleene else ("~" * part.negated) + text

    @property
    def held(self) -> list[Part]:
        return [part for part in self.parts if not part.negated]

    # ------------------------------------------------------------ conditions

    def where(self) -> str:
        draw = self.draw
        clauses: dict[str, list[str]] = {
            part.variable: [self.clause(part) for _ in range(draw.choice((0, 0, 1, 1, 2)))]
            for part in self.parts
        }
        if draw.random() < 0.5:
            clauses[self.parts[0].variable].append(draw.choice(("[k]", "[k]", "[k, y]")))
        listed = [clause for each in clauses.values() for clause in each]
        if self.mixed:
            series = [part for part in self.parts if part.negated and part.kleene]
            listed += [self.after(part) for part in series if draw.random() < 0.5]
            return self.some_groups(listed)
        if self.strategy is None and draw.random() < 0.2:
            return f"WHERE {' ^ '.join(listed)}" if listed else ""
        if self.strategy is None and draw.random() < 0.3:
            groups = [
                self.group(draw.choice(STRATEGIES), [part], clauses[part.variable])
                for part in self.parts
            ]
            return f"WHERE {' AND '.join(groups)}"
        return f"WHERE {self.group(self.strategy or draw.choice(STRATEGIES), self.parts, listed)}"

    def after(self, part: Part) -> str:
        """A condition that compares the time of a negated series' first event."""
        other = self.draw.choice(self.held)
        name = other.variable
        at = self.draw.choice((f"{name}[1]", f"{name}[{name}.LEN]")) if other.kleene else name
        return f"{part.variable}[1].time {self.draw.choice(SIGNS)} {at}.time"

    def some_groups(self, clauses: list[str]) -> str:
        """One or two groups, which leave some variables out where they can."""
        draw = self.draw
        named = draw.sample(self.parts, draw.randrange(1, max(2, len(self.parts))))
        cut = draw.randrange(len(named))
        groups = [
            self.group(draw.choice(STRATEGIES), parts, [])
            for parts in (named[:cut], named[cut:])
            if parts
        ]
        groups[-1] = groups[-1].replace("{  }", f"{{ {' ∧ '.join(clauses)} }}")
        return f"WHERE {' AND '.join(groups)}"

    def group(self, strategy: str, parts: list[Part], clauses: list[str]) -> str:
        heads = ", ".join(f"{part.head}{self.stop(part)}" for part in parts)
        return f"{strategy}({heads}) {{ {' ∧ '.join(clauses)} }}"

    def stop(self, part: Part) -> str:
        ends = self.stops and part.kleene and not part.negated
        return "!" if ends and self.draw.random() < 0.4 else ""

    def clause(self, part: Part) -> str:
        draw = self.draw
        stage = draw.choice(("first", "each", "last")) if part.kleene else "single"
        predicates = [self.predicate(part, stage) for _ in range(draw.choice((1, 1, 1, 2)))]
        text = " OR ".join(predicates)
        if len(predicates) > 1:
            return f"({text})"
        if stage != "last" and "(" not in text and draw.random() < 0.1:
            return f"partition({text})"
        return f"NOT {text}" if draw.random() < 0.1 else text

    def predicate(self, part: Part, stage: str) -> str:
        draw, name, column = self.draw, part.variable, self.draw.choice("xxy")
        own = {
            "single": [f"{name}.{column}"],
            "first": [f"{name}[1].{column}"],
            "each": [f"{name}[i].{column}"],
            "last": [
                f"{name}[{name}.LEN].{column}",
                f"{name}.LEN",
                self.aggregate(f"{name}[]", column),
            ],
        }[stage]
        other = [str(draw.randrange(4)), *self.others(part, column)]
        if stage == "each":
            earlier = self.aggregate(f"{name}[..i-1]", column)
            other += [f"{name}[i-1].{column}", f"{name}[1].{column}", f"{name}[i-1].{column}"]
            other += [earlier, earlier]
        right = draw.choice(other)
        if right.isdecimal() or "highest" in right or "lowest" in right or draw.random() < 0.8:
            return f"{draw.choice(own)} {draw.choice(SIGNS)} {right}"
        return f"{draw.choice(own)} {draw.choice(SIGNS)} {right} + {draw.randrange(2)}"

    def others(self, part: Part, column: str) -> list[str]:
        """Terms of other components that a condition on `part` may mention."""
        index = self.parts.index(part)
        around = self.parts if part.negated else self.parts[:index]
        found: list[str] = []
        for other in around:
            name = other.variable
            if other.negated:
                continue
            if not other.kleene:
                found += [f"{name}.{column}"] * 2
                continue
            found += [f"{name}[1].{column}", f"{name}[{name}.LEN].{column}"]
            found.append(self.aggregate(f"{name}[]", column))
        return found

    def aggregate(self, array: str, column: str) -> str:
        kind = self.draw.randrange(10)
        if kind == 0:
            return f"last_digit({array}.{column})"
        if kind == 1:
            function = self.draw.choice(("highest", "lowest"))
            return f"{function}({array}.{column}, {self.draw.choice((1, 2))})"
        if kind == 2 and self.draw.random() < 0.5:
            return self.draw.choice(
                (f"stddev({array}.{column})", f"percentile({array}.{column}, 0.3)")
            )
        return f"{self.draw.choice(SIMPLE)}({array}.{column})"

    # ------------------------------------------------------------ window and output

    def window(self) -> str:
        draw = self.draw
        seconds, size = draw.randrange(1, 6), draw.randrange(2, 7)
        return draw.choice(("", f"WITHIN {seconds} seconds", f"WITHIN {size} EVENTS"))

    def having(self) -> str:
        arrays = [part for part in self.held if part.kleene]
        if not arrays or self.draw.random() < 0.7:
            return ""
        value = self.aggregate(self.draw.choice(arrays).head, "x")
        return f"HAVING {value} {self.draw.choice(SIGNS)} {self.draw.randrange(4)}"

    def returned(self) -> list[str]:
        values: list[str] = []
        for part in self.held:
            name = part.variable
            if not part.kleene:
                values.append(self.draw.choice((f"{name}.x", f"{name}.(x, k)")))
                continue
            arrays = (
                f"{name}[].x",
                f"{name}[].(x, y)",
                f"{name}[1].x",
                f"{name}[{name}.LEN].(x, k)",
                self.aggregate(f"{name}[]", "x"),
            )
            values.append(self.draw.choice(arrays))
        return values


def query(
    draw: Random, *, strategy: str | None = None, stops: bool = True, mixed: bool = False
) -> str:
    """The text of one random query."""
    return Writer(draw, strategy, stops, mixed).text()


def negated_series(draw: Random) -> str:
    """A query with a negated series before, between or after two components, whose conditions
    speak of what is around it; strategies for some variables only."""
    writer = Writer(draw, mixed=True)
    parts = [Part(name, draw.random() < 0.6) for name in "ab"]
    parts.insert(draw.choice((0, 0, 1, 2)), Part("n", True, True))
    writer.parts = parts
    pattern = ", ".join(map(writer.component, parts))
    window = draw.choice((f"{draw.randrange(1, 6)} seconds", f"{draw.randrange(2, 7)} EVENTS"))
    returned = ", ".join(writer.returned())
    return f"PATTERN SEQ({pattern})\n{writer.where()}\nWITHIN {window}\nRETURN {returned}"
