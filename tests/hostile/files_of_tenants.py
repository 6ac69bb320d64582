"""Fleets whose included file a hostile team wrote: mostly sound, with one or two edits that reach for what is not theirs.

Drawn by `random`, not by Hypothesis: a fleet takes about a hundredth of the time, and there is nothing to shrink, because a
seed gives the same fleet again.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

Data: TypeAlias = dict[str, Any]
At: TypeAlias = tuple[str | int, ...]

TEXTS: tuple[str, ...] = (
    *("{tenant}", "{env}", "{cluster}", "{app}", "{cloud}", "{system}", "{other}", "{fast}", "{up}", "{nope}"),
    *("aws", "azure", "gcp", "generic", "github", "sops"),
    *("movy", "movy-web", "edge-movy-manifests", "edge.movy.git", "web", "baseline", "tenantry", "rocky"),
    *("kube-system", "flux-system", "default", "clusters", "certs", "tenantry-system", "monitoring", "istio-system"),
    *("tenantry-platform", "edge-kubeconfig", "far-kubeconfig", "clusterrole-aggregation-controller"),
    *("cluster-admin", "admin", "edit", "view", "system:masters", "system:serviceaccount:clusters:movy"),
    *("0s", "1ms", "1s", "29s", "30s", "1m", "0.001h"),
    *("edge", "far", "hub", "edge-rocky", "dev", "prod", "all", "..", "."),
    *("googlepubsub", "azureeventhub", "azuredevops", "slack", "generic-hmac", "privileged", "restricted"),
)
ADDRESSES: tuple[str, ...] = (
    "https://evil.example.com/x",
    "https://git.example.com/movy/manifests",
    "https://git.example.com/rocky",
    "https://git.example.com/rocky/../movy/manifests",
    "https://git.example.com/rocky/%2e%2e/movy/manifests",
    "https://git.example.com/rocky/{up}/movy/manifests",
    "https://git.example.com/rocky//manifests",
    "https://git.example.com@evil.example.com/rocky/manifests",
    "https://git.example.com:8443/rocky/manifests",
    "https://git.example.com.evil.example.com/rocky/x",
    "https://GIT.example.com/rocky/manifests",
    "https://git.example.com/rocky/a?b=/rocky/",
    "https://git.example.com/rocky\\@evil.example.com",
    "https://{other}.example.com/rocky/x",
    "https://git.example.com/{tenant}/new",
    "http://git.example.com/rocky/manifests",
    "http://169.254.169.254/latest",
    "ssh://git@git.example.com/rocky/manifests",
    "oci://registry.example.com/rocky/bundle",
    "oci://registry.example.com/movy/bundle",
    "http://source-controller.flux-system.svc/gitrepository/movy",
)
_ANYTHING: tuple[Any, ...] = (None, None, {}, [], True, False, 0, "", ["movy"], {"name": "movy"}, [{"name": "movy"}])
_BRANCH: Data = {"branch": "main"}


@dataclass(frozen=True, slots=True)
class Drawn:
    """main: the platform's file; included: what the hostile file says. note: the edits, for a message."""

    main: Data
    included: Data
    file: str
    note: tuple[str, ...]

    def write(self, directory: Path) -> Path:
        """Put both files there; returns the path of the main one."""
        for name, data in ((self.file, self.included), ("tenants.yaml", self.main)):
            place = directory / name
            place.parent.mkdir(parents=True, exist_ok=True)
            # JSON is YAML.
            place.write_text(json.dumps(data))
        return directory / "tenants.yaml"


def draw(seed: str) -> Drawn:
    """The fleet of a seed."""
    chance = random.Random(seed)  # to be repeatable
    new = chance.random() < 0.15
    name = chance.choice(("blue-one", "blue-one", "blue-two", "movy-web", "edge")) if new else "rocky"
    main, filling = copy.deepcopy((_main(chance, new=new), _filling(name, chance)))
    note = tuple(_edit(filling, chance) for _ in range(chance.choice((0, 1, 1, 1, 1, 1, 1, 2))))
    tenants = {name: filling}
    if chance.random() < 0.015:
        tenants[chance.choice(("movy", "tina", "kube-system", "platform"))] = _filling("movy", chance)
    return Drawn(main, {"tenants": tenants}, "teams/blue.yaml" if new else "tenants.d/rocky.yaml", note)


# --- the platform's file: honest, and more or less open ---------------------------------------------------------


def _main(chance: random.Random, *, new: bool) -> Data:
    shared = chance.random() < 0.3
    namespaces = ("{env}-{tenant}",) if shared else ("{tenant}", "{env}-{tenant}", "{tenant}-{env}", "t-{tenant}")
    variables = {
        "cloud": "aws",
        "system": "kube-system",
        "other": "movy",
        "fast": "1s",
        "up": "..",
        "git": "git.example.com",
    }
    hub = "hub" if shared else "hub-prod"
    main: Data = {
        "apiVersion": "tenantry/v1",
        "include": [_TEAMS if new else _include(chance)],
        "environments": {
            "dev": {"management": "hub", "namespace": chance.choice(namespaces), "variables": variables},
            "prod": {"management": hub, "namespace": chance.choice(namespaces), "variables": variables},
        },
        "clusters": {
            "hub": {"environments": ["dev", "prod"] if shared else ["dev"], "labels": {"zone": "in"}},
            **({} if shared else {hub: {"environments": ["prod"]}}),
            **{name: _remote(name, chance) for name in ("edge", "far", "edge-rocky")},
        },
        "platform": _platform(chance),
        "defaults": _defaults(chance),
        "selfService": {"small": {key: each for key, each in _frame(chance).items() if key != "namespaces"}},
        "tenants": {"rocky": _frame(chance), "movy": _victim()},
    }
    if chance.random() < 0.3:
        main["tenants"]["rocky"]["apps"] = {"given": {"kustomize": {"source": "given"}, "clusters": {"names": ["far"]}}}
        main["tenants"]["rocky"]["sources"] = {
            "given": {"git": {"url": "https://{git}/platform/given", "ref": _BRANCH}}
        }
    return main


_TEAMS: Data = {"tenants": "teams/*.yaml", "of": ["*"], "selfService": "small"}


def _include(chance: random.Random) -> Any:
    return chance.choice(("tenants.d/*.yaml", {"tenants": "tenants.d/rocky.yaml", "of": ["rocky"]}))


def _remote(name: str, chance: random.Random) -> Data:
    environments = chance.choice((["dev"], ["dev"], ["prod"]))
    secret = {"name": f"{name}-kubeconfig", "namespace": "clusters", "key": "value"}
    labels = {"zone": chance.choice(("in", "out"))}
    return {"environments": environments, "labels": labels, "kubeconfig": {"secret": secret}}


def _platform(chance: random.Random) -> Data:
    addon: Data = {"helm": {"url": "https://charts.example.com"}}
    platform: Data = {
        "chart": {"helm": {"url": "https://charts.example.com", "version": "0.1.0"}},
        "credentials": {"pager": {"keys": ["token"]}},
        "addons": {
            "cert-manager": {
                "clusters": {"all": True},
                "source": addon,
                "helm": {"chart": "certs", "version": "1.x", "targetNamespace": "certs"},
            },
            "dns": {
                "clusters": {"all": True},
                "source": {"git": {"url": "https://git.example.com/platform/dns", "ref": {"tag": "v1"}}},
                "kustomize": {},
            },
        },
    }
    if chance.random() < 0.1:
        platform["sharedIdentity"] = True
    return platform


def _defaults(chance: random.Random) -> Data:
    defaults: Data = {"clusters": chance.choice(({"all": True}, {"names": ["edge"]}, {"labels": {"zone": "in"}}))}
    if chance.random() < 0.3:
        defaults["grants"] = {
            "sources": ["https://git.example.com/{tenant}/*", "oci://registry.example.com/{tenant}/*"]
        }
    if chance.random() < 0.3:
        defaults["podSecurity"] = chance.choice(("baseline", "restricted", {"enforce": "baseline", "version": "v1.30"}))
    return defaults


def _frame(chance: random.Random) -> Data:
    frame: Data = {"grants": {"sources": list(_SOURCES)}}
    grants = frame["grants"]
    for key, choices in _GRANTS.items():
        if chance.random() < (0.4 if key in ("environments", "clusters") else 0.75):
            grants[key] = copy.deepcopy(chance.choice(choices))
    for key, choices in _FRAMES.items():
        if chance.random() < 0.2:
            frame[key] = copy.deepcopy(chance.choice(choices))
    return frame


_SOURCES = (
    *("https://git.example.com/{tenant}/*", "https://charts.example.com", "oci://registry.example.com/{tenant}/*"),
    "s3://s3.example.com/*",
)
_GRANTS: dict[str, tuple[Any, ...]] = {
    "clusters": ({"names": ["edge"]}, {"names": ["hub", "edge"]}, {"all": True}, {"labels": {"zone": "in"}}),
    "environments": (["dev"], ["prod"], ["dev", "prod"]),
    "sources": (list(_SOURCES), [*_SOURCES, "https://{git}/shared/*"], ["*"]),
    "alerts": (["https://hooks.example.com/*"],),
    "settings": (
        ["role", "owners", "roleBindings", "timeout"],
        ["namespaces", "quota", "interval"],
        [
            "namespaces",
            "role",
            "owners",
            "roleBindings",
            "network",
            "limits",
            "quota",
            "interval",
            "retryInterval",
            "timeout",
        ],
        [
            "namespaces",
            "role",
            "owners",
            "roleBindings",
            "network",
            "limits",
            "quota",
            "interval",
            "retryInterval",
            "timeout",
        ],
    ),
    "roles": (["view", "edit"], ["view", "edit", "admin"]),
    "labels": (["rocky.example.com/"],),
    "annotations": (["rocky.example.com/"],),
    "shortestInterval": ("30s", "30s", "1m", "10s", "5m"),
}
_FRAMES: dict[str, tuple[Any, ...]] = {
    "role": ("admin", "edit"),
    "podSecurity": ("restricted", "baseline", {"enforce": "baseline", "warn": "restricted"}),
    "clusters": ({"names": ["edge"]}, {"names": ["hub"]}, {"all": True}),
    "owners": ([{"group": "team-rocky"}],),
    "quota": ({"pods": 10},),
    "labels": ({"team": "rocky"},),
    "namespaces": ({"jobs": {}}, {"jobs": {"podSecurity": "restricted"}}),
    "interval": ("10s", "5m"),
}


def _victim() -> Data:
    return {
        "credentials": {"git": {"keys": ["username", "password"]}, "sops": {"keys": ["age.agekey"]}},
        "configs": {"settings": {"data": {"HOST": "{tenant}"}}},
        "sources": {
            "manifests": {
                "git": {"url": "https://git.example.com/movy/manifests", "ref": _BRANCH},
                "credentials": "git",
            }
        },
        "apps": {"web": {"kustomize": {"source": "manifests"}, "clusters": {"all": True}}},
        "namespaces": {"web": {}},
    }


# --- the file of the team -------------------------------------------------------------------------------------


def _filling(name: str, chance: random.Random) -> Data:
    below = f"https://git.example.com/{name}"
    sources: Data = {
        "manifests": {"git": {"url": f"{below}/manifests", "ref": _BRANCH, "interval": "5m"}, "credentials": "git"},
        "charts": {"helm": {"url": "https://charts.example.com"}},
    }
    filling: Data = {
        "credentials": {
            "git": {"keys": ["username", "password"]},
            "sops": {"keys": ["age.agekey"]},
            "there": {"existing": True},
        },
        "configs": {"settings": {"data": {"HOST": "{tenant}.{cluster}"}}, "there": {"existing": True}},
        "sources": sources,
        "apps": {"web": {"kustomize": copy.deepcopy(chance.choice(_KUSTOMIZE))}},
    }
    apps = filling["apps"]
    if chance.random() < 0.6:
        apps["cache"] = {"helm": copy.deepcopy(chance.choice(_HELM))}
    if chance.random() < 0.3:
        apps["db"] = {"kustomize": {"source": "manifests", "path": "./db"}, "dependsOn": ["web", "platform/dns"]}
    if chance.random() < 0.2:
        sources["bundle"] = {"oci": {"url": f"oci://registry.example.com/{name}/bundle", "ref": {"tag": "v1"}}}
        apps["bundle"] = {"kustomize": {"source": "bundle"}}
    if chance.random() < 0.15:
        sources["blobs"] = {"bucket": {"bucketName": "b", "endpoint": "s3.example.com"}, "credentials": "git"}
        apps["blobs"] = {"kustomize": {"source": "blobs"}}
    if chance.random() < 0.2:
        apps["web"]["imageAutomation"] = copy.deepcopy(_IMAGES)
    if chance.random() < 0.4:
        selector = chance.choice(_SELECTORS)
        for app in ("web", "db"):
            apps.get(app, {})["clusters"] = selector
    if chance.random() < 0.3:
        filling["clusters"] = copy.deepcopy(chance.choice(_SELECTORS))
    if chance.random() < 0.3:
        filling["alerts"] = {"chat": copy.deepcopy(chance.choice(_ALERTS))}
    return filling


_KUSTOMIZE: tuple[Data, ...] = (
    {"source": "manifests", "path": "./web/{env}"},
    {"source": "manifests", "decryption": {"provider": "sops", "secretRef": {"name": "sops"}}},
    {"source": "manifests", "interval": "5m", "retryInterval": "1m"},
    {
        "source": "manifests",
        "postBuild": {
            "substituteFrom": [{"kind": "ConfigMap", "name": "settings"}, {"kind": "Secret", "name": "there"}]
        },
    },
)
_HELM: tuple[Data, ...] = (
    {"source": "charts", "chart": "cache", "version": "1.x", "values": {"host": "{cluster}"}},
    {
        "source": "charts",
        "chart": "cache",
        "version": "1.x",
        "valuesFrom": [{"kind": "Secret", "name": "git", "valuesKey": "password"}],
    },
    {"source": "manifests", "chart": "./charts/cache"},
)
_IMAGES: Data = {
    "images": {
        "app": {
            "repository": {"image": "registry.example.com/{tenant}/app", "interval": "1m"},
            "policy": {"policy": {"semver": {"range": ">=1.0.0"}}},
        }
    },
    "update": {"git": {"commit": {"author": {"email": "a@b.example"}}, "push": {"branch": "{env}-images"}}},
}
_ALERTS: tuple[Data, ...] = (
    {"provider": {"type": "slack", "channel": "{cluster}"}, "credentials": "there"},
    {"provider": {"type": "generic", "address": "https://hooks.example.com/{tenant}"}},
    {"provider": {"type": "slack", "channel": "y"}, "credentials": "there"},
    {"provider": {"type": "slack", "channel": "x"}, "credentials": "there", "apps": ["web"]},
)
_SELECTORS: tuple[Data, ...] = (
    {"all": True},
    {"all": True},
    {"labels": {"zone": "out"}},
    {"names": ["edge"]},
    {"names": ["hub", "edge"]},
    {"names": ["far"]},
    {"labels": {"zone": "in"}},
    {"all": True, "exclude": ["edge"]},
    {"all": True, "exclude": ["hub"]},
)

# --- what a hostile team does to it -------------------------------------------------------------------------------

_TIMES = ("0s", "1ms", "{fast}", "0.001h", "29s", "30s", "1m", "5m", "10m")
_SOURCES_OF_APPS = ("manifests", "charts", "bundle", "given", "movy", "edge-movy-manifests", "{other}", None)
_SECRETS = ("git", "sops", "there", "movy", "edge.movy.git", "edge-kubeconfig", "{other}", None)
_REFERENCES: tuple[Any, ...] = (
    *({"name": "there"}, {"name": "git"}, {"name": "sops"}, {"name": "there", "key": "ca.crt"}),
    *({"kind": "Secret", "name": "there"}, {"kind": "ConfigMap", "name": "settings", "optional": True}),
    {"name": "movy"},
    {"name": "git", "namespace": "movy"},
    {"name": "edge.movy.git"},
    {"name": "edge-kubeconfig"},
    {"name": "{other}"},
    {"kind": "GitRepository", "name": "manifests", "namespace": "movy"},
    {"kind": "Secret", "name": "edge.movy.git"},
    None,
    {},
    {"name": None},
)
_DECRYPTIONS: tuple[Any, ...] = (
    {"provider": "sops"},
    {"provider": "sops", "secretRef": None},
    {"provider": "sops", "secretRef": {}},
    {"provider": "sops", "secretRef": {"name": "{other}"}},
    {"provider": "sops", "serviceAccountName": "movy"},
    None,
)
_KUBECONFIGS: tuple[Any, ...] = (
    {"secretRef": {"name": "edge-kubeconfig", "key": "value"}},
    {"configMapRef": {"name": "settings"}},
    None,
)
_SUBJECTS: tuple[Any, ...] = (
    [{"group": "team-rocky", "role": "cluster-admin"}],
    [{"group": "system:masters"}],
    [{"user": "system:serviceaccount:clusters:movy"}],
    [{"serviceAccount": {"name": "movy", "namespace": "movy"}, "role": "edit"}],
    [{"serviceAccount": {"name": "default", "namespace": "{other}"}}],
    [{"serviceAccount": {"name": "tenantry-platform", "namespace": "clusters"}}],
    [{"serviceAccount": {"name": "certs", "namespace": "certs"}}],
    [{"user": "eve", "role": "edit"}],
    [{"user": "eve"}],
)
_BINDINGS: tuple[Any, ...] = tuple(
    {"extra": {"role": role, "subjects": [{key: each[key] for key in each if key != "role"} for each in subjects]}}
    for role in ("view", "edit", "cluster-admin")
    for subjects in _SUBJECTS
)
_METADATA: tuple[Any, ...] = (
    {"rocky.example.com/stage": "beta"},
    {"rocky.example.com.evil/x": "y"},
    {"admission.gatekeeper.sh/ignore": "true"},
    {"istio-injection": "enabled"},
    {"pod-security.kubernetes.io/enforce": "privileged"},
    {"pod-security.kubernetes.io/enforce-version": "v1.0"},
    {"toolkit.fluxcd.io/tenant": "movy"},
    {"helm.sh/resource-policy": "keep"},
    {"team": "other"},
)
_NAMESPACES: tuple[Any, ...] = (
    {"jobs": {}},
    {"jobs": {"name": "movy"}},
    {"jobs": {"name": "{namespace}"}},
    {"web": {"name": "{namespace}-{key}"}},
    {"x": {"name": "kube-{namespace}"}},
    {"x": {"name": "{namespace}-system"}},
    {"jobs": {"podSecurity": "privileged"}},
    {"jobs": {"labels": {"istio-injection": "enabled"}}},
    {"jobs": {"labels": {"rocky.example.com/a": "b"}}},
    {"jobs": {"quota": {"pods": 1000}}},
)
_OVERRIDES: tuple[Any, ...] = tuple(
    {level: {name: {kind: {key: value}}}}
    for level, name in (("environments", "dev"), ("clusters", "edge"), ("clusters", "hub"), ("clusters", "far"))
    for kind in ("kustomize", "helm")
    for key, value in (
        ("timeout", "1m"),
        ("path", "./other"),
        ("values", {"a": "b"}),
        ("interval", "1ms"),
        ("retryInterval", "{fast}"),
        ("targetNamespace", "{other}"),
        ("targetNamespace", "kube-system"),
        ("decryption", {"secretRef": None}),
        ("decryption", None),
        ("kubeConfig", {"secretRef": {"name": "far-kubeconfig"}}),
        ("serviceAccountName", "movy"),
        ("source", "given"),
        ("valuesFrom", [{"kind": "Secret", "name": "edge.movy.git"}]),
        ("postBuild", {"substituteFrom": [{"kind": "Secret", "name": "edge-kubeconfig"}]}),
    )
)
_PROVIDERS: tuple[Any, ...] = ("aws", "azure", "gcp", "{cloud}", "generic", "github", None)

EDITS: tuple[tuple[At, tuple[Any, ...]], ...] = (
    *((("sources", "*", "*", key), _PROVIDERS) for key in ("provider",)),
    *((("sources", "*", "*", key), ADDRESSES) for key in ("url", "url", "endpoint")),
    (("sources", "*", "*", "interval"), _TIMES),
    (
        ("sources", "*", "*", "include"),
        ([{"repository": {"name": "movy"}}], [{"repository": {"name": "edge-movy-manifests"}}]),
    ),
    (("sources", "*", "*", "verify"), ({"provider": "cosign", "secretRef": {"name": "edge.movy.git"}},)),
    (
        ("sources", "blobs", "bucket", "sts"),
        (
            {"provider": "aws", "endpoint": "https://evil.example.com"},
            {"provider": "ldap", "endpoint": "https://evil.example.com"},
        ),
    ),
    (("sources", "*", "credentials"), _SECRETS),
    (("apps", "*", "kustomize", "decryption"), _DECRYPTIONS),
    (("apps", "*", "*", "targetNamespace"), TEXTS),
    (("apps", "*", "*", "interval"), _TIMES),
    (("apps", "*", "*", "retryInterval"), _TIMES),
    (("apps", "*", "*", "source"), _SOURCES_OF_APPS),
    (("apps", "*", "helm", "releaseName"), TEXTS),
    (("apps", "*", "helm", "chart"), TEXTS),
    (("apps", "*", "helm", "install"), ({"createNamespace": True}, {"crds": "Skip"})),
    (("apps", "*", "helm", "valuesFrom"), tuple([each] for each in _REFERENCES)),
    (("apps", "*", "kustomize", "postBuild"), tuple({"substituteFrom": [each]} for each in _REFERENCES)),
    (("apps", "*", "kustomize", "commonMetadata"), tuple({"labels": each} for each in _METADATA)),
    (("apps", "*", "kustomize", "healthChecks"), ([{"kind": "Secret", "name": "git", "namespace": "movy"}],)),
    (
        ("apps", "*", "dependsOn"),
        (["movy/web"], ["platform/dns"], ["platform/cert-manager"], ["web"], [{"name": "web", "namespace": "movy"}]),
    ),
    (("apps", "*", "clusters"), _SELECTORS),
    (("apps", "*", "overrides"), _OVERRIDES),
    (
        ("apps", "web", "imageAutomation", "images", "app", "repository", "image"),
        ("movy", "registry.example.com/movy/app", "{other}/app", "docker.io/library/x", "169.254.169.254/x"),
    ),
    (("apps", "web", "imageAutomation", "images", "app", "repository", "provider"), _PROVIDERS),
    (("apps", "web", "imageAutomation", "images", "app", "repository", "interval"), _TIMES),
    (("apps", "web", "imageAutomation", "images", "app", "repository", "certSecretRef"), _REFERENCES),
    (("apps", "web", "imageAutomation", "images", "app", "credentials"), _SECRETS),
    (("apps", "web", "imageAutomation", "update", "interval"), _TIMES),
    (
        ("apps", "web", "imageAutomation", "update", "git", "commit", "signingKey"),
        tuple({"secretRef": each} for each in _REFERENCES),
    ),
    *((("alerts", "chat", "provider", key), ADDRESSES) for key in ("address", "proxy")),
    (("alerts", "chat", "provider", "type"), TEXTS),
    (("alerts", "chat", "provider", "certSecretRef"), _REFERENCES),
    (("alerts", "chat", "credentials"), _SECRETS),
    (("alerts", "chat", "apps"), (["web"], ["movy"], ["dns"], ["*"])),
    (("credentials", "*"), ({"existing": True}, None, {"keys": ["x"]})),
    (("credentials", "movy"), ({"existing": True},)),
    (("credentials", "edge-kubeconfig"), ({"existing": True},)),
    (("configs", "settings", "data"), ({"provider": "aws", "address": "https://evil.example.com"},)),
    (("role",), ("cluster-admin", "admin", "edit", "view", "{admin}")),
    (("owners",), _SUBJECTS),
    (("roleBindings",), _BINDINGS),
    (("labels",), (*_METADATA, *_METADATA[:1] * 5)),
    (("annotations",), (*_METADATA, *_METADATA[:1] * 5)),
    (("namespaces",), _NAMESPACES),
    (("clusters",), _SELECTORS),
    (("quota",), ({"pods": 100000}, None)),
    (("network",), ("open", {"base": "open"})),
    *(((key,), (*_TIMES, None)) for key in ("interval", "retryInterval", "timeout")),
    *((("sources", "*", "*", key), _REFERENCES) for key in ("certSecretRef", "proxySecretRef")),
)
"""Where the edits are made, `*` being any key there, and what is put there."""
SHUT: tuple[tuple[At, tuple[Any, ...]], ...] = (
    *((("sources", "*", "*", key), _REFERENCES) for key in ("secretRef", "sourceRef")),
    (("sources", "*", "*", "serviceAccountName"), TEXTS),
    (("sources", "*", "*", "accessFrom"), ({"namespaceSelectors": [{"matchLabels": {}}]},)),
    (("apps", "*", "*", "kubeConfig"), _KUBECONFIGS),
    (("apps", "*", "*", "serviceAccountName"), TEXTS),
    (("apps", "*", "*", "storageNamespace"), TEXTS),
    (("apps", "*", "*", "sourceRef"), _REFERENCES),
    (("apps", "*", "helm", "chartRef"), _REFERENCES),
    (("alerts", "chat", "provider", "serviceAccountName"), TEXTS),
    (("alerts", "chat", "eventSources"), ([{"kind": "Kustomization", "name": "*", "namespace": "movy"}],)),
    (("podSecurity",), ("privileged", "baseline", None, {"enforce": "privileged"})),
    (("grants",), ({"sources": ["*"]}, {"clusters": {"all": True}}, None)),
    (("clusterAdmin",), (True,)),
    (("adopt",), (True, {"namespace": True})),
    (("state",), ("paused", "offboarding")),
)
"""The same where no value is ever accepted; drawn seldom."""


def _edit(filling: Data, chance: random.Random) -> str:
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
    value = chance.choice((chance.choice(TEXTS), chance.choice(ADDRESSES), copy.deepcopy(chance.choice(_ANYTHING))))
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
