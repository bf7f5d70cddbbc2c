"""Decision policies that change seldom, and only on evidence.

- :class:`Policy` decides and learns, one row or a million at a time; it holds its rule until the data make it implausible.
- :class:`OutcomeQueue` puts outcomes that come late into the order in which a policy may learn them.
- :func:`review` reviews a policy document against a log: keep the rule or change it, to what, and on what evidence.
- :class:`State` gathers the statistics of a log in parts, wherever its rows are; the parts add up.
- :mod:`rarely.engines` reviews a log that stays where it is: in DuckDB, Spark, a database, or the partitions of a Dask frame.
- :func:`confirm` gives the gain of one declared change with its interval, on rows that did not propose it.
- :func:`evaluate` gives the value of any policy on a log with propensities, by many estimators, with intervals.
- :func:`simulate`, :func:`sweep`, :func:`frontier` and :func:`reproduce` run algorithms against each other, over a range of settings, and
  the whole paper; :mod:`rarely.policies` has policies of your own, :mod:`rarely.worlds` worlds of your own.
- :func:`replay` replays a log by a document's rule; :func:`replay_log` lets any algorithm meet a log with propensities as a world.
- :mod:`rarely.datasets` has the IHDP benchmark as arrays; :mod:`rarely.published` reads others from files that you have.
- :class:`Client` requests decisions from a running service and reports outcomes to it.
- :mod:`rarely.sklearn` has a policy as an estimator of scikit-learn.
- :mod:`rarely.adapters` runs a policy inside the loops of coba and of the Open Bandit Pipeline.
"""

from __future__ import annotations

from . import datasets, engines, errors, policies, published, worlds
from ._rarely import (
    ALGORITHMS,
    ENVIRONMENTS,
    Boundary,
    Certificate,
    Change,
    Confirmed,
    Document,
    Figure,
    Gain,
    GroupReview,
    Interval,
    OutcomeQueue,
    Policy,
    Proposal,
    Review,
    State,
    __version__,
    confirm,
    review_groups,
)
from .client import Client
from .engines import review
from .errors import Error
from .evaluation import ESTIMATORS, Evaluation, PolicyValue, PolicyWeights, evaluate
from .lab import Frontier, Reproduction, Simulation, Sweep, frontier, reproduce, simulate, sweep
from .replays import LogReplay, Replay, replay, replay_log
from .tables import Table

__all__ = [
    "ALGORITHMS",
    "ENVIRONMENTS",
    "ESTIMATORS",
    "Boundary",
    "Certificate",
    "Change",
    "Client",
    "Confirmed",
    "Document",
    "Error",
    "Evaluation",
    "Figure",
    "Frontier",
    "Gain",
    "GroupReview",
    "Interval",
    "LogReplay",
    "OutcomeQueue",
    "Policy",
    "PolicyValue",
    "PolicyWeights",
    "Proposal",
    "Replay",
    "Reproduction",
    "Review",
    "Simulation",
    "State",
    "Sweep",
    "Table",
    "__version__",
    "confirm",
    "datasets",
    "engines",
    "errors",
    "evaluate",
    "frontier",
    "policies",
    "published",
    "replay",
    "replay_log",
    "reproduce",
    "review",
    "review_groups",
    "simulate",
    "sweep",
    "worlds",
]
