"""A client of `rarely serve`: decisions, outcomes, proposals and signatures over HTTP.

>>> from rarely.client import Client
>>> with Client("http://127.0.0.1:8080", token) as client:                                    # doctest: +SKIP
...     decision = client.decide("hypertension-treatment", {"systolic": 150}, key="visit-4711")
...     client.observe("hypertension-treatment", decision, 0.7)

A request that may be lost is sent again and does nothing twice: decisions and observations carry a key, outcomes need none.
Signatures cannot carry one; they are sent again only if the service cannot have had them.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import random
import ssl
import threading
import time
import uuid
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any, Callable, NamedTuple, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from .errors import DataError, ServiceError, SettingsError

__all__ = ["Client", "Decision", "Reported"]

BATCH_LINES = 2_000  # the service takes 10,000; fewer come back well within a timeout
BATCH_BYTES = 4 << 20  # what the service takes
EVENTS = 1_000  # asked for at a time
IDLE_SECONDS = 5.0  # after which a connection is not used again: the service closes it after ten
FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0  # seconds at most; each wait is at most twice as long as the one before
PATIENCE = 60.0  # who is told to wait for more seconds is told so, instead of waiting
PASSING = (429, 502, 503, 504)  # too many requests, and a service or a proxy that is not there just now
NOTHING_DONE = (429, 503)  # of these, the answers that say that nothing was done

Json = dict[str, Any]
Answer = tuple[int, http.client.HTTPMessage, bytes]
Answered = TypeVar("Answered")


@dataclass(frozen=True)
class Decision:
    """Which option a person gets."""

    decision: int  #: its number
    option: str
    version: int  #: of the policy
    reason: str  #: why this option: policy, pilot or equipoise
    propensity: float  #: with what probability
    explanation: Json | None = None  #: why, in words, if that was asked for


@dataclass(frozen=True)
class Reported:
    """An outcome was taken in."""

    event: int  #: that keeps it
    repeated: bool  #: whether it had been reported before


class _Request(NamedTuple):
    """What is sent."""

    method: str
    path: str
    body: bytes | None = None
    kind: str = "application/json"
    repeatable: bool = True  # also if it may have been acted on

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class _Line:
    """A thread's connection. It is closed when the thread ends, and not used by a process that was forked from this one."""

    def __init__(self, connection: HTTPConnection) -> None:
        self.connection, self.process, self.used = connection, os.getpid(), 0.0

    def __del__(self) -> None:
        self.connection.close()


class Client:
    """A service, as one token may use it. Threads may share it; each has a connection of its own.

    ``timeout`` is in seconds, for connecting and for each wait for the service; ``retries`` is how often a request is sent
    again. ``context`` says which certificates are trusted. A token is not sent in the open: plain ``http`` is for this
    machine, unless ``insecure`` says that something else protects the way.
    """

    def __init__(
        self, url: str, token: str, *, timeout: float = 10.0, retries: int = 5,
        context: ssl.SSLContext | None = None, insecure: bool = False,
    ) -> None:  # fmt: skip
        self._url = url.rstrip("/")
        secure, host, port, self._prefix = _address(url, insecure)
        self._token = _hidden(token)
        if not timeout > 0 or retries < 0:
            raise SettingsError(f"timeout is {timeout}, retries is {retries}; use seconds above 0, and a number from 0")
        self._timeout, self._retries = timeout, retries
        plain, trusted = partial(HTTPConnection, host, port, timeout=timeout), context or ssl.create_default_context()
        self._connect = partial(HTTPSConnection, host, port, timeout=timeout, context=trusted) if secure else plain
        self._own = threading.local()
        self._lines: weakref.WeakSet[_Line] = weakref.WeakSet()
        self._lock, self._closed = threading.Lock(), False

    def __repr__(self) -> str:
        return f"Client({self._url!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections of all threads; the client cannot be used any more."""
        with self._lock:
            self._closed = True
            for line in list(self._lines):
                line.connection.close()

    def decide(
        self, policy: str, record: Mapping[str, Any], *, key: str | None = None, explain: bool = False
    ) -> Decision:
        """Which option a person gets. The same key with the same record gets the same decision; without one, a new one."""
        asked = {"record": dict(record), "key": _key(key), "explain": explain}
        return _typed(Decision, self._post(_of(policy, "decisions"), asked))

    def decide_many(
        self, policy: str, records: Iterable[Mapping[str, Any]], *, keys: Sequence[str] | None = None
    ) -> list[Decision | ServiceError]:
        """The same for many people, in batches: for each record, in order, its decision or what is wrong with it.

        A batch that fails as a whole gives each of its records that error; it is raised if nothing was decided before.
        """
        records = list(records)
        if keys is not None and len(keys) != len(records):
            raise DataError(
                f"there are {len(records)} records and {len(keys)} keys; give a key for each record, or none"
            )
        asked = [{"record": dict(record), "key": _key(keys[at] if keys else None)} for at, record in enumerate(records)]
        return self._batches(_of(policy, "decisions"), asked, Decision)

    def observe(
        self,
        policy: str,
        decision: Decision | int,
        outcome: float,
        *,
        correction: bool = False,
        reason: str | None = None,
    ) -> Reported:
        """How a decision went. Another outcome than before is refused (409), unless it is a correction."""
        report: Json = {"decision": _number(decision), "outcome": outcome}
        report.update({"correction": correction, "reason": reason} if correction or reason else {})
        return _typed(Reported, self._post(_of(policy, "outcomes"), report))

    def observe_many(
        self, policy: str, outcomes: Iterable[tuple[Decision | int, float]]
    ) -> list[Reported | ServiceError]:
        """How many decisions went, in batches as with :meth:`decide_many`."""
        reports = [{"decision": _number(decision), "outcome": outcome} for decision, outcome in outcomes]
        return self._batches(_of(policy, "outcomes"), reports, Reported)

    def record(
        self, policy: str, record: Mapping[str, Any], option: str, outcome: float, *,
        key: str | None = None, propensity: float | None = None,
    ) -> Reported:  # fmt: skip
        """How a decision went that was taken elsewhere."""
        observed = {
            "record": dict(record),
            "option": option,
            "outcome": outcome,
            "key": _key(key),
            "propensity": propensity,
        }
        return _typed(Reported, self._post(_of(policy, "observations"), observed))

    def decision(self, policy: str, number: Decision | int) -> Json:
        """Everything needed to reconstruct a decision."""
        return self._get(_of(policy, "decisions", _number(number)))

    def policies(self) -> list[Json]:
        """All policies that the token may see."""
        return _listed(self._get("/v1/policies"), "policies")

    def policy(self, name: str) -> Json:
        """One policy."""
        return self._get(_of(name))

    def register(self, document: str) -> Json:
        """Registers a policy document, in TOML, as version 1. The same document again is the same policy."""
        return self._object(_Request("POST", "/v1/policies", document.encode(), "application/toml"))

    def versions(self, name: str) -> list[Json]:
        """All versions of a policy."""
        return _listed(self._get(_of(name, "versions")), "versions")

    def proposals(self, name: str) -> list[Json]:
        """All proposals."""
        return _listed(self._get(_of(name, "proposals")), "proposals")

    def proposal(self, name: str, number: int) -> Json:
        """One proposal, with all it rests on."""
        return self._get(_of(name, "proposals", number))

    def evidence(self, name: str) -> Json:
        """What the evidence says now; nothing is written down."""
        return self._get(_of(name, "evidence"))

    def events(self, name: str, after: int = 0) -> Iterator[Json]:
        """The policy's events with a number above ``after``, up to now."""
        while True:
            query = urlencode({"after": after, "limit": EVENTS})
            lines = self._send(_Request("GET", f"{_of(name, 'events')}?{query}"))[2].splitlines()
            for line in lines:
                event = _parsed(line)
                if event is None or not isinstance(event.get("number"), int):
                    raise ServiceError("a line of the events is no event; see whether a `rarely` service is there")
                after = event["number"]
                yield event
            if len(lines) < EVENTS:
                return

    def export(self, name: str, path: str | os.PathLike[str]) -> Path:
        """Writes all cases with an outcome to a Parquet file, as `rarely review --data` reads it: wholly, or not at all."""
        target = Path(path)
        part = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        body = self._send(_Request("GET", _of(name, "export")))[2]
        if not (body.startswith(b"PAR1") and body.endswith(b"PAR1")):
            raise ServiceError("the answer is no Parquet file; see whether a `rarely` service is there")
        part.write_bytes(body)
        return part.replace(target)

    def approve(self, name: str, number: int, meaning: str, reason: str) -> Json:
        """Signs for a proposal."""
        return self._sign(_of(name, "proposals", number, "approve"), meaning=meaning, reason=reason)

    def reject(self, name: str, number: int, meaning: str, reason: str) -> Json:
        """Signs against a proposal."""
        return self._sign(_of(name, "proposals", number, "reject"), meaning=meaning, reason=reason)

    def review(self, name: str, meaning: str | None = None, reason: str | None = None) -> Json:
        """Holds the rule against the evidence now. With meaning and reason, signs that nothing changes if nothing does."""
        signature = {} if meaning is None and reason is None else {"meaning": meaning, "reason": reason}
        return self._sign(_of(name, "review"), **signature)

    def stop(self, name: str, meaning: str, reason: str) -> Json:
        """Goes back to the last signed rule, without exploration or changes."""
        return self._sign(_of(name, "stop"), meaning=meaning, reason=reason)

    def resume(self, name: str, meaning: str, reason: str) -> Json:
        """Lets a stopped policy go on."""
        return self._sign(_of(name, "resume"), meaning=meaning, reason=reason)

    def rollback(self, name: str, to: int, meaning: str, reason: str) -> Json:
        """Puts the rule of an older version in force again, as a new version; where two must sign, proposes it."""
        return self._sign(_of(name, "rollback"), to=to, meaning=meaning, reason=reason)

    def _get(self, path: str) -> Json:
        return self._object(_Request("GET", path))

    def _post(self, path: str, value: Json) -> Json:
        return self._object(_Request("POST", path, _line(value)))

    def _sign(self, path: str, **signature: Any) -> Json:
        return self._object(_Request("POST", path, _line(signature) if signature else b"", repeatable=False))

    def _object(self, request: _Request) -> Json:
        status, _, body = self._send(request)
        value = _parsed(body)
        if value is None:
            message = f"{self._url}: {request}: the answer is no JSON object; see whether a `rarely` service is there"
            raise ServiceError(message, status)
        return value

    def _batches(self, path: str, values: list[Json], kind: type[Answered]) -> list[Answered | ServiceError]:
        answers: list[Answered | ServiceError] = []
        for batch in _split([_line(value) for value in values]):
            request = _Request("POST", path, b"\n".join(batch) + b"\n", "application/x-ndjson")
            try:
                lines = self._send(request)[2].split(b"\n")[:-1]
                if len(lines) != len(batch):
                    raise ServiceError(
                        f"{self._url}: {request}: {len(batch)} lines got {len(lines)} answers; send them again"
                    )
            except ServiceError as error:
                if not answers:
                    raise
                answers.extend([error] * len(batch))
                continue
            for line in lines:
                value = _parsed(line) or {"status": 503, "detail": "this line got no answer"}
                answers.append(
                    self._refusal(request, value["status"], value) if "status" in value else _typed(kind, value)
                )
        return answers

    def _send(self, request: _Request) -> Answer:
        """Sends a request until it is answered, or trying again is no use."""
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            wait = random.uniform(0.0, min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt))
            try:
                status, headers, body = answer = self._once(request)
            except _Lost as lost:
                if last or self._closed or not (request.repeatable or lost.unsent):
                    raise self._silence(request, lost, attempt + 1) from lost.__cause__
            else:
                if status < 300:
                    return answer
                after = _retry_after(headers)
                if last or status not in (PASSING if request.repeatable else NOTHING_DONE) or after > PATIENCE:
                    told = _parsed(body.replace(self._token().encode(), b"..."))
                    raise self._refusal(request, status, told or {})
                wait += after
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _once(self, request: _Request) -> Answer:
        line = self._line()
        connection = line.connection
        if not request.repeatable or time.monotonic() - line.used > IDLE_SECONDS:
            connection.close()  # so that it is not on a dead connection that the request is lost
        headers = {"Authorization": f"Bearer {self._token()}"}
        headers.update({"Content-Type": request.kind} if request.body else {})
        try:
            if connection.sock is None:
                connection.connect()
        except ssl.SSLCertVerificationError as error:
            raise ServiceError(
                f"{self._url}: {error}; trust its certificate with `context`, or use its right name"
            ) from error
        except OSError as error:
            raise _Lost(str(error), unsent=True) from error
        try:
            connection.request(request.method, self._prefix + request.path, body=request.body, headers=headers)
            response = connection.getresponse()
            answer = response.status, response.headers, response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise _Lost(str(error) or type(error).__name__, unsent=False) from error
        except BaseException:
            connection.close()  # somebody interrupts, and half an answer is of no use to the next request
            raise
        line.used = time.monotonic()
        return answer

    def _line(self) -> _Line:
        if self._closed:
            raise SettingsError(f"{self!r} is closed; make another one")
        line: _Line | None = getattr(self._own, "line", None)
        if line is None or line.process != os.getpid():
            line = self._own.line = _Line(self._connect())
            with self._lock:
                self._lines.add(line)
        return line

    def _silence(self, request: _Request, lost: _Lost, attempts: int) -> ServiceError:
        what = f"no answer ({lost}) after {attempts} attempt{'s' if attempts > 1 else ''} with a timeout of {self._timeout:g} s"
        remedy = "see whether the service runs there, and send it again with the same key"
        if not (request.repeatable or lost.unsent):
            remedy = "it may have been done: look at the policy before you send it again"
        return ServiceError(f"{self._url}: {request}: {what}; {remedy}".replace(self._token(), "..."))

    def _refusal(self, request: _Request, status: int, problem: Json) -> ServiceError:
        detail = (
            problem.get("detail") or problem.get("title") or http.client.responses.get(status, "no reason is given")
        )
        where = f" ({problem['field']})" if problem.get("field") else ""
        remedy = f"; {problem['remedy']}" if problem.get("remedy") else ""
        return ServiceError(f"{self._url}: {request}: {status}{where}: {detail}{remedy}", status, problem)


class _Lost(Exception):
    """There is no answer; `unsent` if the service cannot have had the request."""

    def __init__(self, message: str, *, unsent: bool) -> None:
        super().__init__(message)
        self.unsent = unsent


def _address(url: str, insecure: bool) -> tuple[bool, str, int, str]:
    shown = url[url.rfind("@") + 1 :]  # what stands before may be a password
    try:
        parts = urlsplit(url)
        host, port, secure = parts.hostname or "", parts.port, parts.scheme == "https"
    except ValueError:
        host = ""
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment or shown != url:
        raise SettingsError(f"{shown!r} is no address of a service; use one like http://127.0.0.1:8080")
    try:
        here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        here = host == "localhost"
    if not (secure or insecure or here):
        raise SettingsError(
            f"{host} is another machine, and over http the token would travel in the open; use https, "
            "or say insecure=True if something else protects the way"
        )
    return secure, host, port or (443 if secure else 80), parts.path.rstrip("/")


def _hidden(token: str) -> Callable[[], str]:
    """The token, in something that does not show it."""
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise SettingsError(
            "the token has characters that no token has; use the line that `rarely token create` printed"
        )
    return lambda: token


def _of(policy: str, *parts: object) -> str:
    return "/".join(["/v1/policies", quote(policy, safe=""), *map(str, parts)])


def _key(key: str | None) -> str:
    return str(uuid.uuid4()) if key is None else key


def _number(decision: Decision | int) -> int:
    return decision.decision if isinstance(decision, Decision) else int(decision)


def _typed(kind: type[Answered], value: Json) -> Answered:
    try:
        return kind(**{name: value[name] for name in kind.__annotations__ if name in value})
    except TypeError:
        raise ServiceError(
            f"the answer is no {kind.__name__.lower()}; see whether a `rarely` service is there"
        ) from None


def _listed(value: Json, name: str) -> list[Json]:
    found = value.get(name)
    if not isinstance(found, list):
        raise ServiceError(f"the answer has no list of {name}; see whether a `rarely` service is there")
    return found


def _plain(value: Any) -> Any:
    """NumPy's and pandas' numbers, as JSON has them."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{value!r} is a {type(value).__name__}")


def _line(value: Json) -> bytes:
    try:
        return json.dumps(value, allow_nan=False, default=_plain, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise DataError(f"a value cannot be sent: {error}; use finite numbers, texts and truth values") from None


def _split(lines: list[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for line in lines:
        if batch and (len(batch) == BATCH_LINES or size + len(line) + 1 > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += len(line) + 1
    if batch:
        yield batch


def _parsed(text: bytes) -> Json | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _retry_after(headers: http.client.HTTPMessage) -> float:
    """Seconds that the service asks to wait."""
    text = str(headers.get("Retry-After", "0"))
    try:
        return max(0.0, float(text) if text.isdigit() else parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0
