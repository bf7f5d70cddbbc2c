"""`rarely.datasets`: the realisations of IHDP as arrays."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import rarely
from rarely import datasets, errors


def published() -> Path:
    """The published files: `$RARELY_DATA/ihdp`, or `../shared/data/ihdp` beside the workspace."""
    beside = Path(__file__).resolve().parents[4] / "shared" / "data"
    folder = Path(os.environ.get("RARELY_DATA", beside)) / "ihdp"
    if not folder.is_dir():
        pytest.skip("needs the published IHDP files; set RARELY_DATA to the folder that holds ihdp/")
    return folder


def test_arrays_and_names() -> None:
    children = datasets.ihdp(7)
    assert children.x.shape == (747, 25) and children.x.dtype == np.float64 and children.x.flags.c_contiguous
    for values in (children.y_factual, children.y_cfactual, children.mu0, children.mu1):
        assert values.shape == (747,) and values.dtype == np.float64 and np.isfinite(values).all()
    assert children.treatment.dtype == np.int64 and children.treatment.sum() == 139
    assert len(children.covariates) == 25 and children.covariates[13] == "first"
    assert set(np.unique(children.x[:, 13])) == {1.0, 2.0}
    assert np.allclose(children.x[:, :6].mean(axis=0), 0.0) and np.allclose(children.x[:, :6].std(axis=0, ddof=1), 1.0)
    assert repr(children) == "<rarely.datasets.Ihdp: realisation 7, 747 children, 25 covariates>"


def test_factual_outcomes_are_those_of_the_treatment() -> None:
    """The noise has the standard deviation 1: in 747 draws the mean is within four standard errors, 0.15."""
    children = datasets.ihdp(3)
    with_treatment, without = np.where(children.treatment == 1, children.mu1, children.mu0), children.treatment == 0
    assert abs((children.y_factual - with_treatment).mean()) < 0.15
    assert abs((children.y_cfactual - np.where(without, children.mu1, children.mu0)).mean()) < 0.15


def test_realisations_differ_and_repeat() -> None:
    one, again, other = datasets.ihdp(1), datasets.ihdp(np.int64(1)), datasets.ihdp(2)
    assert np.array_equal(one.y_factual, again.y_factual) and again.realisation == 1
    assert np.array_equal(one.x, other.x) and not np.array_equal(one.mu0, other.mu0)


def test_the_published_files() -> None:
    folder = published()
    for number in range(1, 11):
        table = np.loadtxt(folder / f"ihdp_npci_{number}.csv", delimiter=",")
        children = datasets.ihdp(number)
        columns = [children.treatment, children.y_factual, children.y_cfactual, children.mu0, children.mu1, children.x]
        found = np.column_stack(columns)
        assert (np.abs(found - table) <= 1e-8 * np.maximum(np.abs(table), 1.0)).all()


@pytest.mark.parametrize("number", [0, 1001, -1, 10**30])
def test_a_number_that_was_never_published(number: int) -> None:
    with pytest.raises(errors.DataError, match=f"IHDP has no realisation {number}") as caught:
        datasets.ihdp(number)
    assert "1 to 1,000" in str(caught.value) + "".join(getattr(caught.value, "__notes__", []))


def test_a_number_is_whole() -> None:
    with pytest.raises(TypeError):
        datasets.ihdp(1.5)  # type: ignore[arg-type]


def test_a_policy_learns_from_the_study() -> None:
    """What the children had, as a log: treatment is better for nearly everyone in the first realisation."""
    children = datasets.ihdp()
    policy = rarely.Policy(arms=2, dimension=25, noise=1.0)
    policy.partial_fit(children.x, children.treatment, children.y_factual)
    assert policy.rounds_ == 747 and list(policy.counts_) == [608, 139]
