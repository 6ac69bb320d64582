"""Every field of Flux's blocks comes back when the objects are imported as somebody else's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tenantry.importing.documents import Document, cleaned
from tenantry.importing.drafting import drafted, text_of
from tenantry.importing.proof import Report, report_of
from tenantry.importing.resources import Reading, inventory
from tenantry.kube.objects import Manifest
from tenantry.load import fleet_of, plan_all
from tenantry.plan.objects.scope import MARKS
from tenantry.source.parse import parse
from tests.table import table

HERE = Path(__file__).parent


def foreign(manifest: Manifest) -> Document:
    """A planned object without what says that Tenantry manages it."""
    metadata: dict[str, Any] = dict(manifest["metadata"])
    for key in ("labels", "annotations"):
        metadata[key] = {
            name: value
            for name, value in metadata.get(key, {}).items()
            if not MARKS.fullmatch(name) or name == "toolkit.fluxcd.io/tenant"
        }
    return Document(cleaned({**manifest, "metadata": metadata}), "live")


BLOCKS = ("Kustomization", "HelmRelease", "HelmChart", "GitRepository", "OCIRepository", "HelmRepository", "Bucket")
BESIDE = ("Namespace", "Secret", "ConfigMap", "Provider", "Alert", "Receiver")


def imported(name: str) -> Report:
    """The report on what is planned on the management cluster: on others, objects have the names of shared ones."""
    plan = plan_all(fleet_of(parse((HERE / f"{name}.yaml").read_bytes(), "tenants.yaml")))["dev"]
    objects = [each.manifest for each in plan.objects if each.id.kind in BLOCKS + BESIDE]
    here = [foreign(each) for each in objects if each["metadata"].get("namespace") != "kamaji"]
    read = inventory({"dev": Reading(here)}, {"dev": plan.management})
    draft = drafted(read)
    return report_of(read, draft, text_of(draft.data), "tenants.yaml")


@table("name", ["before", "after"])
def test_every_field_of_fluxs_blocks_comes_back(name: str) -> None:
    blocks = [each for each in imported(name).objects if each.id.kind in BLOCKS]
    assert {each.id.kind for each in blocks} == set(BLOCKS)
    assert not any(each.held for each in blocks)
    # The name of a chart holds whether it has an interval of its own.
    changed = {field.path for each in blocks for field in each.changed}
    assert changed == ({("spec", "chartRef", "name")} if name == "after" else set())
    # Two apps go into another namespace of their tenant, which is a tenant of its own.
    lost = {each.id.name for each in blocks if each.planned is None and each.id.kind != "HelmChart"}
    assert lost == ({"cache", "charts", "main", "web"} if name == "after" else set())
