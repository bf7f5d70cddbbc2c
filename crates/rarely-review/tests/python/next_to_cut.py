"""The jump and the density at a cut by rdrobust and rddensity with their defaults, as JSON, with the rows.

    .venv/bin/python crates/rarely-review/tests/python/next_to_cut.py senate
    .venv/bin/python crates/rarely-review/tests/python/next_to_cut.py synthetic > \
        crates/rarely-review/tests/python/next_to_cut-golden.json

The Senate data are read from the rdrobust package and only passed on; the second command made the stored file.
"""

import contextlib
import json
import random
import sys
import warnings
from pathlib import Path

import numpy
import pandas
import rddensity
import rdrobust
from scipy import optimize, stats


def jump(x, y, cut):
    # It prints a note where values repeat.
    with contextlib.redirect_stdout(sys.stderr):
        fit = rdrobust.rdrobust(y, x, c=cut)
    return {
        "bandwidths": [float(fit.bws.iloc[0, 0]), float(fit.bws.iloc[1, 0])],
        "estimate": float(fit.coef.iloc[0, 0]),
        "standard_error": float(fit.se.iloc[0, 0]),
        "bias_corrected": float(fit.coef.iloc[2, 0]),
        "robust_standard_error": float(fit.se.iloc[2, 0]),
        "interval": [float(end) for end in fit.ci.iloc[2]],
        "rows": [int(rows) for rows in fit.N_h],
    }


def density(x, cut):
    test = rddensity.rddensity(x, c=cut)
    return {
        "below": float(test.hat["left"]),
        "above": float(test.hat["right"]),
        "standard_error": float(test.sd_jk["diff"]),
        "p_value": float(test.test["p_jk"]),
        "bandwidths": [float(test.h["left"]), float(test.h["right"])],
    }


def critical_values():
    """The 95 % quantile of |N(b, 1)| by root finding."""
    for bias in (0.0, 0.01, 0.1, 0.3, 0.5, 1.0, 1.7, 2.5, 4.0, 10.0, 100.0):
        missing = lambda value: stats.norm.cdf(value - bias) - stats.norm.cdf(-value - bias) - 0.95
        yield [bias, optimize.brentq(missing, 0, bias + 5, xtol=1e-14)]


def senate():
    table = pandas.read_csv(Path(rdrobust.__file__).parent / "data" / "rdrobust_RDsenate.csv")
    table = table[["margin", "vote"]].dropna()
    yield "senate", table.margin.to_numpy(), table.vote.to_numpy(), 0.0


def synthetic():
    generator = random.Random(2)

    def normal():
        # Twelve uniform numbers less six: nearly normal, and the same in every version of Python.
        return sum(generator.random() for _ in range(12)) - 6

    def rows(name, cut, count, draw, mean, noise):
        x = [draw() for _ in range(count)]
        y = [round(mean(v, v >= cut) + noise(v) * normal(), 4) for v in x]
        return name, numpy.array(x), numpy.array(y), cut

    def margin():
        # Most margins are small; some elections have one candidate only.
        return 100.0 if generator.random() < 0.03 else round(max(-100.0, min(99.0, 7 + 30 * normal())), 4)

    def vote(v, won):
        return 50 + 0.35 * v - 0.0012 * v * v + (7.0 if won else 0.0) + 4.0 * numpy.tanh(v / 12)

    yield rows("election", 0.0, 800, margin, vote, lambda v: 9.0)
    yield rows(
        "bent",
        0.25,
        500,
        lambda: round(generator.uniform(-1, 1), 4),
        lambda v, above: (0.4 if above else 0.0) + 0.3 * v + (1.5 if above else -0.5) * v * v,
        lambda v: 0.2,
    )
    yield rows(
        "mass points",
        66.0,
        700,
        lambda: float(generator.randint(40, 95)),
        lambda v, above: (0.3 if above else 0.0) + 0.02 * (v - 60) + 0.0004 * (v - 60) ** 2,
        lambda v: 0.5,
    )
    yield rows(
        "sparse above",
        0.0,
        600,
        lambda: round(-abs(normal()) if generator.random() < 0.8 else 0.5 * abs(normal()), 4),
        lambda v, above: (1.0 if above else 0.0) + v - 0.4 * v**3,
        lambda v: 0.7,
    )
    yield rows(
        "unequal noise",
        0.0,
        500,
        lambda: round(normal(), 4),
        lambda v, above: (0.5 if above else 0.0) + numpy.sin(2 * v),
        lambda v: 0.1 + abs(v) * (2.0 if v >= 0 else 0.4),
    )


def main():
    warnings.simplefilter("ignore")
    samples = {"senate": senate, "synthetic": synthetic}[sys.argv[1]]()
    answer = {
        "made_by": "tests/python/next_to_cut.py " + sys.argv[1] + " with rdrobust 2.1.1 and rddensity 3.0",
        "critical_values": list(critical_values()),
        "samples": [
            {"name": name, "x": x.tolist(), "y": y.tolist(), "cut": cut, "jump": jump(x, y, cut), "density": density(x, cut)}
            for name, x, y, cut in samples
        ],
    }
    json.dump(answer, sys.stdout)
    print()


main()
