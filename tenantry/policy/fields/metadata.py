"""Labels and annotations of a tenant's objects: those that the fleet sets have the values of the object's own place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.policy.fields.table import Filled, text
from tenantry.policy.main_file import filled_in
from tenantry.policy.resource import ROLE, TENANT, mapping
from tenantry.policy.tenants import APP, CLUSTER, ENVIRONMENT, FETCHED, SOURCE

STATE = "tenantry/state"
_LEAVING = "tenantry/leaving"
_REQUIRED = "tenantry/require-"
"""Judged by `tenants-namespaces-say-what-is-required`."""
_NAMES = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(,[a-z0-9]([a-z0-9.-]*[a-z0-9])?)*")
_ACCOUNT = "tenantry/account"
_PRUNE = "kustomize.toolkit.fluxcd.io/prune"
_MANAGED_BY = "app.kubernetes.io/managed-by"
_WATCH = "reconcile.fluxcd.io/watch"
_POD_SECURITY = "pod-security.kubernetes.io/"
_ANNOTATIONS = {
    "pulumi.com/deletionPropagationPolicy": "background",
    "pulumi.com/patchFieldManager": "tenantry",
    "pulumi.com/patchForce": "true",
    "pulumi.com/waitFor": "condition=Ready",
    "helm.sh/resource-policy": "keep",
    _PRUNE: "disabled",
}
"""How Pulumi treats an object, and what keeps data."""
_ENFORCED = (f"{_POD_SECURITY}enforce", f"{_POD_SECURITY}enforce-version")
"""Judged by `tenants-namespaces-keep-their-pod-security`."""
_SAYING = (("", "Namespace"), ("", "Secret"), ("", "ConfigMap"))
"""Kinds that need all of the fleet's labels: the admission policy and the guard read those of a Namespace, Flux the others."""
_BY_OTHERS = (".toolkit.fluxcd.io",)
"""Groups of the kinds of whose own labels and annotations another rule judges the keys."""


def problems(of: Filled, declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with the metadata of an object. declared: the object as the main file itself writes it; {}: it does not."""
    given = mapping(of.resource.props.get("metadata"))
    for key in given:
        if key not in ("name", "namespace", "labels", "annotations"):
            yield f"metadata.{key}", "fills a field that no tenant may fill"
    unawaited = {"pulumi.com/skipAwait": "true"} if declared else {}
    annotations = _ANNOTATIONS | unawaited | _of_account(of) | _of_owners(of)
    for kind, fleets in (("labels", _labels(of)), ("annotations", annotations)):
        own = mapping(mapping(declared.get("metadata")).get(kind))
        for key, value in mapping(given.get(kind)).items():
            if key not in own and (problem := _problem(of, key, value, fleets)):
                yield f"metadata.{kind}.{key}", problem
    if not declared and (of.resource.group, of.resource.kind) in _SAYING:
        yield from _missing(of)


def _problem(of: Filled, key: str, value: Any, fleets: Mapping[str, str]) -> str:
    if key == STATE:
        return "" if value in states(of) else f"says '{value}', which is not its state,"
    if key == _LEAVING and of.resource.kind == "Namespace":
        # Which of the apps there leave: their team gives them up as it likes.
        return "" if _NAMES.fullmatch(str(value)) else "holds no names of apps"
    if key.startswith(_REQUIRED) and of.resource.kind == "Namespace":
        return ""
    if key == APP or (key in _ENFORCED and of.resource.kind == "Namespace"):
        return text(value, of)
    if key in fleets:
        return "" if value == fleets[key] else f"has another value than '{fleets[key]}'"
    is_fleets = key.startswith(("tenantry/", "pulumi.com/", _POD_SECURITY)) or _fluxcds(key)
    if is_fleets or not _is_judged_elsewhere(of):
        return "has what no tenant may set"
    return text(value, of)


def _fluxcds(key: str) -> bool:
    prefix = key.partition("/")[0]
    return prefix.endswith("fluxcd.io") and key != "sharding.fluxcd.io/key"


def _is_judged_elsewhere(of: Filled) -> bool:
    """Whether `tenants-labels-are-granted` or `tenants-flux-objects-carry-granted-metadata` looks at the keys."""
    return of.resource.kind == "Namespace" or of.resource.group.endswith(_BY_OTHERS)


def _labels(of: Filled) -> dict[str, str]:
    """The fleet's labels of the object."""
    place, resource = of.place, of.resource
    found = {_MANAGED_BY: "tenantry", TENANT: place.tenant, ENVIRONMENT: place.environment}
    if not place.shared:
        found[CLUSTER] = place.cluster
    elif resource.kind in FETCHED:
        found[SOURCE] = resource.name.split(".")[1] if "." in resource.name else ""
    if resource.kind == "Namespace":
        found |= {ROLE: "tenant", _PRUNE: "disabled"} | _pod_security(of)
        if place.kubeconfig is None and place.account != place.tenant:
            found[_ACCOUNT] = place.account
    if (resource.group, resource.kind) in (("", "Secret"), ("", "ConfigMap")):
        found[_WATCH] = "Enabled"
    return found


def _pod_security(of: Filled) -> dict[str, str]:
    frame = of.place.frame
    return {
        f"{_POD_SECURITY}{key}": value
        for key, value in frame.pod_security(frame.extra(of.place.environment).get(of.resource.name, "")).items()
    }


def _missing(of: Filled) -> Iterator[tuple[str, str]]:
    unsaid = (_MANAGED_BY,) if of.resource.by else ()
    for key, value in _labels(of).items():
        if key not in (*unsaid, *_ENFORCED) and key not in of.resource.labels:
            yield f"metadata.labels.{key}", f"does not say '{value}'"


def _of_account(of: Filled) -> dict[str, str]:
    """The annotations that the main file gives the account of the tenant's pods."""
    if of.resource.kind != "ServiceAccount" or not of.is_on_target:
        return {}
    written = filled_in(of.place.frame.of_account.get("annotations"), of.place.variables())
    return {key: str(value) for key, value in mapping(written).items()}


def _of_owners(of: Filled) -> dict[str, str]:
    """The annotation of a namespace that came from another tenant. The chart of baselines gives it away by it."""
    frame, name = of.place.frame, of.resource.name if of.resource.kind == "Namespace" else ""
    key = frame.extra(of.place.environment).get(name, "")
    owners = [str(each.get("tenant")) for each in frame.owners_before(key)]
    return {"tenantry/formerly": ",".join(owners)} if owners else {}


_MARKS = frozenset({"removing", "offboarding"})


def states(of: Filled) -> frozenset[str]:
    """What the label for the state may say: the guard lets a run remove what says that it leaves."""
    place, own = of.place, of.place.frame.own
    cluster = mapping(place.frame.file.clusters.get(place.cluster))
    of_cluster = cluster.get("state")
    if of_cluster == "decommissioned":
        return frozenset({"decommissioned"})
    there = mapping(mapping(mapping(own.get("overrides")).get("clusters")).get(place.cluster))
    declared = [own.get("state"), there.get("state"), of_cluster]
    if of.resource.kind == "Namespace":
        key = place.frame.extra(place.environment).get(of.resource.name, "")
        declared.append(mapping(mapping(own.get("namespaces")).get(key)).get("state"))
    # Apps come and go as their team likes.
    is_apps = of.resource.is_reconciler and APP in of.resource.labels
    return _MARKS if is_apps else _MARKS.intersection(declared)
