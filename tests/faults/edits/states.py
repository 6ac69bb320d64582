"""Edits of states: pausing, offboarding and decommissioning."""

from __future__ import annotations

from random import Random

from tests.faults.edits.draw import CLUSTERS, Data, any_app, one, parts


def state_of_a_tenant(document: Data, random: Random) -> str:
    tenant = one(document["tenants"], random)
    return tenant and _state(document["tenants"][tenant], ("paused", "offboarding"), random, f"tenant {tenant}")


def state_of_an_app(document: Data, random: Random) -> str:
    tenant, app = any_app(document, random)
    states = ("paused", "offboarding")
    return app and _state(document["tenants"][tenant]["apps"][app], states, random, f"app {tenant}/{app}")


def state_of_an_addon(document: Data, random: Random) -> str:
    addons = document["platform"].get("addons", {})
    addon = one(addons, random)
    return addon and _state(addons[addon], ("paused", "offboarding"), random, f"add-on {addon}")


def state_of_a_cluster(document: Data, random: Random) -> str:
    cluster = random.choice(CLUSTERS)
    return _state(document["clusters"][cluster], ("paused",), random, f"cluster {cluster}")


def all_is_active_again(document: Data, _: Random) -> str:
    paused = [each for each in parts(document) if each.get("state") == "paused"]
    for each in paused:
        del each["state"]
    return "all is active again" if paused else ""


def _state(part: Data, states: tuple[str, ...], random: Random, what: str) -> str:
    if part.pop("state", ""):
        return f"{what} is active again"
    part["state"] = random.choice(states)
    return f"{what} is {part['state']}"
