"""What the large file test declares: phases, table, main figures and charts."""

from __future__ import annotations

from fstrial.model.declaration import TOTAL, Chart, ChartKind, Column, Declaration, PhaseTitle
from fstrial.model.metric import PHASE_METRICS, Figure
from fstrial.model.plan import SyncPolicy

__all__ = ["declaration"]

_WRITING = {"write": "Write", "copy": "Copy"}
_READING = {"read_cold": "Read, cold", "read_warm": "Read, warm", "cat": "cat, cold"}
_DELETING = {"delete": "Delete"}
_TITLES = {**_WRITING, **_READING, **_DELETING}
_UNTIMED_WRITING = (
    " With sync=end, what is still to be written when the filesystem is mounted anew for the cold reads is in no time."
)


def declaration(about: str, sync: SyncPolicy) -> Declaration:
    """The declaration under a sync policy.

    A read is over when its command returns. With sync=end so is a write, and the total too: the remount before the
    cold read writes everything back outside of it, so the sync at the end would add nothing.
    """
    by_phase = sync is SyncPolicy.PHASE
    time = "durable_s" if by_phase else "elapsed_s"
    figures = {name: Figure(name, "elapsed_s" if name in _READING else time) for name in _TITLES}
    main = (figures["write"], figures["read_cold"], figures["copy"])
    return Declaration(
        workload="largefile",
        about=about if by_phase else about + _UNTIMED_WRITING,
        phases=tuple(PhaseTitle(name, title) for name, title in _TITLES.items()),
        metrics=PHASE_METRICS,
        columns=(
            *(Column(title, figures[name]) for name, title in _TITLES.items()),
            Column("Total", Figure(TOTAL, time)),
        ),
        main=main,
        charts=_charts(main, tuple(Figure(name, time) for name in _TITLES), by_phase),
    )


def _charts(main: tuple[Figure, ...], timed: tuple[Figure, ...], by_phase: bool) -> tuple[Chart, ...]:
    clock = "until the data are on the device" if by_phase else "until the commands return"
    return (
        Chart(
            "Time against the baseline",
            ChartKind.INTERVALS,
            main,
            "Ratio to the baseline with its 95 % interval; each mark is one run.",
        ),
        Chart("Where the time goes", ChartKind.PHASES, timed, f"Time of each phase, {clock}."),
        Chart(
            "Written to the device",
            ChartKind.BARS,
            (Figure(TOTAL, "device_write_bytes"),),
            "Two files' worth, unless the filesystem compresses, finds duplicates, or writes data twice.",
        ),
    )
