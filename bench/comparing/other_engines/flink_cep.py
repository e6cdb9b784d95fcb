"""Flink CEP over a CSV file of trades: prints the rows found and the seconds taken, as JSON.

Run by the Python of an environment that has apache-flink, whose jars have Flink CEP; it has no
interface in Python, so a program in Java (`FlinkCep.java`) is compiled and run. Its events are
objects in memory when the clock starts. The first of two runs also starts the engine.
"""

import sys

from java_program import run_java

if __name__ == "__main__":
    run_java("FlinkCep.java", sys.argv[1].replace(".parquet", ".csv"))
