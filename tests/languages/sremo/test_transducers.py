"""Constructions on symbolic register transducers (§4.2, §5.1, appendix), on random instances."""

from __future__ import annotations

import re
from itertools import product
from random import Random

import pytest

from cereus.errors import LimitError, RefusedError
from cereus.languages.sremo import srt
from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.api import transducer
from cereus.languages.sremo.text import named, parse_expression
from cereus.reference import sremo as reference
from cereus.stream import Stream
from tests.volume import volume

from .random_queries import Events, events, expression

SEEDS = range(volume(30, 60))
STREAM = Stream(time="t", unit="s")
Match = frozenset[int]


def seconds(first: reference.Event, last: reference.Event) -> int:
    return int((last["t"] - first["t"]) * 1_000_000)


def denoted(e: sremo.Sremo, string: Events) -> frozenset[Match]:
    """Match(e, S), Def. 18."""
    known = reference.String(string, span=seconds)
    return frozenset(m for m, _ in reference.denotation(e, known, 0, len(string), reference.EMPTY))


def regular(random: Random, depth: int = 2) -> sremo.Sremo:
    """An expression of Def. 15, with ANY written out, and NEXT of single events."""
    while True:
        made = sremo.rewritten(expression(random, depth, simple=False))
        beyond = (sremo.Intersection, sremo.Complement, sremo.Windowed)
        if not any(isinstance(n, beyond) and not sremo.stops_at(n) for n in made.walk()):
            return made


def whole(random: Random) -> sremo.Sremo:
    """Any expression, with names that `&` allows."""
    while True:
        made = expression(random, 3, simple=random.random() < 0.5)
        try:
            return named(made)
        except RefusedError:
            continue


def strings(random: Random, many: int = 6, most: int = 4) -> list[Events]:
    return [[], *(events(random, most) for _ in range(many))]


@pytest.mark.parametrize("seed", SEEDS)
def test_theorem_27_and_lemma_29_an_expression_and_its_transducers_have_the_same_matches(
    seed: int,
) -> None:
    random = Random(seed)
    for _ in range(5):
        e = regular(random)
        with_epsilon = srt.from_sremo(e)
        without = srt.eliminate_epsilon(with_epsilon)
        assert not without.has_epsilon
        for string in strings(random):
            assert with_epsilon.matches(string) == denoted(e, string), e
            assert without.matches(string) == denoted(e, string), e


@pytest.mark.parametrize("seed", SEEDS)
def test_definition_32_a_streaming_transducer_reports_what_ends_here(seed: int) -> None:
    random = Random(seed)
    e = regular(random)
    transducer = srt.eliminate_epsilon(srt.streaming(e))
    for string in strings(random):
        if string:
            expected = reference.streaming_matches(e, reference.String(string), len(string) - 1)
            assert transducer.reported(string) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_theorems_31_and_34_union_concatenation_intersection(seed: int) -> None:
    random = Random(seed)
    one, two = regular(random), regular(random)
    first, second = srt.from_sremo(one), srt.from_sremo(two)
    union, both = srt.union(first, second), srt.intersection(first, second)
    chain = srt.concatenation(first, second)
    for string in strings(random):
        left, right = denoted(one, string), denoted(two, string)
        assert union.matches(string) == left | right
        assert both.matches(string) == left & right
        assert chain.matches(string) == _chained(one, two, string)


def _chained(one: sremo.Sremo, two: sremo.Sremo, string: Events) -> frozenset[Match]:
    """Match(T1, S1) · Match(T2, S2) of all S1 · S2 = S; T2 starts with empty registers."""
    found: set[Match] = set()
    for k in range(len(string) + 1):
        rights = [frozenset(p + k for p in m) for m in denoted(two, string[k:])]
        found.update(a | b for a, b in product(denoted(one, string[:k]), rights))
    return frozenset(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_theorem_31_star(seed: int) -> None:
    random = Random(seed)
    e = regular(random)
    iterated = srt.star(srt.from_sremo(e))
    for string in strings(random):
        assert iterated.matches(string) == denoted(sremo.Star(e), string)


@pytest.mark.parametrize("seed", SEEDS)
def test_theorem_41_and_corollary_43_determinisation_and_complement(seed: int) -> None:
    random = Random(seed)
    e = regular(random)
    plain, w = srt.from_sremo(e), random.randint(1, 3)
    try:
        tree, known = srt.unroll(plain, w), srt.determinize(plain, w)
        rest = srt.complement(plain, w)
    except LimitError:
        pytest.skip("too many combinations of conditions")
    assert known.deterministic and rest.deterministic
    for string in strings(random, most=w):
        accepted = bool(denoted(e, string))
        assert tree.matches(string) == denoted(e, string)
        assert known.accepts(string) == accepted
        assert rest.accepts(string) != accepted
        assert len(list(known.runs(string))) <= 1
        assert len(list(rest.runs(string))) == 1


@pytest.mark.parametrize("bounded", [True, False])
def test_the_whole_language_as_one_transducer(bounded: bool) -> None:
    """Intersection, complement and windows composed with everything else: up to a length, and
    without one where none is needed."""
    random, made = Random(4), 0
    for _ in range(volume(120, 250)):
        e, w = whole(random), random.randint(1, 3)
        try:
            plain = transducer(e, window=w if bounded else None, stream=STREAM)
        except (LimitError, RefusedError):
            continue
        plain = srt.eliminate_epsilon(plain)
        for string in strings(random, most=w if bounded else 6):
            assert plain.matches(string) == denoted(e, string), (str(e), string)
        made += 1
    assert made > volume(120, 250) * 2 // 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{A:} . !({A:} -> r . {x = r.x}) . {B:}", "needs a bound on what it reads"),
        ("(!({A:} -> r . {x = r.x}) . {B:})[1..4]", "needs a bound on what it reads"),
        ("({A:} -> r . {B:}) & ({} . {x = r.x})", "one side of & stores into r"),
        ("({A:} . {B:} WITHIN 5 s)", "needs the column that times are in"),
    ],
)
def test_what_has_no_transducer(text: str, said: str) -> None:
    with pytest.raises(RefusedError, match=re.escape(said)):
        transducer(text)


@pytest.mark.parametrize(
    "text",
    [
        "({A:} . !({A:} -> r . {x = r.x}) . {B:})[1..4]",  # a window bounds what it reads
        "{A:} -> r . !(skip* . {x = r.x} . skip*) . {B:}",  # reads what was stored before
        "{A:} . !({A:} . {B:}) . {B:}",  # reads no register
        "{A:} . !!{B:} . {B:}",
    ],
)
def test_complement_without_saying_a_window(text: str) -> None:
    e, random = named(parse_expression(text)), Random(text)
    plain = srt.eliminate_epsilon(transducer(text))
    for string in strings(random, 200, most=6):
        assert plain.matches(string) == denoted(e, string)


def test_determinising_without_a_window_needs_registers_that_stay() -> None:
    with pytest.raises(RefusedError, match="only in a window"):
        srt.determinize(srt.from_sremo(named(parse_expression("{A:} -> r . {x = r.x}"))))
    known = srt.determinize(transducer("({A:} | {B:} . {A:})*"))
    assert known.deterministic and known.accepts([{"type": t} for t in "BABAABAA"])


def test_an_unrolled_transducer_has_no_loops_and_writes_each_register_once() -> None:
    e = named(parse_expression("({A:} -> r | {B: x > r.x} -> r)+"))
    tree = srt.unroll(srt.from_sremo(e), 3)
    assert all(move.source < move.target for move in tree.transitions)
    written = [register for move in tree.transitions for register in move.writes]
    assert len(written) == len(set(written))


def test_theorem_34_transitions_that_mark_differently_are_not_joined() -> None:
    one, two = srt.from_sremo(sremo.Terminal()), srt.from_sremo(sremo.SKIP)
    assert srt.intersection(one, two).matches([{"type": "A"}]) == frozenset()
