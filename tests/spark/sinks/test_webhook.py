"""Alerts over HTTP, to a server of this process: retried, put aside, told apart by key and time."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cereus.errors import CereusError
from cereus.spark.pipeline import Pipeline, PipelineError
from cereus.spark.sinks import recent as recent_alerts
from cereus.spark.sinks.recent import RecentAlerts
from cereus.spark.sinks.webhook import Webhook

BEGIN = datetime(2025, 3, 3, 9, 30)
IDENTITY = ("rule", "name")


class Receiver(HTTPServer):
    """Answers with `answers`, one after the other, then with 200, and keeps what came."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.answers: list[int] = []
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/alerts"


class Answering(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(json.loads(body))
        self.server.keys.append(self.headers["Idempotency-Key"])
        self.send_response(self.server.answers.pop(0) if self.server.answers else 200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing on standard error."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def alert(second: int, name: str = "INTC") -> dict[str, Any]:
    return {"rule": "pair", "name": name, "end_time": BEGIN + timedelta(seconds=second)}


def hook(receiver: Receiver, **options: Any) -> Webhook:
    return Webhook(receiver.url, identity=(*IDENTITY, "end_time"), wait=0.001, **options)


def test_every_alert_is_sent_once(receiver: Receiver) -> None:
    assert hook(receiver).send([alert(0), alert(1)]) == []
    assert [each["end_time"] for each in receiver.bodies] == [
        "2025-03-03T09:30:00",
        "2025-03-03T09:30:01",
    ]
    assert len(set(receiver.keys)) == 2


def test_what_may_pass_is_sent_again_with_the_same_key(receiver: Receiver) -> None:
    receiver.answers = [503, 429, 500]
    assert hook(receiver).send([alert(0)]) == []
    assert len(receiver.bodies) == 4 and len(set(receiver.keys)) == 1


def test_what_nobody_takes_is_put_aside(receiver: Receiver) -> None:
    receiver.answers = [400, 503, 503, 503]
    dead = hook(receiver, retries=2).send([alert(0), alert(1), alert(2)])
    assert [(each.attempts, each.error.split()[0]) for each in dead] == [(1, "400"), (3, "503")]
    assert json.loads(dead[0].body)["name"] == "INTC"
    nobody = Webhook("http://127.0.0.1:9/", retries=1, wait=0.001, timeout=1.0)
    (letter,) = nobody.send([alert(0)])
    assert letter.attempts == 2 and "Error" in letter.error


def test_alerts_of_one_key_are_sent_once_per_time(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the times of the matches, from one run to the next, and when a micro-batch comes again."""
    sender = Webhook(receiver.url, identity=IDENTITY)
    file = tmp_path / "sent"
    rows = [alert(0), alert(10), alert(10, "MSFT"), alert(59), alert(60), alert(130)]
    for begin, end in ((0, 3), (2, 6), (2, 6)):
        recent = RecentAlerts(timedelta(minutes=1), file=file)
        assert sender.send(rows[begin:end], recent) == []
    sent = [(each["name"], each["end_time"][-5:]) for each in receiver.bodies]
    assert sent == [("INTC", "30:00"), ("MSFT", "30:10"), ("INTC", "31:00"), ("INTC", "32:10")]
    monkeypatch.setattr(recent_alerts, "MOST_AGAIN", 0)
    RecentAlerts(timedelta(minutes=1), file=file)
    assert len(file.read_text().splitlines()) == 1  # the others are too old to matter


def once_a_minute(file: Path) -> RecentAlerts:
    return RecentAlerts(timedelta(minutes=1), file=file)


def test_an_alert_that_nobody_took_is_sent_when_its_micro_batch_comes_again(
    receiver: Receiver, tmp_path: Path
) -> None:
    """Without dead letters the run ends there, and goes on with the same micro-batch."""
    sender = Webhook(receiver.url, identity=IDENTITY, retries=0)
    receiver.answers = [200, 400]
    rows = [alert(0, "MSFT"), alert(0)]
    (dead,) = sender.send(rows, once_a_minute(tmp_path / "sent"))
    assert json.loads(dead.body)["name"] == "INTC"
    assert sender.send(rows, once_a_minute(tmp_path / "sent")) == []
    assert [each["name"] for each in receiver.bodies] == ["MSFT", "INTC", "INTC"]


def test_two_alerts_of_one_key_are_two_requests_for_their_receiver(
    receiver: Receiver, tmp_path: Path
) -> None:
    """A receiver that ignores repeated keys takes the alert of an hour later, but no repeat."""
    sender = Webhook(receiver.url, identity=IDENTITY)
    for file in ("one", "another"):
        assert sender.send([alert(0), alert(3600)], once_a_minute(tmp_path / file)) == []
    first, later, first_again, later_again = receiver.keys
    assert first != later
    assert (first, later) == (first_again, later_again)


PIPELINE = """
mode = "batch"

[sources.orders]
format = "parquet"
path = "orders.parquet"

[streams.market]
source = "orders"
time = "ts"

[queries.pair]
from = "market"
text = "SELECT a, b WHERE SELL AS a ; BUY AS b PARTITION BY name WITHIN 10 seconds"
select = ["name", "end_time"]

[sinks.hook]
from = "pair"
format = "webhook"
url = "URL"
identity = ["name"]
once_per = "20 seconds"
retries = 0
dead_letters = "dead"
"""
NAMES = ["INTC", "INTC", "MSFT", "MSFT", "INTC", "INTC", "INTC"]
SECONDS = [0, 1, 2, 3, 30, 31, 35]


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, receiver: Receiver) -> Path:
    monkeypatch.chdir(tmp_path)
    events = pa.table(
        {
            "type": ["SELL", "BUY", "SELL", "BUY", "SELL", "BUY", "BUY"],
            "name": NAMES,
            "ts": [BEGIN + timedelta(seconds=each) for each in SECONDS],
        }
    )
    pq.write_table(events, tmp_path / "orders.parquet")
    path = tmp_path / "market.toml"
    path.write_text(PIPELINE.replace("URL", receiver.url))
    return path


def check_alerts(receiver: Receiver, where: Path) -> None:
    """The second of INTC within 20 seconds is not sent, and nobody took that of MSFT."""
    assert [each["name"] for each in receiver.bodies] == ["INTC", "MSFT", "INTC"]
    files = [each for each in (where / "dead").iterdir() if each.suffix == ".json"]
    (letter,) = [json.loads(line) for each in files for line in each.read_text().splitlines()]
    assert letter["error"].startswith("404") and json.loads(letter["body"])["name"] == "MSFT"


def test_a_webhook_without_spark(pipeline: Path, receiver: Receiver, tmp_path: Path) -> None:
    receiver.answers = [200, 404]
    Pipeline.load(pipeline, engine="local").run()
    check_alerts(receiver, tmp_path)


@pytest.mark.spark
def test_a_webhook_on_spark(pipeline: Path, receiver: Receiver, tmp_path: Path, spark: Any) -> None:
    receiver.answers = [200, 404]
    Pipeline.load(pipeline).run(spark)
    check_alerts(receiver, tmp_path)


def rewritten(pipeline: Path, old: str, new: str) -> None:
    text = pipeline.read_text()
    assert old in text
    pipeline.write_text(text.replace(old, new))


def test_alerts_that_nobody_takes_end_a_run_without_dead_letters(
    pipeline: Path, receiver: Receiver
) -> None:
    receiver.answers = [400]
    rewritten(pipeline, 'dead_letters = "dead"\n', "")
    with pytest.raises(CereusError, match="alerts were not taken by http") as raised:
        Pipeline.load(pipeline, engine="local").run()
    assert "400" in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('once_per = "20 seconds"', 'once_per = "often"', "once_per: 'often' is not a length"),
        ('identity = ["name"]', "", "once_per needs to know which alerts are the same"),
        ("http://", "ftp://", "is no address"),
        ("retries = 0", "retries = -1", "at least 0"),
    ],
)
def test_webhooks_are_checked_before_the_start(
    pipeline: Path, old: str, new: str, said: str
) -> None:
    rewritten(pipeline, old, new)
    with pytest.raises(PipelineError, match=said):
        Pipeline.load(pipeline)
