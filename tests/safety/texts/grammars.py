"""Texts drawn from the grammars themselves, with names that mean something to the events.

The rules are those that lark parses by. Each text has a budget of rules: when it is spent, every
symbol is written the shortest way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from random import Random

from lark import Lark
from lark.grammar import Symbol

from cereus.syntax.parsing import lark_of
from cereus.syntax.trouble import plain_terminal

STARTS = {
    "algebra": "expression",
    "ceql": "query",
    "match_recognize": "clause",
    "par": "program",
    "sase": "program",
    "sremo": "query",
}
WORDS = {
    "NAME": "A B C a b x y s k ts type sum count NEXT MAX LAST STRICT START PROJECT ANY abs PREV "
    "FIRST seconds EVENTS INTERVAL",
    "TYPE": "A B C",
    "STREAM_NAME": "S T-1",
    "STRATEGY": "skip_till_next_match skip_till_any_match strict_contiguity",
    "QUOTED": '"A" `x`',
    "STRING": "'a' '' '%' '2024-01-01' '1' 'é' 'it''s'",
    "NUMBER": "0 1 2 3 5 1.5 1e3 007",
    "PARAMETER": ":p",
    "PARAMETER_LIST": ":ps",
    "PERCENTAGE": "80%",
    "QUANTIFIER": "* + ? {2} {1,3} *? {,2}",
    "RESTRICTION": "_5 _2s _9",
    "COMPARE": "= != < <= >=",
    "TRUTH": "TRUE UNKNOWN",
    "DIRECTION": "ASC DESC",
    "NULLS_PLACE": "FIRST LAST",
    "SEARCH": "INITIAL SEEK",
    "SEMANTICS": "RUNNING FINAL",
    "ZERO": "0",
    "_NEGATION": "!",
    "_EITHER": "|",
    "_UNDERSCORE": "_",
    "_COLONS": "::",
    "_INNER_WITHIN": "WITHIN",
    "_MATCH_RECOGNIZE": "MATCH_RECOGNIZE",
    "_TRY_CAST": "TRY_CAST",
    "SLASH": "/",
}
"""How terminals are written whose name does not tell."""
CONDITIONS = ("x > 1", "y <= x", "s = 'a'", "x + 1 < 3 OR s LIKE 'a%'", "x IS NULL", "x")
COMPARISONS = ("a.x > 1", "a.x < b.x", "b.x = a.x", "sum(a.x) > 2", "a.s = 'a' AND b.y > 0")
COMMON = {
    "condition": CONDITIONS,
    "window": ("5 seconds", "3 EVENTS", "10 [x]", "1 minute 5 seconds"),
    "counts": ("2", "1, 3", "2,", ", 2"),
    "signed": ("1", "3", "2"),
    "path": ("x", "y", "s", "k"),
    "name": ("A", "B", "a", "b"),
    "item": ("1", "2", "'a'", "x"),
}
CLAUSES = ("WITHIN 5 seconds", "PARTITION BY k", "CONSUME BY ANY", "LIMIT 2")
LEAVES = {
    "algebra": COMMON,
    "par": COMMON,
    "ceql": {
        **COMMON,
        "condition": (*COMPARISONS, "a[x > 1]", "b[s = 'a'] OR a.x = 1"),
        "strategy": ("NEXT", "MAX", "LAST", "ANY", "STRICT"),
        "gap": ("1 second", "1 second .. 5 seconds"),
        "unfollowed": ("NOT FOLLOWED BY B WITHIN 5 seconds",),
        "clause": (*CLAUSES, "RETURN a.x AS r, sum(b.y)"),
        "streams": ("S",),
    },
    "sremo": {**COMMON, "condition": (*CONDITIONS, "x > r.x", "r.x = x"), "clause": CLAUSES,
              "store": ("-> r", "-> r2")},
    "sase": {
        **COMMON,
        "condition": (*COMPARISONS, "a[i].x > a[i-1].x", "[k]", "avg(a[].x) > 1", "a[1].x = b.x"),
        "component": ("A a", "B b", "A + a[]", "ANY(A, C) c"),
        "head": ("a", "b", "a[]"),
        "skip": ("AFTER MATCH SKIP TO NEXT EVENT",),
        "stream": ("S",),
    },
    "match_recognize": {
        **COMMON,
        "condition": (*COMPARISONS, *CONDITIONS, "PREV(x) < x", "LAST(a.x, 1) = 1"),
        "partition": ("PARTITION BY k",),
        "order": ("ORDER BY ts",),
        "within": ("WITHIN INTERVAL '5' SECOND",),
        "search": ("",),
        "label": ("a", "b", "A"),
    },
}  # fmt: skip
"""What some symbols mostly are, because what their rules give rarely means something."""
MOSTLY = 0.9
GIVEN = frozenset({"PARAMETER", "PARAMETER_LIST"})
"""Values that are not in the text."""
ENDLESS = 10**6


@dataclass(frozen=True)
class Walk:
    """The rules of a grammar: what each symbol may be replaced by, and how deep it is at least."""

    start: str
    leaves: Mapping[str, tuple[str, ...]]
    expansions: Mapping[str, tuple[tuple[Symbol, ...], ...]]
    heights: Mapping[str, int]
    words: Mapping[str, tuple[str, ...]]

    def text(self, draw: Random, budget: int) -> str:
        todo, text, spent = [(self.start, False)], [], 0
        while todo:
            name, terminal = todo.pop()
            if terminal:
                text.append(draw.choice(self.words[name]))
                continue
            spent += 1
            leaves = self.leaves.get(plain_terminal(name))
            if leaves is not None and draw.random() < MOSTLY:
                text.append(draw.choice(leaves))
                continue
            ways = self.expansions[name]
            if spent > budget:
                least = min(self._height(way) for way in ways)
                ways = tuple(way for way in ways if self._height(way) == least)
            todo += [(each.name, each.is_term) for each in reversed(draw.choice(ways))]
        return " ".join(text)

    def _height(self, way: tuple[Symbol, ...]) -> int:
        return max((self.heights[each.name] for each in way if not each.is_term), default=0)


@cache
def walk_of(dialect: str) -> Walk:
    lark = lark_of(f"languages/{dialect}/grammar.lark", STARTS[dialect])
    expansions: defaultdict[str, list[tuple[Symbol, ...]]] = defaultdict(list)
    for rule in lark.rules:
        expansions[rule.origin.name].append(tuple(rule.expansion))
    fixed = {name: _without_parameters(ways) for name, ways in expansions.items()}
    return Walk(
        STARTS[dialect],
        LEAVES[dialect],
        fixed,
        _heights(fixed),
        _words(lark, fixed),
    )


def _without_parameters(ways: list[tuple[Symbol, ...]]) -> tuple[tuple[Symbol, ...], ...]:
    """As far as there is another way."""
    kept = [way for way in ways if not any(plain_terminal(each.name) in GIVEN for each in way)]
    return tuple(kept or ways)


def _heights(expansions: dict[str, tuple[tuple[Symbol, ...], ...]]) -> dict[str, int]:
    heights = dict.fromkeys(expansions, ENDLESS)
    changed = True
    while changed:
        changed = False
        for name, ways in expansions.items():
            height = 1 + min(
                max((heights[each.name] for each in way if not each.is_term), default=0)
                for way in ways
            )
            if height < heights[name]:
                heights[name], changed = height, True
    return heights


def _words(
    lark: Lark, expansions: dict[str, tuple[tuple[Symbol, ...], ...]]
) -> dict[str, tuple[str, ...]]:
    fixed = {each.name: each.pattern.value for each in lark.terminals if each.pattern.type == "str"}
    used = {each.name for ways in expansions.values() for way in ways for each in way}
    return {name: _written(plain_terminal(name), fixed.get(name)) for name in used}


def _written(name: str, text: str | None) -> tuple[str, ...]:
    if name in WORDS:
        return tuple(WORDS[name].split())
    return (text or name.strip("_").replace("_", " "),)


def drawn(draw: Random, dialect: str) -> str:
    """A text of a language's grammar."""
    return walk_of(dialect).text(draw, draw.choice((6, 12, 25, 60, 150)))
