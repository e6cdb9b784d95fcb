"""Spark tests on other versions of Python and PySpark: `python -m tests.spark.starting.versions`.

Arguments are pairs such as `3.12:newest`: a Python, and the `lowest` or the `newest` PySpark that
pyproject.toml allows, or a version of it. Every pair has an environment of its own in
`build/versions`, made with pip, with Cereus compiled for it. A Python that is not on this machine
is skipped, and the last lines say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from bench.comparing.environments import Missing, installed_python

ROOT = Path(__file__).parents[3]
ENVIRONMENTS = ROOT / "build" / "versions"
PAIRS = ("3.11:lowest", "3.11:newest", "3.12:newest", "3.13:newest")
SPARK = "tests/spark"
TESTS = (
    f"{SPARK}/cluster/test_standalone.py"
    "::test_a_cluster_that_loses_a_worker_finds_what_the_local_engine_finds",
    f"{SPARK}/test_languages.py",
    f"{SPARK}/test_sql.py::test_the_function_finds_what_the_local_engine_finds",
    f"{SPARK}/batch/test_together.py::test_queries_of_all_languages_share_the_scan",
    f"{SPARK}/live/test_messages.py",
    f"{SPARK}/live/test_live.py::test_a_replayed_directory_gives_what_a_batch_run_gives",
    f"{SPARK}/live/test_live.py::test_a_stopped_query_goes_on_and_another_one_is_refused",
    f"{SPARK}/live/test_eager.py::test_eager_on_spark_finds_the_same",
    f"{SPARK}/live/rules/test_rules.py",
    f"{SPARK}/live/test_state.py",
    f"{SPARK}/live/test_recorded.py::test_a_recorded_checkpoint_is_continued",
    f"{SPARK}/pipeline/test_rules.py::test_rules_of_a_live_pipeline_follow_their_folder",
)
"""One or more of each kind. As some are named, those marked `long` run too."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOOLS = (*PROJECT["build-system"]["requires"], "hypothesis", "pytest")
WHEELS = str(ENVIRONMENTS / "wheels")
PIP = ("-qq", "--disable-pip-version-check", "--prefer-binary", "--find-links", WHEELS)
INSTALL = ("-m", "pip", "install", *PIP)
AS_WHEEL = ("--no-deps", "--wheel-dir", WHEELS, "-C--build-option=--compression=stored")
"""PySpark comes as sources: one wheel serves all Pythons, and its jars are not compressed again."""
COMPILED = "import sys, cereus.engine; sys.exit(not cereus.engine.COMPILED)"
OURS = ("PYTHONPATH", "SPARK_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
"""What would lead into the environment that this runs in."""


class Failed(Exception):
    """What a pair failed at."""


def main(pairs: Sequence[str]) -> int:
    """The exit code: 1 if a pair has failed."""
    outcomes = {pair: outcome(pair) for pair in pairs}
    for pair, said in outcomes.items():
        print(f"{pair:<14} {said}")
    return int(any(said.startswith("failed") for said in outcomes.values()))


def outcome(pair: str) -> str:
    """What became of a pair, in words."""
    version, _, pyspark = pair.partition(":")
    try:
        base = installed_python(version)
        python = environment(base, pair.replace(":", "-"), requirement(pyspark))
        run(python, "the tests", "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS)
    except Missing as reason:
        return f"skipped: {reason}"
    except Failed as reason:
        return f"failed: {reason}"
    return f"passed on {versions(python)}"


def requirement(pyspark: str) -> str:
    """What pip is asked for: `newest` is all that pyproject.toml allows, of which pip takes it."""
    allowed: str = PROJECT["project"]["optional-dependencies"]["spark-without-java"][0]
    if pyspark == "newest":
        return allowed
    return allowed.replace(">=", "==") if pyspark == "lowest" else f"pyspark=={pyspark}"


def environment(base: str, name: str, pyspark: str) -> Path:
    """The Python of the environment with this name, in which Cereus is installed as it is now."""
    where = ENVIRONMENTS / name
    python = where / "bin" / "python"
    if not python.exists():
        run(Path(base), "making an environment", "-m", "venv", str(where))
    run(python, "fetching Spark", "-m", "pip", "wheel", *PIP, *AS_WHEEL, pyspark)
    run(python, "fetching tools", *INSTALL, *TOOLS)
    for built in (ROOT / "build").glob("lib.*"):
        shutil.rmtree(built)  # or modules that are gone would be installed
    run(python, "compiling Cereus", *INSTALL, "--no-build-isolation", ".[spark,metrics]", pyspark)
    run(python, "is the kernel compiled?", "-c", COMPILED)
    return python


def run(python: Path, what: str, *arguments: str) -> None:
    """Run a Python in the repository, in none of our environments; raise if it fails."""
    others = {name: value for name, value in os.environ.items() if name not in OURS}
    print(f"{python.parents[1].name}: {what}", flush=True)
    if subprocess.run([str(python), *arguments], cwd=ROOT, env=others, check=False).returncode:
        raise Failed(what)


def versions(python: Path) -> str:
    asked = "import platform, pyspark; print(platform.python_version(), pyspark.__version__)"
    told = subprocess.run([str(python), "-c", asked], capture_output=True, text=True, check=True)
    return "Python {}, PySpark {}".format(*told.stdout.split())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or PAIRS))
