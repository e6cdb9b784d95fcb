"""What is loaded when: a short run waits for nothing that it does not use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cereus.demo import market_events
from cereus.languages import ROOMS

QUERY = "SELECT * WHERE SELL AS a ; BUY AS b FILTER a[price > 10] WITHIN 10 seconds"
NO_PANDAS = """
import sys
class Finder:
    def find_spec(name, *_):
        if name == "pandas":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Finder)
"""
LISTED = "import sys; print(*sorted(sys.modules), sep='\\n', file=sys.stderr)"


def loaded(code: str) -> set[str]:
    """The modules of a new process after it has run this."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines())


def of_rooms(modules: set[str], *rooms: str) -> list[str]:
    """What is loaded of rooms beside what makes their names known."""
    known = {f"cereus.languages.{room}{end}" for room in ROOMS for end in ("", ".language")}
    return sorted(
        name
        for name in modules - known
        for room in rooms
        if name.startswith(f"cereus.languages.{room}.")
    )


def below(modules: set[str], *packages: str) -> list[str]:
    """Which of these packages, and of the modules in them, are loaded."""
    return sorted(
        name
        for name in modules
        for package in packages
        if name == package or name.startswith(f"{package}.")
    )


def test_importing_cereus_loads_no_language_and_no_picture() -> None:
    modules = loaded(f"import cereus; {LISTED}")
    assert "cereus.query" in modules
    assert of_rooms(modules, *ROOMS) == []
    own = ("why", "pictures", "funnels", "rules", "engine.rules", "show", "spark", "cli")
    assert below(modules, *(f"cereus.{name}" for name in own)) == []
    others = ("pandas", "pyspark", "rich", "typer", "altair", "pyarrow.dataset", "pyarrow.parquet")
    assert below(modules, *others) == []


def test_a_small_run_of_the_command_line_loads_one_language_and_one_command(tmp_path: Path) -> None:
    pq.write_table(market_events(20), tmp_path / "events.parquet")
    arguments = ["run", QUERY, str(tmp_path / "events.parquet"), "--type", "type", "--time", "ts"]
    run = f"from cereus.cli.main import app; app({arguments!r}, standalone_mode=False)"
    modules = loaded(f"{run}; {LISTED}")
    assert "cereus.languages.ceql.query" in modules
    assert of_rooms(modules, *(set(ROOMS) - {"ceql"})) == []
    own = ("why", "pictures", "funnels", "rules", "show", "spark.pipeline", "cli.commands")
    more = ("translate", "play", "report", "bench", "lsp")
    assert below(modules, *(f"cereus.{name}" for name in (*own, *more))) == []
    assert below(modules, "pyspark", "altair", "igraph", "duckdb", "polars") == []


@pytest.mark.parametrize("room", ROOMS)
def test_a_language_is_loaded_when_it_is_named(room: str) -> None:
    own = f"cereus.languages.{room}.api"
    assert own in loaded(f"import cereus; cereus.{room}; {LISTED}")
    assert own in loaded(f"import cereus.{room}; {LISTED}")


def test_every_public_name_is_found() -> None:
    code = "import cereus; print([getattr(cereus, n) for n in cereus.__all__ if n in dir(cereus)])"
    assert loaded(f"{code}; from cereus import *; {LISTED}") >= {"cereus.sremo", "cereus.rules"}


def test_queries_of_all_languages_run_without_pandas() -> None:
    """Some releases of Arrow load pandas where they are asked for the type of a number."""
    run = "from tests.safety.test_concurrency import *; [answer(compiled(n), 1) for n in QUERIES]"
    loaded(f"{NO_PANDAS}\n{run}")
    sources = (Path(__file__).parents[1] / "src").rglob("*.py")
    assert [path for path in sources if ".to_pandas_dtype(" in path.read_text("utf-8")] == []
