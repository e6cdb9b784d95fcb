"""Other engines: a Python environment for each, made with pip, and what their programs answer."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

from bench.spark.processes import allowed

HERE = Path(__file__).parent
PROGRAMS = HERE / "other_engines"
ENVIRONMENTS = HERE.parent / "results" / "environments"
INSTALLING = 900
"""Seconds that an installation may take."""
LOOKING = 1.0
"""Seconds until it is seen that a program has taken longer than it may."""


class Missing(Exception):
    """Why an engine cannot run here."""


def python_of(package: str | None, version: str | None = None) -> str:
    """The Python of the environment that has a package, which is made where there is none; the
    package may need a Python of one version."""
    if package is None:
        return sys.executable
    python = ENVIRONMENTS / package / "bin" / "python"
    if not python.exists():
        print(f"  making an environment with {package} …", flush=True)
        base = sys.executable if version is None else installed_python(version)
        made = ran([base, "-m", "venv", str(python.parent.parent)], INSTALLING)
        installed = ran([str(python), "-m", "pip", "install", "--quiet", package], INSTALLING)
        if made.returncode or installed.returncode:
            shutil.rmtree(python.parent.parent, ignore_errors=True)
            raise Missing(f"{package} cannot be installed: {_last(installed.stderr)}")
    return str(python)


def installed_python(version: str) -> str:
    """A Python of this version: on the path, or of pyenv, whose shims may refuse."""
    for candidate in _candidates(version):
        asked = ran([candidate, "-c", "import sys; print(sys.version)"], 60)
        if asked.returncode == 0 and asked.stdout.startswith(version):
            return candidate
    raise Missing(f"it needs Python {version}, and there is none here")


def _candidates(version: str) -> Iterator[str]:
    yield sys.executable
    on_path = shutil.which(f"python{version}")
    if on_path is not None:
        yield on_path
    for path in sorted(Path.home().glob(f".pyenv/versions/{version}*/bin/python")):
        yield str(path)


def answer(command: list[str], patience: int, given: str = "", *, cpu: bool = False) -> Any:
    """What a program of `other_engines` prints last, from JSON: the Python, the program's file name
    and its arguments. Patience is in seconds, or in CPU seconds."""
    python, program, *arguments = command
    result = ran([python, str(PROGRAMS / program), *arguments], patience, given, cpu=cpu)
    if result.returncode:
        raise Missing(_last(result.stderr))
    return json.loads(result.stdout.splitlines()[-1])


def ran(
    command: list[str], patience: int, given: str = "", *, cpu: bool = False
) -> subprocess.CompletedProcess[str]:
    """A command that has ended. What takes longer is stopped, with all that it has started."""
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ENVIRONMENTS,  # some of them leave logs where they run
            start_new_session=True,
        )
    except OSError as reason:
        return subprocess.CompletedProcess(command, 1, "", str(reason))
    within = allowed(patience) if cpu else _until(patience)
    with process:
        while within():
            try:
                said, complaints = process.communicate(given, timeout=LOOKING)
            except subprocess.TimeoutExpired:
                continue
            return subprocess.CompletedProcess(command, process.returncode, said, complaints)
        os.killpg(process.pid, signal.SIGKILL)
    unit = "CPU s" if cpu else "s"
    return subprocess.CompletedProcess(command, 1, "", f"no answer in {patience} {unit}")


def _until(seconds: float) -> Callable[[], bool]:
    end = monotonic() + seconds
    return lambda: monotonic() < end


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1][:200]
