"""Detection against the full semantics, on random expressions and streams."""

from __future__ import annotations

import pickle
import random
from datetime import timedelta

import numpy as np
import pytest

from cereus.errors import RefusedError, SnapshotError
from cereus.languages.algebra.bounds import bounds
from cereus.languages.algebra.detect import program as programs
from cereus.languages.algebra.detect import run
from cereus.languages.algebra.detect.detector import Detector
from cereus.languages.algebra.detect.instructions import NEVER, NEVER_CELL, NO_QUEUE
from cereus.languages.algebra.detect.layout import Addresses
from cereus.languages.algebra.detect.program import DetectorProgram, build
from cereus.languages.algebra.detect.ticks import group
from cereus.languages.algebra.sizes import sized
from cereus.languages.algebra.text import parse
from cereus.languages.algebra.tree import EventExpression, Primitive, Sequence, size
from cereus.reference import algebra as reference
from tests.volume import volume

from .drawing import A, B, C, Events, as_instances, events, expression, masks, ticks
from .figure5 import Machine

CASES = volume(11, 62)
MOST_INSTANCES = 3_000


def cases(seed: int, *, longest: int) -> list[tuple[EventExpression, Events]]:
    draw = random.Random(seed)
    return [
        (expression(draw, draw.randint(1, 21)), events(draw, draw.randint(longest // 3, longest)))
        for _ in range(CASES)
    ]


def without_schedules(each: EventExpression, *, values: bool) -> DetectorProgram:
    """The program that takes schedule 0 at every tick."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "MOST_SCHEDULES", 0)
        return build(each, values=values)


@pytest.mark.parametrize("seed", range(4))
def test_intervals_are_a_valid_restriction(seed: int) -> None:
    """400 cases, or 2,000, in the simple framework, each with and without schedules."""
    for each, stream in cases(seed, longest=30):
        full = reference.meaning(each, reference.interpret(stream, values=False))
        for program in (build(each), without_schedules(each, values=False)):
            found = as_instances(run.detect(program, ticks(program, stream)))
            assert reference.restriction_faults(full, found) == [], (str(each), stream)


@pytest.mark.parametrize("seed", range(4, 8))
def test_instances_with_constituents_are_a_valid_restriction(seed: int) -> None:
    """400 cases, or 2,000, in the value framework, each with and without schedules."""
    compared = 0
    for each, stream in cases(seed, longest=7):
        full = reference.meaning(each, reference.interpret(stream))
        if len(full) > MOST_INSTANCES:
            continue
        compared += 1
        for program in (build(each, values=True), without_schedules(each, values=True)):
            found = as_instances(run.detect(program, ticks(program, stream)))
            assert reference.restriction_faults(full, found) == [], (str(each), stream)
    assert compared > 0.9 * CASES


def by_tick(stream: Events) -> list[tuple[int, int, set[Primitive]]]:
    """Time, first row and primitives of each tick."""
    found: dict[int, tuple[int, int, set[Primitive]]] = {}
    for row, (time, occurring) in enumerate(stream):
        found.setdefault(time, (time, row, set()))[2].update(occurring)
    return list(found.values())


@pytest.mark.parametrize("values", [False, True], ids=["simple", "values"])
def test_sizes_and_steps_stay_within_their_bounds(values: bool) -> None:
    """Propositions 37 and 38 for every set at every tick; memory and steps of Fig. 5 within the
    static bounds; the same detections as the compiled form."""
    for each, stream in cases(11 + values, longest=20):
        program = build(each, values=values)
        limits = bounds(each, values=values)
        states = program.new_states()
        machine = Machine(each, values=values)
        expected = []
        for time, row, occurring in by_tick(stream):
            instance = machine.tick(time, row, occurring)
            expected += [(instance.start, instance.end)] if instance.rows else []
            assert machine.steps <= limits.steps
            assert machine.memory() <= limits.memory
            check_sets_of_the_machine(machine)
        whole = ticks(program, stream)
        assert run.detect(program, whole, states).pairs() == expected
        assert states.nbytes == limits.state_bytes
        check_sets_of_the_state(program, states[0], machine)


def check_sets_of_the_machine(machine: Machine) -> None:
    for (node, _), variables in zip(machine.parts, machine.variables, strict=True):
        part = sized(node)
        assert len(variables.s) <= part.set_size < size(node)
        assert len(variables.q) <= part.queue_size
        if isinstance(node, Sequence):
            assert part.queue_size == part.operands[1].set_size


def check_sets_of_the_state(program: DetectorProgram, state: np.ndarray, machine: Machine) -> None:
    """Q is ascending, fits its room, and holds with l at least what it does in Fig. 5; S is where
    the sources say."""
    memory = np.concatenate([program.layout.initial[: program.layout.state_at], state])
    variables = {node: v for (node, _), v in zip(machine.parts, machine.variables, strict=True)}
    for node, place in program.layout.places.items():
        part = sized(node)
        begun = set(starts(memory, place)) - {NEVER}
        assert len(begun) <= part.set_size
        if place.queue != NO_QUEUE:
            assert memory[place.queue] <= part.queue_size == place.room
            stored = instances(memory, place)
            assert stored == sorted(set(stored))
            latest = (memory[place.left], memory[place.left - 1])
            assert {(e.start, e.end) for e in variables[node].q} <= {*stored, latest}


def instances(memory: np.ndarray, place: Addresses) -> list[tuple[int, int]]:
    """The starts and ends in Q."""
    ends = place.queue + 1 + place.stride * np.arange(memory[place.queue])
    return list(zip(memory[ends + 1].tolist(), memory[ends].tolist(), strict=True))


def starts(memory: np.ndarray, place: Addresses) -> list[int]:
    return [
        int(memory[first + distance * i])
        for first, number, distance in place.starts
        for i in range(memory[number] if number != NEVER_CELL else 1)
    ]


def test_the_state_is_carried_from_batch_to_batch() -> None:
    draw = random.Random(21)
    for each, stream in cases(21, longest=14)[:150]:
        program = build(each, values=draw.random() < 0.5)
        cut = draw.choice([time for time, _ in stream] or [0])
        early = sum(time < cut for time, _ in stream)
        states = program.new_states()
        parts = [
            run.detect(program, ticks(program, stream[:early]), states),
            run.detect(program, ticks(program, stream[early:], first_row=early), states),
        ]
        together, whole = run.concatenate(parts), run.detect(program, ticks(program, stream))
        assert together.pairs() == whole.pairs()
        assert together.constituents() == whole.constituents()


def test_a_detector_gives_the_same_however_its_rows_are_split() -> None:
    """Also when a tick, or a snapshot, falls between two batches."""
    draw = random.Random(22)
    for number in range(150):
        each = expression(draw, draw.randint(1, 15))
        program = build(each, values=bool(number % 2))
        keys = draw.randint(1, 3)
        streams = [events(draw, draw.randint(0, 8)) for _ in range(keys)]
        rows = [(time, key, part) for key, s in enumerate(streams) for time, part in s]
        rows.sort(key=lambda row: row[:2])
        time, key, mask = columns(program, rows)
        expected = []
        for one in range(keys):
            chosen = np.flatnonzero(key == one)
            apart = group(time[chosen], mask[chosen], rows=chosen)
            expected += shown(one, run.detect(program, apart))
        assert sorted(pushed(program, time, key, mask, draw)) == sorted(expected)


def columns(
    program: DetectorProgram, rows: list[tuple[int, int, list[Primitive]]]
) -> tuple[np.ndarray, ...]:
    time = np.array([time for time, _, _ in rows], np.int64)
    key = np.array([key for _, key, _ in rows], np.int64)
    mask = np.array(masks(program, [(time, part) for time, _, part in rows]), np.uint64)
    return time, key, mask


def pushed(
    program: DetectorProgram,
    time: np.ndarray,
    key: np.ndarray,
    mask: np.ndarray,
    draw: random.Random,
) -> list[tuple[int, int, int, tuple[int, ...]]]:
    detector = Detector(program)
    limits = bounds(program.expression, values=program.values)
    found = []
    at = 0
    while at < len(time):
        to = min(len(time), at + draw.randint(1, 4))
        order = at + np.argsort(key[at:to], kind="stable")
        found += shown(None, detector.push(time[order], mask[order], rows=order, keys=key[order]))
        if draw.random() < 0.3:
            found += shown(None, detector.advance(int(time[to - 1])))
        snapshot = detector.snapshot()
        body = len(snapshot.partition(b"\n")[2])
        assert body <= detector.keys * (limits.state_bytes + limits.waiting_bytes)
        detector = Detector(program)
        detector.restore(snapshot)
        at = to
    return found + shown(None, detector.finish())


def shown(key: int | None, found: run.Instances) -> list[tuple[int, int, int, tuple[int, ...]]]:
    keys = found.keys.tolist() if key is None else [key] * len(found)
    parts = zip(keys, found.pairs(), found.constituents(), strict=True)
    return [(key, start, end, tuple(rows)) for key, (start, end), rows in parts]


def test_chunks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    for each, stream in cases(23, longest=14)[:100]:
        program = build(each, values=True)
        whole = run.detect(program, ticks(program, stream))
        with monkeypatch.context() as patch:
            patch.setattr(run, "CHUNK", 3)
            in_parts = run.detect(program, ticks(program, stream))
        assert in_parts.pairs() == whole.pairs()
        assert in_parts.constituents() == whole.constituents()


def test_keys_are_detected_apart() -> None:
    program = build(parse("A ; B"))
    found = run.detect(program, group([1, 5, 2, 3], [1, 2, 2, 1], key_rows=[0, 2, 4]))
    assert shown(None, found) == [(0, 1, 5, ())]


def test_more_primitives_than_a_word_has_bits() -> None:
    many = tuple(Primitive(f"P{number}") for number in range(70))
    draw = random.Random(24)
    for _ in range(20):
        each = many[0] + expression(draw, 15, many)
        for other in many[1:]:
            each = each | other
        program = build(each, values=True)
        stream: Events = [(time, [many[draw.randrange(70)]]) for time in range(12)]
        full = reference.meaning(each, reference.interpret(stream))
        found = as_instances(run.detect(program, ticks(program, stream)))
        assert program.words == 2
        assert reference.restriction_faults(full, found) == []


def test_more_primitives_than_the_table_has() -> None:
    many = tuple(Primitive(f"P{number}") for number in range(20))
    draw = random.Random(25)
    for _ in range(50):
        each = expression(draw, 25, many)
        program = build(each, values=True)
        stream: Events = [(t, draw.sample(many, draw.randint(1, 3))) for t in range(12)]
        full = reference.meaning(each, reference.interpret(stream))
        found = as_instances(run.detect(program, ticks(program, stream)))
        assert reference.restriction_faults(full, found) == []


def test_a_program_can_be_pickled() -> None:
    program = pickle.loads(pickle.dumps(build(parse("(A ; (B + C))_3 - D"), values=True)))
    stream: Events = [(1, [A]), (2, [B]), (3, [C])]
    assert run.detect(program, ticks(program, stream)).constituents() == [[0, 1, 2]]


def test_the_empty_event_is_never_detected() -> None:
    stream: Events = [(1, [A]), (2, [B])]
    for text in ("0", "0 ; A", "A - (0 | A)", "(0 + A)_2"):
        program = build(parse(text))
        assert len(run.detect(program, ticks(program, stream))) == 0


def test_durations_are_microseconds() -> None:
    program = build(parse("(A ; B)_2s"))
    assert program.in_durations
    assert run.detect(program, group([0, 2_000_000], [1, 2])).pairs() == [(0, 2_000_000)]
    assert run.detect(program, group([0, 2_000_001], [1, 2])).pairs() == []


def test_negative_times_are_times() -> None:
    program = build(parse("(A ; B) - C"))
    assert run.detect(program, group([-9, -3], [1, 2])).pairs() == [(-9, -3)]


def test_ticks_and_durations_do_not_mix() -> None:
    with pytest.raises(RefusedError, match="in ticks or in durations, not both"):
        build((A >> B).within(2) - (C >> A).within(timedelta(seconds=2)))


def test_a_snapshot_of_another_expression_is_refused() -> None:
    detector = Detector(build(parse("A ; B")))
    with pytest.raises(SnapshotError, match="another query"):
        Detector(build(parse("A + B"))).restore(detector.snapshot())
    with pytest.raises(SnapshotError, match="another query"):
        Detector(build(parse("A ; B"), values=True)).restore(detector.snapshot())
    with pytest.raises(SnapshotError, match="no snapshot"):
        detector.restore(b"something else")
    with pytest.raises(SnapshotError, match="cut short"):
        detector.restore(detector.snapshot() + b"more")


def test_a_state_of_another_shape_is_refused() -> None:
    program = build(parse("A ; B"))
    with pytest.raises(ValueError, match="states of shape"):
        run.detect(program, group([1], [1]), program.new_states(2))


def test_what_has_begun_is_read_off_where_it_is_kept() -> None:
    """§4.2: S is needed only within the right side of a sequence; it need not be kept at all."""
    program = build(parse("A ; ((B + C)_3 - (A + D))"))
    places = {str(node): place for node, place in program.layout.places.items()}
    whole, both = places[str(program.expression)], places["B + C"]
    begun = ((both.left, NEVER_CELL, 0), (both.right, NEVER_CELL, 0))
    assert program.layout.sources[whole.sources + 1 :] == begun
    assert build(parse("(B + C) ; A")).layout.sources == ()
    assert build(parse("(B + C) ; A")).layout.state_width == 3
