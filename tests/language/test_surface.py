"""Every language has the same surface: parse, event, compile, and what a query has."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus import algebra, ceql, par, sase, sremo
from cereus.errors import CereusError, LimitError
from cereus.language.registry import languages

TEXTS = {
    "ceql": "SELECT * WHERE A FILTER A[x > 1]",
    "sremo": "{A: x > 1}",
    "sase": "PATTERN SEQ(A a) WHERE a.x > 1",
    "par": "A(x > 1)",
    "algebra": "A(x > 1)",
}
MODULES: dict[str, ModuleType] = {
    "ceql": ceql,
    "sremo": sremo,
    "sase": sase,
    "par": par,
    "algebra": algebra,
}
EVENTS = pa.table({"type": ["A", "B", "A"], "x": [2, 2, 1], "k": [1, 1, 1]})
DIALECTS = pytest.mark.parametrize("dialect", TEXTS)


def test_no_language_is_forgotten() -> None:
    # rows without types have no `event`: tests/languages/match_recognize has their module
    typed = {each.name for each in languages() if each.typed}
    assert set(TEXTS) == typed & set(cereus.__all__)


@DIALECTS
def test_the_module_can_be_imported_in_every_way(dialect: str) -> None:
    assert importlib.import_module(f"cereus.{dialect}") is getattr(cereus, dialect)
    assert MODULES[dialect].parse is getattr(cereus, dialect).parse


@DIALECTS
@pytest.mark.parametrize("name", ["parse", "event", "compile"])
def test_functions_take_the_same_keywords(dialect: str, name: str) -> None:
    common = {
        "parse": {"params"},
        "event": {"where"},
        "compile": {"stream", "schema", "limits", "params"},
    }
    signature = inspect.signature(getattr(MODULES[dialect], name))
    keywords = [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert common[name] <= set(keywords)
    positional = [p for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert len(positional) == 1


@DIALECTS
def test_compile_takes_the_options_of_the_language(dialect: str) -> None:
    signature = inspect.signature(MODULES[dialect].compile)
    (own,) = (each for each in languages() if each.name == dialect)
    assert {option.name for option in own.options} <= set(signature.parameters)


@DIALECTS
def test_an_event_is_an_object_that_compiles_everywhere(dialect: str) -> None:
    module = MODULES[dialect]
    event = module.event("A", where="x > 1")
    rows = [
        list(query.run(EVENTS))
        for query in (
            cereus.compile(event),
            cereus.compile(event, dialect=dialect, schema=EVENTS.schema),
            module.compile(event),
            module.compile(TEXTS[dialect], schema=EVENTS.schema),
            module.compile(module.parse(TEXTS[dialect])),
            cereus.compile(TEXTS[dialect], dialect=dialect),
            cereus.compile_many([event])["0"],
            cereus.compile_many([(TEXTS[dialect], dialect)])["0"],
        )
    ]
    assert len(rows[0]) == 1 and all(each == rows[0] for each in rows)


@DIALECTS
def test_parameters_are_given_beside_the_text(dialect: str) -> None:
    module, text = MODULES[dialect], TEXTS[dialect].replace("1", ":least")
    parsed = module.parse(text, params={"least": 1})
    assert parsed == module.parse(TEXTS[dialect])
    assert len(module.compile(text, params={"least": 1}).run(EVENTS)) == 1
    with pytest.raises(CereusError, match="params= are for the parameters of a text"):
        cereus.compile(parsed, params={"least": 1})


@DIALECTS
def test_a_query_has_what_every_query_has(dialect: str) -> None:
    query = cereus.compile(TEXTS[dialect], dialect=dialect, stream=cereus.Stream(keys="k"))
    assert query.text == TEXTS[dialect] and query.dialect == dialect
    assert query.stream.keys == ("k",) and query.keys == (("k",),)
    assert isinstance(query.variables, tuple) and isinstance(query.warnings, list)
    assert query.limits == cereus.Limits()
    assert cereus.compile(query.tree, stream=query.stream).tree == query.tree
    assert query.explain() and query.compiled.tests() and query.compiled.diagram()


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("dialect", "limits"),
    [
        ("par", {"nodes": 5}),
        ("par", {"shed": True}),
        ("algebra", {"nodes": 5}),
        ("algebra", {"states": 5}),
    ],
)
def test_a_limit_that_a_language_has_not_is_refused(dialect: str, limits: Any) -> None:
    (name,) = limits
    with pytest.raises(CereusError, match=f"{dialect} has no limit '{name}'"):
        cereus.compile(TEXTS[dialect], dialect=dialect, limits=cereus.Limits(**limits))


def test_states_bound_the_machine_of_a_program() -> None:
    text = "A ; A ; A ; A[X]"
    with pytest.raises(LimitError, match="more than 3 derivatives"):
        par.compile(text, limits=cereus.Limits(states=3)).run(EVENTS)
    assert len(par.compile(text, limits=cereus.Limits(states=9)).run(EVENTS)) == 0


@pytest.mark.parametrize("dialect", ["ceql", "sremo", "sase"])
def test_other_languages_are_bounded_while_they_run(dialect: str) -> None:
    limits = cereus.Limits(matches_per_event=0)
    query = cereus.compile(TEXTS[dialect], dialect=dialect, limits=limits)
    assert query.limits == limits
    with pytest.raises(LimitError, match="matches_per_event"):
        query.run(EVENTS)


@DIALECTS
def test_a_query_keeps_its_limits(dialect: str) -> None:
    limits = cereus.Limits(steps_per_event=1000)
    assert cereus.compile(TEXTS[dialect], dialect=dialect, limits=limits).limits == limits


# ---------------------------------------------------------------- several at once


def test_several_languages_in_one_pass() -> None:
    queries = cereus.compile_many(
        {
            "text": "SELECT * WHERE A",
            "pair": ("A[out]", "par"),
            "object": algebra.event("A"),
            "query": sremo.compile("{A:}"),
        }
    )
    assert [queries[name].dialect for name in queries.queries] == [
        "ceql",
        "par",
        "algebra",
        "sremo",
    ]
    assert {name: len(found) for name, found in queries.run(EVENTS).items()} == {
        "text": 2,
        "pair": 1,
        "object": 2,
        "query": 2,
    }


def test_options_are_for_all_of_them() -> None:
    queries = cereus.compile_many(["A", "A ; A"], dialect="algebra", values=True)
    assert [len(each.run(EVENTS).events()) for each in queries.queries.values()] == [2, 2]
    with pytest.raises(CereusError, match="query '1': par has no option 'values'"):
        cereus.compile_many([("A", "algebra"), ("A", "par")], values=True)


def test_they_read_one_stream() -> None:
    other = par.compile("A", stream=cereus.Stream(keys="k"))
    with pytest.raises(CereusError, match="query '1': it is compiled for another stream than"):
        cereus.compile_many(["SELECT * WHERE A", other])


# ---------------------------------------------------------------- building


def test_patterns_of_ceql_are_built() -> None:
    block = ceql.event("SELL", where="volume >= 800", name="block")
    built = ceql.compile(block >> (ceql.event("BUY") | ceql.event()).plus())
    assert built.text == (
        "SELECT *\nWHERE (SELL AS block FILTER block[volume >= 800]) ; (BUY OR *)+"
    )
    assert cereus.compile(built.text).tree == built.tree


def test_an_event_of_any_type_is_named_for_its_condition() -> None:
    query = ceql.compile(ceql.event(where="x > 1"))
    assert query.text == "SELECT *\nWHERE * AS event FILTER event[x > 1]"
    assert len(query.run(EVENTS)) == 2


def test_patterns_of_sase_are_built() -> None:
    built = sase.compile(sase.seq(sase.event("A", where="x > 1"), sase.event("B", name="last")))
    assert built.text == "PATTERN SEQ(A a, B last)\nWHERE a.x > 1"
    assert cereus.compile(built.text, dialect="sase").tree == built.tree
    with pytest.raises(CereusError, match="two events are called 'a'"):
        sase.seq(sase.event("A"), sase.event("A"))


def test_clauses_given_to_sremo_stand_in_place_of_those_of_the_text() -> None:
    text = "{A:} WITHIN 3 EVENTS PARTITION BY k"
    assert sremo.compile(text).text == text
    changed = sremo.compile(text, window=2, detect=True)
    assert changed.text == "DETECT {A:}\nPARTITION BY k\nWITHIN 2 EVENTS"
    built = sremo.compile(sremo.event("A"), window=2, detect=True, partition_by="k")
    assert built.tree == changed.tree
