"""Who may ask the playground, and what its answers let a browser do."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

from starlette.testclient import TestClient

from cereus.errors import CereusError
from cereus.play import uploads
from cereus.play.data import GivenFiles
from cereus.play.process import PlayLimits
from cereus.play.server import HEADERS, STATIC, Playground
from cereus.play.serving import listen
from cereus.play.uploads import file_name

ORIGIN = "http://127.0.0.1:4000"


@pytest.fixture(scope="module")
def playground() -> Playground:
    return Playground(GivenFiles(), PlayLimits(), {})


@pytest.fixture
def client(playground: Playground) -> TestClient:
    """Without a lifespan: no process is started."""
    return TestClient(playground.app(), base_url=ORIGIN, follow_redirects=False)


@pytest.fixture
def known(client: TestClient, playground: Playground) -> TestClient:
    assert client.get(f"/?token={playground.token}").status_code == 303
    return client


PATHS = ["/", "/static/play.js", "/samples/market.parquet"]


@pytest.mark.parametrize("path", PATHS)
def test_nobody_is_let_in_without_the_token(client: TestClient, path: str) -> None:
    for address in (path, f"{path}?token=", f"{path}?token=wrong", f"{path}?token=é"):
        reply = client.get(address)
        assert reply.status_code == 403 and "token" in reply.text
    assert client.post("/ask/start", json={}, headers={"origin": ORIGIN}).status_code == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(
    client: TestClient, playground: Playground
) -> None:
    reply = client.get(f"/?token={playground.token}")
    assert reply.headers["location"] == "/"
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=lax" in cookie and "4000" in cookie
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("path", [*PATHS, *(f"/static/{name}" for name in STATIC), "/static/no.js"])
def test_every_answer_keeps_the_browser_here(known: TestClient, path: str) -> None:
    reply = known.get(path)
    for name, value in HEADERS.items():
        assert reply.headers[name] == value
    policy = reply.headers["content-security-policy"]
    assert "script-src 'self';" in policy and "default-src 'none'" in policy
    assert "http" not in policy


def test_other_hosts_and_other_origins_are_refused(known: TestClient) -> None:
    assert known.get("/", headers={"host": "evil.example"}).status_code == 400
    for origin in ({}, {"origin": "http://evil.example"}, {"origin": "http://127.0.0.1:1"}):
        assert known.post("/ask/start", json={}, headers=origin).status_code == 403


def test_what_is_no_question_is_refused(known: TestClient) -> None:
    here = {"origin": ORIGIN}
    assert known.post("/ask/no", json={}, headers=here).status_code == 404
    assert known.post("/ask/run", content=b"[]", headers=here).status_code == 400
    assert known.post("/ask/run", content=b"{", headers=here).status_code == 400
    assert known.post("/ask/run", content=b" " * (2 << 20), headers=here).status_code == 400
    assert known.post("/ask/run", content=b"[" * 500_000, headers=here).status_code == 400
    assert known.post("/ask/run", content=b'{"text": [[]]}', headers=here).status_code == 400
    assert known.get("/static/..%2Fserver.py").status_code == 404
    assert known.get("/samples/no.parquet").status_code == 404


def test_half_a_letter_in_a_request_comes_back(
    known: TestClient, playground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no bytes in UTF-8, so the answer was an error of the server."""

    async def echo(name: str, given: dict[str, Any]) -> dict[str, Any]:
        return given

    monkeypatch.setattr(playground.typing, "ask", echo)
    sent = b'{"text": "SELECT * WHERE \\ud800", "number": NaN}'
    reply = known.post("/ask/copies", content=sent, headers={"origin": ORIGIN})
    assert reply.status_code == 200
    assert reply.json() == {"text": "SELECT * WHERE \ud800", "number": "NaN"}


def test_it_listens_on_this_machine_only() -> None:
    listening = listen(0)
    try:
        assert listening.getsockname()[0] == "127.0.0.1"
    finally:
        listening.close()


def test_the_licences_of_the_editor_are_in_the_package() -> None:
    from importlib.resources import files

    static = files("cereus.play.static")
    licences = static.joinpath("editor.licences.txt").read_text("utf-8")
    assert "@codemirror/view" in licences and "MIT License" in licences
    script = static.joinpath("editor.js").read_text("utf-8")
    assert "editor.licences.txt" in script.splitlines()[0]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("trades.csv", "trades.csv"),
        ("../../etc/trades.jsonl", "trades.jsonl"),
        ("..\\..\\trades.parquet", "trades.parquet"),
        ("%2e%2e%2ftrades.csv.gz", "trades.csv.gz"),
        ("名" * 300 + ".csv", "名" * 65 + ".csv"),
    ],
)
def test_an_uploaded_file_keeps_no_more_than_its_name(given: str, kept: str) -> None:
    assert file_name(given) == kept


@pytest.mark.parametrize("given", ["trades", "trades.exe", "..", "a\x00.csv", ""])
def test_what_is_no_file_of_events_is_not_kept(given: str) -> None:
    with pytest.raises(CereusError, match="format"):
        file_name(given)


def test_a_file_that_is_too_large_is_not_kept(
    known: TestClient, playground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_UPLOADED", 1_000)
    here = {"origin": ORIGIN}
    reply = known.post("/upload/trades.csv", content=b"type\n" + b"A\n" * 1_000, headers=here)
    assert "more than" in reply.json()["error"]
    assert playground.uploads.paths == {}
    assert known.post("/upload/trades.csv", content=b"type\n").status_code == 403


def test_nobody_but_the_server_names_a_file_of_this_machine(known: TestClient) -> None:
    given = {"name": "upload-1", "path": "/etc/passwd"}
    assert known.post("/ask/upload", json=given, headers={"origin": ORIGIN}).status_code == 404


def test_a_panel_that_waits_for_its_first_answer_says_so() -> None:
    from importlib.resources import files

    style = files("cereus.play.static").joinpath("play.css").read_text("utf-8")
    assert '[aria-busy=true] [role=tabpanel]:empty::before{content:"Looking for matches …"' in style
    page = files("cereus.play.static").joinpath("index.html").read_text("utf-8")
    assert 'aria-labelledby="tab-matches" tabindex="0"></div>' in page  # empty, without a space
