"""docs/verify_signatures.py: checks signatures without our program. The authenticator of this test is not our writing either."""

from __future__ import annotations

import base64
import copy
import hashlib
import html
import json
import re
import runpy
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from service import PATIENCE, ROOT, Service, service

pytest.importorskip("cryptography")
pytest.importorskip("tomllib")
from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: E402

SCRIPT = runpy.run_path(str(ROOT / "docs" / "verify_signatures.py"))
VERIFY, DIGEST = SCRIPT["verify"], SCRIPT["statement_digest"]
MEANING, REASON = "I stand for it", "the evidence\nis sound"


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Api:
    """The service, for one token."""

    def __init__(self, running: Service, token: str) -> None:
        self.url, self.token = running.url, token

    def call(self, method: str, path: str, body: bytes | None = None, kind: str = "application/json") -> str:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return response.read().decode()

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return json.loads(self.call("POST", path, json.dumps(body).encode()))


class Passkey:
    """An authenticator with one key, registered on the page "Your keys"."""

    def __init__(self, running: Service, token: str) -> None:
        self.key, self.credential, self.counter = ec.generate_private_key(ec.SECP256R1()), b"a credential id", 0
        port = urllib.parse.urlsplit(running.url).port
        self.origin = f"http://localhost:{port}"
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())

        def page(path: str, **fields: str) -> str:
            body = urllib.parse.urlencode(fields).encode() if fields else None
            with browser.open(running.url + path, body, timeout=PATIENCE) as response:
                return response.read().decode()

        page("/sign-in", token=token)
        keys = page("/keys")
        options = json.loads(html.unescape(re.search(r'data-options="([^"]*)"', keys)[1]))["publicKey"]
        csrf = re.search(r'name="csrf" value="([^"]*)"', keys)[1]
        assert options["rp"]["id"] == "localhost"
        assert options["authenticatorSelection"]["userVerification"] == "required"
        point = self.key.public_key().public_numbers()
        x, y = (number.to_bytes(32, "big") for number in (point.x, point.y))
        cose = b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20" + x + b"\x22\x58\x20" + y
        attested = bytes(16) + len(self.credential).to_bytes(2, "big") + self.credential + cose
        data = self.said(0x45) + attested
        attestation = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58" + bytes([len(data)]) + data
        response = {
            "attestationObject": encoded(attestation),
            "clientDataJSON": encoded(self.client_data("webauthn.create", options["challenge"])),
        }
        raw_id = encoded(self.credential)
        made = {"id": raw_id, "rawId": raw_id, "type": "public-key", "response": response}
        shown = page("/keys", csrf=csrf, token=token, passkey=json.dumps(made))
        assert "Your passkey is registered" in shown

    def said(self, flags: int) -> bytes:
        return hashlib.sha256(b"localhost").digest() + bytes([flags]) + self.counter.to_bytes(4, "big")

    def client_data(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}).encode()

    def sign(self, digest: bytes) -> dict[str, str]:
        self.counter += 1
        data, client_data = self.said(0x05), self.client_data("webauthn.get", encoded(digest))
        signature = self.key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        return {
            "credential": encoded(self.credential),
            "digest": digest.hex(),
            "client_data": encoded(client_data),
            "authenticator_data": encoded(data),
            "signature": encoded(signature),
        }


class KeyFile:
    """An Ed25519 key, registered by the administrator."""

    def __init__(self, admin: Api, name: str) -> None:
        self.key = Ed25519PrivateKey.generate()
        public = b"\x01" + self.key.public_key().public_bytes(
            serialization.Encoding.Raw, serialization.PublicFormat.Raw
        )
        key_id = hashlib.sha256(name.encode() + b"\n" + public).digest()[:4].hex()
        self.public = f"{name}+{key_id}+{base64.b64encode(public).decode()}"
        admin.post("/v1/keys", {"name": name, "key": self.public})

    def sign(self, digest: bytes) -> dict[str, str]:
        signature = base64.b64encode(self.key.sign(digest)).decode()
        return {"key": self.public, "digest": digest.hex(), "signature": signature}


def act(api: Api, person: str, key: Passkey | KeyFile | None, name: str) -> None:
    policy = json.loads(api.call("GET", "/v1/policies/hypertension-treatment"))
    body: dict[str, Any] = {"meaning": MEANING, "reason": REASON}
    if key is not None:
        digest = DIGEST(name, "hypertension-treatment", "0", policy["signing_subject"], person, MEANING, REASON)
        body["by_key"] = key.sign(digest)
    api.post(f"/v1/policies/hypertension-treatment/{name}", body)


def test_signatures_are_verified_without_the_program(tmp_path: Path) -> None:
    with service(tmp_path) as running:
        admin = Api(running, running.token)
        document = (ROOT / "examples" / "clinical" / "policy.toml").read_bytes()
        admin.call("POST", "/v1/policies", document, "application/toml")
        ann, bob, cara = (
            Api(running, admin.post("/v1/tokens", {"name": name, "roles": ["review"]})["token"])
            for name in ("ann", "bob", "Cara Lee")
        )
        passkey, file = Passkey(running, ann.token), KeyFile(admin, "bob")
        for api, person, key, name in (
            (cara, "Cara Lee", None, "stop"),
            (ann, "ann", passkey, "resume"),
            (ann, "ann", passkey, "stop"),
            (bob, "bob", file, "resume"),
        ):
            act(api, person, key, name)
        with pytest.raises(urllib.error.HTTPError):
            act(ann, "ann", None, "resume")
        events = [json.loads(line) for line in admin.call("GET", "/v1/events").splitlines()]
    assert VERIFY(events) == {"token": 1, "passkey": 2, "key file": 1}

    signed = [at for at, event in enumerate(events) if isinstance(event["body"].get("by_key"), dict)]
    assert len(signed) == 3

    def change(at: int, *path: str, value: Any) -> list[dict[str, Any]]:
        changed = copy.deepcopy(events)
        inner = changed[at]["body"]
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value
        return changed

    for at in signed:
        for path, value in (
            (("reason",), "another reason"),
            (("meaning",), "another meaning"),
            (("by_key", "digest"), "0" * 64),
            (
                ("by_key", "signature"),
                events[signed[0] if at != signed[0] else signed[1]]["body"]["by_key"]["signature"],
            ),
        ):
            with pytest.raises(Exception):  # noqa: B017, PT011 - of whichever part was changed
                VERIFY(change(at, *path, value=value))
    with pytest.raises(AssertionError, match="requires a signature"):
        VERIFY(change(signed[0], "by_key", value=None))
    twice = copy.deepcopy(events)
    registered = next(event for event in twice if event["kind"] == "person key registered")
    registered["body"]["key"]["counter"] = 9
    with pytest.raises(AssertionError, match="copy of the passkey"):
        VERIFY(twice)
