"""What Spark costs on one machine: fits of the same Parquet files by a local cluster and by streaming, in one run.

    python benchmarks/spark.py [--rows 10000000]      prints a table and writes benchmarks/results/spark.json

A cluster pays off when one machine is not enough; on one machine its overhead is all there is to see. Both releases
are made with the same seed and must be equal byte by byte.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import pyspark
from pyspark.sql import SparkSession

from covey import Box
from covey.bench import sets
from covey.bench.speed.run import clusters
from covey.fit.fit import fit

RESULTS = Path(__file__).parent / "results" / "spark.json"
MASTER = "local-cluster[2,1,1024]"
PIECE = 10**6


def session() -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.executorEnv.OMP_NUM_THREADS": "1",
        "spark.sql.shuffle.partitions": "4",
    }
    builder = SparkSession.builder.master(MASTER).appName("covey benchmark")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=10**7)
    rows = options.parse_args().rows
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, rows, PIECE):
            count = min(PIECE, rows - first)
            sets.write_parquet(Path(folder) / f"part-{first:012}.parquet", iter([clusters(count, seed=first)]))
        start = perf_counter()
        spark = session()
        spark.sparkContext.setLogLevel("ERROR")
        spark.range(10).count()
        started = perf_counter() - start
        table = []
        for algorithm in ("grid", "auto", "lloyd"):
            seconds, releases = {}, []
            for engine in ("files", "spark"):
                start = perf_counter()
                more = {"algorithm": algorithm, "engine": engine, "random_state": 1}
                release = fit(folder, k=5, epsilon=1.0, bounds=Box(x=(-1, 1), y=(-1, 1)), **more)
                seconds[engine] = round(perf_counter() - start, 2)
                releases.append(release.to_json())
            same = releases[0] == releases[1]
            table.append({"algorithm": algorithm, **seconds, "spark_over_files": seconds["spark"] / seconds["files"]})
            print(f"{algorithm:8} files {seconds['files']:8.2f} s   spark {seconds['spark']:8.2f} s   equal: {same}")
            if not same:
                raise SystemExit("the releases differ")
        spark.stop()
    document = {
        "what": f"seconds of one seeded fit of {rows:,} x 2 Parquet rows; releases are equal byte by byte",
        "rows": rows,
        "master": MASTER,
        "start_seconds": round(started, 1),
        "table": [{**row, "spark_over_files": round(row["spark_over_files"], 1)} for row in table],
        "pyspark": pyspark.__version__,
        "cores": os.cpu_count(),
        "load_average_before": round(load, 2),
    }
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
