"""A field that the management cluster's Flux may not know yet, and admission policies that are not as this version makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from tenantry.cluster.requests import one
from tenantry.facts.fields import changed_fields, projected
from tenantry.flux.schemas import schema_of
from tenantry.guard.targets import upgrades_in_place
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import NOT_ALLOWED, Problem, Refused, warning
from tenantry.plan.admission import label_policies
from tenantry.plan.objects.scope import APP_LABEL
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


_FIELD = "chartNameChangeStrategy"
DEFINITION = ObjectId("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "helmreleases.helm.toolkit.fluxcd.io")
"""Of HelmRelease, which `fitted` reads."""


def fitted(client: Client, plan: Plan) -> Plan:
    """The plan as the management cluster's Flux knows it. Where its CRD may not be read, the plan is left as it is.

    Raises: Refused: the cluster does not answer as one should.
    """
    if not any(map(_is_set, plan.objects)):
        return plan
    try:
        definition = one(client, DEFINITION)
    except Refused as refused:
        if refused.code != NOT_ALLOWED:
            raise
        return plan
    return plan if definition is None or serves_in_place(definition) else without_in_place(plan)


def serves_in_place(definition: Manifest) -> bool:
    """Whether the CRD of HelmRelease lets the field be; one that does not describe `spec.upgrade` takes everything."""
    path = ("schema", "openAPIV3Schema", "properties", "spec", "properties", "upgrade", "properties")
    served = [
        mapping for mapping in mappings_in(mapping_at(definition, "spec").get("versions")) if mapping.get("served")
    ]
    described = [fields for version in served if (fields := mapping_at(version, *path))]
    return not described or any(_FIELD in fields for fields in described)


def without_in_place(plan: Plan) -> Plan:
    """The plan without the field in baselines and add-ons. That of a tenant's app is its author's."""
    objects = list(plan.objects)
    for index, planned in enumerate(objects):
        if _is_set(planned):
            spec = planned.manifest["spec"]
            upgrade = {key: value for key, value in spec["upgrade"].items() if key != _FIELD}
            manifest = {**planned.manifest, "spec": {**spec, "upgrade": upgrade}}
            objects[index] = replace(planned, manifest=manifest)
    return replace(plan, objects=tuple(objects))


def no_in_place() -> Problem:
    """A warning that the field is left out."""
    source = schema_of("HelmRelease").source
    return warning(
        "no-in-place",
        f"HelmRelease has no field 'spec.upgrade.{_FIELD}' on the cluster, so runs leave it out: if the chart of a baseline or"
        " add-on gets another name in its repository, Flux uninstalls what it installed and installs it anew",
        f"upgrade Flux's helm-controller: {source.version} knows the field",
    )


def _is_set(planned: KubeObject) -> bool:
    of_app = planned.owner.tenant and APP_LABEL in planned.manifest["metadata"].get("labels", {})
    return planned.id.kind == "HelmRelease" and not of_app and upgrades_in_place(planned.manifest)


def check_policies(
    wanted: Iterable[Manifest],
    cluster: str,
    read: Callable[[ObjectId], Manifest | None],
    fix: str,
) -> Iterator[Problem]:
    """Yields a warning if any is missing, and one if any is different.

    Args:   wanted: the policies and their bindings. cluster: in words. read: an object of the cluster.
    Raises: Refused: one cannot be read.
    """
    policies = [(object_id(policy), policy, read(object_id(policy))) for policy in wanted]
    missing = [str(id) for id, _, live in policies if live is None]
    other = [str(id) for id, wanted, live in policies if live and _differs(live, wanted)]
    if missing:
        message = f"{cluster} has no {', '.join(missing)}: a tenant can reach what is not its own"
        yield warning("no-policy", message, fix)
    if other:
        verb = "differs" if len(other) == 1 else "differ"
        message = f"{', '.join(other)} on {cluster} {verb} from what this version of Tenantry creates"
        yield warning("other-policy", message, fix)


class Policed:
    """Whether an object was made when the admission policies, as this version makes them, kept tenants from the fleet's labels.

    Then its labels prove whose it is, in a tenant's namespace too. The policies are read when somebody asks first.
    """

    def __init__(self, read: Callable[[ObjectId], Manifest | None]) -> None:
        self._read = read

    def __call__(self, manifest: Manifest) -> bool:
        made = str(mapping_at(manifest, "metadata").get("creationTimestamp") or "")
        return bool(self._since) and made > self._since

    @cached_property
    def _since(self) -> str:
        """As RFC 3339; "" if the cluster does not have all of the policies, or does not say since when."""
        times = []
        for policy in label_policies():
            try:
                live = self._read(object_id(policy))
            except Refused:
                return ""
            if live is None or _differs(live, policy):
                return ""
            managers = mappings_in(mapping_at(live, "metadata").get("managedFields"))
            times.append(max((str(entry.get("time", "")) for entry in managers), default=""))
        return max(times) if all(times) else ""


def _differs(live: Manifest, wanted: Manifest) -> bool:
    return any(changed_fields(projected(live["spec"], wanted["spec"]), wanted["spec"]))
