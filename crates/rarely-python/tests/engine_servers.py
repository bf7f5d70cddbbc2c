"""Engines of the tests' own, on loopback ports: a PostgreSQL server, and a Spark master with two workers."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a server of our own."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    assert programs, "PostgreSQL is not installed: scripts/test installs it"
    # Not in pytest's own folder: another run of pytest would close that to the server's user.
    folder = Path(tempfile.mkdtemp())
    as_owner = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    if as_owner:
        shutil.chown(folder, "postgres")
    data, number = folder / "data", port()
    run = {"check": True, "stdout": subprocess.DEVNULL, "cwd": "/"}
    subprocess.run([*as_owner, str(programs[-1] / "initdb"), "-D", str(data), "-U", "owner", "-A", "trust"], **run)
    options = f"-c listen_addresses=127.0.0.1 -c port={number} -c unix_socket_directories= -c fsync=off"
    control = [*as_owner, str(programs[-1] / "pg_ctl"), "-D", str(data), "-w"]
    subprocess.run([*control, "-o", options, "-l", str(folder / "server.log"), "start"], **run)
    try:
        yield f"postgresql://owner@127.0.0.1:{number}/postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **run)
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of a standalone master with two workers."""
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    folder, number = tmp_path_factory.mktemp("spark"), port()
    launcher = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    master = f"spark://127.0.0.1:{number}"
    local = ["--host", "127.0.0.1", "--webui-port", "0"]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder)}
    started = []

    def start(name: str, *arguments: str) -> None:
        with open(folder / f"{len(started)}.log", "wb") as output:
            command = [launcher, f"org.apache.spark.deploy.{name}", *local, *arguments]
            started.append(subprocess.Popen(command, stdout=output, stderr=output, env=environment))

    try:
        start("master.Master", "--port", str(number))
        wait_for(number)
        for _ in range(2):
            start("worker.Worker", "--cores", "1", "--memory", "1g", master)
        session = (
            SparkSession.builder.master(master)
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.sql.session.timeZone", "UTC")
            .getOrCreate()
        )
        yield session
        session.stop()
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


def wait_for(number: int) -> None:
    for _ in range(600):
        with socket.socket() as opened:
            if opened.connect_ex(("127.0.0.1", number)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the master does not answer")
