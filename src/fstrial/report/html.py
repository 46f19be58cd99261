"""A run as one HTML page that needs nothing else: no network, no server, and scripts only to unpack its data."""

from __future__ import annotations

import base64
import gzip
import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fstrial.base.units import format_size
from fstrial.model.analysis import Analysis
from fstrial.model.record import RunRecord, RunState, TrialRecord
from fstrial.model.trial import NoteKind
from fstrial.report import _closing, _machine, charts, words
from fstrial.report._findings import Findings
from fstrial.report._results import MOST_TRIALS, Head, Results, TrialLine, results, trial_lines
from fstrial.stats.series import Table, tables

__all__ = ["render"]


@dataclass(frozen=True)
class _Trials:
    title: str
    rest: str
    lines: tuple[TrialLine, ...]


@dataclass(frozen=True)
class _Part:
    """One workload's part of the page."""

    anchor: str
    name: str
    about: str
    results: Results
    pictures: tuple[charts.Picture, ...]
    trials: _Trials


_LEVEL = 6
"""Of gzip: 9 takes half as long again for 8 % less."""


def render(record: RunRecord, analysis: Analysis, data: bytes, plan: str = "") -> str:
    """The page. `data` is the run as JSON (fstrial.formats.json), which it carries; `plan` the plan as TOML."""
    with ThreadPoolExecutor(1) as beside:  # compressing leaves the interpreter to the drawing meanwhile
        packing = beside.submit(gzip.compress, data, _LEVEL, mtime=0)
        parts = tuple(_part(record, analysis, table, number) for number, table in enumerate(tables(record), start=1))
        archive = packing.result()
    script, style = _asset("download.js"), _asset("page.css")
    return (
        _environment()
        .get_template("page.html")
        .render(
            record=record,
            title=words.title(record),
            kicker=_kicker(record, analysis),
            verdicts=words.verdicts(record, analysis),
            certainty=(*words.certainty(record, analysis), _closing.ending(record), _closing.cost(record)),
            wrong_content=_closing.wrong_content(record),
            notices=_closing.notices(record, analysis),
            facts=_machine.noted(record, NoteKind.FACT),
            baseline=record.plan.baseline,
            parts=parts,
            system=_machine.system(record),
            devices=_machine.devices(record),
            space=_machine.space(record),
            scripts=_machine.scripts(record),
            comparisons=analysis.main_comparisons,
            plan=plan,
            file_name=f"fstrial-run-{record.id}",
            archive=Markup(base64.b64encode(archive).decode()),
            archive_size=format_size(len(archive)),
            data_size=format_size(len(data)),
            style=style,
            script=script,
            script_hash=f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}",
        )
    )


def _environment() -> Environment:
    """Labels and notes are other people's text: everything is escaped unless it is marked as ours."""
    return Environment(
        loader=PackageLoader("fstrial.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _asset(name: str) -> Markup:
    """A file of the templates' folder as it is: style and script hold nothing of the run."""
    return Markup(resources.files("fstrial.report").joinpath("templates", name).read_text())


def _kicker(record: RunRecord, analysis: Analysis) -> str:
    begun = datetime.fromtimestamp(record.created_at, UTC)
    state = "" if record.state is RunState.FINISHED else f"run {record.state.value}"
    facts = (
        f"fstrial run {record.id}",
        f"{begun:%Y-%m-%d %H:%M} UTC",
        words.count(analysis.blocks, "complete block"),
        record.environment.kernel and f"kernel {record.environment.kernel}",
        state,
    )
    return " · ".join(filter(None, facts))


def _part(record: RunRecord, analysis: Analysis, table: Table, number: int) -> _Part:
    findings = Findings(table, analysis, record.plan.baseline)
    shown = results(findings)
    trials = tuple(one for one in record.measured() if one.trial.workload.name == table.workload)
    return _Part(
        anchor=f"workload-{number}",
        name=table.workload,
        about=table.declaration.about,
        results=shown,
        pictures=charts.draw(findings),
        trials=_trials(findings, shown.heads, trials),
    )


def _trials(findings: Findings, heads: tuple[Head, ...], trials: tuple[TrialRecord, ...]) -> _Trials:
    rest = len(trials) - MOST_TRIALS
    more = f"The first {MOST_TRIALS} are shown; the other {rest} are in the data of this page." if rest > 0 else ""
    return _Trials(f"All {len(trials)} trials of {findings.table.workload}", more, trial_lines(findings, heads, trials))
