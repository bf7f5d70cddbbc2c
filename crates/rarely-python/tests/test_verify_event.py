"""docs/verify_event.py: checks an event without our program, and finds every change of it."""

from __future__ import annotations

import json
import runpy
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from service import PATIENCE, ROOT, Service, service

pytest.importorskip("cryptography")
VERIFY = runpy.run_path(str(ROOT / "docs" / "verify_event.py"))["verify"]


def get(running: Service, path: str) -> str:
    request = urllib.request.Request(running.url + path, headers={"Authorization": f"Bearer {running.token}"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as response:
        return response.read().decode()


def proof(running: Service, number: int) -> dict[str, Any]:
    """Waits for the checkpoint that covers the event."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return json.loads(get(running, f"/v1/events/{number}/proof"))
        except urllib.error.HTTPError as error:
            if error.code != 409 or time.monotonic() > until:
                raise
            time.sleep(0.1)


def test_events_are_verified_without_the_program(tmp_path: Path) -> None:
    with service(tmp_path, "--checkpoint-every", "1") as running:
        for name in ("ann", "bob", "cara", "dan", "eve", "füsun"):
            body = json.dumps({"name": name, "roles": ["read"]}).encode()
            headers = {"Authorization": f"Bearer {running.token}", "Content-Type": "application/json"}
            urllib.request.urlopen(urllib.request.Request(running.url + "/v1/tokens", body, headers), timeout=PATIENCE)
        key = get(running, "/v1/checkpoint/key")
        proofs = [proof(running, number) for number in range(1, 8)]
    for answer in proofs:
        VERIFY(key, answer)
    changes: list[tuple[str, Any]] = [
        ("actor", "mallory"),
        ("body", "{}"),
        ("time_ms", 1),
        ("policy", 3),
        ("kind", "said"),
    ]
    for field, value in changes:
        with pytest.raises(AssertionError):
            VERIFY(key, {**proofs[2], "event": {**proofs[2]["event"], field: value}})
    with pytest.raises(AssertionError):
        VERIFY(key, {**proofs[2], "proof": proofs[2]["proof"][:-1]})
    forged = proofs[2]["checkpoint"].replace("A", "B")
    with pytest.raises(Exception):  # noqa: B017, PT011 - of whichever part was changed
        VERIFY(key, {**proofs[2], "checkpoint": forged})
