"""Edits that nobody intends: the guard must refuse all or most of their effects."""

from __future__ import annotations

from random import Random

from tests.faults.edits.draw import REMOTES, Data, one
from tests.faults.expected import occupied


def all_tenants_go(document: Data, _: Random) -> str:
    document["tenants"] = {}
    return "the list of tenants is emptied"


def many_apps_go(document: Data, random: Random) -> str:
    for tenant in document["tenants"].values():
        tenant["apps"] = dict(list(tenant["apps"].items())[: random.randint(0, 1)])
    return "most apps go"


def another_kubeconfig(document: Data, random: Random) -> str:
    cluster = one([each for each in REMOTES if occupied(document, each)], random)
    if not cluster:
        return ""
    document["clusters"][cluster]["kubeconfig"] = {"vcluster": {"name": cluster, "namespace": "elsewhere"}}
    return f"cluster {cluster} has its kubeconfig elsewhere"
