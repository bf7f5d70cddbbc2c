"""Quantiles of t, F and chi-squared by mpmath with 50 digits, as JSON.

    python crates/rarely-core/tests/python/quantile.py > crates/rarely-core/tests/python/quantile-golden.json

made the stored file, with mpmath 1.4.1. scipy 1.17 is not used: far in the tails of F and for many degrees of freedom it has
six digits.
"""

import json
import sys

import mpmath as mp

mp.mp.dps = 50


def f_tail(x, numerator, denominator):
    z = denominator / (denominator + numerator * x)
    return mp.betainc(denominator / 2, numerator / 2, 0, z, regularized=True)


def t_tail(x, degrees):
    return f_tail(x * x, mp.mpf(1), degrees) / 2


def chi_squared(x, degrees):
    return mp.gammainc(degrees / 2, 0, x / 2, regularized=True)


def quantile(tail, probability, sign):
    """Bisection on ln x, then to 30 digits; `sign` is 1 if the tail rises with x."""
    above = lambda u: sign * (tail(mp.exp(u)) - probability) > 0
    low, high = mp.mpf(-60), mp.mpf(60)
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (low, middle) if above(middle) else (middle, high)
    return float(mp.exp(low))


def main():
    answers = []
    for degrees in (1, 2, 2.5, 5, 30, 95, 388, 5000, 1e5, 1e7):
        for tail in (0.4, 0.05, 2.5e-5, 1e-7, 1e-12):
            x = quantile(lambda x: t_tail(x, mp.mpf(degrees)), mp.mpf(tail), -1)
            answers.append(["t", degrees, 0, tail, x])
    for numerator in (1, 2, 6, 25, 1000):
        for denominator in (1, 5, 95, 5000, 1e5):
            for tail in (0.95, 0.05, 1e-3, 1e-7, 1e-12):
                x = quantile(lambda x: f_tail(x, mp.mpf(numerator), mp.mpf(denominator)), mp.mpf(tail), -1)
                answers.append(["F", numerator, denominator, tail, x])
    for degrees in (1, 2, 16, 64, 256, 4096, 65536):
        for probability in (0.999, 0.1, 1e-2, 1e-4, 1e-6, 1e-12):
            x = quantile(lambda x: chi_squared(x, mp.mpf(degrees)), mp.mpf(probability), 1)
            answers.append(["chi-squared", degrees, 0, probability, x])
    sys.stdout.write("[\n" + ",\n".join(json.dumps(answer) for answer in answers) + "\n]\n")


main()
