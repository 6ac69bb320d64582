"""The report of `tenantry import` as plain data, for `--output json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tenantry.cli.diff.objects_data import field_as_data, id_as_data
from tenantry.importing.model import LeftOver, Proven, Read
from tenantry.importing.report.report import Report
from tenantry.kube.objects import object_id


def as_data(report: Report) -> dict[str, Any]:
    """The keys of the document, without its head."""
    return {
        "file": report.file,
        "environments": {name: plan.management for name, plan in report.plans.items()},
        "counts": {**asdict(report.counts), "expressed": report.counts.expressed},
        "became": [{**_read(each.read), "path": list(each.path), "line": line} for each, line in report.became],
        "kept": [_kept(each) for each in report.proof.kept],
        "renamed": [_read(each) for each in report.renamed],
        "leftOver": [_left_over(each) for each in report.left_over],
        "risks": [
            {"environment": each.environment, **id_as_data(each.id), "field": each.field, "reason": each.reason}
            for each in report.risks
        ],
        "created": [{"environment": each.environment, **id_as_data(each.id)} for each in report.proof.added],
        "steps": [{"text": each.text, "commands": list(each.commands)} for each in report.steps],
    }


def _read(read: Read) -> dict[str, Any]:
    return {"environment": read.environment, **id_as_data(object_id(read.manifest)), "origin": read.origin}


def _kept(kept: Proven) -> dict[str, Any]:
    changed, stays = ([field_as_data(each) for each in fields] for fields in (kept.changed, kept.stays))
    return {**_read(kept.read), "fields": changed, "stays": stays}


def _left_over(left: LeftOver) -> dict[str, Any]:
    return {**_read(left.read), "field": left.field, "reason": left.reason, "fix": left.fix}
