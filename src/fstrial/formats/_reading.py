"""A run out of our JSON. What the statistics said is left there: it follows from the trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from fstrial.base.errors import DataError
from fstrial.formats import _document as document
from fstrial.model.metric import Sample
from fstrial.model.plan import Plan
from fstrial.model.record import RunRecord, TrialRecord
from fstrial.model.trial import Command, PhaseResult, Trial, TrialKind, TrialResult

__all__ = ["read"]

_decode = msgspec.json.Decoder(document.Document).decode
_AGAIN = "is the file whole? `fstrial report RUN --json PATH` writes it again"


class _Header(Struct):
    format: str = ""
    version: int = 0


_decode_header = msgspec.json.Decoder(_Header).decode


def read(data: bytes, name: str = "the JSON") -> RunRecord:
    """The run in a JSON of ours; `name` is what errors call it.

    Raises DataError: not JSON or cut off, something else's, of a newer version, or a key whose value is none.
    """
    try:
        _check(_decode_header(data), name)
        whole = _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DataError(f"{name} is no whole JSON of fstrial: {_complaint(error)}", _AGAIN) from error
    plan = _Plan(whole.plan, name)
    kept = [
        *(plan.record(one, TrialKind.MEASURED, f"trials[{at}]") for at, one in enumerate(whole.trials)),
        *(
            plan.record(one, TrialKind.VERIFICATION, f"verifications[{at}]")
            for at, one in enumerate(whole.verifications)
        ),
    ]
    return RunRecord(
        id=whole.run.id,
        uid=whole.run.uid,
        created_at=whole.run.created_at,
        state=whole.run.state,
        plan=whole.plan,
        environment=whole.environment,
        declarations=whole.declarations,
        trials=tuple(sorted(kept, key=lambda one: one.trial.number)),
        stop_reason=whole.run.stop_reason,
        finished_at=whole.run.finished_at,
    )


def _check(header: _Header, name: str) -> None:
    if header.format != document.NAME:
        raise DataError(f"{name} is no JSON of fstrial: its key `format` is {header.format!r}, not {document.NAME!r}")
    if not 1 <= header.version <= document.VERSION:
        raise DataError(
            f"{name}: `version` is {header.version}, and this fstrial reads up to {document.VERSION}",
            "upgrade fstrial",
        )


def _complaint(error: Exception) -> str:
    """msgspec's "Expected `str`, got `int` - at `$.run.uid`" with the key in front."""
    what, _, where = str(error).partition(" - at `$.")
    return f"`{where}: {what[:1].lower()}{what[1:]}" if where else what


class _Plan:
    """The plan's candidates and workloads by the names that trials have for them."""

    def __init__(self, plan: Plan, name: str) -> None:
        self._name = name
        named = [candidate.label for candidate in msgspec.structs.replace(plan, aa=False).candidates()]
        if plan.baseline not in named:
            raise DataError(
                f"{name}: `plan.baseline`: {plan.baseline!r} is none of its filesystems ({', '.join(named)})", _AGAIN
            )
        self._candidates = {candidate.label: candidate for candidate in plan.candidates()}
        self._workloads = {choice.name: choice for choice in plan.workloads}

    def record(self, one: document.Trial, kind: TrialKind, where: str) -> TrialRecord:
        """`where` is the trial's key in errors."""
        for key, value, known in (
            ("filesystem", one.filesystem, self._candidates),
            ("workload", one.workload, self._workloads),
        ):
            if value not in known:
                raise DataError(f"{self._name}: `{where}.{key}`: {value!r} is not in the plan", _AGAIN)
        trial = Trial(
            number=one.number,
            block=one.block,
            position=one.position,
            candidate=self._candidates[one.filesystem],
            workload=self._workloads[one.workload],
            kind=kind,
            sync=one.sync,
            fsck=one.fsck,
            seed=one.seed,
            deadline_s=one.deadline_s,
        )
        return TrialRecord(trial, _result(one))


def _result(one: document.Trial) -> TrialResult:
    return TrialResult(
        outcome=one.outcome,
        host=one.host,
        started_at=one.started_at,
        elapsed_s=one.elapsed_s,
        reason=one.reason,
        phases=tuple(_phase(phase) for phase in one.phases),
        space=one.space,
        commands=tuple(
            Command(ran.phase, ran.argv, ran.exit_status, ran.elapsed_s, ran.stderr) for ran in one.commands
        ),
        notes=one.notes,
        context=_samples(one.context.metrics, one.context.missing, one.context.lower_bounds),
        device=one.device,
        wrong_content=one.wrong_content,
    )


def _phase(one: document.Phase) -> PhaseResult:
    samples = _samples(one.metrics, one.missing, one.lower_bounds)
    return PhaseResult(one.name, one.kind, one.outcome, samples, one.reason, one.cache)


def _samples(
    metrics: Mapping[str, float | None], missing: Mapping[str, str], lower_bounds: Sequence[str]
) -> tuple[Sample, ...]:
    return tuple(
        Sample(metric, value, missing.get(metric, ""), metric in lower_bounds) for metric, value in metrics.items()
    )
