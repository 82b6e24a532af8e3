"""One Spark session for all tests that need one."""

from __future__ import annotations

import functools
import os
import shutil
import sys
import warnings
from typing import Any

import pytest


@functools.cache
def spark_session() -> Any:
    """The session of this test run; without Java or PySpark its tests are skipped, or fail where all must be there."""
    reason = _missing()
    if reason is not None:
        if os.environ.get("TACIT_REQUIRE_ALL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        return (
            SparkSession.builder.master("local[2]")
            .appName("tacit-tests")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "1")
            # Compiling a query costs more than running it over a few hundred rows.
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
            .config("spark.sql.adaptive.enabled", "false")
            .config("spark.default.parallelism", "1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .getOrCreate()
        )


def _missing() -> str | None:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "Java is not installed"
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "PySpark is not installed"
    return None
