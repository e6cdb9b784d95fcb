"""How fast event expressions run, end to end from Arrow: `python -m bench.languages.algebra_run
[EVENTS]`."""

from __future__ import annotations

import sys

import cereus
from bench.languages.par import Cases, events, report

EXPRESSION = (
    "(((BUY ; SELL)_100 - CANCEL) | (HALT ; QUOTE)) + ((BUY + HALT)_500 - (CANCEL ; SELL)) ; QUOTE"
)
"""Ten operators without counting the time restrictions, which are two more."""


CASES: Cases = {
    "every event a tick": (cereus.Stream(), {}),
    "time": (cereus.Stream(time="n"), {}),
    "time, 1,000 keys": (cereus.Stream(time="n", keys="key"), {}),
    "time, constituents": (cereus.Stream(time="n"), {"values": True}),
}


def main(count: int = 10_000_000) -> None:
    report(EXPRESSION, "algebra", events(count, encoded=True), CASES)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
