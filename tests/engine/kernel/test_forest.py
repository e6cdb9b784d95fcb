"""The forest's invariants after random work, and what a pattern is allowed to make of it."""

from __future__ import annotations

from random import Random

import numpy as np
import numpy.typing as npt
import pytest

import cereus
from cereus import Stream
from cereus.engine.executor import PatternExecutor
from cereus.engine.kernel import layout
from tests.languages.ceql import strategies as random_
from tests.languages.ceql.harness import sizes

STREAM = Stream(time="t", unit="s")
QUERIES = [
    "SELECT * WHERE A ; B ; C",
    "SELECT * WHERE A+ ; B WITHIN 8 EVENTS",
    "SELECT * WHERE (A OR B)+ ; C WITHIN 6 seconds",
    "SELECT * WHERE (A ; B) ALL C PARTITION BY k WITHIN 7 EVENTS",
    "SELECT b WHERE A AS a ; B AS b ; C WITHIN 9 seconds",
    "SELECT c WHERE (A ; B)+ ; C AS c PARTITION BY k",
    "SELECT * WHERE A ; NOT(B) ; PROJECT[C](C ; A) WITHIN 5 [w]",
    "SELECT * WHERE A : B+ : C CONSUME BY PARTITION",
]


class Forest:
    """A saved forest."""

    def __init__(self, nodes: npt.NDArray[np.int64]) -> None:
        thin = nodes.view(np.int32).reshape(len(nodes), 8)
        self.ordinal, self.start = nodes[:, layout.NODE_EVENT], nodes[:, layout.NODE_START]
        self.link = thin[:, layout.NODE_LINK]
        self.left, self.right = thin[:, layout.NODE_LEFT], thin[:, layout.NODE_RIGHT]
        self.rank = thin[:, layout.NODE_TAG] & layout.RANK_MASK

    def check(self) -> None:
        self.rank[0] = 0
        for node in range(1, len(self.ordinal)):
            left, right, link = int(self.left[node]), int(self.right[node]), int(self.link[node])
            assert max(left, right, link) < node, "what a node points to is older"
            for child in filter(None, (left, right)):
                assert self.start[child] <= self.start[node], "the head starts last"
            if link:
                assert self.start[link] == self.start[node], "a node starts where its rest does"
                assert self.ordinal[link] < self.ordinal[node], "a match goes on in order"
            assert self.rank[left] >= self.rank[right], "heaps are leftist"
            assert self.rank[node] == self.rank[right] + 1


def executor(text: str) -> PatternExecutor:
    made = cereus.compile(text, stream=STREAM).executor(random_.SCHEMA)
    assert isinstance(made, PatternExecutor)
    return made


def push(running: PatternExecutor, events: random_.Events) -> int:
    return sum(
        part.num_rows
        for batch in random_.table(events).to_batches()
        for part in running.push(batch)
    )


@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("sweep", [1, 1 << 16])
def test_the_invariants_hold_after_every_batch(text: str, sweep: int) -> None:
    draw = Random(text)
    with sizes(sweep=sweep):
        running = executor(text)
        events = random_.events(draw, 60, keys=3)
        while events:
            size = draw.randint(1, 9)
            push(running, events[:size])
            events = events[size:]
            Forest(running.runner.kernel.save()["nodes"]).check()


def test_a_sweep_keeps_what_configurations_can_reach() -> None:
    running = executor("SELECT * WHERE A ; B ; C WITHIN 4 EVENTS")
    push(running, random_.events(Random(1), 500))
    kernel = running.runner.kernel
    grown = kernel.node_count
    kernel.sweep()
    assert 0 < kernel.node_count < min(grown, 20)
    Forest(kernel.save()["nodes"]).check()


# ---------------------------------------------------------------- what is made


def streamed(types: str) -> random_.Events:
    empty = dict.fromkeys(random_.SCHEMA.names)
    return [empty | {"type": name, "t": t, "w": 0.0} for t, name in enumerate(types)]


def nodes_for(text: str, types: str) -> int:
    running = executor(text)
    push(running, streamed(types))
    count: int = running.runner.kernel.node_count
    return count


def test_a_waiting_state_makes_no_nodes() -> None:
    """A thousand events that move nothing cost nothing in the forest."""
    for text in ("SELECT * WHERE A ; B ; C", "SELECT * WHERE A ; B ; C WITHIN 5000 EVENTS"):
        assert nodes_for(text, "A") == nodes_for(text, "A" + "C" * 1000) == 1


def test_events_of_other_types_make_no_nodes() -> None:
    assert nodes_for("SELECT * WHERE A : B", "D" * 1000) == 0


def test_partial_matches_are_shared_and_not_copied() -> None:
    """Exponentially many partial matches of an iteration take a few nodes per event."""
    assert nodes_for("SELECT * WHERE A+ ; B", "A" * 1000) <= 3 * 1000


def test_a_sequence_makes_a_node_per_event_and_step() -> None:
    """A hundred thousand pairs A ; B lie in the nodes of their events."""
    assert nodes_for("SELECT * WHERE A ; B ; C", "A" * 300 + "B" * 300) == 600


def test_in_time_order_no_heap_is_melded() -> None:
    """Every start is later than the head's, so that adding is one store each."""
    assert nodes_for("SELECT * WHERE A ; C WITHIN 100 EVENTS", "A" * 50) == 50
