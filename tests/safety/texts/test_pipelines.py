"""Whatever a pipeline file is, it is a pipeline or ends in a CereusError, before anything runs.

python -m tests.safety.texts.test_pipelines FIRST LAST    files number FIRST, …, LAST - 1
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest

from cereus.errors import CereusError
from cereus.spark.pipeline import Pipeline
from tests.safety.texts import mutations
from tests.spark.pipeline.conftest import MARKET, ORDERS, orders
from tests.volume import volume

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"^```toml[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
VALUE = re.compile(r'= *("[^"\n]*"|\d+|true|false|\[[^\]\n]*\])')
LINE = re.compile(r"[^\n]*\n")
VALUES = (
    '""', '"\\u0000"', '"market"', '"pair"', "0", "-1", "1e400", "nan", "-inf", "9" * 400, "true",
    "[]", "[[]]", '["a", 1]', "{}", '{ a = { b = 1 } }', "1979-05-27", "1979-05-27T07:32:00Z",
    "07:32:00", '"""\n"""', "'\\'", '"SELECT * WHERE A"', '"5 seconds"', '"*"', '"../.."',
    '"format"', '"2024-13-45"', "0x_f", "0o17", '"live"', '"market"', '"orders"', '"ts"',
    '["name"]', '"1 hour"', '"10 minutes"', '"SELECT a WHERE SELL AS a"', '["end_time", "name"]',
)  # fmt: skip
LINES = (
    "[queries.x]\n", "[[queries.x]]\n", "[sinks.pair]\n", "a.b.c = 1\n", "[streams]\n", "\n",
    'mode = "live"\n', 'dialect = "sase"\n', 'limits = { nodes = 3 }\n', "params = { n = [1] }\n",
    "# a note\n", 'watermark = "1 hour"\n', 'format = "kafka"\n', 'select = "x"\n', "= 1\n", "]\n",
    '"""\n', 'engine = "local"\n',
)  # fmt: skip


@cache
def files() -> tuple[str, ...]:
    """The pipelines of the tests, the examples and the documentation."""
    examples = [path.read_text("utf-8") for path in sorted((ROOT / "examples").rglob("*.toml"))]
    pages = [path.read_text("utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))]
    return (MARKET, *examples, *(block for page in pages for block in BLOCK.findall(page)))


def file_of(case: int) -> str:
    """File number `case`: another value, another line, or a damage of any kind; or no text."""
    draw = Random(f"pipeline {case}")
    text = MARKET if draw.random() < 0.7 else draw.choice(files())
    if case % 40 == 39:
        return bytes(draw.randrange(256) for _ in range(200)).decode("latin-1")
    for _ in range(draw.choice((1, 1, 2, 3))):
        text = draw.choice((_other_value, _other_value, _other_line, _damage))(draw, text)
    return text


def _other_value(draw: Random, text: str) -> str:
    places = list(VALUE.finditer(text))
    if not places:
        return text
    place = draw.choice(places)
    return text[: place.start(1)] + draw.choice(VALUES) + text[place.end(1) :]


def _other_line(draw: Random, text: str) -> str:
    lines = LINE.findall(text) or [""]
    place = draw.randrange(len(lines))
    kept = lines[place + 1 :] if draw.random() < 0.5 else lines[place:]
    added = draw.choice((draw.choice(LINES), draw.choice(lines)))
    return "".join([*lines[:place], added, *kept])


def _damage(draw: Random, text: str) -> str:
    return mutations.mutated(draw, [text])


def loaded(case: int, folder: Path) -> bool:
    """Whether a file is a pipeline."""
    file = folder / "pipeline.toml"
    file.write_text(file_of(case), "utf-8", errors="surrogatepass")
    try:
        Pipeline.load(file).describe()
    except CereusError as error:
        assert len(str(error)) < 20_000
        return False
    except Exception as error:
        error.add_note(f"file number {case}:\n{file_of(case)}")
        raise
    return True


def prepared(folder: Path) -> Path:
    """A folder with events, so that files are read to their end."""
    (folder / "orders").mkdir()
    pq.write_table(orders(ORDERS), folder / "orders" / "0.parquet")
    return folder


def test_only_a_cereus_error_escapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases, folder = volume(60, 1_500), prepared(tmp_path)
    monkeypatch.chdir(folder)
    pipelines = sum(loaded(case, folder) for case in range(cases))
    assert 0 < pipelines < cases


def test_there_are_files_to_damage() -> None:
    assert len(files()) >= 4


def main() -> None:
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        place = prepared(Path(folder))
        os.chdir(place)
        for case in range(int(sys.argv[1]), int(sys.argv[2])):
            try:
                loaded(case, place)
            except Exception as error:
                print(f"case {case}: {type(error).__name__}: {str(error)[:300]}", flush=True)


if __name__ == "__main__":
    main()
