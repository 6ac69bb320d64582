"""Checks that the management cluster serves Flux's kinds with every field that the plan uses, and its admission policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tenantry.cluster.requests import one
from tenantry.facts.fields import changed_fields, projected
from tenantry.flux.schemas import Schema, kinds, schema_of
from tenantry.guard.targets import upgrades_in_place
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import NOT_ALLOWED, Problem, Refused, error, warning
from tenantry.plan.admission import label_policies
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
    served = [
        mapping for mapping in mappings_in(mapping_at(definition, "spec").get("versions")) if mapping.get("served")
    ]
    described = [fields for version in served if (fields := mapping_at(version, *path))]
    return not described or any(_FIELD in fields for fields in described)


def without_in_place(plan: Plan) -> Plan:
    """The plan without the field in baselines and add-ons. That of a tenant's app is its author's."""
    objects = (_without(planned) if _is_set(planned) else planned for planned in plan.objects)
    return replace(plan, objects=tuple(objects))


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


CRD_API = "apiextensions.k8s.io/v1"


def definitions(plan: Plan) -> dict[str, ObjectId]:
    """The CRD of each Flux kind that a plan uses, by kind."""
    used = sorted({planned.id.kind for planned in plan.objects} & set(kinds()))
    return {kind: ObjectId(CRD_API, "CustomResourceDefinition", "", _crd(schema_of(kind))) for kind in used}


def check_fitness(plan: Plan, served: Mapping[str, Manifest | None]) -> Iterator[Problem]:
    """Args: served: the CRDs on the cluster by kind; None: the CRD is not installed."""
    if (releases := served.get("HelmRelease")) and not serves_in_place(releases):
        plan = without_in_place(plan)
    for kind, definition in served.items():
        schema = schema_of(kind)
        planned = [planned for planned in plan.objects if planned.id.kind == kind]
        if definition is None:
            message = f"the cluster does not serve {kind} ({_crd(schema)}), and the plan has {len(planned)}"
            yield error("no-kind", message, f"install Flux's {_controller(schema)} and its CRDs, {_known(schema)}")
            continue
        yield from _established(kind, definition)
        yield from _fields(plan, schema, definition, planned)


def _established(kind: str, definition: Manifest) -> Iterator[Problem]:
    conditions = (definition.get("status") or {}).get("conditions") or ()
    state = {condition["type"]: condition for condition in conditions}
    if state.get("Established", {}).get("status") != "True":
        said = state.get("NamesAccepted", {}).get("message") or "no reason is given"
        message = f"the cluster has a definition of {kind}, but does not serve it: {said}"
        yield error("not-established", message, "wait a moment; otherwise install Flux's CRDs again")


@dataclass(slots=True)
class _Use:
    """The use of a field that the CRD does not have: one object, and how many more use it."""

    example: KubeObject
    more: int = 0


def _fields(plan: Plan, schema: Schema, definition: Manifest, planned: list[KubeObject]) -> Iterator[Problem]:
    served = {version["name"]: version for version in definition["spec"]["versions"] if version.get("served")}
    for version in sorted({object.id.api_version.rpartition("/")[2] for object in planned}):
        users = [object for object in planned if object.id.api_version.endswith(f"/{version}")]
        if version not in served:
            message = (
                f"the cluster serves {schema.kind} as {', '.join(sorted(served)) or 'nothing'}, and the plan needs"
                f" {schema.group}/{version}"
            )
            yield error("old-version", message, f"upgrade Flux's {_controller(schema)}: {_known(schema)}")
            continue
        structure = served[version].get("schema", {}).get("openAPIV3Schema", {}).get("properties", {}).get("spec", {})
        unknown: dict[str, _Use] = {}
        for user in users:
            for message in dict.fromkeys(_unknown(structure, user.manifest.get("spec") or {}, "spec")):
                if message in unknown:
                    unknown[message].more += 1
                else:
                    unknown[message] = _Use(user)
        for message, use in unknown.items():
            yield error(
                "unknown-field",
                f"{schema.kind} {message}; {_told(plan, use)}",
                f"upgrade Flux's {_controller(schema)}: {_known(schema)}; or remove the field from tenants.yaml",
            )


def _unknown(structure: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
    """Describe the fields and enum values in a value that a structural schema does not have."""
    if structure.get("x-kubernetes-preserve-unknown-fields") or "type" not in structure:
        return  # any value is allowed, such as the values of a chart
    if isinstance(value, dict):
        fields, others = structure.get("properties", {}), structure.get("additionalProperties")
        for key, part in value.items():
            if key in fields:
                yield from _unknown(fields[key], part, f"{path}.{key}")
            elif isinstance(others, dict):
                yield from _unknown(others, part, f"{path}.{key}")
            elif not others:
                yield f"has no field '{path}.{key}' on the cluster, which would drop it"
    elif isinstance(value, list):
        for part in value:
            yield from _unknown(structure.get("items", {}), part, f"{path}[]") if "items" in structure else ()
    elif isinstance(value, str) and value not in structure.get("enum", (value,)):
        yield f"does not allow '{value}' for '{path}' on the cluster, which would reject it"


def _told(plan: Plan, use: _Use) -> str:
    """Kustomization rocky/web (app 'web' of tenant 'rocky') and 2 more use it"""
    app = next((app for app in plan.apps if app.id == use.example.id), None)
    if app is None:
        whose = f" (tenant '{use.example.owner.tenant}')" if use.example.owner.tenant else " (the platform)"
    else:
        whose = f" (app '{app.name}' of tenant '{app.tenant}')" if app.tenant else f" (add-on '{app.name}')"
    more = f" and {use.more} more use it" if use.more else " uses it"
    return f"{use.example.id}{whose}{more}"


def _known(schema: Schema) -> str:
    return f"{schema.source.version} supports everything that the plan uses"


def _controller(schema: Schema) -> str:
    """github.com/fluxcd/source-watcher/v2 -> source-watcher"""
    return schema.source.module.split("/")[2]


def _crd(schema: Schema) -> str:
    return f"{schema.plural}.{schema.group}"


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
