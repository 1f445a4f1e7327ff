"""A real Spark for the tests that need one."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator

import pytest


def spark_or_skip(master: str, **config: str):
    """A Spark session, or a skipped test that says what is missing."""
    pytest.importorskip("pyspark", reason="Spark is not tested: pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark is not tested: there is no Java, and `make test` could not install it")
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
    builder = SparkSession.builder.master(master).appName("covey tests")
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # what lives for a minute is not worth optimising
    usual = {
        "spark.driver.extraJavaOptions": quick,
        "spark.executor.extraJavaOptions": quick,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
    }
    for name, value in {**usual, **config}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator:
    """A local Spark, started once for all tests that need one: under xdist too, as tests/conftest.py sees to."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        started = tmp_path_factory.getbasetemp().parent / "spark started"
        assert not started.exists(), "two workers need Spark: put 'spark' into the names of the tests that use it"
        started.touch()
    session = spark_or_skip("local[2]")
    yield session
    session.stop()
