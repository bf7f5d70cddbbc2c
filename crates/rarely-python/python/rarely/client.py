"""A client of `rarely serve`: decisions, outcomes, proposals and signatures over HTTP.

>>> from rarely.client import Client
>>> with Client("http://127.0.0.1:8080", token) as client:                                    # doctest: +SKIP
...     decision = client.decide("hypertension-treatment", {"systolic": 150}, key="visit-4711")
...     client.observe("hypertension-treatment", decision, 0.7)

A request that may be lost is sent again without being acted on twice: decisions and observations carry a key, outcomes need
none. Signatures have no key; they are sent again only if the service cannot have received them.
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
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any, Callable, NamedTuple, TypeVar
from urllib.parse import quote, urlencode, urljoin, urlsplit

from .errors import DataError, ServiceError, SettingsError

__all__ = ["Client", "Decision", "Reported"]

BATCH_LINES = 2_000  # the service accepts 10,000; this many are answered well within a timeout
BATCH_BYTES = 4 << 20  # the most that the service accepts
EVENTS = 1_000  # per request
IDLE_SECONDS = 5.0  # after which an idle connection is not used again: the service closes it after ten
FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0  # limits of the waits in seconds; each is twice the one before
PATIENCE = 60.0  # a longer Retry-After raises the error instead of waiting
# Worth sending again: too many requests, or a service or proxy that is temporarily unavailable.
PASSING = (429, 502, 503, 504)
NOTHING_DONE = (429, 503)  # of these, the statuses that say that nothing was done

_CHECK_URL = "check that a `rarely` service is at this address"

Json = dict[str, Any]
Answer = tuple[int, http.client.HTTPMessage, bytes]
Answered = TypeVar("Answered")


@dataclass(frozen=True)
class Decision:
    """A decision: the option for one person."""

    decision: int  #: its number
    option: str
    version: int  #: of the policy
    reason: str  #: why this option: policy, pilot or equipoise
    propensity: float  #: its probability
    explanation: Json | None = None  #: why, in words, if ``explain`` was true


@dataclass(frozen=True)
class Reported:
    """The receipt for an outcome."""

    event: int  #: the number of its event
    repeated: bool  #: whether it had been reported before


class _Request(NamedTuple):
    """An HTTP request."""

    method: str
    path: str
    body: bytes | None = None
    kind: str = "application/json"
    repeatable: bool = True  # may be sent again even if the service may have acted on it

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class _Line:
    """A thread's connection. It is closed when the thread ends, and not used by forked processes."""

    def __init__(self, connection: HTTPConnection) -> None:
        self.connection, self.process, self.used = connection, os.getpid(), 0.0

    def __del__(self) -> None:
        self.connection.close()


class Client:
    """A client of a service, with one token. Threads may share it; each has a connection of its own.

    ``timeout`` is in seconds, for connecting and for each wait for the service; ``retries`` is how often a request is sent
    again. ``context`` says which certificates are trusted. Plain ``http`` is allowed for this machine only, because it would
    expose the token; ``insecure`` allows it where something else protects the connection.

    Signatures are made with the token. Policies that require keys (``signatures = "key"``) accept only :meth:`stop` from it; sign
    there in the dashboard, or with ``rarely sign``.
    """

    def __init__(
        self, url: str, token: str, *, timeout: float = 10.0, retries: int = 5,
        context: ssl.SSLContext | None = None, insecure: bool = False,
    ) -> None:  # fmt: skip
        self._url = url.rstrip("/")
        secure, host, port, self._prefix = _address(url, insecure)
        self._token = _hidden(token)
        if not timeout > 0 or retries < 0:
            help = "use a timeout above 0 seconds, and a number of retries from 0"
            raise SettingsError(f"timeout is {timeout}, retries is {retries}", help=help)
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
        """Closes the connections of all threads. The client cannot be used afterwards."""
        with self._lock:
            self._closed = True
            for line in list(self._lines):
                line.connection.close()

    def decide(
        self, policy: str, record: Mapping[str, Any], *,
        key: str | None = None, explain: bool = False, version: int | None = None, subject: str | None = None,
    ) -> Decision:  # fmt: skip
        """Requests a decision. The same key with the same record returns the same decision; without a key, a new one is made.

        ``version`` names a version of the policy whose rule decides, instead of the one in force.
        ``subject`` names the person: what the log has about the person is then encrypted, and :meth:`erase` erases it.
        """
        asked: Json = {
            "record": dict(record),
            "key": _key(key),
            "explain": explain,
            "subject": subject,
            **_pinned(version),
        }
        return _typed(Decision, self._post(_of(policy, "decisions"), asked))

    def decide_many(
        self, policy: str, records: Iterable[Mapping[str, Any]], *,
        keys: Sequence[str] | None = None, version: int | None = None,
    ) -> list[Decision | ServiceError]:  # fmt: skip
        """Requests many decisions, in batches. Returns for each record, in order, its decision or its error.

        If a whole batch fails, each of its records gets that error; if it is the first batch, the error is raised.
        """
        records = list(records)
        if keys is not None and len(keys) != len(records):
            help = "give a key for each record, or none"
            raise DataError(f"there are {len(records)} records and {len(keys)} keys", help=help)
        pinned = _pinned(version)
        numbered = enumerate(records)
        asked = [{"record": dict(one), "key": _key(keys[at] if keys else None), **pinned} for at, one in numbered]
        return self._batches(_of(policy, "decisions"), asked, Decision)

    def observe(
        self,
        policy: str,
        decision: Decision | int,
        outcome: float,
        *,
        correction: bool = False,
        reason: str | None = None,
        guardrails: Mapping[str, float] | None = None,
    ) -> Reported:
        """Reports the outcome of a decision. Another one than before is refused (409), unless it is a correction, with a reason.

        ``guardrails`` has the outcomes of the document's guard-rails, by column.
        """
        report: Json = {"decision": _number(decision), "outcome": outcome, **_guarded(guardrails)}
        report.update({"correction": correction, "reason": reason} if correction or reason else {})
        return _typed(Reported, self._post(_of(policy, "outcomes"), report))

    def observe_many(
        self, policy: str, outcomes: Iterable[tuple[Decision | int, float]]
    ) -> list[Reported | ServiceError]:
        """Reports the outcomes of many decisions, in batches, as :meth:`decide_many` does."""
        reports = [{"decision": _number(decision), "outcome": outcome} for decision, outcome in outcomes]
        return self._batches(_of(policy, "outcomes"), reports, Reported)

    def record(
        self, policy: str, record: Mapping[str, Any], option: str, outcome: float, *,
        key: str | None = None, propensity: float | None = None, guardrails: Mapping[str, float] | None = None,
        subject: str | None = None,
    ) -> Reported:  # fmt: skip
        """Reports a decision that was made elsewhere, with its outcome."""
        observed = {
            "record": dict(record),
            "option": option,
            "outcome": outcome,
            "key": _key(key),
            "propensity": propensity,
            "subject": subject,
            **_guarded(guardrails),
        }
        return _typed(Reported, self._post(_of(policy, "observations"), observed))

    def import_history(self, policy: str, decisions: Iterable[Mapping[str, Any]]) -> list[Reported | ServiceError]:
        """Imports decisions from before the policy was run, the oldest first, in batches, as :meth:`decide_many` does.

        Each has ``time`` (a text in ISO 8601, or a ``datetime`` with its zone), ``record``, ``option`` and ``outcome``, and may have ``key``,
        ``propensity`` and ``subject``. Give keys, so that an import that was interrupted can be sent again. It is possible until the first decision.
        """
        past = [{**one, "time": _time(one.get("time")), "record": dict(one.get("record", {}))} for one in decisions]
        return self._batches(_of(policy, "history"), past, Reported)

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

    def amend(self, name: str, document: str, reason: str) -> Json:
        """Proposes another document for a policy, with the rule in force. People sign the proposal that this returns."""
        return self._post(_of(name, "amendments"), {"document": document, "reason": reason})

    def override(self, name: str, decision: int, option: str, reason: str) -> Json:
        """Records that a person gave another option than was decided. The outcome of the decision is then no evidence."""
        return self._post(_of(name, "decisions", decision, "override"), {"option": option, "reason": reason})

    def erase(self, subjects: Iterable[str], reason: str, *, forget_statistics: bool = False) -> Json:
        """Erases people for good, each named as in ``subject`` of their decisions. Requires the role ``admin``.

        What was learned from them stays in the sums, unless ``forget_statistics`` is set.
        """
        statistics = "forget" if forget_statistics else "keep"
        return self._post("/v1/erasures", {"subjects": list(subjects), "reason": reason, "statistics": statistics})

    def start_shadow(self, name: str, reason: str, *, proposal: int | None = None, version: int | None = None) -> Json:
        """Lets the rule of a proposal or a version decide beside the rule in force. Nothing acts on it."""
        candidate = {"proposal": proposal, "version": version}
        known = {key: number for key, number in candidate.items() if number is not None}
        return self._post(_of(name, "shadow"), {**known, "reason": reason})

    def shadow(self, name: str) -> Json:
        """The candidate beside the rule in force, and how often it differs."""
        return self._get(_of(name, "shadow"))

    def versions(self, name: str) -> list[Json]:
        """All versions of a policy."""
        return _listed(self._get(_of(name, "versions")), "versions")

    def proposals(self, name: str) -> list[Json]:
        """All proposals."""
        return _listed(self._get(_of(name, "proposals")), "proposals")

    def proposal(self, name: str, number: int) -> Json:
        """One proposal, with its evidence."""
        return self._get(_of(name, "proposals", number))

    def evidence(self, name: str) -> Json:
        """What the evidence says now. Nothing is recorded."""
        return self._get(_of(name, "evidence"))

    def events(self, name: str, after: int = 0) -> Iterator[Json]:
        """The policy's events with a number above ``after``, up to now."""
        while True:
            query = urlencode({"after": after, "limit": EVENTS})
            lines = self._send(_Request("GET", f"{_of(name, 'events')}?{query}"))[2].splitlines()
            for line in lines:
                event = _parsed(line)
                if event is None or not isinstance(event.get("number"), int):
                    raise ServiceError("a line of the events is not an event", help=_CHECK_URL)
                after = event["number"]
                yield event
            if len(lines) < EVENTS:
                return

    def export(self, name: str, path: str | os.PathLike[str]) -> Path:
        """Writes all cases with an outcome to a Parquet file, which `rarely review --data` reads. It is written whole or not at all."""
        target = Path(path)
        part = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        body = self._send(_Request("GET", _of(name, "export")))[2]
        if not (body.startswith(b"PAR1") and body.endswith(b"PAR1")):
            raise ServiceError("the response is not a Parquet file", help=_CHECK_URL)
        part.write_bytes(body)
        return part.replace(target)

    def approve(self, name: str, number: int, meaning: str, reason: str) -> Json:
        """Approves a proposal, with a signature."""
        return self._sign(_of(name, "proposals", number, "approve"), meaning=meaning, reason=reason)

    def reject(self, name: str, number: int, meaning: str, reason: str) -> Json:
        """Rejects a proposal, with a signature."""
        return self._sign(_of(name, "proposals", number, "reject"), meaning=meaning, reason=reason)

    def review(self, name: str, meaning: str | None = None, reason: str | None = None) -> Json:
        """Reviews the rule now. With meaning and reason, signs for keeping the rule if no change is proposed."""
        signature = {} if meaning is None and reason is None else {"meaning": meaning, "reason": reason}
        return self._sign(_of(name, "review"), **signature)

    def stop(self, name: str, meaning: str, reason: str) -> Json:
        """Stops a policy: the last signed rule is in force, without exploration or changes."""
        return self._sign(_of(name, "stop"), meaning=meaning, reason=reason)

    def resume(self, name: str, meaning: str, reason: str) -> Json:
        """Resumes a stopped policy."""
        return self._sign(_of(name, "resume"), meaning=meaning, reason=reason)

    def rollback(self, name: str, to: int, meaning: str, reason: str) -> Json:
        """Puts the rule of an older version in force again, as a new version; where two signatures are required, proposes it."""
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
            raise ServiceError(f"{self._url}: {request}: the response is not a JSON object", status, help=_CHECK_URL)
        return value

    def _batches(self, path: str, values: list[Json], kind: type[Answered]) -> list[Answered | ServiceError]:
        answers: list[Answered | ServiceError] = []
        for batch in _split([_line(value) for value in values]):
            request = _Request("POST", path, b"\n".join(batch) + b"\n", "application/x-ndjson")
            try:
                lines = self._send(request)[2].split(b"\n")[:-1]
                if len(lines) != len(batch):
                    message = f"{self._url}: {request}: {len(batch)} lines got {len(lines)} answers"
                    raise ServiceError(message, help="send them again")
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
        """Sends a request, again if that can help, until there is a response."""
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
            connection.close()  # a new connection: the request must not be lost on a dead one
        headers = {"Authorization": f"Bearer {self._token()}"}
        headers.update({"Content-Type": request.kind} if request.body else {})
        try:
            if connection.sock is None:
                connection.connect()
        except ssl.SSLCertVerificationError as error:
            help = "trust its certificate with `context`, or use the name in the certificate"
            raise ServiceError(f"{self._url}: {error}", help=help) from error
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
            connection.close()  # interrupted: the next request must not read the rest of this response
            raise
        line.used = time.monotonic()
        return answer

    def _line(self) -> _Line:
        if self._closed:
            raise SettingsError(f"{self!r} is closed", help="create another one")
        line: _Line | None = getattr(self._own, "line", None)
        if line is None or line.process != os.getpid():
            line = self._own.line = _Line(self._connect())
            with self._lock:
                self._lines.add(line)
        return line

    def _silence(self, request: _Request, lost: _Lost, attempts: int) -> ServiceError:
        what = f"no answer ({lost}) after {attempts} attempt{'s' if attempts > 1 else ''} with a timeout of {self._timeout:g} s"
        remedy = "check that the service runs there, and send it again with the same key"
        if not (request.repeatable or lost.unsent):
            remedy = "it may have been done: look at the policy before you send it again"
        return ServiceError(f"{self._url}: {request}: {what}".replace(self._token(), "..."), help=remedy)

    def _refusal(self, request: _Request, status: int, problem: Json) -> ServiceError:
        detail = (
            problem.get("detail") or problem.get("title") or http.client.responses.get(status, "no reason is given")
        )
        where = f" ({problem['field']})" if problem.get("field") else ""
        message = f"{self._url}: {request}: {status}{where}: {detail}"
        kind = str(problem.get("type", ""))
        # A path of the service, where the page of the book is named.
        see = urljoin(self._url, kind) if kind.startswith("/") else None
        return ServiceError(message, status, problem, help=problem.get("remedy"), see=see)


class _Lost(Exception):
    """There is no response; `unsent` if the service cannot have received the request."""

    def __init__(self, message: str, *, unsent: bool) -> None:
        super().__init__(message)
        self.unsent = unsent


def _address(url: str, insecure: bool) -> tuple[bool, str, int, str]:
    shown = url[url.rfind("@") + 1 :]  # the part before may hold a password
    try:
        parts = urlsplit(url)
        host, port, secure = parts.hostname or "", parts.port, parts.scheme == "https"
    except ValueError:
        host = ""
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment or shown != url:
        raise SettingsError(f"{shown!r} is not the address of a service", help="use one like http://127.0.0.1:8080")
    try:
        here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        here = host == "localhost"
    if not (secure or insecure or here):
        raise SettingsError(
            f"{host} is another machine, and plain http would expose the token",
            help="use https, or give insecure=True if something else protects the connection",
        )
    return secure, host, port or (443 if secure else 80), parts.path.rstrip("/")


def _hidden(token: str) -> Callable[[], str]:
    """The token in a function, so that no representation of the client shows it."""
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        help = "use the line that `rarely token create` printed"
        raise SettingsError("the token has characters that no token has", help=help)
    return lambda: token


def _of(policy: str, *parts: object) -> str:
    return "/".join(["/v1/policies", quote(policy, safe=""), *map(str, parts)])


def _key(key: str | None) -> str:
    return str(uuid.uuid4()) if key is None else key


def _pinned(version: int | None) -> Json:
    return {} if version is None else {"version": version}


def _guarded(guardrails: Mapping[str, float] | None) -> Json:
    return {} if guardrails is None else {"guardrails": dict(guardrails)}


def _time(time: object) -> object:
    if not isinstance(time, datetime):
        return time
    if time.tzinfo is None:
        raise DataError(f"the time {time} has no zone", help="use a datetime with tzinfo, or a text")
    return time.isoformat()


def _number(decision: Decision | int) -> int:
    return decision.decision if isinstance(decision, Decision) else int(decision)


def _typed(kind: type[Answered], value: Json) -> Answered:
    try:
        return kind(**{name: value[name] for name in kind.__annotations__ if name in value})
    except TypeError:
        raise ServiceError(f"the response is not a {kind.__name__.lower()}", help=_CHECK_URL) from None


def _listed(value: Json, name: str) -> list[Json]:
    found = value.get(name)
    if not isinstance(found, list):
        raise ServiceError(f"the response has no list of {name}", help=_CHECK_URL)
    return found


def _plain(value: Any) -> Any:
    """Numbers of NumPy and pandas as plain ones."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{value!r} is a {type(value).__name__}")


def _line(value: Json) -> bytes:
    try:
        return json.dumps(value, allow_nan=False, default=_plain, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise DataError(f"a value cannot be sent: {error}", help="use finite numbers, strings and booleans") from None


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
