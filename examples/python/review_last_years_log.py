# %% [markdown]
# # Does last year's log speak for another rule?
#
# The owner of a policy has a document that says what the rule is, and a log of what happened: who got which option, with what
# probability, and how it went. `rarely.review` holds the one against the other.

# %%
from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd
import rarely

EXAMPLES = Path(__file__).resolve().parents[1]
document = (EXAMPLES / "clinical" / "policy.toml").read_text(encoding="utf-8")
log = pd.read_csv(EXAMPLES / "clinical" / "log.csv")
print(log.head().to_string())

# %% [markdown]
# The rule treats those with a systolic pressure of 140 or more. The verdict is one of three: keep, change, cannot tell.

# %%
review = rarely.review(document, log)
print(review.verdict)
for reason in review.reasons:
    print("-", reason)

# %% [markdown]
# The proposal is the smallest change that the evidence asks for, with the gain that is certified for it. Whoever signs it signs
# the assumptions of the document too.

# %%
print(review.proposal)
assert review.verdict == "change"
assert review.proposal is not None

# %% [markdown]
# For those who decide there is a page, with both rules in words and picture, who is affected, and what speaks against it.

# %%
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "review.html"
    page.write_text(review.to_html(), encoding="utf-8")
    print(f"a page of {page.stat().st_size} bytes, {len(review.figures)} figures")
    assert "systolic" in page.read_text(encoding="utf-8")

# %% [markdown]
# A log that says too little says so: of the first fifty people nothing follows.

# %%
early = rarely.review(document, log.head(50))
print(early.verdict)
assert early.verdict != "change"
