"""Robust standard errors by other programs, as JSON: the rows, functionals, and what each error is.

    .venv/bin/python crates/rarely-core/tests/python/robust.py > crates/rarely-core/tests/python/robust-golden.json

made the stored file. HC3 is statsmodels'. CR2 and its degrees of freedom are computed from their definitions with n x n matrices
(Bell and McCaffrey 2002; Pustejovsky and Tipton 2018), since statsmodels has neither.
"""

import json
import random
import sys

import numpy
import statsmodels.api

ARMS, DIMENSION, ROWS = 3, 3, 240


def rows():
    generator = random.Random(3)
    normal = lambda: sum(generator.random() for _ in range(12)) - 6
    truth = [[normal() for _ in range(DIMENSION)] for _ in range(ARMS)]
    shared = {}
    answer = []
    for row in range(ROWS):
        # Clusters of one row, of a few, and one of forty; their rows belong to several arms.
        cluster = row if row < 60 else 1000 + row // 4 if row < 200 else 2000
        context = [1.0] + [round(generator.uniform(-1, 2), 4) for _ in range(DIMENSION - 1)]
        arm = generator.randrange(ARMS)
        mean = sum(x * t for x, t in zip(context, truth[arm]))
        effect = shared.setdefault(cluster, 0.5 * normal())
        reward = round(mean + effect + (0.2 + abs(context[1])) * (1 + arm) * normal() / 3, 4)
        answer.append({"context": context, "arm": arm, "reward": reward, "cluster": cluster})
    return answer


def inverse_root(matrix):
    values, vectors = numpy.linalg.eigh(matrix)
    inverse = numpy.where(values > 1e-9, 1 / numpy.sqrt(numpy.maximum(values, 1e-300)), 0)
    return (vectors * inverse) @ vectors.T


def cr2(design, rewards, clusters, functional):
    bread = numpy.linalg.inv(design.T @ design)
    hat = design @ bread @ design.T
    left = numpy.eye(len(rewards)) - hat
    residuals = left @ rewards
    variance, vectors = 0.0, []
    for cluster in numpy.unique(clusters):
        at = clusters == cluster
        weights = inverse_root(left[numpy.ix_(at, at)]) @ design[at] @ bread @ functional
        variance += float(weights @ residuals[at]) ** 2
        vectors.append(left[:, at] @ weights)
    products = numpy.array(vectors) @ numpy.array(vectors).T
    return variance**0.5, float(numpy.trace(products) ** 2 / (products**2).sum())


def main():
    log = rows()
    contexts = numpy.array([row["context"] for row in log])
    arms = numpy.array([row["arm"] for row in log])
    rewards = numpy.array([row["reward"] for row in log])
    clusters = numpy.array([row["cluster"] for row in log])
    design = numpy.zeros((ROWS, ARMS * DIMENSION))
    for row, arm in enumerate(arms):
        design[row, arm * DIMENSION : (arm + 1) * DIMENSION] = contexts[row]
    fit = statsmodels.api.OLS(rewards, design).fit(cov_type="HC3")
    generator = random.Random(4)
    cases = []
    for concerned in ((0, 1), (0, 1, 2), (2,)):
        functional = numpy.zeros(ARMS * DIMENSION)
        for arm in concerned:
            functional[arm * DIMENSION : (arm + 1) * DIMENSION] = [generator.uniform(-1, 1) for _ in range(DIMENSION)]
        error, degrees = cr2(design, rewards, clusters, functional)
        cases.append(
            {
                "functional": functional.tolist(),
                "estimate": float(functional @ fit.params),
                "hc3": float((functional @ fit.cov_params() @ functional) ** 0.5),
                "cr2": error,
                "cr2_degrees": degrees,
            }
        )
    made_by = f"tests/python/robust.py with statsmodels {statsmodels.__version__} and numpy {numpy.__version__}"
    json.dump({"made_by": made_by, "log": log, "cases": cases}, sys.stdout, indent=None)
    print()


main()
