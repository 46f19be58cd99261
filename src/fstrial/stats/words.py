"""How the sentences of this room say numbers, figures and names."""

from __future__ import annotations

from collections.abc import Sequence

from fstrial.model.metric import Figure

__all__ = ["block_name", "figure_name", "listing", "percent", "runs"]


def percent(share: float) -> str:
    """`5 %` of 0.05: whole from 10 % on, one digit below."""
    value = 100.0 * share
    text = f"{value:.0f}" if value >= 9.95 else f"{value:.1f}".removesuffix(".0")
    return f"{text} %"


def figure_name(figure: Figure) -> str:
    return f"{figure.metric} of {figure.phase}"


def block_name(number: int) -> str:
    """People count blocks from 1."""
    return f"block {number + 1}"


def runs(count: int) -> str:
    return f"{count} run" if count == 1 else f"{count} runs"


def listing(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
