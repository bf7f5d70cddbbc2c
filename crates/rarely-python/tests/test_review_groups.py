"""Many groups at once, guard-rails and fairness columns."""

import random

import pytest
import rarely

POLICY = """
policy = "screening"
options = ["wait", "invite"]
fairness = ["sex"]
outcome = { column = "benefit", range = [0, 2] }
[[features]]
column = "age"
range = [40, 90]
[evidence]
standard = "once"
[rule]
threshold = { feature = "age", cuts = [80], options = ["wait", "invite"] }
"""

GUARDED = """
[[guardrails]]
outcome = { column = "stay", range = [0, 2] }
worse = "higher"
margin = 0.05
"""


def log(rows: int = 4500) -> dict:
    """Inviting is worth x and waiting a half, except in surgery, where both are the same; inviting prolongs the stay by one."""
    draw = random.Random(5)
    columns: dict = {name: [] for name in ("age", "option", "benefit", "stay", "department", "sex")}
    for row in range(rows):
        x, invited = draw.random(), draw.random() < 0.5
        department = ("cardiology", "renal", "surgery")[row % 3]
        mean = x if invited and department != "surgery" else 0.5
        columns["age"].append(40 + 50 * x)
        columns["option"].append("invite" if invited else "wait")
        columns["benefit"].append(min(2.0, max(0.0, mean + 0.1 * draw.gauss(0, 1))))
        columns["stay"].append(0.5 + (0.8 if invited else 0) + 0.1 * draw.random())
        columns["department"].append(department)
        columns["sex"].append(draw.choice(["f", "m"]))
    return columns


def test_groups_are_judged_at_once():
    found = rarely.review_groups(POLICY, log(), by="department")
    assert found.verdict == "change"
    assert found.verdicts["cardiology"] == found.verdicts["renal"] == "change"
    assert found.verdicts["surgery"] != "change"
    assert "Change the rule of 2 groups: cardiology, renal." in str(found)
    assert found.to_dict()["groups"][0]["fairness"][0]["column"] == "sex"
    assert "<table>" in found.to_html()
    assert set(found.pages) == set(found.verdicts)
    text = found.apply()
    assert text is not None
    # The new document names its groups.
    again = rarely.review_groups(text, log())
    assert again.apply() is None


def test_a_document_with_groups_is_not_reviewed_as_one():
    text = POLICY + '\n[groups]\ncolumn = "department"\ncuts = { renal = [70] }\n'
    with pytest.raises(rarely.Error, match="rules by group"):
        rarely.review(text, log(300))
    with pytest.raises(rarely.Error, match="rules by group"):
        rarely.State(text)
    with pytest.raises(rarely.Error, match="no groups"):
        rarely.review_groups(POLICY, log(300))


def test_a_guardrail_is_in_the_way():
    found = rarely.review(POLICY + GUARDED, log())
    assert found.verdict == "keep"
    assert "a guard-rail is in the way" in found.reasons[0]
    # Only the rules whose guard-rails hold have nothing to gain.
    assert found.reasons[1].startswith(
        "The most that any of the rules whose guard-rails hold gains is 0 benefit per case."
    )
    broken = {rule["kind"]: rule["guardrails"][0]["broken"] for rule in found.to_dict()["candidates"]}
    assert broken == {"constant": False, "moved-cuts": True}
