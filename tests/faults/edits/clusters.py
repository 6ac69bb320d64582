"""Edits of clusters, of the environment, and of the platform's add-ons."""

from __future__ import annotations

import copy
from random import Random

from tests.faults.edits.draw import (
    ADDONS,
    CHARTS,
    CLUSTERS,
    COLORS,
    GIT,
    REMOTES,
    Data,
    any_selector,
    leaving_first,
    unused,
)


def cluster_leaves_or_comes_back(document: Data, random: Random) -> str:
    cluster = random.choice(REMOTES)
    declared = document["clusters"][cluster]
    goes = declared["environments"] == ["dev"]
    declared["environments"] = ["spare"] if goes else ["dev"]
    return f"cluster {cluster} {'leaves' if goes else 'comes back'}"


def variable_of_a_cluster(document: Data, random: Random) -> str:
    cluster = random.choice(CLUSTERS)
    document["clusters"][cluster]["variables"] = {"color": random.choice(COLORS)}
    return f"cluster {cluster} says {document['clusters'][cluster]['variables']}"


def setting_of_the_environment(document: Data, random: Random) -> str:
    dev = document["environments"]["dev"]
    if random.random() < 0.5:
        dev["maxDeletions"] = random.randint(1, 5)
        return f"the limit is {dev['maxDeletions']}"
    dev["variables"]["color"] = random.choice(COLORS)
    return f"environment dev says {dev['variables']['color']}"


def addon_comes(document: Data, random: Random) -> str:
    addons = document["platform"].setdefault("addons", {})
    addon = unused(ADDONS, addons, random)
    if not addon:
        return ""
    made: Data = {"clusters": any_selector(random)}
    if random.random() < 0.5:
        made |= {"source": copy.deepcopy(CHARTS), "helm": {"chart": "plain", "version": "1.0.0"}}
        made["helm"]["targetNamespace"] = "tenantry-system"
    else:
        block = {"path": "./plain", "namePrefix": "{app}-", "targetNamespace": "tenantry-system"}
        made |= {"source": copy.deepcopy(GIT), "kustomize": block}
    addons[addon] = made
    return f"add-on {addon} comes"


def addon_goes(document: Data, random: Random) -> str:
    addons = document["platform"].get("addons", {})
    addon = leaving_first(addons, random)
    if not addon:
        return ""
    del addons[addon]
    return f"add-on {addon} goes"
