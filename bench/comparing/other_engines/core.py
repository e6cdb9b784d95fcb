"""CORE over a CSV file of stock events: prints for each query the matches and the seconds, as JSON.

Run by a Python that has pycer (3.13). The first line of standard input is a list of queries.
Events are made before the clock starts; what is measured is the engine reading them and writing
its matches into a text in memory, which is its only way to answer a program.
"""

import csv
import json
import sys

import pycer
from clause import cpu_seconds

DECLARATION = """CREATE STREAM Stock {
  EVENT SELL { id:int, name:string, volume:int, price:double, stock_time:primary_time },
  EVENT BUY { id:int, name:string, volume:int, price:double, stock_time:primary_time }
}"""
RUNS = 2


def events(path: str) -> list[pycer.PyEvent]:
    kinds = {"SELL": 0, "BUY": 1}
    made = []
    with open(path, newline="") as file:
        for kind, number, name, volume, price, time in csv.reader(file):
            values = [
                pycer.PyIntValue(int(number)),
                pycer.PyStringValue(name),
                pycer.PyIntValue(int(volume)),
                pycer.PyDoubleValue(float(price)),
                pycer.PyIntValue(int(time)),
            ]
            made.append(pycer.PyEvent(kinds[kind], values, values[-1]))
    return made


def measured(text: str, stream: list[pycer.PyEvent]) -> dict[str, float]:
    fastest, rows = float("inf"), 0
    for _ in range(RUNS):
        server = pycer.PyOfflineServer()
        server.declare_stream(DECLARATION)
        server.add_query(text)
        begin = cpu_seconds()
        server.send_events(stream)
        answer = server.get_output()
        fastest = min(fastest, cpu_seconds() - begin)
        rows = sum(line.startswith("[") for line in answer.splitlines())
    return {"rows": rows, "seconds": fastest}


def main(path: str) -> None:
    queries = json.loads(sys.stdin.readline())
    stream = events(path)
    print(json.dumps([measured(text, stream) for text in queries]))


if __name__ == "__main__":
    main(sys.argv[1])
