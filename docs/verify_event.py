"""Checks an event without the program: python verify_event.py KEY PROOF

KEY is the public key of the log (`GET /v1/checkpoint/key`), kept since the first start; PROOF is a file with the answer of
`GET …/events/{number}/proof`. docs/store-format.md explains every step.
"""

import base64
import hashlib
import json
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def verify(key: str, answer: dict) -> None:
    event, size = answer["event"], answer["tree_size"]
    frame = bytes.fromhex(answer["previous_hash"])
    frame += b"".join(event[name].to_bytes(8, "big") for name in ("number", "time_ms", "policy"))
    for text in (event["actor"].encode(), event["kind"].encode(), event["body"].encode()):
        frame += len(text).to_bytes(8, "big") + text
    if event.get("elapsed_ms") is not None:
        frame += (8).to_bytes(8, "big") + event["elapsed_ms"].to_bytes(8, "big")
    node, index, last = sha256(b"\0", sha256(frame)), event["number"] - 1, size - 1  # RFC 9162, 2.1.3.2
    for other in map(bytes.fromhex, answer["proof"]):
        if index & 1 or index == last:
            node = sha256(b"\1", other, node)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            node = sha256(b"\1", node, other)
        index, last = index >> 1, last >> 1
    text, signatures = answer["checkpoint"].split("\n\n", 1)
    name, key_id, public = key.strip().split("+", 2)
    assert last == 0 and text.split("\n") == [name, str(size), base64.b64encode(node).decode()], (
        "not in the signed tree"
    )
    signed = [base64.b64decode(line.split(" ")[2]) for line in signatures.splitlines() if line.split(" ")[1] == name]
    signature = next(signature for signature in signed if signature[:4].hex() == key_id)
    Ed25519PublicKey.from_public_bytes(base64.b64decode(public)[1:]).verify(signature[4:], text.encode() + b"\n")


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as file:
        verify(sys.argv[1], json.load(file))
    print("the event is in the log that the checkpoint covers, and the key has signed it")
