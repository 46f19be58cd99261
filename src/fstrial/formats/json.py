"""Everything of a run as JSON with a version number: docs/reference-json.md. What is written can be read again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

import msgspec

from fstrial.base import proc
from fstrial.formats import _document as document
from fstrial.formats._reading import read
from fstrial.formats.contract import Format
from fstrial.model.analysis import Analysis, Comparison, Interval, Summary
from fstrial.model.metric import PHASE_METRICS, Sample
from fstrial.model.record import RunRecord, TrialRecord
from fstrial.model.trial import Command, PhaseResult

__all__ = ["FORMAT", "read"]

_encode = msgspec.json.Encoder().encode


class _Json(Format):
    name: ClassVar[str] = "json"
    suffixes: ClassVar[tuple[str, ...]] = (".json",)
    about: ClassVar[str] = "everything, with a version number and a documented schema"

    def write(self, record: RunRecord, analysis: Analysis) -> bytes:
        own = {metric.name: metric for one in record.declarations for metric in one.metrics}
        whole = document.Document(
            format=document.NAME,
            version=document.VERSION,
            run=document.Run(
                id=record.id,
                uid=record.uid,
                label=record.plan.label,
                created_at=record.created_at,
                finished_at=record.finished_at,
                state=record.state,
                stop_reason=record.stop_reason,
            ),
            plan=record.plan,
            environment=record.environment,
            metrics=(*PHASE_METRICS, *own.values()),
            declarations=record.declarations,
            trials=tuple(_trial(one) for one in record.measured()),
            verifications=tuple(_trial(one) for one in record.verifications()),
            summaries=tuple(_summary(one) for one in analysis.summaries),
            comparisons=tuple(_comparison(one) for one in analysis.comparisons),
            flags=analysis.flags,
            outlook=analysis.outlook,
        )
        return _encode(whole)


def _trial(kept: TrialRecord) -> document.Trial:
    trial, result = kept.trial, kept.result
    return document.Trial(
        number=trial.number,
        filesystem=trial.candidate.label,
        type=trial.candidate.filesystem.type,
        target=trial.candidate.target,
        workload=trial.workload.name,
        block=trial.block,
        position=trial.position,
        seed=trial.seed,
        sync=trial.sync,
        fsck=trial.fsck,
        deadline_s=trial.deadline_s,
        host=result.host,
        outcome=result.outcome,
        reason=result.reason,
        wrong_content=result.wrong_content,
        started_at=result.started_at,
        elapsed_s=result.elapsed_s,
        phases=tuple(_phase(one) for one in result.phases),
        space=result.space,
        commands=tuple(_command(one) for one in result.commands),
        notes=result.notes,
        context=document.Samples(*_samples(result.context)),
        device=result.device,
    )


def _phase(phase: PhaseResult) -> document.Phase:
    return document.Phase(phase.name, phase.kind, phase.outcome, phase.cache, phase.reason, *_samples(phase.samples))


def _samples(samples: Sequence[Sample]) -> tuple[dict[str, float | None], dict[str, str], tuple[str, ...]]:
    metrics = {sample.metric: sample.value for sample in samples}
    missing = {sample.metric: sample.missing for sample in samples if sample.value is None}
    return metrics, missing, tuple(sample.metric for sample in samples if sample.lower_bound)


@lru_cache(maxsize=4096)
def _shell(argv: tuple[str, ...]) -> str:
    """Ten thousand trials ran the same few commands."""
    return proc.paste(argv)


def _command(one: Command) -> document.Command:
    return document.Command(one.phase, one.argv, _shell(one.argv), one.exit_status, one.elapsed_s, one.stderr)


def _summary(one: Summary) -> document.Summary:
    return document.Summary(
        filesystem=one.filesystem,
        workload=one.workload,
        phase=one.figure.phase,
        metric=one.figure.metric,
        geometric_mean=one.geometric_mean,
        runs=one.runs,
        failed=one.failed,
        missing=one.missing,
        too_short=one.too_short,
    )


def _comparison(one: Comparison) -> document.Comparison:
    return document.Comparison(
        filesystem=one.filesystem,
        baseline=one.baseline,
        workload=one.workload,
        phase=one.figure.phase,
        metric=one.figure.metric,
        main=one.main,
        aa=one.aa,
        blocks=one.blocks,
        ratio=one.ratio,
        interval=_ends(one.interval),
        adjusted_interval=_ends(one.adjusted),
        p=one.p,
        p_adjusted=one.p_adjusted,
        verdict=None if one.verdict is None else one.verdict.value,
        method=one.method.value,
        failed=one.failed,
        baseline_failed=one.baseline_failed,
        why=one.why,
    )


def _ends(interval: Interval | None) -> document.Ends | None:
    return None if interval is None else (interval.low, interval.high)


FORMAT = _Json()
