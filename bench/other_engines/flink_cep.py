"""Flink CEP over a CSV file of trades: prints the rows found and the seconds taken, as JSON.

Run by the Python of an environment that has apache-flink, whose jars have Flink CEP; it has no
interface in Python, so a program in Java (`FlinkCep.java`) is compiled and run. Its events are
objects in memory when the clock starts. The first of two runs also starts the engine.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pyflink
from clause import missing

PROGRAM = Path(__file__).with_name("FlinkCep.java")
OPENED = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "util", "time")]


def main(path: str) -> None:
    compiler, java = shutil.which("javac"), shutil.which("java")
    if compiler is None or java is None:
        missing("it is compiled with javac, and there is none here")
        return
    jars = str(Path(pyflink.__file__).parent / "lib" / "*")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([compiler, "-cp", jars, "-d", folder, str(PROGRAM)], check=True)
        classes = f"{folder}:{jars}"
        data = path.replace(".parquet", ".csv")
        subprocess.run([java, *OPENED, "-cp", classes, PROGRAM.stem, data], check=True)


if __name__ == "__main__":
    main(sys.argv[1])
