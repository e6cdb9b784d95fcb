"""Where files are: standard input, patterns, URLs, object stores; and how they are described."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pytest

import cereus
from cereus import Files
from cereus.errors import CereusError, DataError
from cereus.sources import scan, to_table

CSV = "type,ts\nA,1\nB,2\n"


def test_a_memory_file_system_is_read() -> None:
    """Whatever fsspec has: s3, gs, http, …"""
    system = fsspec.filesystem("memory")
    for name in ("a.csv", "b.csv", "c.json"):
        with system.open(f"/cereus-test/day=1/{name}", "w") as file:
            file.write(CSV if name != "c.json" else '{"type": "A"}\n')
    try:
        one = to_table(Files("memory://cereus-test/day=1/a.csv"))
        assert one.to_pylist() == [{"type": "A", "ts": 1}, {"type": "B", "ts": 2}]
        assert to_table(Files("memory://cereus-test/day=1/*.csv")).num_rows == 4
        described = scan(Files("memory://cereus-test", format="csv", types={"type": "string"}))
        assert described.schema.names[-1] == "day"
        with pytest.raises(DataError, match="there is no file"):
            to_table(Files("memory://cereus-test/nothing.csv"))
        query = cereus.compile("SELECT * WHERE A ; B", stream=cereus.Stream(time="ts"))
        assert len(query.run("memory://cereus-test/day=1/a.csv")) == 1
    finally:
        system.rm("/cereus-test", recursive=True)


def test_a_url_of_a_local_file_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "a b.csv").write_text(CSV)
    assert to_table(Files((tmp_path / "a b.csv").as_uri())).num_rows == 2


def test_a_place_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(DataError, match="nosuch"):
        to_table(Files("nosuch://bucket/a.csv"))


class Piped:
    def __init__(self, text: str) -> None:
        self.buffer = io.BytesIO(text.encode())


def test_standard_input_is_read_like_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(CSV))
    described = scan(Files("-", format="csv"))
    assert described.take(pa.array([1])).to_pylist() == [{"type": "B", "ts": 2}]
    with pytest.raises(DataError, match="format of standard input"):
        scan(Files("-"))


def test_braces_name_alternatives(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text(CSV)
    assert to_table(Files(tmp_path / "{a,c}.csv")).num_rows == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xml"}, "unknown format 'xml'"),
        ({"compression": "gz"}, "unknown compression 'gz'"),
        ({"delimiter": ";;"}, "';;' cannot separate columns"),
        ({"types": {"a": "duble"}}, "unknown type 'duble'"),
        ({"types": ["a"]}, "types are given by column"),
        ({"header": "a,b"}, "header= is True, or a list"),
    ],
)
def test_a_description_is_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CereusError, match=message):
        Files("a.csv", **options)


def test_a_path_is_a_path() -> None:
    for wrong in ([], [3]):
        with pytest.raises(CereusError):
            Files(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", ["{a,b}" * 40, "{" + "a," * 20_000 + "}", "x" * 5000, "x" * 5000 + "*", "a\0", "a\0*"]
)
def test_names_that_no_file_has_are_refused_at_once(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        cereus.compile("SELECT * WHERE A").run(str(tmp_path / name))
    assert len(str(caught.value)) < 1000
