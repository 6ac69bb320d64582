"""The content of `tenantry/flux/kubernetes.json`: the schemas of Kubernetes' own kinds, from what an API server says of itself."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tenantry.fleet.rules.tenants import OF_THE_CLUSTER
from tenantry.flux.conformance import QUANTITY
from tenantry.kube.objects import CLUSTER_SCOPED, group_of

_NAMESPACED = {
    "v1": (
        *("Binding", "ConfigMap", "Endpoints", "Event", "LimitRange", "PersistentVolumeClaim", "Pod", "PodTemplate"),
        *("ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount"),
    ),
    "apps/v1": ("ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "autoscaling/v2": ("HorizontalPodAutoscaler",),
    "batch/v1": ("CronJob", "Job"),
    "coordination.k8s.io/v1": ("Lease",),
    "discovery.k8s.io/v1": ("EndpointSlice",),
    "networking.k8s.io/v1": ("Ingress", "NetworkPolicy"),
    "policy/v1": ("PodDisruptionBudget",),
    "rbac.authorization.k8s.io/v1": ("Role", "RoleBinding"),
    "storage.k8s.io/v1": ("CSIStorageCapacity",),
}
KINDS = {kind: api for part in (_NAMESPACED, CLUSTER_SCOPED) for api, kinds in part.items() for kind in kinds}
"""The kinds that every cluster serves, with the version that the file has of each."""
_KEPT = frozenset({"$ref", "additionalProperties", "enum", "items", "properties", "required", "type"})
_OF_SERVERS = frozenset({"managedFields", "status"})
"""Keys that servers write: whatever an author writes there has no effect."""
_SEVERAL = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": ["number", "string"], "pattern": QUANTITY},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": ["integer", "string"]},
}
"""Definitions with alternatives of types, in one word, and the grammar that the server has for them in code."""


def text(document_of: Callable[[str], Mapping[str, Any]]) -> str:
    """The file. Args: document_of: an OpenAPI document of the server, by its path, such as `/openapi/v3/apis/apps/v1`."""
    kinds: dict[str, str] = {}
    definitions: dict[str, Any] = {}
    for api in sorted({*KINDS.values()}):
        if group_of(api) in OF_THE_CLUSTER:
            continue
        schemas = document_of(f"/openapi/v3/{'apis' if '/' in api else 'api'}/{api}")["components"]["schemas"]
        for name, schema in schemas.items():
            for served in schema.get("x-kubernetes-group-version-kind", ()):
                version = "/".join(filter(None, (served["group"], served["version"])))
                if KINDS.get(served["kind"]) == version == api:
                    kinds[f"{api}/{served['kind']}"] = name
        wanted = [name for name in kinds.values() if name in schemas]
        while wanted:
            name = wanted.pop()
            if name not in definitions:
                definitions[name] = _SEVERAL.get(name) or _reduced(schemas[name])
                wanted += _references(definitions[name])
    return json.dumps({"kinds": kinds, "$defs": definitions}, indent=1, sort_keys=True) + "\n"


def _reduced(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What a schema enforces, without prose and defaults. The only `allOf` is a reference with prose."""
    if "allOf" in schema:
        (schema,) = schema["allOf"]
    kept: dict[str, Any] = {key: value for key, value in schema.items() if key in _KEPT}
    if "$ref" in kept:
        return {"$ref": f"#/$defs/{kept['$ref'].rpartition('/')[2]}"}
    if "properties" in kept:
        parts = kept["properties"].items()
        kept["properties"] = {key: {} if key in _OF_SERVERS else _reduced(part) for key, part in parts}
        kept.setdefault("additionalProperties", False)
        for key in kept["properties"].keys() - set(kept.get("required", ())):
            if "enum" in (part := kept["properties"][key]):
                part["enum"] = [*part["enum"], ""]  # for a server, an empty string is a missing one
    for key in ("items", "additionalProperties"):
        if isinstance(kept.get(key), dict):
            kept[key] = _reduced(kept[key])
    return kept


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(reference := schema.get("$ref"), str):
            yield reference.rpartition("/")[2]
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        yield from _references(part)
