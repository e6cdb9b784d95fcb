"""Results with odd values leave as what they are, or in an error about them: values that JSON,
pandas, a file format or Python itself does not have."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cereus
from cereus import show
from cereus.cli import as_json
from cereus.errors import DataError
from cereus.report.page import report
from cereus.rules.output import _values
from cereus.writing import writers
from cereus.writing.expressible import expressing
from cereus.writing.json_text import finite, json_text
from cereus.writing.target import target_of
from cereus.writing.writers import write_table

STREAM = cereus.Stream(time="ts")
PAIRS = "SELECT * WHERE A AS a ; B AS b WITHIN 9 seconds RETURN a.v AS v"
NAN, ENDLESS = float("nan"), float("inf")


def broken_texts() -> pa.Array:
    offsets = pa.py_buffer(np.arange(5, dtype=np.int32).tobytes())
    return pa.Array.from_buffers(pa.string(), 4, [None, offsets, pa.py_buffer(b"u\xff\xfeu")])


def far(kind: pa.DataType) -> pa.Array:
    last = 2**31 - 1 if pa.types.is_date32(kind) else 2**63 - 1
    numbers = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    return pa.array([last - n for n in range(4, 0, -1)], numbers).view(kind)


def listed(values: pa.Array, make: Any = pa.ListArray) -> pa.Array:
    return make.from_arrays([0, 1, 2, 3, 4], values)


SECONDS = far(pa.timestamp("s"))
ODD = {
    "not finite": pa.array([NAN, ENDLESS, -ENDLESS, 1.5]),
    "half": pa.array(np.array([NAN, ENDLESS, -ENDLESS, 1.5], np.float16)),
    "lists of them": pa.array([[NAN], [ENDLESS, None], [], None]),
    "maps of them": pa.array([[("a", NAN)], [], [], None], pa.map_(pa.string(), pa.float64())),
    "not UTF-8": broken_texts(),
    "lists of such": listed(broken_texts()),
    "structs of such": pa.StructArray.from_arrays([broken_texts(), SECONDS], ["x", "t"]),
    "words of such": pa.DictionaryArray.from_arrays([0, 1, 2, 3], broken_texts()),
    "bytes": pa.array([b"\xff", b"", None, b"a"]),
    "days": far(pa.date32()),
    "times": SECONDS,
    "zoned": far(pa.timestamp("us", "Europe/Vienna")),
    "lengths": far(pa.duration("s")),
    "clock": pa.array([0, 1, 2, 3]).view(pa.time64("ns")),
    "large lists": listed(SECONDS, pa.LargeListArray),
    "fixed lists": pa.FixedSizeListArray.from_arrays(SECONDS, 1),
    "maps of times": pa.MapArray.from_arrays([0, 1, 2, 3, 4], pa.array(list("abcd")), SECONDS),
    "large": pa.array([2**64 - 1, 2**64 - 2, 0, 1], pa.uint64()),
    "intervals": pa.array([pa.MonthDayNano([1, 2, 3])] * 4, pa.month_day_nano_interval()),
}

DRAWN = ("not finite", "lists of them", "structs of such", "large lists", "maps of times")
"""What charts and reports are made of, which takes longer."""


def events(odd: pa.Array) -> pa.Table:
    times = pa.array([0, 1, 2, 3], pa.timestamp("s"))
    return pa.table({"type": list("ABAB"), "k": [1] * 4, "ts": times, "v": odd})


def strict(text: str) -> Any:
    """What a reader of JSON makes of a text, which takes nothing that is not JSON."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture(scope="module", params=ODD)
def table(request: pytest.FixtureRequest) -> pa.Table:
    return events(ODD[request.param])


@pytest.fixture(scope="module")
def matches(table: pa.Table) -> cereus.Matches:
    return cereus.compile(PAIRS, stream=STREAM).run(table)


def or_an_error(ask: Callable[[], Any]) -> Any:
    """The answer; an error about the data is one too."""
    try:
        return ask()
    except DataError as error:
        assert error.hint
        return None


def test_matches_become_rows_and_frames(matches: cereus.Matches) -> None:
    assert len(matches) == 3
    assert repr(matches).count("\n") == 3
    assert matches._repr_html_().count("<tr>") == 4
    or_an_error(lambda: list(matches))
    or_an_error(matches.to_pandas)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".json", ".arrow"])
def test_a_file_has_all_rows_or_is_not_there(
    matches: cereus.Matches, suffix: str, tmp_path: Path
) -> None:
    file = tmp_path / f"matches{suffix}"
    try:
        write_table(target_of(str(file)), matches.table)
    except DataError as error:
        assert not file.exists()
        assert f"values that {suffix[1:]}" in error.message or "not UTF-8" in error.message
        return
    if suffix == ".json":
        assert len([strict(line) for line in file.read_text().splitlines()]) == 3


@pytest.mark.parametrize("odd", DRAWN)
def test_charts_and_reports_are_of_json(odd: str) -> None:
    table = events(ODD[odd])
    matches = cereus.compile(PAIRS, stream=STREAM).run(table)
    for drawn in (
        lambda: show.timeline(matches, time="ts"),
        lambda: show.timeline(matches, time="ts", lanes="v", color="v"),
        lambda: show.matches_per_key(matches, "v"),
    ):
        chart = or_an_error(drawn)
        strict(json.dumps(chart and chart.to_dict()))
    page = or_an_error(lambda: report(cereus.compile(PAIRS, stream=STREAM), table)) or ""
    for part in page.split('<script type="application/json">')[1:]:
        strict(part.partition("</script>")[0])


def test_why_is_of_json(table: pa.Table) -> None:
    query = cereus.compile("SELECT * WHERE A AS a ; B AS b WITHIN 0 seconds", stream=STREAM)
    for answer in (query.why(table), query.why_not(table, [0, 1])):
        strict(json.dumps(answer.to_dict(), default=str))
        assert str(answer)


def test_funnels_of_segments_and_keys(table: pa.Table) -> None:
    for options in ({"key": "k", "by": "v"}, {"key": "v"}):
        try:
            made = cereus.funnel(table, ["A", "B"], time="ts", **options)
        except cereus.CereusError as error:
            assert error.hint
            continue
        assert repr(made)
        or_an_error(made.to_pandas)
        strict(json.dumps(show.funnel_chart(made).to_dict()))


def test_values_of_rules_are_json(matches: cereus.Matches) -> None:
    (batch,) = matches.table.combine_chunks().to_batches()
    assert len([strict(text) for text in _values(batch, pa.schema([])).to_pylist()]) == 3


def test_numbers_that_json_does_not_have_are_texts(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"a": [NAN, 1.5, (ENDLESS,)], "b": {"c": -ENDLESS}}
    expected = {"a": ["NaN", 1.5, ["Infinity"]], "b": {"c": "-Infinity"}}
    assert finite(value) == strict(json_text(value)) == expected
    as_json.write_json(ok=True, matches=ENDLESS)
    assert strict(capsys.readouterr().out)["matches"] == "Infinity"


def test_numbers_that_json_does_not_have_are_read_again(tmp_path: Path) -> None:
    values = [1.5, float("inf"), 2.5, -float("inf")]
    written = pa.table({"type": ["A", "B", "A", "B"], "v": values})
    write_table(target_of(str(tmp_path / "events.json")), written)
    query = cereus.compile(
        "SELECT * WHERE A AS a ; B AS b WITHIN 2 EVENTS RETURN a.v AS a, b.v AS b"
    )
    found = query.run(tmp_path / "events.json")
    assert [(row["a"], row["b"]) for row in found] == [tuple(values[:2]), tuple(values[2:])]


def test_what_has_no_room_is_no_fault_of_the_rows() -> None:
    with pytest.raises(MemoryError), expressing("these rows have values that pandas"):
        raise pa.ArrowMemoryError("malloc failed")


def test_texts_that_are_none_show_as_bytes() -> None:
    matches = cereus.compile(PAIRS, stream=STREAM).run(events(broken_texts()))
    assert "v=b'u'" in repr(matches)
    assert "v=b'\\xfe'" in repr(matches)
    with pytest.raises(DataError, match="values that pandas cannot express"):
        matches.to_pandas()


def test_a_date_that_no_microsecond_has_is_no_time() -> None:
    table = events(pa.array([0] * 4)).set_column(2, "ts", far(pa.date32()))
    with pytest.raises(DataError, match="too far away to be counted in microseconds"):
        cereus.compile(PAIRS, stream=STREAM).run(table)


@pytest.mark.parametrize("name", ["out.parquet", "out.csv.gz"])
def test_a_file_that_a_format_refuses_is_closed_and_removed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As soon as the types of the columns are known, before there are rows."""
    streams: list[Any] = []
    opened = writers.opened

    def noted(target: Any) -> Any:
        streams.append(opened(target))
        return streams[-1]

    monkeypatch.setattr(writers, "opened", noted)
    odd = pa.array([b"u"], pa.binary_view()) if "csv" in name else ODD["intervals"]
    with pytest.raises(DataError):
        write_table(target_of(str(tmp_path / name)), pa.table({"v": odd}))
    (stream,) = streams
    assert stream.closed
    assert not (tmp_path / name).exists()
