"""Generated streams with the shapes of those in the SRT paper (§7), beside the stocks: loads of
plugs in smart homes, and taxi trips. Everything is generated from a seed.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

HOMES, PLUGS = 40, 2_125
"""Houses and plugs; each plug is read about once a second."""
SMART_EVENTS = 1_000_000
TAXI_EVENTS = 585_762
ZONES = 263
TRIPS_PER_SECOND = 5.0


def smart_homes(events: int = SMART_EVENTS) -> pa.Table:
    """LOAD: plug, household, load in watts, seconds. Most plugs draw little, a few a lot, and each
    wanders about what it draws."""
    draw = np.random.default_rng(13)
    rounds = -(-events // PLUGS)
    plug = np.concatenate([draw.permutation(PLUGS) for _ in range(rounds)])[:events]
    level = np.exp(draw.normal(2.0, 1.6, PLUGS))
    load = level[plug] * np.exp(draw.normal(0.0, 0.25, events))
    return pa.table(
        {
            "type": pa.array(["LOAD"]).take(pa.array(np.zeros(events, np.int32))),
            "plug": plug.astype(np.int64),
            "household": plug.astype(np.int64) * HOMES // PLUGS,
            "load": np.round(load, 3),
            "ts": np.arange(events) // PLUGS,
        }
    )


def taxis(events: int = TAXI_EVENTS) -> pa.Table:
    """TRIP: zones of pick-up and drop-off, distance, fare, tip, total, seconds of the drop-off.
    A few zones have most of the trips, as Zipf's law has it."""
    draw = np.random.default_rng(17)
    weights = 1.0 / np.arange(1, ZONES + 1) ** 0.9
    zones = draw.choice(ZONES, size=(2, events), p=weights / weights.sum())
    distance = draw.lognormal(0.6, 0.8, events)
    fare = 2.5 + 2.8 * distance + draw.normal(0, 0.5, events)
    tip = fare * draw.choice([0.0, 0.15, 0.2, 0.25], size=events)
    seconds = np.floor(np.cumsum(draw.exponential(1.0 / TRIPS_PER_SECOND, events)))
    return pa.table(
        {
            "type": pa.array(["TRIP"]).take(pa.array(np.zeros(events, np.int32))),
            "pickup": zones[0].astype(np.int64),
            "dropoff": zones[1].astype(np.int64),
            "distance": np.round(distance, 2),
            "fare": np.round(fare, 2),
            "tip": np.round(tip, 2),
            "total": np.round(fare + tip, 2),
            "ts": seconds.astype(np.int64),
        }
    )
