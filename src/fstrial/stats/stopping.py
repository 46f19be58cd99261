"""When enough blocks have run, and how many more it would take.

A run that stops by looking at its own interval stops a little too often when the scatter happens to look small:
plain fixed-width stopping (Chow & Robbins 1965) covers 90 to 92 % at these numbers of blocks instead of 95 %. So
the rule, the intervals and the p of such a run are all widened by one factor, however the run ended.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from fstrial.model.analysis import Method, Outlook
from fstrial.model.plan import StoppingRule
from fstrial.stats.compare import Draft
from fstrial.stats.estimators import Array, Mask
from fstrial.stats.verdict import ALPHA, BLOCKS_FOR_VERDICT
from fstrial.stats.words import percent

__all__ = ["INFLATION", "blocks_needed", "inflation", "narrow_enough", "outlook"]

INFLATION = 1.15
FIRST_LOOK = BLOCKS_FOR_VERDICT


def inflation(rule: StoppingRule) -> float:
    """The factor on standard errors: 1 where the number of blocks was fixed beforehand."""
    return 1.0 if _is_fixed(rule) else INFLATION


def narrow_enough(half_width: Array, until: float) -> Mask:
    """Whether a half-width on the log scale, inflation included, is within the target (0.05 is 5 %)."""
    return np.asarray(half_width <= np.log1p(until))


def blocks_needed(scatter: float, until: float, first: int, last: int) -> int | None:
    """The smallest number of blocks in [first, last] whose interval would be narrow enough, or None.

    `scatter` is the standard deviation of one block's log ratio, inflation included.
    """
    candidates = np.arange(first, last + 1, dtype=np.float64)
    enough = np.flatnonzero(narrow_enough(_expected_half_width(scatter, candidates), until))
    return int(candidates[enough[0]]) if enough.size else None


def outlook(rule: StoppingRule, blocks: int, drafts: Sequence[Draft]) -> Outlook:
    """What to expect after `blocks` complete blocks. `drafts` are the main comparisons, without the A/A one.

    `half_width` of the answer is the widest main interval's, as a share.
    """
    halves = [float(draft.estimate.half_width(ALPHA)) for draft in drafts if draft.estimate is not None]
    widest = float(np.expm1(max(halves))) if halves else None
    if rule.until is None or rule.runs is not None:
        return _fixed(rule.runs or rule.max_runs, blocks, widest)
    return _until(rule, rule.until, blocks, drafts, widest)


def _is_fixed(rule: StoppingRule) -> bool:
    return rule.runs is not None or rule.until is None


def _fixed(wanted: int, blocks: int, widest: float | None) -> Outlook:
    more = max(wanted - blocks, 0)
    text = f"{more} more of {wanted}." if more else f"All {wanted} blocks are done{_so_far(widest)}."
    return Outlook(more == 0, widest, more, True, text)


def _until(rule: StoppingRule, until: float, blocks: int, drafts: Sequence[Draft], widest: float | None) -> Outlook:
    if blocks < FIRST_LOOK:
        text = f"{FIRST_LOOK - blocks} more before the first look at block {FIRST_LOOK}{_so_far(widest)}."
        return _waiting(rule, blocks, FIRST_LOOK - blocks, widest, text)
    open_ones = [draft for draft in drafts if draft.method is not Method.COUNTS]
    if not open_ones:
        return Outlook(True, widest, 0, True, "No main comparison has an interval that more blocks could narrow.")
    fewest = min(open_ones, key=lambda draft: draft.blocks)
    if fewest.blocks < FIRST_LOOK:
        text = f"{fewest.candidate.label} has a ratio in {fewest.blocks} blocks; {FIRST_LOOK} are needed."
        return _waiting(rule, blocks, FIRST_LOOK - fewest.blocks, widest, text)
    wide = [draft for draft in open_ones if not _is_narrow(draft, until)]
    if not wide:
        text = f"Sure{_so_far(widest)}, and ±{percent(until)} was asked for."
        return Outlook(True, widest, 0, True, text)
    return _more(rule, until, blocks, wide, widest)


def _waiting(rule: StoppingRule, blocks: int, more: int, widest: float | None, text: str) -> Outlook:
    if blocks + more <= rule.max_runs:
        return Outlook(False, widest, more, True, text)
    return Outlook(False, widest, None, False, f"{text} That is beyond the cap of {rule.max_runs}.")


def _more(rule: StoppingRule, until: float, blocks: int, wide: Sequence[Draft], widest: float | None) -> Outlook:
    """Rough, since the scatter is only estimated: within a factor of two either way."""
    left = max(rule.max_runs - blocks, 0)
    needed = [blocks_needed(_scatter(one), until, one.blocks + 1, one.blocks + left) for one in wide]
    more = [total - one.blocks for total, one in zip(needed, wide, strict=True) if total is not None]
    if len(more) == len(wide):
        text = f"About {max(more)} more ({max(max(more) // 2, 1)} to {2 * max(more)}){_so_far(widest)}."
        return Outlook(False, widest, max(more), True, text)
    at_cap = max(
        float(_expected_half_width(_scatter(one), np.asarray(one.blocks + left, dtype=np.float64))) for one in wide
    )
    text = f"±{percent(until)} is not reachable in {rule.max_runs} runs; expect ±{percent(np.expm1(at_cap))}."
    return Outlook(False, widest, None, False, text)


def _is_narrow(draft: Draft, until: float) -> bool:
    return draft.estimate is not None and bool(narrow_enough(draft.estimate.half_width(ALPHA), until))


def _scatter(draft: Draft) -> float:
    assert draft.estimate is not None, "a draft of five blocks has an estimate"
    return float(draft.estimate.error) * float(np.sqrt(draft.blocks))


def _expected_half_width(scatter: float, blocks: Array) -> Array:
    half: Array = np.asarray(stdtrit(blocks - 1.0, 1.0 - ALPHA / 2.0) * scatter / np.sqrt(blocks))
    return half


def _so_far(widest: float | None) -> str:
    return "" if widest is None else f"; the widest main interval is ±{percent(widest)}"
