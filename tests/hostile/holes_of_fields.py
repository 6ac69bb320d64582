"""Holes in single builders of the planner, each with a field that no tenant may fill, or not so; see `holes`.

Only tests switch them on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

import tenantry.fleet.rules as rules
from tenantry.fleet.rules.clusters import included_files_keep_to_the_waves as off
from tenantry.grants import frames
from tenantry.kube.objects import KubeObject
from tenantry.model.tenancy import PodSecurity
from tenantry.plan import apps, notifications, placements
from tenantry.plan import sources as planned_sources
from tenantry.plan.objects import baseline
from tests.hostile.drawn_main import Data
from tests.hostile.files_of_tenants import Drawn
from tests.hostile.holes import _SOURCE as SOURCE
from tests.hostile.holes import Hole, Patch
from tests.hostile.holes import _nothing as nothing
from tests.hostile.holes import _without as without

_GRANTED: Data = {"grants": {"sources": ["*"]}}
_ON_HUB: Data = {**_GRANTED, "clusters": {"names": ["hub"]}}
_STRICT: Data = {"network": "strict"}
_KUSTOMIZATION = (apps, "kustomization")
_RELEASE = (apps, "helm_release")
_BOUND = (planned_sources.Attachments, "bound")
_IN_STATE = (apps, "in_state")
"""Both come after the check against Flux's schema."""
_CHART: Data = {
    "sources": {"c": {"helm": {"url": "https://charts.example.com"}}, "m": SOURCE},
    "apps": {"web": {"helm": {"source": "c", "chart": "web", "version": "1.x"}}},
}
_ALERT: Data = {
    "credentials": {"chat": {"existing": True}},
    "alerts": {"all": {"provider": {"type": "slack", "channel": "x"}, "credentials": "chat"}},
}


def _with(value: Mapping[str, Any], path: tuple[str, ...], leaf: Any) -> dict[str, Any]:
    """A copy with another value at a path."""
    key, *rest = path
    return {**value, key: _with(value.get(key, {}), tuple(rest), leaf) if rest else leaf}


def _leaks(place: tuple[Any, str], path: str, value: Any, kind: str = "") -> Patch:
    """A builder of objects or manifests that puts a value somewhere into what it builds."""

    def put(made: Any) -> Any:
        if isinstance(made, KubeObject):
            if made.owner.tenant != "rocky" or kind not in ("", made.id.kind):
                return made
            return replace(made, manifest=put(made.manifest))
        if isinstance(made, Iterator):
            return map(put, made)
        return _with(made, tuple(path.split(".")), value)

    return _changed(place, put)


def _changed(place: tuple[Any, str], change: Any) -> Patch:
    owner, name = place
    right = getattr(owner, name)
    return lambda patch: patch.setattr(owner, name, lambda *args, **given: change(right(*args, **given)))


def _one_more(place: tuple[Any, str], kind: str, api: str, body: Data) -> Patch:
    """A builder of a baseline that adds an object of some kind to it."""

    def more(made: list[Any]) -> list[Any]:
        meta = {**made[1]["metadata"], "name": "tenantry-more"}
        return [*made, {"apiVersion": api, "kind": kind, "metadata": meta, **body}]

    return _changed(place, more)


class _InWaves(Hole):
    """The same where the environment has waves."""

    def fleet(self) -> Drawn:
        drawn = super().fleet()
        drawn.main["environments"]["dev"]["waves"] = [{"names": ["edge"]}, "rest"]
        return drawn


def _any_rollout(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rules, "RULES", tuple(each for each in rules.RULES if each is not off))


FIELD_HOLES = (
    Hole("a path leads out of the source", _leaks(_KUSTOMIZATION, "spec.path", "../../movy")),
    Hole("a component leads out of the source", _leaks(_IN_STATE, "spec.components", ["../../movy"])),
    Hole(
        "a component is a repository of its own",
        _leaks(_IN_STATE, "spec.components", ["https://evil.example.com/x"]),
    ),
    Hole(
        "a values file leads out of the source",
        _leaks((apps, "chart_object"), "spec.valuesFiles", ["../../movy/values.yaml"]),
        _CHART,
        _GRANTED,
    ),
    Hole(
        "a chart leads out of its repository",
        _leaks(_BOUND, "spec.chart", "../../movy/web", kind="HelmChart"),
        _CHART,
        _GRANTED,
    ),
    Hole(
        "there is one more network policy",
        _one_more((placements, "baseline"), "NetworkPolicy", "networking.k8s.io/v1", {"spec": {"podSelector": {}}}),
    ),
    Hole(
        "the network policy that isolates lets everybody in",
        _leaks((baseline, "_isolated"), "ingress", [{"from": [{"namespaceSelector": {}}]}]),
    ),
    Hole(
        "a strict network lets pods out to anywhere",
        _leaks((baseline, "_strict"), "egress", [{}]),
        frame=_STRICT,
    ),
    Hole(
        "a strict network is planned as one that isolates",
        lambda patch: patch.setattr(baseline, "_strict", baseline._isolated),
        frame=_STRICT,
    ),
    Hole(
        "accounts have annotations, by which a cloud gives them an identity",
        _leaks(
            (placements, "account"), "metadata.annotations", {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/x"}
        ),
        frame=_ON_HUB,
    ),
    Hole(
        "an account that Flux impersonates gives pods a token",
        _leaks((placements, "service_account"), "automountServiceAccountToken", value=True),
    ),
    Hole(
        "accounts pull images with the Secret of somebody else",
        _leaks((placements, "account"), "imagePullSecrets", [{"name": "platform"}]),
        frame=_ON_HUB,
    ),
    Hole(
        "an included file may declare objects of any kind on the management cluster",
        without(frames, "_refused"),
        {"objects": {"ca": {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}}},
        _ON_HUB,
    ),
    Hole(
        "a tenant gets rights of its own making in its namespaces",
        _one_more(
            (placements, "baseline"),
            "Role",
            "rbac.authorization.k8s.io/v1",
            {"rules": [{"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create"]}]},
        ),
    ),
    Hole(
        "a namespace says that it leaves",
        _leaks((baseline, "_namespace"), "metadata.labels.tenantry/state", "offboarding"),
    ),
    Hole(
        "a namespace names another service account",
        _leaks((baseline, "_namespace"), "metadata.labels.tenantry/account", "movy"),
        frame=_ON_HUB,
    ),
    Hole(
        "a namespace warns of nothing that its main file wants to be warned of",
        without(PodSecurity, "labels", {"pod-security.kubernetes.io/enforce": "baseline"}),
        frame={**_GRANTED, "podSecurity": {"enforce": "baseline", "warn": "restricted"}},
    ),
    Hole(
        "an included file may take over what exists on a remote cluster",
        without(frames, "_refused"),
        {"adopt": True},
        _GRANTED,
    ),
    Hole(
        "an included file may take over what exists on the management cluster",
        without(frames, "_refused"),
        {"adopt": True},
        _ON_HUB,
    ),
    _InWaves(
        "an included file may leave the waves of the environment",
        _any_rollout,
        {"apps": {"web": {"kustomize": {"source": "m"}, "waves": False}}},
        _GRANTED,
    ),
    Hole("an app holds a worker for a year", _leaks(_KUSTOMIZATION, "spec.timeout", "8700h")),
    Hole(
        "a release holds a worker for a year when it is tested",
        _leaks(_RELEASE, "spec.test.timeout", "8700h"),
        _CHART,
        _GRANTED,
    ),
    Hole("a source is fetched for a year", _leaks(_BOUND, "spec.timeout", "525600m", kind="GitRepository")),
    Hole(
        "a release is retried without an end",
        _leaks(_RELEASE, "spec.install.remediation.retries", -1),
        _CHART,
        _GRANTED,
    ),
    Hole(
        "a source chooses the addresses of its submodules",
        _leaks(_BOUND, "spec.recurseSubmodules", value=True, kind="GitRepository"),
    ),
    Hole(
        "a field of a newer Flux is filled",
        _leaks(_IN_STATE, "spec.impersonate", {"user": "admin"}, "Kustomization"),
    ),
    Hole(
        "a field of a newer Flux is filled within a known one",
        _leaks(_IN_STATE, "spec.install.asUser", "admin", "HelmRelease"),
        _CHART,
        _GRANTED,
    ),
    Hole(
        "alerts speak for another tenant",
        without(notifications, "_whose", lambda scope: {"tenant": "movy", "cluster": scope.cluster}),
        _ALERT,
        _GRANTED,
    ),
    Hole(
        "a Secret is a token of a service account",
        _leaks((planned_sources.Attachments, "_secret"), "type", "kubernetes.io/service-account-token"),
        {"credentials": {"git": {"keys": ["bearerToken"]}}, "sources": {"m": {**SOURCE, "credentials": "git"}}},
        _GRANTED,
    ),
    Hole(
        "a baseline is not kept as it is",
        _leaks((placements, "objects_release"), "spec.driftDetection.mode", "warn"),
    ),
    Hole("a baseline stands still", _leaks((baseline, "in_state"), "spec.suspend", value=True)),
    Hole(
        "a quota counts some pods only",
        _changed(
            (placements, "baseline"),
            lambda made: [
                _with(each, ("spec", "scopes"), ["BestEffort"]) if each["kind"] == "ResourceQuota" else each
                for each in made
            ],
        ),
        frame={**_GRANTED, "quota": {"pods": 10}},
    ),
    Hole(
        "an object goes when somebody else's goes",
        _leaks((baseline, "_namespace"), "metadata.ownerReferences", [{"kind": "Namespace", "name": "movy"}]),
    ),
    Hole(
        "the policy of the network is left out",
        without(baseline, "network_policies", nothing),
        frame={**_GRANTED, "network": "strict"},
    ),
)
