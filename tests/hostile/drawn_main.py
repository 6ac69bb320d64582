"""The platform's file of a drawn fleet: honest, and more or less open."""

from __future__ import annotations

import copy
import random
from typing import Any, TypeAlias

Data: TypeAlias = dict[str, Any]

BRANCH: Data = {"branch": "main"}
"""What a source checks out."""


def main_file(chance: random.Random) -> Data:
    shared = chance.random() < 0.3
    namespaces = ("{env}-{tenant}",) if shared else ("{tenant}", "{env}-{tenant}", "{tenant}-{env}", "t-{tenant}")
    variables = {
        "cloud": "aws",
        "system": "kube-system",
        "other": "movy",
        "fast": "1s",
        "up": "..",
        "git": "git.example.com",
        "secret": "Secret",
        "config": "ConfigMap",
    }
    hub = "hub" if shared else "hub-prod"
    main: Data = {
        "apiVersion": "tenantry/v1",
        "include": ["tenants.d/*.yaml"],
        "environments": {
            "dev": {"management": "hub", "namespace": chance.choice(namespaces), "variables": variables},
            "prod": {"management": hub, "namespace": chance.choice(namespaces), "variables": variables},
        },
        "clusters": {
            "hub": {"environments": ["dev", "prod"] if shared else ["dev"], "labels": {"zone": "in"}},
            **({} if shared else {hub: {"environments": ["prod"]}}),
            **{name: _remote(name, chance) for name in ("edge", "far", "edge-rocky")},
        },
        "templates": {
            "clusters": {
                "remote": {"from": "all", "labels": {"zone": "in"}},
                "moved": {"kubeconfig": _in_namespace("clusters-two"), "labels": {"zone": "in"}},
                "all": {"kubeconfig": _in_namespace("clusters"), "labels": {"zone": "in"}},
            },
            "tenants": {
                "small": {key: each for key, each in _frame(chance, shared=shared).items() if key != "namespaces"}
            },
        },
        "platform": _platform(chance),
        "defaults": _defaults(chance, shared=shared),
        "tenants": {"rocky": _frame(chance, shared=shared), "movy": _victim()},
    }
    if chance.random() < 0.2:
        main["defaults"]["kustomize"] = {"force": True, "commonMetadata": {"labels": {"zone": "in"}}}
    if chance.random() < 0.1:
        secret = chance.choice(("deploy", "there"))
        main["tenants"]["rocky"]["kustomize"] = {"postBuild": {"substituteFrom": [{"kind": "Secret", "name": secret}]}}
    if chance.random() < 0.05:
        main["environments"]["prod"]["tenants"] = chance.choice((["rocky", "movy"], ["movy"]))
    if chance.random() < 0.5:
        main["tenants"]["rocky"]["apps"] = {"given": {"kustomize": {"source": "given"}, "clusters": {"names": ["far"]}}}
        given: Data = {"git": {"url": chance.choice(_GIVEN), "ref": BRANCH, "interval": "{wait}"}}
        main["tenants"]["rocky"]["sources"] = {"given": given, "lent": copy.deepcopy(given)}
        main["tenants"]["rocky"]["apps"]["lent"] = {"kustomize": {"source": "lent"}, "clusters": {"names": ["far"]}}
        if chance.random() < 0.7:
            main["tenants"]["rocky"] |= copy.deepcopy(_LENT)
            given["credentials"] = "deploy"
        if chance.random() < 0.3:
            main["tenants"]["rocky"]["apps"]["given"]["environments"] = list(main["clusters"]["far"]["environments"])
    if chance.random() < 0.5:
        _divide(main, chance, shared=shared)
    return main


def _divide(main: Data, chance: random.Random, *, shared: bool) -> None:
    """Moves parts of what the main file says of the tenant, or of new ones, into templates, over which others say
    something else.
    """
    templates = main["templates"]["tenants"]
    templates |= {"base": {}, "mine": {"from": "base"}}
    levels = (templates["base"], templates["mine"])
    whole = main["tenants"]["rocky"] if chance.random() < 0.7 else templates["small"]
    for key in list(whole):
        level, part = chance.choice(levels), whole[key]
        if isinstance(part, dict) and key not in ("clusters", "network", "podSecurity") and chance.random() < 0.5:
            level[key] = {
                name: part.pop(name) for name in list(part) if chance.random() < 0.5 and part[name] is not None
            }
        elif chance.random() < 0.6:
            level[key] = whole.pop(key)
    others = _frame(chance, shared=shared)
    for key in ("role", "quota", "owners", "podSecurity", "clusters", "environments"):
        if key in others and (key in whole or key in levels[1]) and key not in levels[0] and chance.random() < 0.3:
            levels[0][key] = others[key]
    whole["from"] = chance.choice(("mine", ["mine"], ["base", "mine"]))


_GIVEN = ("https://{git}/platform/given", "https://{git}/platform/given", "https://{git}/{team}/given")


_TEMPLATES_OF: Data = {"far": ["remote", "moved"], "edge-rocky": ["moved", "remote"]}


def _in_namespace(namespace: str) -> Data:
    return {"secret": {"name": "{cluster}-kubeconfig", "namespace": namespace, "key": "value"}}


def _remote(name: str, chance: random.Random) -> Data:
    environments = chance.choice((["dev"], ["dev"], ["prod"]))
    secret = {"name": f"{name}-kubeconfig", "namespace": "clusters", "key": "value"}
    labels = {"zone": chance.choice(("in", "out"))}
    if chance.random() < 0.4:
        kubeconfig = chance.choice((None, {"capi": {"cluster": name, "namespace": "clusters"}}))
        return {
            "from": _TEMPLATES_OF.get(name, "remote"),
            "environments": environments,
            **({"kubeconfig": kubeconfig} if kubeconfig else {}),
        }
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
    if chance.random() < 0.3:
        objects = {"objects": _OBJECTS} if chance.random() < 0.5 else {}
        platform["addons"]["dns"]["namespaces"] = {"dns-{env}": {"podSecurity": "privileged", **objects}}
    if chance.random() < 0.1:
        platform["sharedIdentity"] = True
    if chance.random() < 0.2:
        over = {"when": {"clusters": {"labels": {"zone": "in"}}}, "helm": {"targetNamespace": "certs-in"}}
        platform["addons"]["cert-manager"]["overrides"] = [over]
    if chance.random() < 0.1:
        platform["addons"]["dns"]["environments"] = ["dev"]
    own = random.Random(str(chance.getstate()))  # so that all else is drawn as without it
    if own.random() < 0.2:
        platform["addons"][own.choice(("cert-manager", "dns"))]["namespace"] = "tools"
    if own.random() < 0.2:
        source = {"git": {"url": "https://git.example.com/platform/far"}}
        over = {
            "when": {"clusters": {"names": ["far"]}},
            "addons": {"dns": {"source": source}},
            "helm": {"interval": "1h"},
        }
        platform["overrides"] = [over]
    return platform


def _defaults(chance: random.Random, *, shared: bool) -> Data:
    defaults: Data = {
        "clusters": chance.choice(
            (
                {"all": True},
                {"names": ["edge"]},
                {"labels": {"zone": ["in"]}},
                {"labels": {"zone": ["in", "out"]}},
            )
        ),
        "variables": {"team": "platform", "room": "in", "wait": "1m"},
    }
    if chance.random() < 0.3:
        defaults["grants"] = {
            "sources": ["https://git.example.com/{tenant}/*", "oci://registry.example.com/{tenant}/*"]
        }
    if chance.random() < 0.3:
        defaults["podSecurity"] = chance.choice(("baseline", "restricted", {"enforce": "baseline", "version": "v1.30"}))
    if chance.random() < (0.02 if shared else 0.3):
        defaults["dependsOn"] = ["platform/cert-manager"]
    own = random.Random(str(chance.getstate()))  # so that all else is drawn as without it
    if own.random() < 0.2:
        defaults["overrides"] = [copy.deepcopy(own.choice(_OVERRIDES_OF_ALL))]
    return defaults


_OVERRIDES_OF_ALL: tuple[Data, ...] = (
    {"when": {"environments": ["dev"]}, "podSecurity": "restricted", "quota": {"pods": 7}},
    {"when": {"clusters": {"labels": {"zone": "in"}}}, "role": "edit", "network": "strict"},
    {"when": {"clusters": {"names": ["edge"]}}, "apps": {"web": {"kustomize": {"path": "./edge"}}}},
    {"when": {"environments": ["dev"], "clusters": {"all": True}}, "sources": {"charts": {"helm": {"interval": "1h"}}}},
)


def _frame(chance: random.Random, *, shared: bool) -> Data:
    """Args: shared: whether two environments have one cluster, which refuses what is not there once for each of them."""
    frame: Data = {"grants": {"sources": list(_SOURCES)}}
    grants = frame["grants"]
    for key, choices in _GRANTS.items():
        if chance.random() < (0.4 if key in ("environments", "clusters") else 0.85):
            grants[key] = copy.deepcopy(chance.choice(choices))
    for key, choices in _FRAMES.items():
        if chance.random() < (0.02 if shared and key in _ONCE else 0.2):
            frame[key] = copy.deepcopy(chance.choice(choices))
    return frame


_SOURCES = (
    *("https://git.example.com/{tenant}/*", "https://charts.example.com", "oci://registry.example.com/{tenant}/*"),
    "s3://s3.example.com/*",
)
_EVERY_SETTING = [
    "namespaces",
    "owners",
    "network",
    "limits",
    "quota",
    "interval",
    "advanced",
    "retryInterval",
    "timeout",
]
_GRANTS: dict[str, tuple[Any, ...]] = {
    "clusters": (
        {"names": ["edge"]},
        {"names": ["hub", "edge"]},
        {"all": True},
        {"labels": {"zone": "in"}},
        {"labels": {"zone": ["in", "out"]}, "exclude": ["hub"]},
        {"all": True, "exclude": {"labels": {"zone": "nowhere"}}},
    ),
    "environments": (["dev"], ["prod"], ["dev", "prod"]),
    "sources": (list(_SOURCES), [*_SOURCES, "https://{git}/shared/*"], ["*"], [*_SOURCES, "https://{git}/{team}/*"]),
    "alerts": (["https://hooks.example.com/*"],),
    "settings": (
        ["owners", "timeout"],
        ["namespaces", "quota", "interval"],
        _EVERY_SETTING,
        _EVERY_SETTING,  # twice as often as each of the others
    ),
}
_LENT: Data = {
    "credentials": {"deploy": {"keys": ["username", "password", "token"]}},
    "configs": {"lent": {"data": {"HOST": "{cluster}"}}},
}
_OBJECTS: Data = {
    "ca": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "{namespace}-ca"}, "data": {"a": "{cluster}"}},
    "ci": {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "ci"},
        "subjects": [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "ci"}],
    },
}
_ONCE = ("namespace", "dependsOn")
"""What two environments on one cluster seldom have: mostly it is refused before anything hostile is looked at."""
_FRAMES: dict[str, tuple[Any, ...]] = {
    "role": ("admin", "edit"),
    "podSecurity": ("restricted", "baseline", {"enforce": "baseline", "warn": "restricted"}),
    "clusters": ({"names": ["edge"]}, {"names": ["hub"]}, {"all": True}, {"labels": {"zone": "{room}"}}),
    "variables": ({"team": "rocky"}, {"room": "out", "seats": 5, "open": True}),
    "environments": (["dev"], *(["dev", "prod"],) * 4),
    "owners": ([{"group": "team-rocky"}],),
    "quota": ({"pods": 10},),
    "labels": ({"team": "rocky"},),
    "namespaces": ({"jobs": {"serviceAccount": True}}, {"jobs": {"podSecurity": "restricted"}}),
    "interval": ("10s", "5m"),
    "overrides": (
        [
            {"when": {"environments": ["dev"]}, "role": "view", "quota": {"pods": 3}},
            {"when": {"clusters": {"names": ["edge"]}}, "role": "admin"},
        ],
        [
            {
                "when": {"clusters": {"labels": {"zone": "in"}}},
                "podSecurity": "restricted",
                "owners": [{"group": "leads"}],
            }
        ],
        [
            {
                "when": {"environments": ["dev"], "clusters": {"names": ["edge"]}},
                "network": "open",
                "podSecurity": {"enforce": "restricted"},
                "labels": {"a": "b"},
            }
        ],
    ),
    "serviceAccount": ({"name": "deployer"}, {"imagePullSecrets": ["pull"], "annotations": {"example.com/a": "b"}}),
    "objects": (_OBJECTS, {"ca": _OBJECTS["ca"]}, {"ca": {**_OBJECTS["ca"], "data": {"a": "{team}", "b": "{wait}"}}}),
    "clusterRoles": (
        {"pv": {"rules": [{"apiGroups": [""], "resources": ["persistentvolumes"], "verbs": ["get", "create"]}]}},
        {"pv": {"role": "pv-access"}},
    ),
    "clusterObjects": (
        {
            "disk": {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": "{namespace}-high"},
                "value": 10,
            }
        },
    ),
    "namespace": ("own-{tenant}", "{env}-own-{tenant}"),
    "dependsOn": (["platform/cert-manager", "platform/dns"], [], ["platform/cert-manager"]),
}


def _victim() -> Data:
    return {
        "credentials": {"git": {"keys": ["username", "password"]}, "sops": {"keys": ["age.agekey"]}},
        "configs": {"settings": {"data": {"HOST": "{tenant}"}}},
        "sources": {
            "manifests": {
                "git": {"url": "https://git.example.com/movy/manifests", "ref": BRANCH},
                "credentials": "git",
            }
        },
        "apps": {"web": {"kustomize": {"source": "manifests"}, "clusters": {"all": True}}},
        "namespaces": {"web": {}},
    }
