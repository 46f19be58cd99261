"""What Miner's test declares: the nine commands in their order, and their sum."""

from __future__ import annotations

from fstrial.model.declaration import TOTAL, Chart, ChartKind, Column, Declaration, PhaseTitle
from fstrial.model.metric import PHASE_METRICS, Figure
from fstrial.model.plan import SyncPolicy
from fstrial.workloads._source import ARCHIVE_BYTES

__all__ = ["declaration"]


_PHASES = {
    "copy": "copy",
    "sync1": "sync 1",
    "recopy1": "recopy1",
    "recopy2": "recopy2",
    "sync2": "sync 2",
    "du": "du",
    "delete": "delete",
    "tar": "tar",
    "sync3": "sync 3",
}
"""Names and headings; the published table says `sync` three times."""


def declaration(about: str, sync: SyncPolicy) -> Declaration:
    """The declaration under a sync policy: with sync=end only the total has a durable time."""
    by_phase = sync is SyncPolicy.PHASE
    time = "durable_s" if by_phase else "elapsed_s"
    timed = tuple(Figure(phase, time) for phase in _PHASES)
    total = Figure(TOTAL, "durable_s")
    main = (total, Figure("copy", time), Figure("delete", time))
    clock = "until the data are on the device" if by_phase else "until the commands return"
    return Declaration(
        workload="miner",
        about=about,
        phases=tuple(PhaseTitle(name, title) for name, title in _PHASES.items()),
        metrics=(
            *PHASE_METRICS,
            ARCHIVE_BYTES,
        ),
        columns=(
            *(Column(_PHASES[figure.phase], figure) for figure in timed),
            Column("Overall", total),
        ),
        main=main,
        charts=(
            Chart(
                "Time against the baseline",
                ChartKind.INTERVALS,
                main,
                "Ratio to the baseline with its 95 % interval; each mark is one run.",
            ),
            Chart("Where the time goes", ChartKind.PHASES, timed, f"Time of each phase, {clock}."),
            Chart(
                "Where the CPU time goes",
                ChartKind.STACKED,
                (Figure(TOTAL, "user_s"), Figure(TOTAL, "sys_s")),
                "User and system time of cp, sync, du, rm and tar, and the rest of the machine.",
            ),
            Chart("Written to the device", ChartKind.BARS, (Figure(TOTAL, "device_write_bytes"),)),
        ),
    )
