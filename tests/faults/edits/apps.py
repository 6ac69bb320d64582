"""Edits of tenants' apps and sources."""

from __future__ import annotations

from random import Random

from tests.faults.edits.draw import (
    APPS,
    CLUSTERS,
    COLORS,
    Data,
    any_app,
    any_selector,
    blocks,
    leaving_first,
    one,
    toggle,
    unused,
)
from tests.faults.expected import kind_of


def app_comes(document: Data, random: Random) -> str:
    tenant = one(document["tenants"], random)
    app = app_comes_to(document["tenants"][tenant], random) if tenant else ""
    return app and f"app {tenant}/{app} comes"


def app_comes_to(tenant: Data, random: Random) -> str:
    app = unused(APPS, tenant["apps"], random)
    if app:
        kind = random.choice(["kustomize", "helm"])
        same = [name for name, each in tenant["apps"].items() if kind in each]
        tenant["apps"][app] = {kind: _block(tenant, kind, random)}
        if same and random.random() < 0.5:
            tenant["apps"][app]["dependsOn"] = [random.choice(same)]
    return app


def app_goes(document: Data, random: Random) -> str:
    tenant = one([name for name, each in document["tenants"].items() if each["apps"]], random)
    app = leaving_first(document["tenants"][tenant]["apps"], random) if tenant else ""
    if not app:
        return ""
    del document["tenants"][tenant]["apps"][app]
    return f"app {tenant}/{app} goes"


def app_is_renamed(document: Data, random: Random) -> str:
    tenant, old = any_app(document, random)
    new = unused(APPS, document["tenants"][tenant]["apps"], random) if old else ""
    if not new:
        return ""
    apps = document["tenants"][tenant]["apps"]
    for each in apps.values():
        each["dependsOn"] = [new if name == old else name for name in each.get("dependsOn", ())]
    document["tenants"][tenant]["apps"] = {new if name == old else name: each for name, each in apps.items()}
    return f"app {tenant}/{old} is now {new}"


def app_moves(document: Data, random: Random) -> str:
    tenant, app = any_app(document, random)
    return app and toggle(
        document["tenants"][tenant]["apps"][app], "clusters", any_selector(random), random, f"app {tenant}/{app}"
    )


def app_becomes_another_kind(document: Data, random: Random) -> str:
    tenant, app = any_app(document, random)
    if not app:
        return ""
    own = document["tenants"][tenant]
    kind = "helm" if kind_of(own["apps"][app]) == "kustomize" else "kustomize"
    kept = {key: value for key, value in own["apps"][app].items() if key in ("clusters", "state")}
    own["apps"][app] = {kind: _block(own, kind, random), **kept}
    return f"app {tenant}/{app} is now of {kind}"


def setting_of_an_app(document: Data, random: Random) -> str:
    tenant, app = any_app(document, random)
    if not app:
        return ""
    own = document["tenants"][tenant]["apps"][app]
    patch = _patch(kind_of(own), random)
    own[kind_of(own)].update(patch)
    return f"app {tenant}/{app} says {patch}"


def app_is_overridden(document: Data, random: Random) -> str:
    tenant, app = any_app(document, random)
    if not app:
        return ""
    own = document["tenants"][tenant]["apps"][app]
    when: Data = random.choice([{"environments": ["dev"]}, *({"clusters": {"names": [each]}} for each in CLUSTERS)])
    overrides = own.setdefault("overrides", [])
    there = [each for each in overrides if each["when"] == when]
    if there and random.random() < 0.5:
        overrides.remove(there[0])
        return f"app {tenant}/{app}: no override for {when}"
    if not there:
        there = [{"when": when}]
        overrides += there
    there[0][kind_of(own)] = _patch(kind_of(own), random)
    return f"app {tenant}/{app}: another override for {when}"


def _block(tenant: Data, kind: str, random: Random) -> Data:
    """What an app of a tenant says, with the source of its kind."""
    source = next(name for name, each in tenant["sources"].items() if ("git" in each) == (kind == "kustomize"))
    if kind == "helm":
        return {"source": source, "chart": "plain", "version": "1.0.0", "values": {"color": random.choice(COLORS)}}
    path = random.choice(["./plain", "./other"])
    substitute = {"substitute": {"COLOR": random.choice(["{color}", *COLORS])}}
    return {"source": source, "path": path, "namePrefix": "{app}-", "postBuild": substitute}


def _patch(kind: str, random: Random) -> Data:
    common: list[Data] = [
        {"timeout": f"{random.randint(2, 4)}m"},
        {"commonMetadata": {"labels": {"seen": random.choice(COLORS)}}},
    ]
    own: dict[str, list[Data]] = {
        "helm": [{"values": {"color": random.choice(COLORS)}}],
        "kustomize": [
            {"path": random.choice(["./plain", "./other"])},
            {"postBuild": {"substitute": {"COLOR": random.choice(COLORS)}}},
        ],
    }
    return random.choice(common + own[kind])


def source_is_renamed(document: Data, random: Random) -> str:
    tenant = one(document["tenants"], random)
    if not tenant:
        return ""
    own = document["tenants"][tenant]
    old = one(own["sources"], random)
    new = old[:-2] if old.endswith("-2") else f"{old}-2"
    own["sources"] = {new if name == old else name: each for name, each in own["sources"].items()}
    for block in blocks(own):
        if block.get("source") == old:
            block["source"] = new
    return f"source {tenant}/{old} is now {new}"
