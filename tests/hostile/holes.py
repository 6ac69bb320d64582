"""Holes in the planner, to show that the check of plans sees each: what is patched, and who comes through.

Only tests switch them on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

import tenantry.fleet.rules as rules
from tenantry.fleet import placement
from tenantry.fleet.rules import references, tenants
from tenantry.grants import frames, wall
from tenantry.grants import rules as author_rules
from tenantry.grants import rules as grants_rules
from tenantry.kube.objects import Owner
from tenantry.model import SecretKey
from tenantry.model.tenancy import PodSecurity
from tenantry.plan import declared_objects, namespaces, notifications, placements, shared, sources
from tenantry.plan.apps import _Builder
from tenantry.plan.objects import baseline
from tenantry.plan.platform import PlatformPlanner
from tenantry.plan.sources import Attachments
from tests.hostile.drawn_main import Data
from tests.hostile.files_of_tenants import Drawn

Patch = Callable[[pytest.MonkeyPatch], None]
_SOURCE: Data = {"git": {"url": "https://git.example.com/rocky/manifests", "ref": {"branch": "main"}}}

_EDGE = {"tenantry/cluster": "edge"}
_BASE: Data = {"git": {"url": "https://git.example.com/platform/base", "ref": {"branch": "main"}}}
_OF_MAIN: Data = {
    "credentials": {"deploy": {"keys": ["username", "password", "lead.asc"]}},
    "sources": {"base": {**_BASE, "credentials": "deploy"}},
    "apps": {"base": {"kustomize": {"source": "base"}}},
}
_EVIL: Data = {"git": {"url": "https://evil.example.com/base"}}
_SIGNED: Data = {"git": {**_BASE["git"], "verify": {"mode": "HEAD", "secretRef": {"name": "deploy"}}}}
_OF_CLASS: Data = {key: value for key, value in _OF_MAIN.items() if key != "sources"}
_ISSUER: Data = {"issuerURL": "https://evil.example.com", "validations": [{"expression": "true", "message": "no"}]}
_EXPRESSION: Data = {"apiVersion": "v1", "kind": "ConfigMap", "current": "true"}
_ALERT: Data = {"provider": {"type": "slack", "channel": "x"}, "credentials": "chat"}
_ROLE: Data = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role"}
_RULE: Data = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"]}


@dataclass(frozen=True, slots=True)
class Hole:
    """what: the hole in words; frame: the main file's entry of the tenant.

    said: what the included file says beside an app `web` and its source. declared: the entry is the tenant's own, no template.
    """

    what: str
    open: Patch
    said: Data = field(default_factory=dict)
    frame: Data = field(default_factory=dict)
    tenant: str = "rocky"
    declared: bool = False

    def fleet(self) -> Drawn:
        """A fleet that uses the hole."""
        entry = {"grants": {"sources": ["https://git.example.com/rocky/*"]}, **self.frame}
        main: Data = {
            "apiVersion": "tenantry/v1",
            "include": ["tenants.d/*.yaml"],
            "environments": {"dev": {"management": "hub", "variables": {"cloud": "aws"}}},
            "clusters": {"hub": {"environments": ["dev"]}, "edge": _remote("edge"), "far": _remote("far")},
            "platform": {
                "chart": {"helm": {"url": "https://charts.example.com", "version": "0.1.0"}},
                "addons": {
                    "certs": {
                        "clusters": {"all": True},
                        "source": {"helm": {"url": "https://charts.example.com"}},
                        "helm": {"chart": "certs", "version": "1.x", "targetNamespace": "certs"},
                    }
                },
            },
            "defaults": {"clusters": {"names": ["edge"]}},
            "templates": {"tenants": {"any": {} if self.declared else entry}},
            "tenants": {
                self.tenant: entry if self.declared else {"from": "any"},
                "movy": {"sources": {"m": _SOURCE}, "apps": {"web": {"kustomize": {"source": "m"}}}},
            },
        }
        said = {"sources": {"m": _SOURCE}, "apps": {"web": {"kustomize": {"source": "m"}}}, **self.said}
        return Drawn(main, {"tenants": {self.tenant: said}}, f"tenants.d/{self.tenant}.yaml", (self.what,))


def _remote(name: str) -> Data:
    return {
        "environments": ["dev"],
        "kubeconfig": {"secret": {"name": f"{name}-kubeconfig", "namespace": "clusters", "key": "value"}},
    }


def _nothing(*_: Any, **__: Any) -> Iterator[Any]:
    return iter(())


def _without(owner: Any, name: str, value: Any = _nothing) -> Patch:
    """Something of the planner replaced; by default by what finds nothing."""
    return lambda patch: patch.setattr(owner, name, value)


def _of_another_cluster(patch: pytest.MonkeyPatch) -> None:
    right = PlatformPlanner.kubeconfig

    def other(self: PlatformPlanner, cluster: str) -> Any:
        return right(self, cluster) and SecretKey(name="far-kubeconfig", namespace="clusters", key="value")

    patch.setattr(PlatformPlanner, "kubeconfig", other)


def _without_rules(patch: pytest.MonkeyPatch, *off: rules.Rule) -> None:
    patch.setattr(rules, "RULES", tuple(each for each in rules.RULES if each not in off))


def _any_metadata(patch: pytest.MonkeyPatch) -> None:
    _without_rules(patch, tenants.included_files_set_no_metadata)


def _any_role(patch: pytest.MonkeyPatch) -> None:
    cluster_admin = grants_rules.cluster_admin_is_allowed_by_a_word_of_its_own
    _without_rules(patch, cluster_admin, grants_rules.included_files_give_owners_few_rights)


def _of_any_author(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(wall.Wall, "_authors", _nothing)
    patch.setattr(notifications, "names_all", lambda *_: True)
    _without_rules(patch, author_rules.included_files_name_what_is_theirs)


def _of_any_author_of_overrides(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(frames._Filling, "_refused_in_override", _nothing)
    patch.setattr(wall.Wall, "_addresses", _nothing)
    _of_any_author(patch)


def _of_movy(patch: pytest.MonkeyPatch) -> None:
    right = shared.shared
    whose = {"owner": Owner("movy"), "namespace": "movy"}
    patch.setattr(
        sources, "shared", lambda fleet, scope, *given, **more: right(fleet, replace(scope, **whose), *given, **more)
    )


def _any_metadata_of_messages(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(notifications, "_whose", lambda *_: {})
    _without_rules(patch, references.alerts_leave_the_fleets_metadata_alone)


HOLES = (
    Hole(
        "Secrets beside a kubeconfig are named without the tenant's prefix",
        _without(Attachments, "_name", lambda *given: given[-1]),
        {"credentials": {"git": {"keys": ["bearerToken"]}}, "sources": {"m": {**_SOURCE, "credentials": "git"}}},
    ),
    Hole(
        "an app takes the source of another tenant, whose content is the same",
        _of_movy,
    ),
    Hole(
        "the platform is the author of a tenant's own source",
        _without(sources, "is_platforms", lambda *_: True),
    ),
    Hole(
        "the platform is the author of a source that reads a Secret of the tenant",
        _without(shared, "references"),
        frame={**_OF_CLASS, "sources": {"base": _SIGNED}},
    ),
    Hole(
        "an included file may name a source of its class",
        _of_any_author,
        {"apps": {"web": {"kustomize": {"source": "base"}}}},
        {"sources": {"base": _BASE}, "grants": {"sources": ["*"]}},
    ),
    Hole(
        "no namespace is reserved, and a team brings a tenant named like an add-on's namespace",
        _without(namespaces.Territory, "_refuse_reserved", lambda *_: None),
        tenant="certs",
    ),
    Hole(
        "two tenants may have one namespace",
        _without(namespaces.Territory, "_claim", lambda *_: None),
        {"namespaces": {"web": {"name": "m{namespace}y"}}},
        {"grants": {"sources": ["*"], "settings": ["namespaces"]}},
        tenant="ov",
    ),
    Hole(
        "an included file may choose any cluster, the management cluster too",
        _without(placement, "cluster_is_granted", lambda *_: True),
        {"clusters": {"all": True}},
    ),
    Hole(
        "a placement does not wait for the add-ons that the main file says",
        _without(placements, "placement_after"),
        frame={"dependsOn": ["platform/certs"]},
    ),
    Hole(
        "apps may install into any namespace",
        _without(_Builder, "_check_target", lambda *_: None),
        {"apps": {"web": {"kustomize": {"source": "m", "targetNamespace": "movy"}}}},
    ),
    Hole(
        "alerts tell of everything on a cluster",
        _without(notifications, "_labels", lambda scope, *_: {"tenantry/cluster": scope.cluster}),
        {"credentials": {"chat": {"existing": True}}, "alerts": {"all": _ALERT}},
    ),
    Hole(
        "receivers have the sources of all tenants fetched",
        _without(notifications, "reference", lambda id: {"kind": id.kind, "name": "*", "matchLabels": _EDGE}),
        {"credentials": {"hook": {"existing": True}}, "receivers": {"push": {"type": "github", "credentials": "hook"}}},
    ),
    Hole(
        "receivers ask any issuer",
        _without(wall, "addresses_of", lambda *_: ()),
        {"receivers": {"ci": {"type": "generic-oidc", "oidcProviders": [_ISSUER]}}},
        {"grants": {"sources": ["https://git.example.com/rocky/*"], "settings": ["advanced"]}},
    ),
    Hole(
        "Flux gets the kubeconfig of another cluster",
        _of_another_cluster,
    ),
    Hole(
        "bindings are for the service account of another tenant",
        _without(baseline, "users_of", lambda scope: [f"system:serviceaccount:{scope.home}:movy"]),
    ),
    Hole(
        "an included file may give cluster-admin",
        _any_role,
        {"owners": [{"group": "rocky", "role": "cluster-admin"}]},
        {"grants": {"sources": ["*"], "settings": ["owners"]}},
    ),
    Hole(
        "objects may hold a role that leads to all rights",
        _without(declared_objects, "gives_all", lambda _: False),
        frame={"objects": {"raising": {**_ROLE, "rules": [{**_RULE, "verbs": ["escalate"]}]}}},
    ),
    Hole(
        "namespaces say nothing about pod security",
        _without(PodSecurity, "labels", {}),
    ),
    Hole(
        "an included file may make any setting",
        _without(frames, "_refused"),
        {"quota": {"pods": 1000}, "network": "open"},
        {"grants": {"sources": ["https://git.example.com/rocky/*"]}, "quota": {"pods": 10}},
    ),
    Hole(
        "an override of an included file may make any setting",
        _without(frames, "_refused"),
        {"overrides": [{"when": {"environments": ["dev"]}, "quota": {"pods": 1000}, "network": "open"}]},
        {"grants": {"sources": ["https://git.example.com/rocky/*"]}, "quota": {"pods": 10}},
    ),
    Hole(
        "an override of an included file may change a source of the main file, which has credentials",
        _of_any_author_of_overrides,
        {"overrides": [{"when": {"environments": ["dev"]}, "sources": {"base": _EVIL}}]},
        {**_OF_MAIN, "grants": {"sources": ["https://git.example.com/rocky/*"]}},
        declared=True,
    ),
    Hole(
        "an included file may set any annotation of its Flux objects",
        _any_metadata,
        {"apps": {"web": {"kustomize": {"source": "m"}, "metadata": {"annotations": {"a.com/x": "y"}}}}},
    ),
    Hole(
        "an included file may set any label",
        _without(frames, "_refused"),
        {"labels": {"istio-injection": "enabled"}},
    ),
    Hole(
        "an included file may name any address",
        _without(wall.Wall, "_addresses"),
        {"sources": {"m": {"git": {"url": "https://git.example.com/movy/m", "ref": {"branch": "main"}}}}},
    ),
    Hole(
        "an included file may set any interval",
        _without(grants_rules, "_limited"),
        {"apps": {"web": {"kustomize": {"source": "m", "interval": "1ms"}}}},
    ),
    Hole(
        "an included file may name credentials of the main file",
        _of_any_author,
        {"sources": {"m": {**_SOURCE, "credentials": "deploy"}}},
        {**_OF_MAIN, "grants": {"sources": ["*"]}},
        declared=True,
    ),
    Hole(
        "an included file may name sources and apps of the main file, and alerts tell of all apps",
        _of_any_author,
        {
            "credentials": {"chat": {"existing": True}},
            "apps": {"web": {"kustomize": {"source": "base"}, "dependsOn": ["base"]}},
            "alerts": {"all": _ALERT},
        },
        {**_OF_MAIN, "grants": {"sources": ["*"]}},
        declared=True,
    ),
    Hole(
        "an included file may take submodules",
        _without(wall.Wall, "_advanced"),
        {"sources": {"m": {"git": {**_SOURCE["git"], "recurseSubmodules": True}}}},
    ),
    Hole(
        "an included file may have controllers evaluate expressions",
        _without(wall.Wall, "_advanced"),
        {"apps": {"web": {"kustomize": {"source": "m", "healthCheckExprs": [_EXPRESSION]}}}},
    ),
    Hole(
        "messages about a tenant may name another one",
        _any_metadata_of_messages,
        {
            "credentials": {"chat": {"existing": True}},
            "alerts": {"all": {**_ALERT, "eventMetadata": {"tenant": "movy"}}},
        },
    ),
    Hole(
        "an included file may set any timeout",
        _without(grants_rules, "_limited"),
        {"apps": {"web": {"kustomize": {"source": "m", "timeout": "8700h"}}}},
    ),
    Hole(
        "an included file may retry without end",
        _without(grants_rules, "_limited"),
        {
            "sources": {"c": {"helm": {"url": "https://git.example.com/rocky/c"}}},
            "apps": {
                "cache": {
                    "helm": {"source": "c", "chart": "c", "version": "1.x", "install": {"remediation": {"retries": -1}}}
                }
            },
        },
    ),
    Hole(
        "the planned objects are not checked for the controllers' identity",
        _without(wall, "borrowed"),
        {"sources": {"m": {"git": {**_SOURCE["git"], "provider": "{cloud}"}}}},
    ),
)
