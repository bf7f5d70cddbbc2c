# %% [markdown]
# # A live policy, from a program
#
# An engineer has a policy in a service and a program that needs decisions. `rarely.client.Client` asks for them, and reports
# how they went. This script starts a service of its own; yours runs already.

# %%
from __future__ import annotations

import atexit
import os
import random
import re
import subprocess
import tempfile
import time
from pathlib import Path

from rarely.client import Client
from rarely.errors import ServiceError

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("RARELY_BINARY", str(ROOT / "target" / "debug" / "rarely"))
POLICY = "hypertension-treatment"
draw = random.Random(1)

folder = tempfile.TemporaryDirectory()
store, token_file, said = (Path(folder.name) / name for name in ("rarely.db", "token", "stderr"))
command = [BINARY, "serve", "--store", str(store), "--listen", "127.0.0.1:0", "--admin-token-file", str(token_file)]
with said.open("wb") as stderr:
    service = subprocess.Popen(command, stderr=stderr)
atexit.register(service.kill)  # also if something below fails
while not (found := re.search(r"listening on (\S+)", said.read_text(encoding="utf-8"))):
    assert service.poll() is None, said.read_text(encoding="utf-8")
    time.sleep(0.05)
url, token = found[1], token_file.read_text(encoding="utf-8").strip()

# %% [markdown]
# One client for the whole program; threads may share it. A policy document is registered once, and again without harm.

# %%
client = Client(url, token)
document = (ROOT / "examples" / "clinical" / "policy.toml").read_text(encoding="utf-8")
print(client.register(document)["words"])

# %% [markdown]
# A decision. Its key is a name of yours for the occasion: whoever asks again, after a crash or a lost answer, gets the same
# decision, and it counts once.

# %%
decision = client.decide(POLICY, {"systolic": 150}, key="visit-4711", explain=True)
print(decision)
assert decision.option == "treat"
assert client.decide(POLICY, {"systolic": 150}, key="visit-4711", explain=True) == decision

# %% [markdown]
# The outcome, weeks later, in any order, or never. What was wrong is corrected, with a reason; it is not overwritten.

# %%
client.observe(POLICY, decision, 0.7)
try:
    client.observe(POLICY, decision, 0.6)
except ServiceError as error:
    print(error)
    assert error.status == 409
client.observe(POLICY, decision, 0.6, correction=True, reason="the questionnaire was read wrongly")

# %% [markdown]
# Many at a time: each record gets its decision, or what is wrong with it.

# %%
people = [{"systolic": draw.randint(90, 200)} for _ in range(1_000)] + [{"diastolic": 80}]
answers = client.decide_many(POLICY, people)
decided = [answer for answer in answers if not isinstance(answer, ServiceError)]
assert len(decided) == 1_000
print(answers[-1])
client.observe_many(POLICY, [(answer, draw.uniform(0.4, 0.8)) for answer in decided])

# %% [markdown]
# What is known by now, and every event of it.

# %%
now = client.policy(POLICY)
kinds = [event["kind"] for event in client.events(POLICY)]
print(f"version {now['version']}, {now['decisions']} decisions, {now['outcomes']} outcomes, {len(kinds)} events")
assert (now["decisions"], now["outcomes"]) == (1_001, 1_001)
assert kinds.count("decided") == 1_001
assert kinds.count("corrected") == 1
log = client.export(POLICY, Path(folder.name) / "log.parquet")
print(f"{log.name}: {log.stat().st_size} bytes for `rarely review`")

# %%
client.close()
service.terminate()
service.wait()
folder.cleanup()
