"""A program in Java against the jars of the apache-flink package: compiled, and run."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pyflink
from clause import missing

OPENED = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "util", "time")]


def run_java(program: str, *arguments: str) -> None:
    """It prints what it finds itself; where there is no compiler, that is printed."""
    compiler, java = shutil.which("javac"), shutil.which("java")
    if compiler is None or java is None:
        missing("it is compiled with javac, and there is none here")
        return
    source = Path(__file__).with_name(program)
    jars = str(Path(pyflink.__file__).parent / "lib" / "*")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([compiler, "-cp", jars, "-d", folder, str(source)], check=True)
        classes = f"{folder}:{jars}"
        subprocess.run([java, *OPENED, "-cp", classes, source.stem, *arguments], check=True)
