"""Values, names and texts with HTML are shown as they are written: no view has other elements, or
runs something, because of them."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pydot
import pytest

import cereus
from cereus import show
from cereus.report.page import report

EVIL = "</script></pre><script>alert(1)</script><img src=x onerror=alert(1)>\"'`&lt;{{1}}\\"
PLAIN = "harmless"
QUERIES = {
    "ceql": 'SELECT a, b WHERE "{0}" AS a ; B AS b FILTER a["{0}" = \'{1}\'] PARTITION BY name',
    "sremo": '{{"{0}": "{0}" = \'{1}\'}} . SKIP* . {{B:}}',
    "sase": 'PATTERN SEQ("{0}" a, B b) WHERE skip_till_any_match(a, b) {{ a."{0}" = \'{1}\' }} '
    "WITHIN 5 seconds",
    "par": '"{0}"("{0}" = \'{1}\')[X] ; B[Y]',
    "algebra": '"{0}"("{0}" = \'{1}\') ; B',
    "match_recognize": 'MATCH_RECOGNIZE (ORDER BY ts MEASURES a."{0}" AS m PATTERN (a b) '
    "DEFINE a AS \"{0}\" = '{1}')",
}


class Elements(HTMLParser):
    """The elements of a page with the names of their attributes."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, ...]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, *sorted(name for name, _ in attrs)))


def elements(page: str) -> list[tuple[str, ...]]:
    parser = Elements()
    parser.feed(page)
    return parser.found


def events(word: str) -> pa.Table:
    """A word as a type, as a value, as a key and as the name of a column."""
    return pa.table(
        {
            "type": [word, "B", word, "B"],
            "ts": pa.array([0, 1, 2, 3], pa.timestamp("s")),
            word: [word] * 4,
            "name": [word, word, "k", "k"],
        }
    )


def query(word: str, dialect: str = "ceql") -> cereus.Query:
    text = QUERIES[dialect].format(word.replace('"', '""'), word.replace("'", "''"))
    return cereus.compile(
        text, dialect=dialect, stream=cereus.Stream(time="ts"), schema=events(word).schema
    )


def saved(chart: object, path: Path) -> str:
    show.save(chart, path)
    return path.read_text("utf-8")


def steps(word: str) -> cereus.Funnel:
    """How far names came, in segments by a column whose name is the word."""
    return cereus.funnel(
        events(word),
        {word: "B", f"{word} again": "B"},
        key="name",
        time="ts",
        by=word,
    )


VIEWS: dict[str, Callable[[str, Path], str]] = {
    "query": lambda word, folder: query(word)._repr_html_(),
    "matches": lambda word, folder: query(word).run(events(word))._repr_html_(),
    "why": lambda word, folder: query(word).why(events(word))._repr_html_(),
    "expected match": lambda word, folder: query(word).why_not(events(word), [0])._repr_html_(),
    "report": lambda word, folder: report(query(word), events(word), title=word),
    "timeline": lambda word, folder: saved(
        show.timeline(query(word).run(events(word)), time="ts", lanes="name"), folder / "t.svg"
    ),
    "timeline as a page": lambda word, folder: saved(
        show.timeline(query(word).run(events(word)), time="ts", color=word), folder / "t.html"
    ),
    "matches per key": lambda word, folder: saved(
        show.matches_per_key(query(word).run(events(word)), "name"), folder / "k.svg"
    ),
    "funnel": lambda word, folder: steps(word)._repr_html_(),
    "funnel as a page": lambda word, folder: saved(
        show.funnel_chart(steps(word)), folder / "f.html"
    ),
    "funnel as a picture": lambda word, folder: saved(
        show.funnel_chart(steps(word)), folder / "f.svg"
    ),
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_word_with_html_makes_no_elements(view: str, tmp_path: Path) -> None:
    made = VIEWS[view](EVIL, tmp_path)
    assert elements(made) == elements(VIEWS[view](PLAIN, tmp_path))
    assert "<script>alert" not in made


@pytest.mark.parametrize("dialect", QUERIES)
def test_diagrams_show_it_as_text(dialect: str) -> None:
    """DOT is read by another reader of DOT; SVG is well formed and has no scripts; in Mermaid no
    sign has a meaning."""
    evil, plain = (show.diagram(query(word, dialect)) for word in (EVIL, PLAIN))
    (read,), (expected,) = (pydot.graph_from_dot_data(each.dot) for each in (evil, plain))
    assert len(read.get_nodes()) == len(expected.get_nodes())
    assert len(read.get_edges()) == len(expected.get_edges())
    tags = [each.tag.split("}")[-1] for each in ElementTree.fromstring(evil.svg()).iter()]
    assert "script" not in tags
    assert "img" not in tags
    assert len(tags) >= len(list(ElementTree.fromstring(plain.svg()).iter()))
    assert "<script" not in evil.mermaid()
    assert "<img" not in evil.mermaid()


@pytest.mark.parametrize("dialect", QUERIES)
def test_words_in_a_notebook_show_it_as_text(dialect: str) -> None:
    evil, plain = (elements(query(word, dialect)._repr_html_()) for word in (EVIL, PLAIN))
    assert evil == plain
