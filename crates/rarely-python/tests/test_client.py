"""The client against the real service: a whole life, and everything that can be lost on the way."""

from __future__ import annotations

import csv
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from http.client import HTTPMessage
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet  # type: ignore[import-untyped]
import pytest
from rarely.client import Client, Decision, Reported, _retry_after
from rarely.errors import DataError, Error, ServiceError, SettingsError
from said import said
from service import CLINICAL, POLICY, ROOT, Proxy, Service, proxy, service


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("service")) as started:
        started.let_sign()
        yield started


@pytest.fixture
def client(running: Service) -> Iterator[Client]:
    with Client(running.url, running.token) as made:
        made.register(CLINICAL)
        yield made


@pytest.fixture
def between(running: Service) -> Iterator[Proxy]:
    with proxy(running.url) as made:
        yield made


def decisions(client: Client) -> int:
    return sum(event["kind"] == "decided" for event in client.events(POLICY))


def refused(call: Any, *arguments: Any, **named: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        call(*arguments, **named)
    return caught.value


def test_a_document_registered_again_is_the_same_policy(client: Client) -> None:
    again = client.register(CLINICAL)
    assert again["name"] == POLICY
    assert [policy["name"] for policy in client.policies()].count(POLICY) == 1
    assert client.policy(POLICY)["id"] == again["id"]
    assert [version["number"] for version in client.versions(POLICY)] == [1]


def test_a_wrong_document_is_refused_with_its_place(client: Client) -> None:
    error = refused(client.register, 'policy = "x"\noptions = [1]')
    assert error.status == 422
    assert error.problem["field"] == "document"
    assert "POST /v1/policies" in str(error)


def test_a_decision_is_typed_and_can_be_explained(client: Client) -> None:
    decision = client.decide(POLICY, {"systolic": 150}, explain=True)
    assert decision.option == "treat"
    assert (decision.version, decision.reason, decision.propensity) == (1, "policy", 1.0)
    assert decision.explanation is not None
    assert decision.explanation["rule_option"] == "treat"
    assert client.decide(POLICY, {"systolic": np.float64(120.0)}).option == "watch"
    found = client.decision(POLICY, decision)
    assert found["record"] == {"systolic": 150}
    assert found["decision"] == decision.decision


def test_the_same_key_gets_the_same_decision(client: Client) -> None:
    before = decisions(client)
    first = client.decide(POLICY, {"systolic": 150}, key="visit-1")
    assert client.decide(POLICY, {"systolic": 150}, key="visit-1") == first
    assert decisions(client) == before + 1
    error = refused(client.decide, POLICY, {"systolic": 151}, key="visit-1")
    assert (error.status, error.problem["field"]) == (409, "key")
    assert client.decide(POLICY, {"systolic": 150}) != client.decide(POLICY, {"systolic": 150})


def test_a_version_can_be_named(client: Client) -> None:
    assert client.decide(POLICY, {"systolic": 150}, version=1).version == 1
    error = refused(client.decide, POLICY, {"systolic": 150}, version=99)
    assert (error.status, error.problem["field"]) == (422, "version")
    assert [one.version for one in client.decide_many(POLICY, [{"systolic": 150}], version=1)] == [1]  # type: ignore[union-attr]


def test_history_is_imported_once(client: Client) -> None:
    client.register(CLINICAL.replace(POLICY, "with-a-past"))
    first = datetime(2024, 3, 1, tzinfo=timezone.utc)
    past = [
        {
            "time": first + timedelta(hours=n),
            "record": {"systolic": 100 + n},
            "option": "watch",
            "outcome": 0.5,
            "key": f"case {n}",
        }
        for n in range(20)
    ]
    assert [one.repeated for one in client.import_history("with-a-past", past)] == [False] * 20  # type: ignore[union-attr]
    assert [one.repeated for one in client.import_history("with-a-past", past)] == [True] * 20  # type: ignore[union-attr]
    known = client.policy("with-a-past")["history"]
    assert (known["decisions"], known["first"]) == (20, "2024-03-01T00:00:00.000Z")
    answers = client.import_history("with-a-past", [{**past[3], "key": "another"}])
    assert isinstance(answers[0], ServiceError)
    assert answers[0].status == 409
    with pytest.raises(DataError, match="no zone"):
        client.import_history("with-a-past", [{**past[0], "time": datetime(2024, 3, 1)}])


def test_outcomes_conflicts_and_corrections(client: Client) -> None:
    decision = client.decide(POLICY, {"systolic": 150})
    first = client.observe(POLICY, decision, 0.7)
    assert first == Reported(first.event, False)
    assert client.observe(POLICY, decision.decision, 0.7) == Reported(first.event, True)
    assert refused(client.observe, POLICY, decision, 0.8).status == 409
    assert refused(client.observe, POLICY, decision, 0.7, reason="why").status == 422
    corrected = client.observe(POLICY, decision, 0.8, correction=True, reason="typing error")
    assert not corrected.repeated
    assert client.observe(POLICY, decision, 0.8, correction=True, reason="typing error").repeated
    assert client.decision(POLICY, decision)["outcome"] == 0.8
    assert refused(client.observe, POLICY, 10**9, 0.5).status == 404
    assert refused(client.observe, POLICY, decision, 7.0, correction=True).status == 422


def test_observations_are_taken_in_once(client: Client) -> None:
    before = client.policy(POLICY)["outcomes"]
    first = client.record(POLICY, {"systolic": 130}, "watch", 0.6, key="old-1", propensity=0.5)
    assert client.record(POLICY, {"systolic": 130}, "watch", 0.6, key="old-1", propensity=0.5) == Reported(
        first.event, True
    )
    assert refused(client.record, POLICY, {"systolic": 130}, "watch", 0.9, key="old-1").status == 409
    client.record(POLICY, {"systolic": 130}, "watch", 0.6)
    client.record(POLICY, {"systolic": 130}, "watch", 0.6)
    assert client.policy(POLICY)["outcomes"] == before + 3


def test_a_batch_of_2500_with_two_wrong_lines(client: Client) -> None:
    records: list[dict[str, Any]] = [{"systolic": 100 + at % 80} for at in range(2500)]
    records[7], records[2400] = {"diastolic": 80}, {"systolic": "high"}
    keys = [f"batch-{at}" for at in range(2500)]
    before = decisions(client)
    answers = client.decide_many(POLICY, records, keys=keys)
    assert len(answers) == 2500
    wrong = [at for at, answer in enumerate(answers) if isinstance(answer, ServiceError)]
    assert wrong == [7, 2400]
    assert getattr(answers[7], "status", None) == 422
    right = [(at, answer) for at, answer in enumerate(answers) if isinstance(answer, Decision)]
    assert all(answer.option == ("treat" if records[at]["systolic"] >= 140 else "watch") for at, answer in right)
    assert decisions(client) == before + 2498
    again = client.decide_many(POLICY, records, keys=keys)
    assert [answer for answer in again if isinstance(answer, Decision)] == [answer for _, answer in right]
    assert decisions(client) == before + 2498
    reported = client.observe_many(POLICY, [(answer, 0.5) for _, answer in right])
    assert all(isinstance(answer, Reported) and not answer.repeated for answer in reported)
    assert client.decide_many(POLICY, []) == []
    with pytest.raises(DataError, match="2 records and 1 keys"):
        client.decide_many(POLICY, records[:2], keys=["one"])


def test_events_are_all_there_in_order(client: Client) -> None:
    numbers = [event["number"] for event in client.events(POLICY)]
    assert len(numbers) > 2500
    assert numbers == sorted(set(numbers))
    assert [event["number"] for event in client.events(POLICY, after=numbers[-3])] == numbers[-2:]


def test_an_export_is_a_parquet_file(client: Client, tmp_path: Path) -> None:
    decision = client.decide(POLICY, {"systolic": 144})
    client.observe(POLICY, decision, 0.25)
    path = client.export(POLICY, tmp_path / "log.parquet")
    table = parquet.read_table(path)
    assert table.num_rows == client.policy(POLICY)["outcomes"]
    assert {"systolic", "treatment", "wellbeing"} <= set(table.column_names)
    assert [found.name for found in tmp_path.iterdir()] == ["log.parquet"]


def test_a_change_is_proposed_signed_rolled_back_and_stopped(client: Client) -> None:
    name = "signed"
    document = (
        CLINICAL.replace(POLICY, name).replace("cuts = [140]", "cuts = [170]")
        + '\n[control]\napproval = "one"\nsignatures = "token"\nreview_every = 100000\n'
    )
    client.register(document)
    with (ROOT / "examples" / "clinical" / "log.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with ThreadPoolExecutor(8) as threads:

        def report(at: int) -> Reported:
            row = rows[at]
            record, share = {"systolic": float(row["systolic"])}, float(row["probability"])
            return client.record(
                name, record, row["treatment"], float(row["wellbeing"]), key=f"row-{at}", propensity=share
            )

        events = {reported.event for reported in threads.map(report, range(len(rows)))}
    assert len(events) == len(rows) == client.policy(name)["outcomes"]
    assert client.evidence(name)["verdict"] == "change"
    reviewed = client.review(name)
    assert reviewed["verdict"] == "change"
    number = reviewed["proposal"]
    assert [proposal["number"] for proposal in client.proposals(name)] == [number]
    assert client.proposal(name, number)["evidence"]
    signed = client.approve(name, number, "I agree", "the evidence is good")
    assert signed["policy"]["version"] == 2
    assert refused(client.reject, name, number, "I do not", "too late").status == 409
    assert refused(client.stop, name, "", "").status == 422
    assert client.rollback(name, 1, "I roll back", "the ward asks for it")["policy"]["version"] == 3
    # With the rule in force again, the document can be amended: asked twice, it is proposed once.
    wider = document.replace("[80, 220]", "[80, 240]")
    assert wider != document
    proposed = client.amend(name, wider, "readings above 220 occur")
    assert (proposed["amendment"], client.amend(name, wider, "again")["number"]) == (True, proposed["number"])
    assert client.approve(name, proposed["number"], "I approve", "they do")["policy"]["version"] == 4
    assert client.stop(name, "I stop it", "an incident")["policy"]["stopped"]
    assert not client.resume(name, "I resume it", "it is settled")["policy"]["stopped"]
    assert len(client.versions(name)) >= 3
    # Another rule decides beside it, and a decision that does not exist cannot be overridden.
    started = client.start_shadow(name, "to see whom it would concern", version=2)
    assert client.shadow(name)["event"] == started["event"]
    assert refused(client.override, name, 10**9, "watch", "the patient declined").status == 404


def test_a_wrong_token_is_refused_and_never_shown(running: Service) -> None:
    wrong = "rarely_" + "secret" * 5
    with Client(running.url, wrong) as client:
        error = refused(client.policies)
        assert error.status == 401
        assert f"see: {running.url}/docs#problem-roles" in said(error)
        shown = [said(error), repr(error), repr(error.problem), repr(client), repr(vars(client))]
        assert not any(wrong in text for text in shown)


def test_a_token_that_comes_back_is_not_shown(running: Service, between: Proxy) -> None:
    with Client(between.url, running.token) as client:
        between.plan[:] = ["echo"]
        error = refused(client.policies)
        assert "Bearer ..." in str(error)
        assert running.token not in said(error) + repr(error.problem)


def test_an_unknown_policy_says_where_the_known_ones_are(client: Client) -> None:
    error = refused(client.decide, "nobody/knows it", {"systolic": 150})
    assert error.status == 404
    assert "nobody%2Fknows%20it" in str(error)
    assert "list of policies" in said(error)


def test_values_that_json_cannot_hold_are_not_sent(client: Client) -> None:
    for value in (float("nan"), object(), b"bytes"):
        with pytest.raises(DataError, match="cannot be sent"):
            client.decide(POLICY, {"systolic": value})


def test_a_lost_answer_is_the_same_decision(client: Client, running: Service, between: Proxy) -> None:
    before, outcomes = decisions(client), client.policy(POLICY)["outcomes"]
    with Client(between.url, running.token) as flaky:
        between.plan[:] = ["lose", "cut", "lose"]
        decision = flaky.decide(POLICY, {"systolic": 150})
        assert len(between.requests) == 4
        assert decisions(client) == before + 1
        between.plan[:] = ["lose", "pass"]
        assert flaky.observe(POLICY, decision, 0.5).repeated, "the first report had arrived"
        between.plan[:] = ["lose", "pass"]
        assert flaky.record(POLICY, {"systolic": 120}, "watch", 0.5).repeated
        assert client.policy(POLICY)["outcomes"] == outcomes + 2
        between.plan[:] = ["cut", "pass", "lose"]
        answers = flaky.decide_many(POLICY, [{"systolic": 150}] * 2500)
        assert all(isinstance(answer, Decision) for answer in answers)
        assert decisions(client) == before + 1 + 2500


def test_a_signature_whose_answer_is_lost_is_not_sent_again(client: Client, running: Service, between: Proxy) -> None:
    client.register(CLINICAL.replace(POLICY, "stopped") + '\n[control]\nsignatures = "token"\n')
    with Client(between.url, running.token) as flaky:
        between.plan[:] = ["lose"]
        error = refused(flaky.stop, "stopped", "I stop it", "an incident")
        assert error.status == 0
        assert "it may have been done" in said(error)
        assert len(between.requests) == 1
        assert client.policy("stopped")["stopped"]
        between.plan[:] = [503]
        flaky.resume("stopped", "I resume it", "503 says that nothing was done")
        assert not client.policy("stopped")["stopped"]


def test_a_timeout_is_tried_again(client: Client, running: Service, between: Proxy) -> None:
    before = decisions(client)
    with Client(between.url, running.token, timeout=0.5) as impatient:
        between.plan[:] = ["hang"]
        impatient.decide(POLICY, {"systolic": 150})
        assert decisions(client) == before + 1
    with Client(between.url, running.token, timeout=0.5, retries=0) as impatient:
        between.plan[:] = ["hang"]
        error = refused(impatient.decide, POLICY, {"systolic": 150})
        assert (error.status, error.problem) == (0, {})
        assert "1 attempt with a timeout of 0.5 s" in str(error)
    time.sleep(1.2)  # what hangs ends before the proxy does


def test_429_waits_as_long_as_it_is_told(client: Client, running: Service, between: Proxy) -> None:
    before = decisions(client)
    with Client(between.url, running.token) as asked_to_wait:
        between.plan[:] = [429]
        started = time.monotonic()
        asked_to_wait.decide(POLICY, {"systolic": 150})
        assert time.monotonic() - started >= 1.0
        assert decisions(client) == before + 1
        between.requests.clear()
        between.plan[:] = [404]
        assert refused(asked_to_wait.policies).status == 404
        assert len(between.requests) == 1, "what will not pass is not tried again"
    with Client(between.url, running.token, retries=1) as asked_to_wait:
        between.plan[:] = [502, 504]
        assert refused(asked_to_wait.policies).status == 504


def test_how_long_to_wait() -> None:
    def told(text: str | None) -> float:
        headers = HTTPMessage()
        if text is not None:
            headers["Retry-After"] = text
        return _retry_after(headers)

    assert (told(None), told("7"), told("soon"), told("-3")) == (0.0, 7.0, 0.0, 0.0)
    assert told("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert 25.0 < told(formatdate(time.time() + 30, usegmt=True)) <= 30.0


def test_a_service_that_is_killed_and_comes_back(tmp_path: Path) -> None:
    with service(tmp_path) as own, Client(own.url, own.token, retries=10) as client:
        client.register(CLINICAL)
        client.decide(POLICY, {"systolic": 150}, key="before")
        own.kill()
        back = threading.Timer(0.5, own.start)
        back.start()
        decision = client.decide(POLICY, {"systolic": 150}, key="during")
        back.join()
        assert client.decide(POLICY, {"systolic": 150}, key="during") == decision
        kept = [event["body"].get("key") for event in client.events(POLICY) if event["kind"] == "decided"]
        assert kept == ["before", "during"]
        answers: list[Decision] = []

        def ask(at: int) -> None:
            answers.append(client.decide(POLICY, {"systolic": 150}, key=f"many-{at}"))

        with ThreadPoolExecutor(4) as threads:
            asked = [threads.submit(ask, at) for at in range(200)]
            time.sleep(0.1)
            own.kill()
            own.start()
            for one in asked:
                one.result()
        assert len({answer.decision for answer in answers}) == 200
        assert decisions(client) == 202


def test_tls(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl to make a certificate with")
    certificate, key = str(tmp_path / "certificate.pem"), str(tmp_path / "key.pem")
    make = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    make += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
    subprocess.run(make, check=True, capture_output=True)
    with service(tmp_path, "--cert", certificate, "--key", key) as own:
        with Client(own.url, own.token, context=ssl.create_default_context(cafile=certificate)) as client:
            client.register(CLINICAL)
            assert client.decide(POLICY, {"systolic": 150}).option == "treat"
        with Client(own.url, own.token) as client:
            error = refused(client.policies)
            assert error.status == 0
            assert "`context`" in said(error)
            assert "attempt" not in str(error), "a certificate does not become right by asking again"


def test_nobody_there(running: Service) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with Client(f"http://127.0.0.1:{taken.getsockname()[1]}", running.token, retries=1) as client:
            error = refused(client.policies)
    assert error.status == 0
    assert "2 attempts" in str(error)
    assert "help: check that the service runs there" in said(error)


def test_threads_share_a_client(client: Client) -> None:
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda at: client.decide(POLICY, {"systolic": at}), range(100, 200)))
    assert len({decision.decision for decision in made}) == 100
    assert [decision.option for decision in made] == ["watch"] * 40 + ["treat"] * 60


def test_a_closed_client_is_closed(running: Service) -> None:
    with Client(running.url, running.token) as client:
        client.policies()
    with pytest.raises(SettingsError, match="closed"):
        client.policies()


@pytest.mark.parametrize(
    "url", ["127.0.0.1:80", "ftp://127.0.0.1", "http://", "http://h:none", "https://u:pass@h", "https://h?q"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(SettingsError, match="not the address") as caught:
        Client(url, "rarely_x")
    assert "pass" not in str(caught.value)


def test_a_token_does_not_travel_in_the_open() -> None:
    for url in ("http://192.0.2.1:8080", "http://rarely.example.org", "http://127.0.0.1.example.org"):
        with pytest.raises(SettingsError, match="expose the token"):
            Client(url, "rarely_x")
        Client(url, "rarely_x", insecure=True).close()
    for url in ("http://localhost:1", "http://127.3.2.1", "http://[::1]:8080", "https://rarely.example.org/service/"):
        Client(url, "rarely_x").close()


@pytest.mark.parametrize("token", ["", "  ", "two words", "line\nbreak", "ключ"])
def test_what_is_no_token(token: str) -> None:
    with pytest.raises(SettingsError, match="no token has") as caught:
        Client("http://127.0.0.1", token)
    assert not token.strip() or token not in str(caught.value)


def test_settings_that_make_no_sense() -> None:
    for named in ({"timeout": 0.0}, {"timeout": float("nan")}, {"retries": -1}):
        with pytest.raises(SettingsError):
            Client("http://127.0.0.1", "rarely_x", **named)
    assert issubclass(ServiceError, Error)
