"""A running service, and a proxy that loses what it should pass on: for the tests and nothing else."""

from __future__ import annotations

import http.client
import http.server
import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CLINICAL = (ROOT / "examples" / "clinical" / "policy.toml").read_text(encoding="utf-8")
POLICY = "hypertension-treatment"
#: Seconds in which a service must have started.
PATIENCE = 30.0


def binary() -> Path:
    """The program `rarely`: from the environment, else as `cargo build` left it."""
    path = Path(os.environ.get("RARELY_BINARY", ROOT / "target" / "debug" / "rarely"))
    assert path.is_file(), (
        f"{path} is not there; build it with `cargo build -p rarely`, or name another in RARELY_BINARY"
    )
    return path


class Service:
    """`rarely serve` on a loopback port, with a store of its own. Killed and started again it has the same address."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.options = folder, options
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"{'https' if '--cert' in self.options else 'http'}://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        """The administrator's."""
        return (self.folder / "token").read_text(encoding="utf-8").strip()

    def let_sign(self) -> None:
        """Replaces the token by one that may also sign: an administrator cannot."""
        token = self.folder / "token"
        command = [str(binary()), "token", "create", "--url", self.url, "--token-file", str(token)]
        command += ["--name", "tester", "--role", "admin", "review"]
        made = subprocess.run(command, check=True, capture_output=True, text=True)
        token.write_text(made.stdout, encoding="utf-8")

    def start(self) -> None:
        command = [
            str(binary()),
            "serve",
            "--store",
            str(self.folder / "rarely.db"),
            "--listen",
            f"127.0.0.1:{self.port}",
        ]
        command += self.options
        if not (self.folder / "token").exists():
            command += ["--admin-token-file", str(self.folder / "token")]
        said = self.folder / "stderr"
        with said.open("wb") as stderr:
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            found = re.search(r"listening on https?://127\.0\.0\.1:(\d+)", said.read_text(encoding="utf-8"))
            if found:
                self.port = int(found[1])
                return
            time.sleep(0.02)
        self.kill()
        raise AssertionError(f"the service did not start: {said.read_text(encoding='utf-8')}")

    def kill(self) -> None:
        """As a power failure would."""
        self.process.kill()
        self.process.wait()


@contextmanager
def service(folder: Path, *options: str) -> Iterator[Service]:
    running = Service(folder, *options)
    try:
        yield running
    finally:
        running.kill()


class Proxy:
    """Hands requests on to a service, and does to each answer what comes next in `plan`; at the end of it, nothing.

    ``lose`` closes the connection after the service has acted; ``cut`` does so in the middle of the answer; ``hang`` keeps the
    answer back; ``echo`` refuses with the request's own token in the answer; a number is answered as status without asking
    the service, with ``Retry-After: 1``.
    """

    def __init__(self, target: str) -> None:
        self.plan: list[str | int] = []
        self.requests: list[str] = []
        host = target.split("//")[1]
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_request(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                proxy.requests.append(f"{self.command} {self.path}")
                step = proxy.plan.pop(0) if proxy.plan else "pass"
                if isinstance(step, int):
                    self.give(step, b"{}", [("Retry-After", "1")])
                    return
                if step == "echo":
                    self.give(400, json.dumps({"detail": self.headers["Authorization"]}).encode(), [])
                    return
                connection = http.client.HTTPConnection(host, timeout=30)
                connection.request(self.command, self.path, body=body or None, headers=dict(self.headers))
                response = connection.getresponse()
                answer = response.read()
                connection.close()
                if step == "pass":
                    self.give(response.status, answer, [("Content-Type", response.headers["Content-Type"])])
                    return
                if step == "hang":
                    time.sleep(1.5)
                if step == "cut":
                    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer)
                    self.wfile.write(head + answer[: len(answer) // 2])
                self.close_connection = True

            do_GET = do_POST = handle_request

            def give(self, status: int, body: bytes, headers: list[tuple[str, str]]) -> None:
                self.send_response(status)
                for name, value in [*headers, ("Content-Length", str(len(body)))]:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Tests are quiet."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@contextmanager
def proxy(target: str) -> Iterator[Proxy]:
    between = Proxy(target)
    try:
        yield between
    finally:
        between.close()
