"""The playground in a browser: what a person does there, from the first look on."""

from __future__ import annotations

import io
import socket
import threading
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.browser.conftest import LOOKS, Watched

pytest.importorskip("starlette")
uvicorn = pytest.importorskip("uvicorn")

from cereus.play.data import GivenFiles, PlayData  # noqa: E402
from cereus.play.process import PlayLimits  # noqa: E402
from cereus.play.server import Playground  # noqa: E402
from cereus.play.serving import listen  # noqa: E402

EVIL = '<img src=x onerror="alert(1)">'


PATIENT = PlayLimits(seconds=60)


class Served:
    """A playground on a port of its own, in a thread."""

    def __init__(self, files: GivenFiles, limits: PlayLimits = PATIENT) -> None:
        self.playground = Playground(files, limits, {})
        self.socket: socket.socket = listen(0)
        self.origin = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        settings = uvicorn.Config(self.playground.app(), log_level="critical")
        self.server = uvicorn.Server(settings)
        self.thread = threading.Thread(target=self.server.run, args=([self.socket],), daemon=True)

    def __enter__(self) -> Served:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.should_exit = True
        self.thread.join(20)
        self.socket.close()

    @property
    def names(self) -> list[str]:
        return PlayData(self.playground.typing.files, 1).names

    @property
    def address(self) -> str:
        return f"{self.origin}/?token={self.playground.token}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Over events whose names, types and columns are HTML."""
    file = tmp_path_factory.mktemp("events") / "evil.parquet"
    rows = {
        "type": [EVIL, "B", EVIL, "B"],
        EVIL: ["</script>", EVIL, "x", "&amp;"],
        "ts": pa.array([0, 1, 60, 61], pa.timestamp("s")),
    }
    pq.write_table(pa.table(rows), file)
    with Served(GivenFiles((str(file),))) as started:
        yield started


def ready(seen: Watched, served: Served, fragment: str = "#events=market") -> None:
    """Open a page, and wait for its matches."""
    seen.page.goto(served.address + fragment)
    seen.page.locator("#numbers b").first.wait_for()


MARKET = "#language=ceql&events=market&type=type&time=ts&query="


@LOOKS
def test_a_stranger_sees_matches(
    watched: Callable[..., Watched], served: Served, width: int, scheme: str
) -> None:
    seen = watched(width, scheme)
    ready(seen, served, MARKET + "SELECT * WHERE SELL ; BUY WITHIN 1 second")
    page = seen.page
    page.locator("#panel-matches .chart svg").first.wait_for()
    assert int(page.locator("#numbers b").first.text_content()) > 10
    assert "A SELL, then a BUY" in page.locator("#words").text_content()
    assert page.locator("#panel-matches tbody tr").count() > 10
    assert served.playground.token not in page.url
    seen.check(served.origin)


@pytest.mark.long
def test_every_tab_has_its_answer(watched: Callable[..., Watched], served: Served) -> None:
    seen = watched()
    query = "SELECT * WHERE SELL AS s ; BUY AS b FILTER s[volume > 5000] WITHIN 1 second"
    ready(seen, served, MARKET + query.replace(" ", "%20"))
    page = seen.page
    page.locator("#tab-matches").focus()
    expected = {
        "why": "events of its type",
        "automaton": "How it runs",
        "others": "SREMO",
        "events": "Choose the rows",
    }
    for name, text in expected.items():  # by the keyboard
        page.keyboard.press("ArrowRight")
        page.locator(f"#panel-{name}", has_text=text).wait_for()
    assert page.locator("#panel-automaton svg.cereus-graph").count() == 1
    seen.check(served.origin)


def test_errors_stand_under_the_text_while_one_types(
    watched: Callable[..., Watched], served: Served
) -> None:
    seen = watched()
    ready(seen, served, MARKET + "SELECT%20*%20WHERE%20SELL")
    page = seen.page
    page.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("SELECT * WHERE SELL AS s FILTER s[vol > 1]")
    page.locator("#problems li", has_text="volume").wait_for()
    assert page.locator(".cm-lintRange-error").count() == 1
    assert "old" in (page.locator("#results").get_attribute("class") or "")
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("SELECT * WHERE SELL AS s FILTER s[volume > 5000]")
    page.locator("#problems li.error").wait_for(state="detached")
    seen.check(served.origin)


@pytest.mark.long
def test_columns_and_types_are_completed(watched: Callable[..., Watched], served: Served) -> None:
    seen = watched()
    ready(seen, served, MARKET + "SELECT%20*%20WHERE%20SELL")
    page = seen.page
    page.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("SELECT * WHERE BU")
    page.locator(".cm-completionLabel", has_text="BUY").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.type("Y AS b FILTER b[vol")
    page.locator(".cm-completionLabel", has_text="volume").wait_for()
    seen.check(served.origin)


@pytest.mark.long
def test_another_language_has_its_own_example(
    watched: Callable[..., Watched], served: Served
) -> None:
    seen = watched()
    ready(seen, served)
    page = seen.page
    page.select_option("#data", "market")
    words = {"sase": "one or more BUYs (b)", "match_recognize": "three or more DOWN", "par": "RISE"}
    for name, text in words.items():
        page.select_option("#language", name)
        page.locator("#words", has_text=text).wait_for()
        assert page.locator("#problems li.error").count() == 0
        assert f"language={name}" in page.url
    seen.check(served.origin)


@pytest.mark.long
def test_the_link_holds_the_query(watched: Callable[..., Watched], served: Served) -> None:
    seen = watched()
    ready(seen, served, MARKET + "SELECT%20*%20WHERE%20BUY%20AS%20held")
    link = seen.page.url
    other = watched()
    ready(other, served)
    other.page.goto(link)
    other.page.locator(".cm-content", has_text="BUY AS held").wait_for()
    other.check(served.origin)


@pytest.mark.long
def test_only_some_events_may_be_there(watched: Callable[..., Watched], served: Served) -> None:
    seen = watched()
    ready(seen, served, MARKET + "SELECT%20*%20WHERE%20SELL&where=volume%20%3E%205000")
    page = seen.page
    some = int(page.locator("#numbers b").first.text_content().replace(",", ""))
    page.locator("#columns summary").click()
    page.locator("#where").fill("volume >")
    page.locator("#problems li.error").wait_for()
    page.locator("#where").fill("")
    page.locator("#problems li.error").wait_for(state="detached")
    page.wait_for_function(
        "some => Number(document.querySelector('#numbers b')?.textContent.replace(',', '')) > some",
        arg=some,
    )
    assert "where" not in page.url
    seen.check(served.origin)


CSV = b"type,ts,note\nSELL,2025-01-01 00:00:00,<img src=x>\nBUY,2025-01-01 00:00:01,b\n"
LINES = b'{"type": "SELL", "note": "<img src=x>"}\n{"type": "BUY", "note": "b"}\n'


def parquet() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"type": ["SELL", "BUY"], "note": ["<img src=x>", "b"]}), file)
    return file.getvalue()


def test_a_file_of_ones_own_is_opened(watched: Callable[..., Watched], served: Served) -> None:
    seen = watched()
    ready(seen, served)
    page = seen.page
    for name, content in (("own.csv", CSV), ("own.jsonl", LINES), ("<b>.parquet", parquet())):
        given = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        page.locator("#file").set_input_files(given)
        page.locator("#about", has_text=f"{name}: 2 events").wait_for()
        page.locator("#tab-events").click()
        page.locator("#panel-events tbody tr", has_text="<img src=x>").wait_for()
        assert page.locator("#problems li.error").count() == 0
    broken = {"name": "broken.parquet", "mimeType": "", "buffer": b"no Parquet"}
    page.locator("#file").set_input_files(broken)
    page.locator("#opened.failed", has_text="cannot read 'broken.parquet'").wait_for()
    assert page.locator("#data option").count() == len(served.names) + 3
    assert page.locator("img").count() == 0
    seen.check(served.origin)


def test_a_file_is_dropped_on_the_page(watched: Callable[..., Watched], served: Served) -> None:
    seen = watched(390, "dark")
    ready(seen, served)
    dropped = seen.page.evaluate_handle(
        """text => {
            const carried = new DataTransfer();
            carried.items.add(new File([text], "dropped.csv"));
            return carried;
        }""",
        CSV.decode(),
    )
    seen.page.dispatch_event("#editor", "drop", {"dataTransfer": dropped})
    seen.page.locator("#about", has_text="dropped.csv: 2 events").wait_for()
    seen.check(served.origin)


def test_nothing_in_the_events_becomes_html(
    watched: Callable[..., Watched], served: Served
) -> None:
    seen = watched()
    ready(seen, served, "")
    page = seen.page
    page.locator("#panel-matches .chart svg").first.wait_for()
    for name in ("why", "automaton", "others", "events"):
        page.locator(f"#tab-{name}").click()
        page.locator(f"#panel-{name} > *").first.wait_for()
    page.locator("#panel-events tbody tr", has_text="</script>").wait_for()
    assert page.locator("img").count() == 0
    page.locator("#tab-matches").click()
    page.locator("#panel-matches .chart path[aria-roledescription=circle]").first.hover()
    page.locator("#vg-tooltip-element", has_text="onerror").wait_for()
    assert page.locator("img").count() == 0
    seen.check(served.origin)


@pytest.mark.long
def test_an_expected_match_is_explained(watched: Callable[..., Watched], served: Served) -> None:
    seen = watched()
    ready(seen, served, MARKET + "SELECT%20*%20WHERE%20SELL%20%3B%20SELL%20WITHIN%201%20second")
    page = seen.page
    page.locator("#tab-events").click()
    for row in (0, 1):
        page.get_by_label(f"row {row}", exact=True).check()
    page.get_by_role("button", name="Why are rows 0, 1 no match?").click()
    page.locator("#panel-events", has_text="no match").wait_for()
    seen.check(served.origin)


@pytest.mark.long
def test_texts_are_copied(watched: Callable[..., Watched], served: Served) -> None:
    seen = watched()
    ready(seen, served, MARKET + "SELECT%20*%20WHERE%20SELL")
    page = seen.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for title, text in (
        ("Python", "cereus.compile("),
        ("Command line", "cereus run"),
        ("Pipeline", "[queries.matches]"),
        ("A link with this query", served.origin),
    ):
        page.locator("#copy summary").click()
        page.get_by_role("button", name=title, exact=True).click()
        page.locator("#copied", has_text=f"{title}: copied").wait_for()
        assert text in page.evaluate("navigator.clipboard.readText()")
    seen.check(served.origin)


def test_the_menu_to_copy_is_whole_on_a_phone(
    watched: Callable[..., Watched], served: Served
) -> None:
    seen = watched(390)
    ready(seen, served)
    seen.page.locator("#copy summary").click()
    box = seen.page.locator("#copy .menu").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390


@pytest.mark.long
def test_a_query_that_takes_too_long_stops_nothing(watched: Callable[..., Watched]) -> None:
    with Served(GivenFiles(), PlayLimits(seconds=10)) as slow:
        seen = watched()
        query = quote("SELECT MAX * WHERE BUY+ AS b FILTER b.price > prev(b.price)")
        seen.page.goto(slow.address + MARKET + query)
        seen.page.locator(".failed", has_text="longer than 10 seconds").wait_for()
        ready(seen, slow, MARKET + "SELECT%20*%20WHERE%20SELL")


def test_events_are_sorted_by_the_column_that_is_clicked(
    watched: Callable[..., Watched], served: Served
) -> None:
    """The boxes in front of the events are no column."""
    seen = watched()
    ready(seen, served, MARKET + "SELECT * WHERE SELL")
    page = seen.page
    page.locator("#tab-events").click()
    page.locator("#panel-events th", has_text="price").locator("button").click()
    heads = page.locator("#panel-events th").all_inner_texts()
    place = heads.index("price") + 1
    prices = page.locator(f"#panel-events td:nth-child({place})").all_inner_texts()
    assert len(prices) == 100 and [*map(float, prices)] == sorted(map(float, prices))
    classes = page.locator(f"#panel-events th:nth-child({place})").get_attribute("class")
    assert classes == "number"
    seen.check(served.origin)


def test_suggestions_lie_above_old_results(watched: Callable[..., Watched], served: Served) -> None:
    seen = watched()
    ready(seen, served, MARKET + "SELECT * WHERE SELL")
    page = seen.page
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type("SELECT * WHERE SELL AS a FILTER a[p")
    hint = page.locator(".cm-tooltip-autocomplete")
    hint.wait_for()
    box = hint.bounding_box()
    x, y = box["x"] + box["width"] - 4, box["y"] + box["height"] - 4
    on_top = "([x, y]) => !!document.elementFromPoint(x, y)?.closest('.cm-tooltip-autocomplete')"
    assert page.evaluate(on_top, [x, y])
