"""Data sets that are part of this package: nothing is downloaded."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
import numpy.typing as npt

from . import _rarely

__all__ = ["Ihdp", "ihdp"]


@dataclass(frozen=True, eq=False)
class Ihdp:
    """A realisation of IHDP: 747 children, and for each of them the outcome with and without treatment."""

    #: The covariates, 747 × 25: six continuous ones, standardised, then 19 binary ones (``first`` is coded 1 and 2).
    x: npt.NDArray[np.float64]
    #: 1 for the 139 children that were treated in the study, 0 for the others.
    treatment: npt.NDArray[np.int64]
    #: The outcome under the treatment that the child had.
    y_factual: npt.NDArray[np.float64]
    #: The outcome under the other one.
    y_cfactual: npt.NDArray[np.float64]
    #: The expected outcome without treatment.
    mu0: npt.NDArray[np.float64]
    #: The expected outcome with treatment.
    mu1: npt.NDArray[np.float64]
    #: The names of the covariates.
    covariates: tuple[str, ...]
    #: The number of the realisation.
    realisation: int

    def __repr__(self) -> str:
        return f"<rarely.datasets.Ihdp: realisation {self.realisation}, {self.x.shape[0]} children, {self.x.shape[1]} covariates>"


def ihdp(realisation: SupportsIndex = 1) -> Ihdp:
    """One of the 1,000 published realisations of IHDP, numbered from 1; the usual benchmark has the first 100.

    The Infant Health and Development Program with the simulated outcomes of Hill (2011), response surface B. The numbers are those
    of the published files to nine digits. Covariates and treatment are the same in every realisation.

    >>> import rarely
    >>> children = rarely.datasets.ihdp(1)
    >>> children.x.shape, children.covariates[:3]
    ((747, 25), ('bw', 'b.head', 'preterm'))
    >>> treated = children.treatment == 1
    >>> round(float((children.mu1 - children.mu0)[treated].mean()), 6)
    4.0
    """
    number = operator.index(realisation)
    x, treatment, y_factual, y_cfactual, mu0, mu1, covariates = _rarely.ihdp(number)
    return Ihdp(x, treatment, y_factual, y_cfactual, mu0, mu1, tuple(covariates), number)
