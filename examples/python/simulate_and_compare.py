# %% [markdown]
# # Which algorithm should I use?
#
# A researcher's first question. `rarely.simulate` runs algorithms against each other in one simulated world: the same people,
# the same outcomes, the same luck for all of them. Here the world is linear, with four options and five variables.

# %%
from __future__ import annotations

import tempfile
from pathlib import Path

import rarely

result = rarely.simulate(
    arms=4,
    dimension=5,
    noise=0.1,
    rounds=5_000,
    runs=10,
    algorithms=["rarely", "linucb", "rs-linucb", "greedy"],
    environment="linear",
    seed=1,
)

# %% [markdown]
# The summary has a row for each algorithm: what a decision cost on average, against always deciding best, and how often the
# policy was changed.

# %%
summary = result.summary.to_pandas().set_index("algorithm")
print(summary[["regret_per_step", "regret_per_step_se", "changes", "improving_percent"]].round(4).to_string())

# %% [markdown]
# `rarely` is about as good as LinUCB, which changes its policy in every round, and as RS-LinUCB, which changes it a hundred
# times or more. `rarely` changes it a few times. Somebody has to explain, approve and roll out each change, so that this is
# the point of it.

# %%
regret, changes = summary["regret_per_step"], summary["changes"]
assert regret["rarely"] < 1.5 * regret["linucb"]
assert changes["rarely"] < 10 < 50 < changes["rs-linucb"]

# %% [markdown]
# Traces say how that came about over time, and the table of changes has every change with its certificate. The figure shows it
# all at once.

# %%
traces, listed = result.traces.to_pandas(), result.changes.to_pandas()
print(f"{len(traces)} points of traces, {len(listed)} changes of policy")
with tempfile.TemporaryDirectory() as folder:
    figure = Path(folder) / "comparison.svg"
    figure.write_text(str(result.figure), encoding="utf-8")
    print(f"a figure of {figure.stat().st_size} bytes")
