"""Edits of tenants and of their namespaces."""

from __future__ import annotations

import copy
from random import Random

from tests.faults.edits.apps import app_comes_to
from tests.faults.edits.draw import (
    CHARTS,
    COLORS,
    GIT,
    NAMESPACES,
    TENANTS,
    Data,
    any_app,
    any_selector,
    blocks,
    is_paused,
    leaving_first,
    one,
    toggle,
    unused,
)
from tests.faults.expected import kind_of


def tenant_comes(document: Data, random: Random) -> str:
    tenant = unused(TENANTS, document["tenants"], random)
    if not tenant:
        return ""
    made: Data = {
        "sources": {"manifests": copy.deepcopy(GIT), "charts": copy.deepcopy(CHARTS)},
        "apps": {},
        "adopt": True,
    }
    if random.random() < 0.6:
        made["clusters"] = any_selector(random)
    document["tenants"][tenant] = made
    for _ in range(random.randint(1, 2)):
        app_comes_to(made, random)
    return f"tenant {tenant} comes"


def tenant_goes(document: Data, random: Random) -> str:
    tenant = leaving_first(document["tenants"], random)
    if not tenant:
        return ""
    del document["tenants"][tenant]
    return f"tenant {tenant} goes"


def tenant_is_renamed(document: Data, random: Random) -> str:
    old, new = one(document["tenants"], random), unused(TENANTS, document["tenants"], random)
    if not (old and new):
        return ""
    document["tenants"] = {new if name == old else name: each for name, each in document["tenants"].items()}
    return f"tenant {old} is now {new}"


def tenant_moves(document: Data, random: Random) -> str:
    tenant = one(document["tenants"], random)
    if not tenant:
        return ""
    selector = any_selector(random)
    document["tenants"][tenant]["clusters"] = selector
    return f"tenant {tenant} moves to {selector}"


def setting_of_a_tenant(document: Data, random: Random) -> str:
    tenant = one(document["tenants"], random)
    if not tenant:
        return ""
    key, value = random.choice(
        [
            ("role", random.choice(["admin", "edit"])),
            ("quota", {"configmaps": random.randint(20, 60), "pods": random.randint(1, 9)}),
            ("labels", {"team": random.choice(COLORS)}),
            ("annotations", {"example.com/contact": random.choice(COLORS)}),
            ("limits", {"default": {"cpu": f"{random.randint(1, 9)}00m"}}),
            ("network", random.choice(["open", "isolated"])),
            ("owners", [{"group": random.choice(COLORS)}]),
            ("podSecurity", random.choice(["baseline", "privileged"])),
        ]
    )
    return toggle(document["tenants"][tenant], key, value, random, f"tenant {tenant}")


def setting_of_the_defaults(document: Data, random: Random) -> str:
    key, value = random.choice(
        [("quota", {"configmaps": random.randint(30, 60)}), ("labels", {"fleet": random.choice(COLORS)})]
    )
    document["defaults"][key] = value
    return f"the defaults say {key} {value}"


def namespace_comes(document: Data, random: Random) -> str:
    tenant = one(document["tenants"], random)
    declared = document["tenants"].get(tenant, {}).get("namespaces", {})
    key = unused(NAMESPACES, declared, random)
    if not (tenant and key):
        return ""
    document["tenants"][tenant]["namespaces"] = {**declared, key: random.choice([{}, {"quota": {"pods": 2}}])}
    return f"tenant {tenant} gets namespace {key}"


def namespace_goes(document: Data, random: Random) -> str:
    tenant = one([name for name, each in document["tenants"].items() if each.get("namespaces")], random)
    if not tenant or is_paused(document):
        return ""
    own = document["tenants"][tenant]
    taken = {block.get("targetNamespace") for block in blocks(own)}
    key = one([key for key in own["namespaces"] if key not in taken] or own["namespaces"], random)
    del own["namespaces"][key]
    for block in blocks(own):
        if block.get("targetNamespace") == key:
            del block["targetNamespace"]
    return f"tenant {tenant} loses namespace {key}"


def app_goes_elsewhere(document: Data, random: Random) -> str:
    tenant, app = any_app(document, random)
    if not app or is_paused(document) or kind_of(document["tenants"][tenant]["apps"][app]) == "helm":
        return ""  # helm-controller leaves behind what a release had in another namespace
    own = document["tenants"][tenant]
    block = own["apps"][app]["kustomize"]
    others = [key for key in own.get("namespaces", {}) if block.get("targetNamespace") != key]
    if others:
        block["targetNamespace"] = random.choice(others)
    elif not block.pop("targetNamespace", ""):
        return ""
    return f"app {tenant}/{app} goes to namespace {block.get('targetNamespace', tenant)}"
