"""Plays a clinic: asks a running service for decisions, and reports how people are.

    python3 clinic.py --url http://127.0.0.1:8080 --token-file ward.token --cases 3000

Needs Python alone. The people and their outcomes are drawn here, in one of two scenes, which the service does not know: treatment of
high blood pressure helps from 130 mmHg; in the trial the new treatment helps people whose marker is above 0.5.
"""

from __future__ import annotations

import argparse
import json
import random
import urllib.request


def main() -> None:
    """Plays as many cases as are asked for."""
    arguments = parsed()
    draw = random.Random(arguments.seed)
    with open(arguments.token_file, encoding="utf-8") as file:
        token = file.read().strip()
    policy = f"{arguments.url}/v1/policies/{arguments.policy}"
    given: dict[str, int] = {}
    for first in range(0, arguments.cases, arguments.batch):
        people = [person(arguments.policy, draw) for _ in range(min(arguments.batch, arguments.cases - first))]
        decisions = send(f"{policy}/decisions", token, [{"record": record} for record in people])
        outcomes = []
        for record, decision in zip(people, decisions):
            option = str(decision["option"])
            given[option] = given.get(option, 0) + 1
            mean = expected(record, option) + draw.gauss(0.0, 0.1)
            outcomes.append({"decision": decision["decision"], "outcome": round(min(max(mean, 0.0), 1.0), 3)})
        send(f"{policy}/outcomes", token, outcomes)
    print(f"{arguments.cases} people:", ", ".join(f"{option} {count}" for option, count in sorted(given.items())))


def person(policy: str, draw: random.Random) -> dict[str, float]:
    """What is known of a person."""
    if policy == "marker-trial":
        return {"marker": round(draw.random(), 3)}
    return {"systolic": round(draw.uniform(90, 200))}


def expected(record: dict[str, float], option: str) -> float:
    """How a person is on average, from 0 to 1."""
    if "marker" in record:
        return 0.5 + (0.1 * (2 * record["marker"] - 1) if option == "new" else 0.0)
    systolic = record["systolic"]
    return 0.95 - 0.003 * (systolic - 90) + (0.004 * (systolic - 130) if option == "treat" else 0.0)


def send(url: str, token: str, lines: list[dict[str, object]]) -> list[dict[str, object]]:
    """Sends a batch and returns its answers, one for each line."""
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-ndjson"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        return [json.loads(line) for line in answer.read().splitlines()]


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8080")
    parser.add_argument("--token-file", required=True)
    parser.add_argument("--policy", default="hypertension-treatment")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument(
        "--batch", type=int, default=500, help="people who are decided for before the next outcomes come"
    )
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
