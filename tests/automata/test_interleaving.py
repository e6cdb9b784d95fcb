"""ALL of many parts: a state for each set of parts that have come."""

from __future__ import annotations

from itertools import permutations

import pyarrow as pa

import cereus
from cereus.engine.executor import PatternExecutor

TYPES = [f"T{number}" for number in range(8)]


def states_after(types: list[str]) -> tuple[int, int]:
    """The states that a stream has visited, and the matches."""
    table = pa.table({"type": types})
    query = cereus.compile(f"SELECT * WHERE ({' ALL '.join(TYPES)}) ; U+ LIMIT 1")
    executor = query.executor(table.schema)
    assert isinstance(executor, PatternExecutor)
    found = [row for batch in table.to_batches() for row in executor.push(batch)]
    return executor.runner.table.n_states, sum(batch.num_rows for batch in found)


def test_a_state_for_each_set_of_types_that_the_stream_brings() -> None:
    states, matches = states_after([*TYPES, "U"])
    assert matches == 1
    assert states <= 2 ** len(TYPES) + len(TYPES) + 1


def test_types_that_do_not_come_need_no_states() -> None:
    states, matches = states_after(["T0", "T1"] * 10)
    assert matches == 0
    assert states == 4


def test_three_parts_come_in_any_order() -> None:
    query = cereus.compile("SELECT * WHERE A ALL B ALL C")
    for order in permutations("ABC"):
        assert [row["positions"] for row in query.run(pa.table({"type": list(order)}))] == [
            [0, 1, 2]
        ]
