"""Another release of Cereus: measures one query after the other.

Every line of standard input is a query, as JSON: dialect, text, columns of the stream, options, the
method that runs it, the path of an Arrow file and how many of its events are taken. The answer is a
line with the CPU seconds of the fastest run; null where the release does not know such a query.
Only the public interface is used, so that any release can run it, found by PYTHONPATH.

With an argument, the library of `bench.comparing.compare` that switches valgrind's counting on and
off, one run is counted instead, and the answer is a line with 0.
"""

import ctypes
import gc
import json
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import pyarrow as pa

import cereus

AT_LEAST, RUNS = 0.25, 5


def work(
    dialect: str, text: str, columns: dict[str, Any], options: dict[str, Any],
    method: str, path: str, events: int | None,
) -> Callable[[], object]:  # fmt: skip
    with pa.OSFile(path) as file:
        table = pa.ipc.open_file(file).read_all().slice(0, events)
    stream = cereus.Stream(**columns)
    query = cereus.compile(text, dialect=dialect, stream=stream, schema=table.schema, **options)
    run = getattr(query, method)
    return lambda: deque(run(table), maxlen=0) if method == "batches" else run(table)


def fastest(run: Callable[[], object]) -> float:
    best, spent, runs = float("inf"), 0.0, RUNS
    while runs > 0 or spent < AT_LEAST:
        begin = time.process_time()
        run()
        taken = time.process_time() - begin
        best, spent, runs = min(best, taken), spent + taken, runs - 1
    return best


def counted(run: Callable[[], object], switch: ctypes.CDLL) -> float:
    gc.collect()
    gc.disable()
    switch.count()
    run()
    switch.done()
    gc.enable()
    return 0.0


def main(switch: str | None = None) -> None:
    library = ctypes.CDLL(switch) if switch else None
    if library:
        library.begin()
    for line in sys.stdin:
        try:
            run = work(*json.loads(line))
            run()
        except cereus.CereusError:
            answer = None
        else:
            answer = counted(run, library) if library else fastest(run)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
