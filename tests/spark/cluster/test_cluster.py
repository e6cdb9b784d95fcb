"""On a cluster of two workers, each a process of its own, with the library shipped to them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import cereus
from tests.spark_home import spark_home

pytestmark = pytest.mark.spark

JOB = """
import json, sys
import pyarrow as pa
import cereus
from cereus import spark as cs

spark = cs.session("local-cluster[2,1,1024]", "cereus-cluster", **json.loads(sys.argv[1]))
ids = range(600)
rows = [(i, "ABC"[i % 3], i % 5) for i in ids]
events = spark.createDataFrame(rows, "id long, type string, k long")
stream = cereus.Stream(time="id", unit="s")
text = "SELECT * WHERE A ; B ; C PARTITION BY k WITHIN 35 seconds"
query = cereus.compile(text, stream=stream)
found = cs.match(events, query, parallelism=4).toArrow()
matched = sorted([each["id"] for each in row["events"]] for row in found.to_pylist())

def told(batches):
    import os
    import cereus
    for batch in batches:
        yield pa.record_batch({"pid": [os.getppid()], "path": [cereus.__file__]})

asked = spark.range(8).repartition(8).mapInArrow(told, "pid long, path string").distinct()
print(json.dumps({"matched": matched, "workers": [list(row) for row in asked.collect()]}))
"""


def packed(where: Path) -> Path:
    """Cereus alone; the workers have all that it needs from the Python that they run."""
    with tarfile.open(where, "w:gz") as archive:
        archive.add(
            Path(cereus.__file__).parent,
            "cereus",
            filter=lambda member: None if "__pycache__" in member.name else member,
        )
    return where


@pytest.mark.long
def test_the_library_is_shipped_to_the_workers_of_a_cluster(tmp_path: Path) -> None:
    from cereus.spark.starting.java import ensure_java

    ensure_java()
    settings = {
        "spark.archives": f"{packed(tmp_path / 'cereus.tar.gz')}#shipped",
        "spark.executorEnv.PYTHONPATH": "shipped",
        "spark.executor.memory": "512m",
        # tasks wait for both workers, however busy the machine is
        "spark.cores.max": "2",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "600s",
        "spark.driver.memory": "512m",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.host": "127.0.0.1",
    }
    environment = {
        "SPARK_HOME": str(spark_home(tmp_path / "spark")),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    said = subprocess.run(
        [sys.executable, "-c", JOB, json.dumps(settings)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **environment},
        timeout=1800,
    )
    assert said.returncode == 0, said.stderr[-3000:]
    told = json.loads(said.stdout.splitlines()[-1])
    assert {Path(path).parts[-3] for _, path in told["workers"]} == {"shipped"}
    assert len({path for _, path in told["workers"]}) == 2, "both workers took part"
    ids = range(600)
    events = {"id": list(ids), "type": ["ABC"[i % 3] for i in ids], "k": [i % 5 for i in ids]}
    query = cereus.compile(
        "SELECT * WHERE A ; B ; C PARTITION BY k WITHIN 35 seconds",
        stream=cereus.Stream(time="id", unit="s"),
    )
    import pyarrow as pa

    expected = sorted(row["positions"] for row in query.run(pa.table(events)))
    assert told["matched"] == expected and expected
