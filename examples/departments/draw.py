"""Draws the log of 23 departments: who was admitted from the emergency room, and how they were a month later.

    python3 draw.py > log.csv

Every department admits from an early-warning score of 50. In most of them that is about right. In five of them it is not: there the
people who gain from an admission begin at a score of 30 or 40. Which five, stands in TRUE_CUTS; a review has to find them.
"""

from __future__ import annotations

import csv
import random
import sys

CASES = 1_500  # per department
IN_FORCE = 50
TRUE_CUTS = {3: 30, 8: 40, 11: 30, 17: 40, 20: 30}
EXCEPTIONS = 0.25  # the share of people who got the other option, drawn by lot in a quality programme

draw = random.Random(23)
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(["case", "department", "score", "option", "recovery"])
for case in range(23 * CASES):
    number = case % 23 + 1
    score = draw.randint(0, 100)
    admitted = (score >= IN_FORCE) != (draw.random() < EXCEPTIONS)
    benefit = 0.005 * (score - TRUE_CUTS.get(number, IN_FORCE))
    recovery = 0.8 - 0.004 * score + (benefit if admitted else 0.0) + draw.gauss(0.0, 0.08)
    option = "admit" if admitted else "send home"
    out.writerow([case + 1, f"department {number:02}", score, option, f"{min(max(recovery, 0.0), 1.0):.3f}"])
