"""The claims of docs/statistics.md, simulated through the shipped functions: the share that `make test` can afford.

bench/prove_statistics.py runs all of it at twice the replications.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from fakes.values import run_of
from fstrial.stats.analysis import analyse
from fstrial.stats.claims import GROUPS, Claim, Expected
from fstrial.stats.estimators import estimate, trimmed_t
from fstrial.stats.simulation import Measured, Noise

REPLICATIONS = 10_000


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_every_claim_holds(group: Callable[[int, np.random.Generator], Iterator[Claim]]) -> None:
    failed = [str(claim) for claim in group(REPLICATIONS, np.random.default_rng(2)) if not claim.holds]
    assert not failed


def test_a_wrong_figure_does_not_hold() -> None:
    ninety = Measured(90.0, 0.3)
    assert not Claim("coverage", ninety, Expected(95.0, 95.0), 10_000).holds
    assert not Claim("coverage", ninety, Expected(84.0, 86.0), 10_000).holds
    assert Claim("coverage", ninety, Expected(89.0, 89.5), 10_000).holds


@pytest.mark.parametrize("blocks", [*range(8, 18), 20, 30])
def test_each_widening_gives_the_trimmed_t_its_95_percent_back(blocks: int) -> None:
    normal = np.random.default_rng(blocks).standard_normal((40_000, blocks))
    found = trimmed_t(normal)
    covered = float((np.abs(found.centre) <= found.half_width()).mean())
    assert covered == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / 40_000) + 0.001)


def test_pairing_takes_out_all_that_a_block_shares() -> None:
    wild, calm = (
        Noise(0.05, drift=drift, trend=trend).log_ratios(np.random.default_rng(4), 50, 3, 10)
        for drift, trend in ((0.5, 1.0), (0.0, 0.0))
    )
    # the same draws of the run noise; the shared part differs and is gone
    assert wild == pytest.approx(calm, abs=1e-12)


def test_a_report_has_the_interval_that_was_simulated() -> None:
    times = Noise(0.05, outliers=0.05).log_times(np.random.default_rng(5), 40, 3, 10)
    found = estimate(times[:, 1:] - times[:, :1])
    for replication, (base, xfs, btrfs) in enumerate(np.exp(times)):
        values = {"ext4": base.tolist(), "xfs": xfs.tolist(), "btrfs": btrfs.tolist()}
        mains = [one for one in analyse(run_of(values)).comparisons if one.main]
        for column, one in enumerate(mains):
            assert one.ratio == pytest.approx(float(np.exp(found.centre[replication, column])))
            assert one.p == pytest.approx(float(found.p()[replication, column]))
            assert one.interval is not None
            low = found.centre[replication, column] - found.half_width()[replication, column]
            assert one.interval.low == pytest.approx(float(np.exp(low)))
