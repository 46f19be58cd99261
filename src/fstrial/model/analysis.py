"""What the statistics say about a run. Procedure and sources: docs/statistics.md."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from fstrial.model.metric import Figure

__all__ = [
    "Analysis",
    "Comparison",
    "Flag",
    "FlagKind",
    "Interval",
    "Method",
    "Outlook",
    "Summary",
    "Verdict",
]


class Interval(Struct, frozen=True):
    """Both ends as ratios to the baseline; None is an open end."""

    low: float | None
    high: float | None


class Method(Enum):
    """How the ratio and its interval were found."""

    PAIRED_T = "paired t on logarithms"
    TRIMMED_T = "20 % trimmed t on logarithms"
    ONE_SIDED = "one-sided, with failed runs as bounds"
    WELCH = "Welch's t on logarithms, runs not interleaved"
    COUNTS = "counts only"


class Verdict(Enum):
    """FASTER and SLOWER read as less and more for figures that are no times."""

    SAME = "same"
    FASTER = "faster"
    SLOWER = "slower"
    CANNOT_TELL = "cannot tell"
    TOO_FEW = "too few runs"


class Summary(Struct, frozen=True):
    """One cell: the figure's geometric mean over a candidate's blocks and every value that went into it.

    `values` in block order, `blocks` the block of each. `bounds` are lower bounds, from runs that failed in the
    phase: no part of `values`, but of the mean, which then is a lower bound itself. `failed` counts them and the
    runs that failed before the phase or ended wrong after it, of `runs` in all. `missing` says why there is no
    mean. `too_short` marks the times of a phase under 100 ms.
    """

    workload: str
    figure: Figure
    filesystem: str
    geometric_mean: float | None
    values: tuple[float, ...] = ()
    blocks: tuple[int, ...] = ()
    failed: int = 0
    runs: int = 0
    bounds: tuple[float, ...] = ()
    missing: str = ""
    too_short: bool = False


class Comparison(Struct, frozen=True):
    """A candidate's figure against the baseline's.

    `ratio` is candidate / baseline; where runs failed it is None, and the interval has one end. `interval` is the
    95 % interval, `adjusted` the one for m main comparisons. Only main comparisons carry a verdict, and the A/A one
    never does; `uncorrected` says of any other whether its own 95 % interval excludes 1. `why` says what is missing.
    """

    workload: str
    figure: Figure
    filesystem: str
    baseline: str
    main: bool
    blocks: int
    method: Method
    ratio: float | None = None
    interval: Interval | None = None
    adjusted: Interval | None = None
    p: float | None = None
    p_adjusted: float | None = None
    verdict: Verdict | None = None
    uncorrected: bool = False
    failed: int = 0
    baseline_failed: int = 0
    aa: bool = False
    why: str = ""


class FlagKind(Enum):
    OUTLIER = "outlier"
    DRIFT = "drift"
    AGEING = "ageing"
    TOO_SHORT = "too short"
    FAILED = "failed"
    FEW_BLOCKS = "few blocks"
    WIDE_FOR_SAME = "target too wide for same"


class Flag(Struct, frozen=True):
    """Something a reader should know; nothing is dropped because of it. `text` is a whole sentence."""

    kind: FlagKind
    text: str
    workload: str = ""
    filesystem: str = ""
    block: int | None = None


class Outlook(Struct, frozen=True):
    """Whether the answer is sure, and how many more blocks it would take. `text` is what a person reads.

    `half_width` is that of the widest main interval, as a share: 0.05 is ±5 %. `more_blocks` is None when the cap
    will not do.
    """

    sure: bool
    half_width: float | None = None
    more_blocks: int | None = None
    reachable: bool = True
    text: str = ""


class Analysis(Struct, frozen=True):
    """The whole run's summaries, comparisons (the A/A one among them, marked), flags, and the outlook."""

    blocks: int
    main_comparisons: int
    summaries: tuple[Summary, ...]
    comparisons: tuple[Comparison, ...]
    flags: tuple[Flag, ...]
    outlook: Outlook
