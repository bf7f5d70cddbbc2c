"""Draws people for the plan of a trial: their marker, and their outcome under the standard and the new treatment.

    python3 people.py EFFECT > people.csv

With the effect 0 the treatments are equal. With the effect 0.1 the new one is better by 0.1 for the highest marker, worse by 0.1 for the
lowest, and equal in the middle. `mean:` is the expected outcome, by which changes are judged.
"""

from __future__ import annotations

import random
import sys

effect = float(sys.argv[1])
draw = random.Random(7)
print("one,marker,outcome:standard,outcome:new,mean:standard,mean:new")
for _ in range(1_000):
    marker, noise = draw.random(), draw.gauss(0.0, 0.1)
    standard, new = 0.5, 0.5 + effect * (2 * marker - 1)
    print(f"1,{marker:.3f},{standard + noise:.4f},{new + noise:.4f},{standard:.4f},{new:.4f}")
