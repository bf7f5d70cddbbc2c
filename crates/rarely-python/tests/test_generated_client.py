"""A client that somebody else's generator makes of the service's OpenAPI document."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from rarely.client import Client
from service import CLINICAL, POLICY, service


def generate(document: Path, folder: Path) -> None:
    """With openapi-python-client. It formats what it writes with ruff, which is beside this interpreter."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
    command += ["--path", str(document), "--output-path", str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_generated_client_decides_and_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with service(tmp_path) as running:
        with Client(running.url, running.token) as ours:
            ours.register(CLINICAL)
        with urllib.request.urlopen(f"{running.url}/openapi.json") as answer:
            (tmp_path / "api.json").write_bytes(answer.read())
        generate(tmp_path / "api.json", tmp_path / "generated_rarely")
        monkeypatch.syspath_prepend(str(tmp_path))
        made = importlib.import_module("generated_rarely")
        models = importlib.import_module("generated_rarely.models")
        routes = "generated_rarely.api.default.post_policies_name_"
        decide, report = (importlib.import_module(routes + name) for name in ("decisions", "outcomes"))
        with made.AuthenticatedClient(base_url=running.url, token=running.token) as client:
            body = models.DecisionBody.from_dict({"record": {"systolic": 150.0}})
            decided = decide.sync(POLICY, client=client, body=body)
            assert (decided.option, decided.version, decided.propensity) == ("treat", 1, 1.0)
            outcome = models.OutcomeReport.from_dict({"decision": decided.decision, "outcome": 0.5})
            assert report.sync(POLICY, client=client, body=outcome).repeated is False
            wrong = models.DecisionBody.from_dict({"record": {"systolic": "high"}})
            refused = decide.sync(POLICY, client=client, body=wrong)
            assert isinstance(refused, models.Problem)
            assert (refused.status, refused.field) == (422, "record.systolic")
