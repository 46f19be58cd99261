"""What the tree test declares: phases, table, main figures and charts, as the page of 2007 has them and beyond."""

from __future__ import annotations

from fstrial.model.declaration import TOTAL, Chart, ChartKind, Column, Declaration, PhaseTitle
from fstrial.model.metric import PHASE_METRICS, Figure
from fstrial.model.plan import SyncPolicy
from fstrial.workloads._source import ARCHIVE_BYTES

__all__ = ["declaration"]


_TIMED = {
    "copy_in": "Copy in",
    "copy_within": "Copy within",
    "tar_gz": "tar -czf",
    "untar_gz": "tar -xzf",
    "delete_all": "Delete all",
}
_DISK_USAGE = "Disk usage"
_METRICS = (
    *PHASE_METRICS,
    ARCHIVE_BYTES,
)


def declaration(about: str, sync: SyncPolicy) -> Declaration:
    """The declaration under a sync policy: with sync=end only the total has a durable time.

    Space then is what du says, as on the page: statfs may not know yet what is still to be written.
    """
    by_phase = sync is SyncPolicy.PHASE
    time = "durable_s" if by_phase else "elapsed_s"
    space = Figure("disk_usage", "used_bytes" if by_phase else "du_bytes")
    timed = tuple(Figure(phase, time) for phase in _TIMED)
    total = Figure(TOTAL, "durable_s")
    main = (total, Figure("copy_in", time), Figure("delete_all", time))
    titles = {"copy_in": _TIMED["copy_in"], "disk_usage": _DISK_USAGE, **_TIMED}
    figures = {figure.phase: figure for figure in (*timed, space)}
    return Declaration(
        workload="tree",
        about=about,
        phases=tuple(PhaseTitle(name, title) for name, title in titles.items()),
        metrics=_METRICS,
        columns=(
            *(Column(title, figures[name]) for name, title in titles.items()),
            Column("Total", total),
        ),
        main=main,
        charts=_charts(main, timed, space, by_phase),
    )


def _charts(main: tuple[Figure, ...], timed: tuple[Figure, ...], space: Figure, by_phase: bool) -> tuple[Chart, ...]:
    clock = "until the data are on the device" if by_phase else "until the commands return"
    return (
        Chart(
            "Time against the baseline",
            ChartKind.INTERVALS,
            main,
            "Ratio to the baseline with its 95 % interval; each mark is one run.",
        ),
        Chart("Where the time goes", ChartKind.PHASES, timed, f"Time of each phase, {clock}."),
        Chart("Disk usage", ChartKind.BARS, (space,), "Space that one copy of the tree takes."),
        Chart(
            "Where the CPU time goes",
            ChartKind.STACKED,
            (Figure(TOTAL, "user_s"), Figure(TOTAL, "sys_s")),
            "User and system time of cp, tar, gzip and rm, and the rest of the machine: kernel threads and FUSE "
            "daemons compress and write back, and run no command of the test.",
        ),
        Chart("Written to the device", ChartKind.BARS, (Figure(TOTAL, "device_write_bytes"),)),
    )
