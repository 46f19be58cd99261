"""What all tests share: the need for root, and skips that CI turns into failures."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest


@pytest.fixture
def need_root() -> None:
    """For tests that make filesystems and mount them: on images of their own, never on anything else."""
    if os.geteuid() != 0:
        pytest.skip("needs root: it makes and mounts filesystems on images of its own")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With FSTRIAL_REQUIRE set, what would be skipped is a failure: CI says what it claims to run."""
    report = yield
    if report.skipped and os.environ.get("FSTRIAL_REQUIRE"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"FSTRIAL_REQUIRE is set, and this test was skipped: {reason}"
    return report
