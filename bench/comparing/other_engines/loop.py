"""Falls and recoveries by a loop in Python, as one writes it by hand: prints the rows found and the
seconds taken, as JSON. The columns are Python lists when the clock starts."""

import sys

import pyarrow.parquet
from clause import timed


def main(path: str) -> None:
    table = pyarrow.parquet.read_table(path)
    columns = [table.column(name).to_pylist() for name in ("sym", "ts", "price")]

    def found() -> int:
        begun: dict[int, tuple[object, float, object | None]] = {}
        results = []
        for symbol, time, price in zip(*columns, strict=True):
            if symbol in begun:
                opened, last, bottom = begun[symbol]
                if price < last:
                    begun[symbol] = opened, price, time
                    continue
                if price > last and bottom is not None:
                    results.append((symbol, opened, bottom, time))
            begun[symbol] = time, price, None
        return len(results)

    timed(found)


if __name__ == "__main__":
    main(sys.argv[1])
