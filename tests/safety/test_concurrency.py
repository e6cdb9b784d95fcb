"""One Query for many threads, recognizers in threads, and queries sent to other processes."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pyarrow as pa
import pytest

import cereus

QUERIES = {
    "ceql": "SELECT a, b WHERE A AS a ; B AS b FILTER a.x < b.x PARTITION BY k WITHIN 9 seconds",
    "ceql, values": "SELECT MAX * WHERE A+ AS a ; B AS b FILTER a.x + b.x = 6 WITHIN 3 seconds",
    "ceql, counts": "SELECT COUNT(*) WHERE A+ ; B PARTITION BY k WITHIN 9 seconds",
    "sremo": "{A: x > 1} -> r . SKIP* . {B: x > r.x} WITHIN 9 seconds",
    "sase": "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[], b) { [k] AND "
    "a[i].x >= a[i-1].x } WITHIN 9 seconds RETURN sum(a[].x)",
    "par": "repeat (A(x > 1)[X] ; try B[Y] unless C)",
    "algebra": "(A(x > 1) ; B) - C",
    "match_recognize": "MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES sum(a.x) AS m "
    "PATTERN (a+ b) DEFINE a AS type = 'A', b AS x > PREV(x))",
}
THREADS = 8


def events(seed: int = 0, rows: int = 150) -> pa.Table:
    kinds = ["ABC"[(7 * i * i + i // 3 + seed) % 3] for i in range(rows)]
    return pa.table(
        {
            "type": kinds,
            "ts": pa.array(range(rows), pa.timestamp("s")),
            "x": [(i * 5 + seed) % 7 for i in range(rows)],
            "k": [f"k{(i * 3 + seed) % 5}" for i in range(rows)],
        }
    )


def compiled(name: str) -> cereus.Query:
    return cereus.compile(
        QUERIES[name], dialect=name.split(",")[0], stream=cereus.Stream(time="ts")
    )


def pushed(query: cereus.Query, table: pa.Table, size: int) -> list[dict[str, Any]]:
    recognizer = query.recognizer(schema=table.schema)
    results: list[dict[str, Any]] = []
    for at in range(0, table.num_rows, size):
        results += recognizer.push(table.slice(at, size))
    return results + list(recognizer.finish())


def answer(query: cereus.Query, seed: int) -> list[str]:
    return sorted(map(str, query.run(events(seed))))


@pytest.mark.parametrize("name", QUERIES)
def test_one_query_in_eight_threads(name: str) -> None:
    """Each thread runs it over other events, by itself and pushed in pieces; what the threads find
    out about the automaton is shared."""
    expected = [answer(compiled(name), seed) for seed in range(THREADS)]
    query = compiled(name)

    def work(seed: int) -> list[list[str]]:
        results = [answer(query, seed)]
        results += [sorted(map(str, pushed(query, events(seed), 37 + seed)))]
        query.explain()
        return results

    with ThreadPoolExecutor(THREADS) as pool:
        for seed, results in enumerate(pool.map(work, range(THREADS))):
            assert results == [expected[seed]] * 2
    assert sum(map(len, expected))


def test_queries_of_all_languages_are_compiled_in_eight_threads() -> None:
    """Grammars, functions and the registry are shared; some texts are wrong."""
    names = [*QUERIES] * THREADS
    expected = {name: (answer(compiled(name), 5), compiled(name).explain()) for name in QUERIES}
    barrier = Barrier(THREADS)

    def work(part: int) -> None:
        barrier.wait()
        for name in names[part::THREADS]:
            query = compiled(name)
            assert (answer(query, 5), query.explain()) == expected[name]
            with pytest.raises(cereus.CereusError):
                cereus.compile(f"{QUERIES[name]} )", dialect=name.split(",")[0])

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_pickled(name: str) -> None:
    """With what has been found out so far, and without."""
    query = compiled(name)
    expected = answer(query, 1)
    for each in (query, compiled(name)):
        again = pickle.loads(pickle.dumps(each))
        assert answer(again, 1) == expected
        assert again.text == query.text
        assert again.explain() == query.explain()


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_sent_with_a_closure(name: str) -> None:
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    query = compiled(name)
    sent = pickle.loads(cloudpickle.dumps(lambda: answer(query, 2)))
    assert sent() == answer(query, 2)


def _all_answers(queries: list[cereus.Query]) -> list[list[str]]:
    return [answer(query, 3) for query in queries]


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.long)])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_queries_go_to_another_process(method: str) -> None:
    queries = [compiled(name) for name in QUERIES]
    expected = _all_answers(queries)  # threads of Arrow exist from now on
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(_all_answers, queries).result(timeout=300) == expected


@pytest.mark.parametrize("name", QUERIES)
def test_a_recognizer_moves_between_threads(name: str) -> None:
    """One after the other; two at once would be two orders of events."""
    query, table = compiled(name), events(4)
    recognizer = query.recognizer(schema=table.schema)
    results: list[dict[str, Any]] = []
    with ThreadPoolExecutor(4) as pool:
        for at in range(0, table.num_rows, 50):
            results += pool.submit(recognizer.push, table.slice(at, 50)).result()
        results += pool.submit(recognizer.finish).result()
    assert sorted(map(str, results)) == answer(query, 4)


@pytest.mark.parametrize("name", QUERIES)
def test_a_recognizer_refuses_two_threads_at_once(name: str) -> None:
    """They would change the same arrays; what a thread was refused has left no trace."""
    query, table = compiled(name), events(6)
    recognizer = query.recognizer(schema=table.schema)
    recognizer._turn.acquire()  # as a thread that is at work
    asked = (
        lambda: recognizer.push(table),
        lambda: recognizer.advance(5),
        recognizer.finish,
        recognizer.snapshot,
    )
    with ThreadPoolExecutor(1) as pool:
        for ask in asked:
            with pytest.raises(cereus.CereusError, match="at work in another thread"):
                pool.submit(ask).result()
    recognizer._turn.release()
    results = [*recognizer.push(table), *recognizer.finish()]
    assert sorted(map(str, results)) == answer(query, 6)


def test_rules_refuse_two_threads_at_once() -> None:
    schema = events().schema
    rules = cereus.RuleRecognizer(stream=cereus.Stream(time="ts"), schema=schema)
    rules._turn.acquire()
    asked = (lambda: rules.push(events()), lambda: rules.remove("one"), lambda: rules.set([]))
    for ask in (*asked, rules.finish, rules.snapshot, rules.put, lambda: rules.advance(5)):
        with pytest.raises(cereus.CereusError, match="at work in another thread"):
            ask()
    rules._turn.release()
    assert rules.set([]) == []


@pytest.mark.parametrize("name", QUERIES)
def test_a_recognizer_is_pickled_and_goes_on(name: str) -> None:
    query, table = compiled(name), events(5)
    fresh = pickle.loads(pickle.dumps(query.recognizer()))
    results = [*fresh.push(table.slice(0, 70))]
    again = pickle.loads(pickle.dumps(fresh))
    results += [*again.push(table.slice(70)), *again.finish()]
    assert sorted(map(str, results)) == answer(query, 5)


def test_a_copy_of_a_recognizer_makes_promises_of_its_own() -> None:
    """Before the first event, when it is not known yet what columns there are."""
    query = cereus.compile("SELECT * WHERE A ; B", stream=cereus.Stream(time="t", unit="s"))
    made = query.recognizer()
    made.advance(5)
    copied = copy.copy(made)
    copied.advance(100)
    assert (made._promised, copied._promised) == ([5], [5, 100])


@pytest.mark.parametrize("name", QUERIES)
def test_results_are_pickled(name: str) -> None:
    found = compiled(name).run(events(1))
    again = pickle.loads(pickle.dumps(found))
    assert again.table.equals(found.table)
    assert str(again) == str(found)
    why = compiled(name).why(events(1))
    assert str(pickle.loads(pickle.dumps(why))) == str(why)
