"""Checks every signature of a log without the program: python verify_signatures.py EVENTS

EVENTS is a file with the answer of `GET /v1/events`, one event per line. It needs Python 3.11 and the package `cryptography`.
docs/signatures.md explains every step. That these events are the log's is another question; verify_event.py answers it.
"""

import base64
import hashlib
import json
import sys
from collections import Counter

import tomllib
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ACTS = {"approved": "approve", "rejected": "reject", "rolled back": "roll back", "stopped": "stop", "resumed": "resume"}


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def number(text: str) -> int:
    return int.from_bytes(decoded(text), "big")


def statement_digest(*fields: str) -> bytes:
    texts = [field.encode() for field in ("rarely signature 1", *fields)]
    return hashlib.sha256(b"".join(len(text).to_bytes(8, "big") + text for text in texts)).digest()


def verify_passkey(key: dict, made: dict, digest: bytes, last_counter: int) -> int:
    """Checks an assertion of W3C Web Authentication (section 7.2). Returns its counter."""
    client_data, said = decoded(made["client_data"]), decoded(made["authenticator_data"])
    client = json.loads(client_data)
    assert client["type"] == "webauthn.get" and client["origin"] == key["origin"], "made on another page"
    assert decoded(client["challenge"]) == digest, "made for another statement"
    assert said[:32] == hashlib.sha256(key["rp_id"].encode()).digest(), "made for another domain"
    assert said[32] & 5 == 5, "nobody was present and verified"
    counter = int.from_bytes(said[33:37], "big")
    assert counter > last_counter or counter == last_counter == 0, "there may be a copy of the passkey"
    public, signed = key["public_key"], said + hashlib.sha256(client_data).digest()
    if public["kty"] == "EC":
        point = ec.EllipticCurvePublicNumbers(number(public["x"]), number(public["y"]), ec.SECP256R1())
        point.public_key().verify(decoded(made["signature"]), signed, ec.ECDSA(hashes.SHA256()))
    else:
        modulus = rsa.RSAPublicNumbers(number(public["e"]), number(public["n"])).public_key()
        modulus.verify(decoded(made["signature"]), signed, padding.PKCS1v15(), hashes.SHA256())
    return counter


def verify(events: list[dict]) -> Counter:
    """Counts signatures by what they were made with. Raises an exception at the first one that is wrong or missing."""
    policies, proposals, keys, counters, counts = {}, {}, [], {}, Counter()
    for event in events:
        kind, body, actor, policy = event["kind"], event["body"], event["actor"], event["policy"]
        if kind == "registered":
            name, rule = tomllib.loads(body["document"])["policy"], body.get("signatures")
            policies[policy] = {"name": name, "signatures": rule, "last_act": event["hash"]}
        elif kind == "person key registered":
            keys.append((body.get("person_id", body["person"]), body["key"]))
        elif kind == "person key revoked":
            keys.remove((body.get("person_id", body["person"]), body["key"]))
        rollback = body.get("rollback") if kind == "proposed" else None
        act = "roll back" if rollback else ACTS.get(kind)
        if act and actor != "engine":
            live, signature = policies[policy], body["signature"] if rollback else body
            about = rollback or body.get("proposal") or body.get("to") or 0
            subject = proposals[policy, about] if act in ("approve", "reject") else live["last_act"]
            texts = (act, live["name"], str(about), subject, actor, signature["meaning"], signature["reason"])
            own = [key for person, key in keys if person == signature.get("person", actor)]
            counts[check(event, live, statement_digest(*texts), signature.get("by_key"), own, counters)] += 1
        if kind == "proposed":
            proposals[policy, body["proposal"]] = event["hash"]
        # Before policies said what people sign with, rollbacks were about the registration.
        if (kind == "proposed" or kind == "expired" or act) and policies[policy]["signatures"]:
            policies[policy]["last_act"] = event["hash"]
    return counts


def check(event: dict, live: dict, digest: bytes, made: dict | None, own: list, counters: dict) -> str:
    if made is None:
        needless = event["kind"] == "stopped" or live["signatures"] != "key"
        assert needless, f"event {event['number']} requires a signature with a key"
        return "token"
    assert made["digest"] == digest.hex(), f"the signature of event {event['number']} is about something else"
    if "credential" in made:
        key = next(key for key in own if isinstance(key, dict) and key["credential"] == made["credential"])
        last = counters.get(key["credential"], key["counter"])
        counters[key["credential"]] = verify_passkey(key, made, digest, last)
        return "passkey"
    assert made["key"] in own, f"the key of event {event['number']} is not one of {event['actor']}"
    public = base64.b64decode(made["key"].split("+", 2)[2])[1:]
    Ed25519PublicKey.from_public_bytes(public).verify(base64.b64decode(made["signature"]), digest)
    return "key file"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        found = verify([json.loads(line) for line in file])
    print("every signature is right: " + ", ".join(f"{count} with a {kind}" for kind, count in sorted(found.items())))
