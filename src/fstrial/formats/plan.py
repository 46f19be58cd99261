"""The plan of a run as TOML, for `fstrial run --plan`. It carries no consent to erase anything."""

from __future__ import annotations

from typing import Any, ClassVar

import tomli_w

from fstrial.base.units import size_word
from fstrial.formats.contract import Format
from fstrial.model.analysis import Analysis
from fstrial.model.plan import FilesystemChoice, Plan, StoppingRule, WorkloadChoice
from fstrial.model.record import RunRecord

__all__ = ["FORMAT"]


class _PlanFile(Format):
    name: ClassVar[str] = "plan"
    suffixes: ClassVar[tuple[str, ...]] = (".toml",)
    about: ClassVar[str] = "the plan as TOML, to be run again"

    def write(self, record: RunRecord, analysis: Analysis) -> bytes:
        head = f"# The plan of run {record.id}. Again: fstrial run --plan THIS.toml\n\n"
        return (head + tomli_w.dumps(_tree(record.plan))).encode()


def _tree(plan: Plan) -> dict[str, Any]:
    """Keys in the order in which a person would read them; what is left open is left out."""
    tree: dict[str, Any] = {
        "label": plan.label,
        "baseline": plan.baseline,
        "targets": list(plan.targets),
        "seed": plan.seed,
        "sync": plan.sync.value,
        "fsck": plan.fsck,
        "verify": plan.verify,
        "deadline": _duration_word(plan.deadline_s),
        "aa": plan.aa,
    }
    if plan.memory_bytes is not None:
        tree["memory"] = size_word(plan.memory_bytes)
    tree["rule"] = _rule(plan.rule)
    tree["filesystem"] = [_filesystem(choice) for choice in plan.filesystems]
    tree["workload"] = [_workload(choice) for choice in plan.workloads]
    return tree


def _rule(rule: StoppingRule) -> dict[str, Any]:
    """`runs` alone or `until` alone: the reader takes either for the whole choice."""
    kept: dict[str, Any] = {"max_runs": rule.max_runs}
    if rule.runs is not None:
        kept["runs"] = rule.runs
    elif rule.until is not None:
        kept["until"] = _share_word(rule.until)
    kept["budget"] = "none" if rule.budget_s is None else _duration_word(rule.budget_s)
    return kept


def _filesystem(choice: FilesystemChoice) -> dict[str, Any]:
    options = {"mkfs": list(choice.mkfs), "mount": list(choice.mount)}
    return {"type": choice.type, "label": choice.label} | {key: words for key, words in options.items() if words}


def _workload(choice: WorkloadChoice) -> dict[str, Any]:
    return {"name": choice.name, "settings": {setting.key: setting.value for setting in choice.settings}}


def _share_word(share: float) -> str | float:
    """`5%` where that is exactly the share."""
    word = f"{share * 100:g}"
    return f"{word}%" if float(word) / 100 == share else share


def _duration_word(seconds: float) -> str | float:
    """`10m`, `90s`; a number of seconds where there is a fraction."""
    if not seconds.is_integer():
        return seconds
    whole = int(seconds)
    return f"{whole // 60}m" if whole % 60 == 0 else f"{whole}s"


FORMAT = _PlanFile()
