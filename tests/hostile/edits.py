"""Hostile edits of a team's file."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any, TypeAlias

from tests.hostile.drawn_filling import SELECTORS
from tests.hostile.drawn_main import Data
from tests.hostile.drawn_values import (
    ADDRESSES,
    ANYTHING,
    DECRYPTIONS,
    FOREIGN_OVERRIDES,
    KUBECONFIGS,
    METADATA,
    NAMESPACES,
    OVERRIDES,
    OVERRIDES_OF_TENANTS,
    PATHS,
    PROVIDERS,
    REFERENCES,
    SECRETS,
    SOURCES_OF_APPS,
    SUBJECTS,
    TEXTS,
    TIMES,
)

At: TypeAlias = tuple[str | int, ...]

_APPS: tuple[Data, ...] = (
    {"kustomize": {"source": "manifests"}},
    {"helm": {"source": "charts", "chart": "x", "version": "1.x"}},
    {"helm": {"source": "charts", "chart": "x", "version": "1.x", "values": {"objects": []}}},
)
_SOURCES: tuple[Data, ...] = ({"git": {"url": "https://git.example.com/rocky/x", "ref": {"branch": "main"}}},)
_ANYBODY = [{"expression": "true", "message": "no"}]
_VARIABLES: tuple[Data | None, ...] = (
    *({"team": each} for each in ("rocky", "movy", "..", "{other}", "rocky/../movy", 5, True)),
    *({"room": each} for each in ("in", "out")),
    *({"wait": each} for each in ("1s", "5m", "1.5", 1.5)),
    {"tenant": "movy"},
    {"cluster": "far"},
    {"git": "evil.example.com"},
    {"zone": "out"},
    None,
)
EDITS: tuple[tuple[At, tuple[Any, ...]], ...] = (
    *((("sources", "*", "*", key), PROVIDERS) for key in ("provider",)),
    *((("sources", "*", "*", key), ADDRESSES) for key in ("url", "url", "endpoint")),
    (("sources", "*", "*", "interval"), TIMES),
    (
        ("sources", "*", "*", "include"),
        (
            *([{"repository": {"name": name}}] for name in ("given", "lent")),
            [{"repository": {"name": "movy"}}],
            [{"repository": {"name": "edge-movy-manifests"}}],
        ),
    ),
    (("sources", "*", "*", "verify"), ({"provider": "cosign", "secretRef": {"name": "edge.movy.git"}},)),
    (
        ("sources", "blobs", "bucket", "sts"),
        (
            {"provider": "aws", "endpoint": "https://evil.example.com"},
            {"provider": "ldap", "endpoint": "https://evil.example.com"},
        ),
    ),
    (("sources", "*", "credentials"), SECRETS),
    (("apps", "*", "kustomize", "decryption"), DECRYPTIONS),
    (("apps", "*", "*", "targetNamespace"), TEXTS),
    (("apps", "*", "*", "interval"), TIMES),
    (("apps", "*", "*", "retryInterval"), TIMES),
    *((("apps", "*", "*", "timeout"), TIMES) for _ in range(2)),
    (("apps", "*", "helm", "install"), tuple({"remediation": {"retries": each}} for each in (-1, 3, 21, 5000))),
    (("apps", "*", "helm", "test"), tuple({"enable": True, "timeout": each} for each in TIMES)),
    (("apps", "*", "helm", "maxHistory"), (0, 5, 500)),
    (("sources", "*", "*", "timeout"), TIMES),
    (("apps", "*", "*", "source"), SOURCES_OF_APPS),
    (("apps", "web", "kustomize", "source"), ("given", "lent", "manifests")),
    (("sources", "*", "git", "recurseSubmodules"), (True,)),
    (("alerts", "chat", "eventMetadata"), ({"tenant": "movy"}, {"team": "{tenant}"}, {"cluster": "{cluster}"})),
    (("apps", "*", "helm", "releaseName"), TEXTS),
    (("apps", "*", "helm", "chart"), TEXTS),
    (("apps", "*", "helm", "chart"), PATHS),
    (("apps", "*", "helm", "valuesFiles"), tuple([each] for each in PATHS)),
    (("apps", "*", "kustomize", "path"), PATHS),
    (("apps", "*", "kustomize", "components"), tuple([each] for each in PATHS)),
    (("apps", "*", "state"), ("paused", "offboarding", "decommissioned", None)),
    (("apps", "*", "waves"), (False, None, ["rest"])),
    (("sources", "*", "git", "sparseCheckout"), tuple([each] for each in PATHS)),
    (("apps", "*", "helm", "install"), ({"createNamespace": True}, {"crds": "Skip"})),
    (("apps", "*", "helm", "valuesFrom"), tuple([each] for each in REFERENCES)),
    (("apps", "*", "kustomize", "postBuild"), tuple({"substituteFrom": [each]} for each in REFERENCES)),
    (("apps", "*", "kustomize", "commonMetadata"), tuple({"labels": each} for each in METADATA)),
    (("apps", "*", "kustomize", "healthChecks"), ([{"kind": "Secret", "name": "git", "namespace": "movy"}],)),
    (
        ("apps", "*", "dependsOn"),
        (
            ["movy/web"],
            ["given"],
            ["lent"],
            ["platform/dns"],
            ["platform/cert-manager"],
            ["web"],
            [{"name": "web", "namespace": "movy"}],
        ),
    ),
    (("apps", "*", "clusters"), SELECTORS),
    (("apps", "*", "overrides"), OVERRIDES),
    *((("overrides",), OVERRIDES_OF_TENANTS) for _ in range(2)),
    (("apps", "*", "environments"), (["dev"], ["dev", "prod"], None)),
    *((("alerts", "chat", "provider", key), ADDRESSES) for key in ("address", "proxy")),
    (("alerts", "chat", "provider", "type"), TEXTS),
    (("alerts", "chat", "provider", "certSecretRef"), REFERENCES),
    (("alerts", "chat", "credentials"), SECRETS),
    (("receivers", "push", "credentials"), SECRETS),
    (("receivers", "push", "interval"), TIMES),
    (("receivers", "push", "sources"), tuple([each] for each in SOURCES_OF_APPS if each)),
    (
        ("receivers", "push", "oidcProviders"),
        tuple([{"issuerURL": each, "validations": _ANYBODY}] for each in ADDRESSES),
    ),
    (("alerts", "chat", "apps"), (["web"], ["movy"], ["given"], ["lent"], ["dns"], ["*"])),
    (("credentials", "*"), ({"existing": True}, None, {"keys": ["x"]})),
    (("credentials", "movy"), ({"existing": True},)),
    (("credentials", "edge-kubeconfig"), ({"existing": True},)),
    (("configs", "settings", "data"), ({"provider": "aws", "address": "https://evil.example.com"},)),
    *((("apps", name), _APPS) for name in ("baseline", "movy-web", "tenantry", "given")),
    *((("sources", name), _SOURCES) for name in ("movy-manifests", "tenantry", "given")),
    (("owners",), SUBJECTS),
    (("namespaces",), NAMESPACES),
    (("clusters",), SELECTORS),
    (("quota",), ({"pods": 100000}, None)),
    (("network",), ("open", "strict")),
    *(((key,), (*TIMES, None)) for key in ("interval", "retryInterval", "timeout")),
    *((("sources", "*", "*", key), REFERENCES) for key in ("certSecretRef", "proxySecretRef")),
)
"""Where the edits are made, `*` being any key there, and what is put there."""
SHUT: tuple[tuple[At, tuple[Any, ...]], ...] = (
    *((("sources", "*", "*", key), REFERENCES) for key in ("secretRef", "sourceRef")),
    (("sources", "*", "*", "serviceAccountName"), TEXTS),
    (("sources", "*", "*", "accessFrom"), ({"namespaceSelectors": [{"matchLabels": {}}]},)),
    (("apps", "*", "*", "kubeConfig"), KUBECONFIGS),
    (("apps", "*", "*", "serviceAccountName"), TEXTS),
    (("apps", "*", "*", "storageNamespace"), TEXTS),
    (("apps", "*", "*", "sourceRef"), REFERENCES),
    (("apps", "*", "helm", "chartRef"), REFERENCES),
    (("alerts", "chat", "provider", "serviceAccountName"), TEXTS),
    (("receivers", "push", "secretRef"), ({"name": "edge-admin-kubeconfig"},)),
    (("receivers", "push", "resources"), ([{"kind": "GitRepository", "name": "*", "namespace": "movy"}],)),
    (("alerts", "chat", "eventSources"), ([{"kind": "Kustomization", "name": "*", "namespace": "movy"}],)),
    (("podSecurity",), ("privileged", "baseline", None, {"enforce": "privileged"})),
    (("grants",), ({"sources": ["*"]}, {"clusters": {"all": True}}, None)),
    (("clusterAdmin",), (True,)),
    (("namespace",), ("movy", "kube-system", "clusters", "{other}", None)),
    (("serviceAccount",), ({"name": "movy"}, {"imagePullSecrets": ["git"]}, None)),
    (("namespaces", "*", "serviceAccount"), (True,)),
    (("environments",), (["dev", "prod"], None)),
    (("overrides",), FOREIGN_OVERRIDES),
    (("role",), ("cluster-admin", "admin", "edit", "view", "{admin}")),
    (("variables",), _VARIABLES),
    (("labels",), METADATA),
    (("annotations",), METADATA),
    (("objects",), ({"a": {"apiVersion": "v1", "kind": "ConfigMap"}}, None)),
    (("namespaces", "*", "objects"), ({"a": {"apiVersion": "v1", "kind": "ConfigMap"}},)),
    (("clusterObjects",), ({"a": {"apiVersion": "v1", "kind": "PersistentVolume"}}, None)),
    (("clusterRoles",), ({"a": {"role": "cluster-admin"}}, None)),
    (("adopt",), (True, {"namespace": True})),
    (("state",), ("paused", "offboarding")),
)
"""The same where no value is ever accepted; drawn seldom."""


def edit(filling: Data, chance: random.Random) -> str:
    """Do one hostile thing to a file; says which."""
    kind = chance.random()
    at: At | None = None
    while at is None:
        if kind < 0.12:
            at, value = _anywhere(filling, chance)
        else:
            pattern, values = chance.choice(SHUT if kind < 0.18 else EDITS)
            at, value = _resolved(filling, pattern, chance), copy.deepcopy(chance.choice(values))
    parent: Any = filling
    for part in at[:-1]:
        parent = parent[part]
    parent[at[-1]] = value
    return f"{'.'.join(map(str, at))}: {value}"


def _resolved(filling: Data, pattern: At, chance: random.Random) -> At | None:
    """The pattern with names of the file in the place of `*`; None: the file has no such place."""
    at: list[str | int] = []
    here: Any = filling
    for part in pattern:
        if not isinstance(here, dict):
            return None
        known = [key for key in here if isinstance(here[key], dict)]
        if part == "*" and not known:
            return None
        at.append(chance.choice(known) if part == "*" else part)
        here = here.get(at[-1])
    return tuple(at)


def _anywhere(filling: Data, chance: random.Random) -> tuple[At, Any]:
    """Another value in the place of any, or under another key."""
    at = chance.choice(list(_paths(filling)))
    value = chance.choice((chance.choice(TEXTS), chance.choice(ADDRESSES), copy.deepcopy(chance.choice(ANYTHING))))
    if chance.random() < 0.2 and isinstance(at[-1], str):
        return (*at[:-1], chance.choice(TEXTS)), copy.deepcopy(_value(filling, at))
    return at, value


def _value(filling: Data, at: At) -> Any:
    value: Any = filling
    for part in at:
        value = value[part]
    return value


def _paths(value: Any, at: At = ()) -> Iterator[At]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*at, key)
        yield from _paths(inner, (*at, key))
