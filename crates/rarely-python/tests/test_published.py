"""`rarely.published`: files laid out as they were published, written here, since the files themselves may not be passed on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import rarely
from rarely import errors, published

WARFARIN = """PharmGKB Subject ID,Gender,Race,Age,Height (cm),Weight (kg),Amiodarone (Cordarone),Current Smoker,Therapeutic Dose of Warfarin
PA1,male,White,60 - 69,193.04,115.7,0,1,49
PA2,female,White,50 - 59,176.53,144.2,NA,0,20.9
PA3,female,Asian,90+,162.56,77.1,1,NA,49.5
PA4,male,White,NA,182.24,90.7,0,0,28
PA5,male,Black,30 - 39,180,80,0,0,NA
"""

OPEN_BANDIT = """,timestamp,item_id,position,click,propensity_score,user_feature_0,user_feature_1,user_feature_2,user_feature_3,user-item_affinity_0
0,2019-11-24 00:00:01,14,3,0,0.0125,a,x,p,u,0.0
1,2019-11-24 00:00:02,3,1,1,0.0125,b,x,p,v,0.0
2,2019-11-24 00:00:03,0,2,0,0.025,a,y,p,u,1.0
"""


def test_warfarin(tmp_path: Path) -> None:
    path = tmp_path / "iwpc.csv"
    path.write_text(WARFARIN)
    found = published.warfarin(path)
    assert found.columns == (
        "age_decades",
        "height_cm",
        "weight_kg",
        "race=White",
        "Amiodarone (Cordarone)",
        "Current Smoker",
    )
    assert found.arm.tolist() == [1, 0, 2], "49 mg is medium, 20.9 low, 49.5 high; two patients lack a number"
    assert found.x[0].tolist() == [6.0, 193.04, 115.7, 1.0, 0.0, 1.0] and found.x[2, 0] == 9.0
    assert len(found.sha256) == 64
    assert published.warfarin(path, sha256=found.sha256.upper()).sha256 == found.sha256
    simulated = rarely.simulate(found.world(), runs=2, algorithms=["thompson"], declared_noise=0.5, progress=False)
    assert simulated.settings["environment"]["arms"] == 3
    with pytest.raises(errors.DataError, match="SHA-256"):
        published.warfarin(path, sha256="0" * 64)


def test_open_bandit(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text(OPEN_BANDIT)
    found = published.open_bandit(path)
    assert found.columns == ("1", "user_feature_0=b", "user_feature_1=y", "user_feature_3=v")
    assert found.contexts.tolist() == [[1, 0, 0, 0], [1, 1, 0, 1], [1, 0, 1, 0]]
    assert found.arms.tolist() == [14, 3, 0] and found.rewards.tolist() == [0, 1, 0]
    with pytest.warns(errors.EvaluationWarning, match="fewer than 30"):
        value = rarely.evaluate(found.log(), np.full(3, 3), estimators=["ips"], outcome_range=(0, 1), weights="warn")
    assert value.values[0].estimate == pytest.approx(1 / 0.0125 / 3)


def test_acic_2016(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("x_1,x_2\n0.5,A\n1.5,B\n2.5,C\n")
    (tmp_path / "zymu_2.csv").write_text("z,y0,y1,mu0,mu1\n0,1.0,2.0,1.1,2.1\n1,0.5,0.7,0.4,0.8\n1,3,4,3.5,4.5\n")
    found = published.acic2016(tmp_path, 2)
    assert found.columns == ("x_1", "x_2=B", "x_2=C") and found.treatment.tolist() == [0, 1, 1]
    assert found.means[:, 1].tolist() == [2.1, 0.8, 4.5] and found.outcomes[1].tolist() == [0.5, 0.7]
    people = found.world().tables(1, None, 1)[0]
    assert people[1].shape == (3, 4) and np.array_equal(people[3], found.means)


def test_twins(tmp_path: Path) -> None:
    names = "twin_pairs_{}_3years_samesex.csv"
    (tmp_path / names.format("X")).write_text(
        ",Unnamed: 0,pldel,mager8,infant_id_0,bord_0\n0,7,1,3,12,1\n1,8,,2,13,1\n2,9,2,1,14,2\n"
    )
    (tmp_path / names.format("T")).write_text(",dbirwt_0,dbirwt_1\n0,936,1006\n1,737,1021\n2,1900,2500\n")
    (tmp_path / names.format("Y")).write_text(",mort_0,mort_1\n0,0.0,0.0\n1,1.0,0.0\n2,0,0\n")
    found = published.twins(tmp_path)
    assert found.columns == ("pldel", "mager8") and len(found.sha256) == 3
    assert found.x.tolist() == [[1.0, 3.0], [1.0, 2.0]], "what is missing is the mean of those who are kept"
    assert found.outcomes.tolist() == [[1.0, 1.0], [0.0, 1.0]]


def test_a_file_that_is_not_there_says_where_it_is_published(tmp_path: Path) -> None:
    for read, where in (
        (published.warfarin, "pharmgkb"),
        (published.open_bandit, "zozo"),
        (published.acic2016, "aciccomp"),
        (published.twins, "CEVAE"),
    ):
        with pytest.raises(errors.DataError) as raised:
            read(tmp_path / "nothing")  # type: ignore[operator]
        assert where in str(raised.value) + " ".join(getattr(raised.value, "__notes__", ()))
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(errors.DataError, match="no column 'item_id'"):
        published.open_bandit(other)
