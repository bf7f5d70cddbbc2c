"""The F test of squared terms by statsmodels, as JSON: the rows, and what it makes of them.

    .venv/bin/python crates/rarely-review/tests/python/curvature.py > crates/rarely-review/tests/python/curvature-golden.json
"""

import json
import random
import sys
import warnings

import numpy
import statsmodels.api

# Singular designs are among the cases on purpose.
warnings.simplefilter("ignore")


def case(name, context, squares, own, reward):
    """`own` are the squares that are columns of their own: only their coefficients are the same in every solution."""
    context, reward = numpy.array(context), numpy.array(reward)

    def bent(coordinates):
        return numpy.column_stack([context] + [(context[:, j] - 0.5) ** 2 for j in coordinates])

    straight = statsmodels.api.OLS(reward, context).fit()
    full = statsmodels.api.OLS(reward, bent(squares)).fit()
    statistic, p_value, numerator = full.compare_f_test(straight)
    terms = statsmodels.api.OLS(reward, bent(own)).fit()
    first = context.shape[1]
    return {
        "name": name,
        "context": context.tolist(),
        "squares": squares,
        "reward": reward.tolist(),
        "degrees": [int(numerator), int(full.df_resid)],
        "statistic": float(statistic),
        "p_value": float(p_value),
        "residual_variance": float(full.scale),
        "terms": [
            {"coordinate": j, "coefficient": float(terms.params[first + i]), "standard_error": float(terms.bse[first + i])}
            for i, j in enumerate(own)
        ],
        "fitted": full.fittedvalues[:10].tolist(),
    }


def cases():
    generator = random.Random(2)

    def uniform():
        return round(generator.random(), 4)

    def noise():
        return sum(generator.random() for _ in range(12)) - 6

    rows = [[1.0, uniform(), uniform(), float(generator.random() < 0.4)] for _ in range(80)]
    straight = [round(0.3 + 0.5 * r[1] - 0.2 * r[2] + 0.1 * r[3] + 0.1 * noise(), 4) for r in rows]
    bent = [round(y + 0.8 * (r[1] - 0.5) ** 2, 4) for y, r in zip(straight, rows)]
    yield case("straight", rows, [1, 2], [1, 2], straight)
    yield case("bent", rows, [1, 2], [1, 2], bent)
    yield case("a square of a coordinate that is 0 or 1", rows, [1, 2, 3], [1, 2], bent)
    twice = [r + [round(1 - r[1], 4)] for r in rows]
    yield case("a column that is a sum of others", twice, [1, 2], [1, 2], bent)
    constant = [r + [0.25] for r in rows]
    yield case("a constant column beside the intercept", constant, [1, 4], [1], bent)


json.dump({"made_by": "tests/python/curvature.py with statsmodels 0.15.0", "cases": list(cases())}, sys.stdout)
print()
