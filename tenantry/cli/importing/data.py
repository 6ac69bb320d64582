"""`tenantry import --output json`."""

from __future__ import annotations

from typing import Any

from tenantry.cli.documents.importing import (
    Expressed,
    FollowedKustomization,
    Import,
    Kept,
    NotExpressed,
    Renamed,
)
from tenantry.importing.model import Proven, Read
from tenantry.importing.report import Report
from tenantry.kube.objects import object_id


def import_document(report: Report) -> Import:
    """The whole report."""
    reading = report.inventory.reading
    apps = {id(each.read): each for each in report.proof.renamed}
    return Import(
        file=report.file,
        environments={name: plan.management for name, plan in report.plans.items()},
        counts=report.counts,
        unread=reading.unread,
        followed=[
            FollowedKustomization(
                environment=each.environment,
                namespace=each.kustomization.namespace,
                name=each.kustomization.name,
                directory=each.directory,
                objects=each.objects,
                is_read=each.is_read,
            )
            for each in reading.followed
        ],
        flux=reading.flux,
        became=[Expressed(**_keys(each.read), path=each.path, line=line) for each, line in report.became],
        kept=[Kept(**_keys(each.read), fields=each.changed, stays=each.stays) for each in report.proof.kept],
        renamed=[_renamed(each, apps.get(id(each))) for each in report.renamed],
        left_over=[
            NotExpressed(**_keys(each.read), field=each.field, reason=each.reason, fix=each.fix, fate=each.fate)
            for each in report.left_over
        ],
        created=report.proof.added,
        steps=report.steps,
    )


def _renamed(read: Read, app: Proven | None) -> Renamed:
    planned, fields = (str(app.planned.id), app.changed) if app else ("", ())
    return Renamed(**_keys(read), planned=planned, fields=fields)


def _keys(read: Read) -> dict[str, Any]:
    return {"environment": read.environment, "origin": read.origin, **object_id(read.manifest)._asdict()}
