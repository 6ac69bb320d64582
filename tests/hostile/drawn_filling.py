"""The file of a team in a drawn fleet, before anybody does anything hostile to it."""

from __future__ import annotations

import copy
import random

from tests.hostile.drawn_main import BRANCH, Data


def filling_of(name: str, chance: random.Random) -> Data:
    """A tenant's entry; most main files accept it."""
    below = f"https://git.example.com/{name}"
    sources: Data = {
        "manifests": {"git": {"url": f"{below}/manifests", "ref": BRANCH, "interval": "5m"}, "credentials": "git"},
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
        sources["blobs"] = {"bucket": {"bucketName": "b", "endpoint": "s3.example.com"}, "credentials": "there"}
        apps["blobs"] = {"kustomize": {"source": "blobs"}}
    if chance.random() < 0.2:
        selector = chance.choice(SELECTORS)
        for app in ("web", "db"):
            apps.get(app, {})["clusters"] = selector
    if chance.random() < 0.15:
        chance.choice((apps["web"], sources["charts"]))["metadata"] = copy.deepcopy(
            chance.choice((*METADATA, *METADATA[:2] * 3))
        )
    if chance.random() < 0.05:
        apps["web"]["environments"] = copy.deepcopy(chance.choice((["dev"], ["dev"], ["prod"])))
    if chance.random() < 0.15:
        kind = chance.choice(("kustomize", "helm"))
        filling[kind] = copy.deepcopy(chance.choice(_FOR_ALL[kind]))
    if chance.random() < 0.15:
        filling["overrides"] = [copy.deepcopy(chance.choice(_OVERRIDES))]
    if chance.random() < 0.15:
        app = chance.choice(sorted(apps))
        change: Data = {next(iter(apps[app].keys() & _FOR_ALL.keys())): {"interval": "7m"}}
        apps[app]["overrides"] = [{"when": copy.deepcopy(chance.choice(WHENS)), **change}]
    if chance.random() < 0.15:
        filling["clusters"] = copy.deepcopy(chance.choice(SELECTORS))
    if chance.random() < 0.3:
        filling["alerts"] = {"chat": copy.deepcopy(chance.choice(_ALERTS))}
    if chance.random() < 0.3:
        filling["receivers"] = {"push": copy.deepcopy(chance.choice(_RECEIVERS))}
    return filling


METADATA: tuple[Data, ...] = (
    {"labels": {"rocky.example.com/a": "{tenant}"}},
    {"annotations": {"rocky.example.com/a": "b"}},
    {"labels": {"sharding.fluxcd.io/key": "a"}},
    {"labels": {"tenantry/cluster": "far"}},
    {"annotations": {"pulumi.com/waitFor": "condition=Never"}},
    {"annotations": {"helm.sh/resource-policy": "keep"}},
)
_KUSTOMIZE: tuple[Data, ...] = (
    {"source": "manifests", "path": "./web/{env}"},
    {"source": "manifests", "decryption": {"provider": "sops", "secretRef": {"name": "sops"}}},
    {"source": "manifests", "interval": "5m", "retryInterval": "5m"},
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
_FOR_ALL: dict[str, tuple[Data, ...]] = {
    "kustomize": (
        {"wait": False, "commonMetadata": {"labels": {"cluster": "{cluster}"}}},
        {"decryption": {"provider": "sops", "secretRef": {"name": "sops"}}},
        {"postBuild": {"substituteFrom": [{"kind": "Secret", "name": "there"}]}},
    ),
    "helm": ({"values": {"host": "{cluster}"}}, {"valuesFrom": [{"kind": "Secret", "name": "there"}]}),
}
WHENS: tuple[Data, ...] = (
    {"environments": ["dev"]},
    {"clusters": {"names": ["far"]}},
    {"clusters": {"labels": {"zone": "in"}}},
    {"environments": ["dev"], "clusters": {"all": True, "exclude": ["edge"]}},
)
_OVERRIDES: tuple[Data, ...] = tuple(
    {"when": when, **change}
    for when, change in (
        (WHENS[0], {"sources": {"manifests": {"git": {"ref": {"tag": "v1"}, "interval": "1h"}}}}),
        (WHENS[1], {"sources": {"manifests": {"credentials": "there"}}}),
        (WHENS[2], {"sources": {"manifests": {"git": {"url": "https://git.example.com/rocky/other"}}}}),
        (WHENS[3], {"apps": {"web": {"kustomize": {"path": "./far"}, "dependsOn": []}}}),
        (WHENS[3], {"kustomize": {"wait": False}, "helm": {"values": {"host": "{cluster}"}}}),
        (WHENS[0], {"interval": "9m"}),
    )
)
"""What differs somewhere, within what most main files grant."""
_ALERTS: tuple[Data, ...] = (
    {"provider": {"type": "slack", "channel": "{cluster}"}, "credentials": "there"},
    {"provider": {"type": "generic", "address": "https://hooks.example.com/{tenant}"}},
    {"provider": {"type": "slack", "channel": "y"}, "credentials": "there"},
    {"provider": {"type": "slack", "channel": "x"}, "credentials": "there", "apps": ["web"]},
)
_RECEIVERS: tuple[Data, ...] = (
    {"type": "github", "credentials": "there"},
    {"type": "gitlab", "credentials": "there", "sources": ["manifests"], "interval": "5m"},
    {
        "type": "generic-oidc",
        "oidcProviders": [
            {
                "issuerURL": "https://git.example.com/{tenant}/ci",
                "validations": [{"expression": "true", "message": "no"}],
            }
        ],
    },
)
SELECTORS: tuple[Data, ...] = (
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
