"""Regression discontinuity by rdrobust, as JSON: the rows, and what it makes of them at several bandwidths.

    .venv/bin/python crates/rarely-review/tests/python/jump.py senate
    .venv/bin/python crates/rarely-review/tests/python/jump.py synthetic > crates/rarely-review/tests/python/jump-golden.json

The Senate data are read from the rdrobust package and only passed on; the second command made the stored file.
"""

import json
import random
import sys
from pathlib import Path

import numpy
import pandas
import rdrobust


def fits(z, y, bandwidths):
    for kernel in ("triangular", "uniform"):
        for bandwidth in bandwidths:
            # The conventional estimate does not depend on b; with b = h its HC0 error is that of the local line alone.
            fit = rdrobust.rdrobust(y, z, h=bandwidth, b=bandwidth, kernel=kernel, vce="hc0", masspoints="off")
            yield {
                "kernel": kernel,
                "bandwidth": bandwidth,
                "estimate": float(fit.coef.iloc[0, 0]),
                "standard_error": float(fit.se.iloc[0, 0]),
                "rows": [int(rows) for rows in fit.N_h],
            }


def rule(z, y):
    """The bandwidth of Imbens and Kalyanaraman (2012, section 4.2) from the rows themselves, no bins, variances apart."""
    above = z >= 0
    rows = len(z)
    pilot = 1.84 * z.std(ddof=1) * rows ** (-1 / 5)
    near = numpy.abs(z) <= pilot
    density = near.sum() / (2 * rows * pilot)
    cubic = numpy.column_stack([numpy.ones(rows), above, z, z**2, z**3])
    third = 6 * numpy.linalg.lstsq(cubic, y, rcond=None)[0][4]
    variances, seconds, regularisation = [], [], 0.0
    for side in (~above, above):
        variance = y[near & side].var(ddof=1)
        width = 3.56 * (variance / (density * third**2 * side.sum())) ** (1 / 7)
        here = side & (numpy.abs(z) <= width)
        parabola = numpy.column_stack([numpy.ones(here.sum()), z[here], z[here] ** 2])
        seconds.append(2 * numpy.linalg.lstsq(parabola, y[here], rcond=None)[0][2])
        variances.append(variance)
        regularisation += 2160 * variance / (here.sum() * min(width, numpy.abs(z[side]).max()) ** 4)
    bend = (seconds[1] - seconds[0]) ** 2
    return 3.4375 * (sum(variances) / (density * (bend + regularisation) * rows)) ** (1 / 5)


def senate():
    table = pandas.read_csv(Path(rdrobust.__file__).parent / "data" / "rdrobust_RDsenate.csv")
    table = table[["margin", "vote"]].dropna()
    return table.margin.to_numpy(), table.vote.to_numpy(), [-100.0, 100.0], [5.0, 10.0, 18.0, 30.0, 55.0, 100.0]


def synthetic():
    generator = random.Random(1)
    z = [round(generator.uniform(-1, 1), 4) for _ in range(500)]
    # Twelve uniform numbers less six: nearly normal, and the same in every version of Python.
    noise = [sum(generator.random() for _ in range(12)) - 6 for _ in z]
    y = [round(0.4 * (v >= 0) + 0.3 * v + (1.5 if v >= 0 else -0.5) * v * v + 0.2 * e, 4) for v, e in zip(z, noise)]
    return numpy.array(z), numpy.array(y), [-1.0, 1.0], [0.15, 0.3, 0.62, 0.9]


def main():
    z, y, span, bandwidths = {"senate": senate, "synthetic": synthetic}[sys.argv[1]]()
    answer = {
        "made_by": "tests/python/jump.py " + sys.argv[1] + " with rdrobust 2.1.1",
        "span": span,
        "z": z.tolist(),
        "y": y.tolist(),
        "rule": float(rule(z, y)),
        "fits": list(fits(z, y, bandwidths)),
    }
    json.dump(answer, sys.stdout)
    print()


main()
