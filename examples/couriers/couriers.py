"""Four couriers carry parcels from New York to Amherst; one of them takes strange ways.

python examples/couriers/couriers.py            # run the text couriers.sase here
python examples/couriers/couriers.py scans.parquet   # write the scans, for the command line:
cereus run examples/couriers/couriers.sase scans.parquet --dialect sase --time ts
"""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

import cereus

ROUTE = ("New York", "Hartford", "Springfield", "Amherst")


def scans(parcels: int = 400) -> pa.Table:
    """Every parcel is scanned on its way; those of dora leave out a stop now and then."""
    draw = Random(5)
    rows = []
    for number in range(parcels):
        courier = ("alma", "ben", "carl", "dora")[number % 4]
        time = datetime(2026, 1, 5) + timedelta(minutes=30 * number)
        for place, location in enumerate(ROUTE):
            strays = courier == "dora" and location == "Springfield" and draw.random() < 0.3
            rows.append(
                {
                    "type": "SCAN",
                    "ts": time,
                    "location": "Albany" if strays else location,
                    "next": ROUTE[min(place + 1, len(ROUTE) - 1)],
                    "object_id": f"parcel {number}",
                    "courier_id": courier,
                }
            )
            time += timedelta(minutes=draw.randint(40, 90))
    return pa.Table.from_pylist(sorted(rows, key=lambda row: row["ts"]))


def main(arguments: list[str]) -> None:
    events = scans()
    if arguments:
        pq.write_table(events, arguments[0])
        return
    text = Path(__file__).with_name("couriers.sase").read_text(encoding="utf-8")
    query = cereus.compile(text, dialect="sase", stream=cereus.Stream(time="ts"))
    longest = max(query.run(events), key=lambda match: match["count_a"])
    print(f"{longest['courier_id']}: {longest['count_a']} anomalies in one week")
    for parcel in longest["object_id"][:5]:
        print(f"  {parcel}")


if __name__ == "__main__":
    main(sys.argv[1:])
