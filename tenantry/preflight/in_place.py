"""`upgrade.chartNameChangeStrategy` on a cluster whose Flux does not know it: 2.8 and older.

The field is there for the platform's own releases, whose authors need not know it. So such a cluster gets the plan without it,
where any other unknown field is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tenantry.cluster.requests import one
from tenantry.flux.schemas import schema_of
from tenantry.guard.targets import upgrades_in_place
from tenantry.kube.objects import KubeObject, Manifest, ObjectId
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import NOT_ALLOWED, Problem, Refused, warning
from tenantry.plan.objects.scope import APP_LABEL
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_FIELD = "chartNameChangeStrategy"
_DEFINITION = ObjectId("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "helmreleases.helm.toolkit.fluxcd.io")


def fitted(client: Client, plan: Plan) -> Plan:
    """The plan as the management cluster's Flux knows it. Where its CRD may not be read, the plan is left as it is.

    Raises: Refused: the cluster does not answer as one should.
    """
    if not any(map(_is_set, plan.objects)):
        return plan
    try:
        definition = one(client, _DEFINITION)
    except Refused as refused:
        if refused.code != NOT_ALLOWED:
            raise
        return plan
    return plan if definition is None or serves_in_place(definition) else without_in_place(plan)


def serves_in_place(definition: Manifest) -> bool:
    """Whether the CRD of HelmRelease lets the field be; one that does not describe `spec.upgrade` takes everything."""
    path = ("schema", "openAPIV3Schema", "properties", "spec", "properties", "upgrade", "properties")
    served = [each for each in mappings_in(mapping_at(definition, "spec").get("versions")) if each.get("served")]
    described = [fields for each in served if (fields := mapping_at(each, *path))]
    return not described or any(_FIELD in fields for fields in described)


def without_in_place(plan: Plan) -> Plan:
    """The plan without the field in baselines and add-ons. That of a tenant's app is its author's."""
    return replace(plan, objects=tuple(_without(each) if _is_set(each) else each for each in plan.objects))


def in_place_problems(plan: Plan, definition: Manifest | None) -> Iterator[Problem]:
    """A warning where the field would be left out. definition: the CRD of HelmRelease, if there is one."""
    if definition is not None and any(map(_is_set, plan.objects)) and not serves_in_place(definition):
        source = schema_of("HelmRelease").source
        yield warning(
            "no-in-place",
            f"HelmRelease has no field 'spec.upgrade.{_FIELD}' on the cluster, so runs leave it out: if the chart of a baseline or"
            " add-on gets another name in its repository, Flux uninstalls what it installed and installs it anew",
            f"upgrade Flux's helm-controller: {source.version} knows the field",
        )


def _is_set(planned: KubeObject) -> bool:
    of_app = planned.owner.tenant and APP_LABEL in planned.manifest["metadata"].get("labels", {})
    return planned.id.kind == "HelmRelease" and not of_app and upgrades_in_place(planned.manifest)


def _without(planned: KubeObject) -> KubeObject:
    spec = planned.manifest["spec"]
    upgrade = {key: value for key, value in spec["upgrade"].items() if key != _FIELD}
    return replace(planned, manifest={**planned.manifest, "spec": {**spec, "upgrade": upgrade}})
