"""A random walk through fleets: one edit of tenants.yaml after another, as people make them, drawn from a seed.

An edit is a pure function of the document and the random numbers. What it gives is a sound fleet; whether a run may take the
step is for `expected` to say.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from tenantry.render import to_yaml
from tests.faults.expected import kind_of, occupied

Data: TypeAlias = dict[str, Any]
Edit: TypeAlias = Callable[[Data, Random], str]
"""Changes the document it is given, and says what it did; "" if there is nothing that it could do."""

TENANTS = ("alba", "bora", "cala", "dora")
APPS = ("web", "db", "api")
ADDONS = ("dns", "certs")
NAMESPACES = ("jobs", "builds")
REMOTES = ("edge-1", "edge-2")
CLUSTERS = ("hub", *REMOTES)
COLORS = ("red", "green", "blue")
GIT: Data = {"git": {"url": "{host}/git/walk/manifests.git", "ref": {"branch": "main"}}}
CHARTS: Data = {"helm": {"url": "{host}/charts"}}


@dataclass(frozen=True, slots=True)
class Step:
    """sort: which of the edits it is, in words. said: what was edited. same: it means nothing to any cluster."""

    document: Data
    sort: str
    said: str
    same: bool


def step(document: Data, random: Random) -> Step:
    """The document after one edit more; the one that is given stays as it is."""
    while True:
        edited = copy.deepcopy(document)
        edit = random.choices(EDITS, WEIGHTS)[0]
        if said := edit(edited, random):
            _mend_dependencies(edited)
            return Step(edited, edit.__name__.replace("_", " ").strip(), said, same=edit in SAME)


def text_of(document: Data, said: str) -> str:
    """The file, with a comment that differs after each edit."""
    return f"# {said}\n{to_yaml([document])}"


# --- tenants ------------------------------------------------------------------------------------------------------


def _tenant_comes(document: Data, random: Random) -> str:
    tenant = _unused(TENANTS, document["tenants"], random)
    if not tenant:
        return ""
    made: Data = {"sources": {"manifests": copy.deepcopy(GIT), "charts": copy.deepcopy(CHARTS)}, "apps": {}}
    if random.random() < 0.6:
        made["clusters"] = _selector(random)
    document["tenants"][tenant] = made
    for _ in range(random.randint(1, 2)):
        _app_comes_to(made, random)
    return f"tenant {tenant} comes"


def _tenant_goes(document: Data, random: Random) -> str:
    tenant = _leaving_first(document["tenants"], random)
    if not tenant:
        return ""
    del document["tenants"][tenant]
    return f"tenant {tenant} goes"


def _tenant_is_renamed(document: Data, random: Random) -> str:
    old, new = _one(document["tenants"], random), _unused(TENANTS, document["tenants"], random)
    if not (old and new):
        return ""
    document["tenants"] = {new if name == old else name: each for name, each in document["tenants"].items()}
    return f"tenant {old} is now {new}"


def _tenant_moves(document: Data, random: Random) -> str:
    tenant = _one(document["tenants"], random)
    if not tenant:
        return ""
    selector = _selector(random)
    document["tenants"][tenant]["clusters"] = selector
    return f"tenant {tenant} moves to {selector}"


def _tenant_is_told(document: Data, random: Random) -> str:
    tenant = _one(document["tenants"], random)
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
    return _toggle(document["tenants"][tenant], key, value, random, f"tenant {tenant}")


def _defaults_are_changed(document: Data, random: Random) -> str:
    key, value = random.choice(
        [("quota", {"configmaps": random.randint(30, 60)}), ("labels", {"fleet": random.choice(COLORS)})]
    )
    document["defaults"][key] = value
    return f"the defaults say {key} {value}"


# --- namespaces ---------------------------------------------------------------------------------------------------


def _namespace_comes(document: Data, random: Random) -> str:
    tenant = _one(document["tenants"], random)
    declared = document["tenants"].get(tenant, {}).get("namespaces", {})
    key = _unused(NAMESPACES, declared, random)
    if not (tenant and key):
        return ""
    document["tenants"][tenant]["namespaces"] = {**declared, key: random.choice([{}, {"quota": {"pods": 2}}])}
    return f"tenant {tenant} gets namespace {key}"


def _namespace_goes(document: Data, random: Random) -> str:
    tenant = _one([name for name, each in document["tenants"].items() if each.get("namespaces")], random)
    if not tenant or _is_paused(document):
        return ""
    own = document["tenants"][tenant]
    taken = {block.get("targetNamespace") for block in _blocks(own)}
    key = _one([key for key in own["namespaces"] if key not in taken] or own["namespaces"], random)
    del own["namespaces"][key]
    for block in _blocks(own):
        if block.get("targetNamespace") == key:
            del block["targetNamespace"]
    return f"tenant {tenant} loses namespace {key}"


def _app_goes_elsewhere(document: Data, random: Random) -> str:
    tenant, app = _any_app(document, random)
    if not app or _is_paused(document):
        return ""
    own = document["tenants"][tenant]
    block = own["apps"][app][kind_of(own["apps"][app])]
    others = [key for key in own.get("namespaces", {}) if block.get("targetNamespace") != key]
    if others:
        block["targetNamespace"] = random.choice(others)
    elif not block.pop("targetNamespace", ""):
        return ""
    return f"app {tenant}/{app} goes to namespace {block.get('targetNamespace', tenant)}"


# --- apps ---------------------------------------------------------------------------------------------------------


def _app_comes(document: Data, random: Random) -> str:
    tenant = _one(document["tenants"], random)
    app = _app_comes_to(document["tenants"][tenant], random) if tenant else ""
    return app and f"app {tenant}/{app} comes"


def _app_comes_to(tenant: Data, random: Random) -> str:
    app = _unused(APPS, tenant["apps"], random)
    if app:
        kind = random.choice(["kustomize", "helm"])
        same = [name for name, each in tenant["apps"].items() if kind in each]
        tenant["apps"][app] = {kind: _block(tenant, kind, random)}
        if same and random.random() < 0.5:
            tenant["apps"][app]["dependsOn"] = [random.choice(same)]
    return app


def _app_goes(document: Data, random: Random) -> str:
    tenant = _one([name for name, each in document["tenants"].items() if each["apps"]], random)
    app = _leaving_first(document["tenants"][tenant]["apps"], random) if tenant else ""
    if not app:
        return ""
    del document["tenants"][tenant]["apps"][app]
    return f"app {tenant}/{app} goes"


def _app_is_renamed(document: Data, random: Random) -> str:
    tenant, old = _any_app(document, random)
    new = _unused(APPS, document["tenants"][tenant]["apps"], random) if old else ""
    if not new:
        return ""
    apps = document["tenants"][tenant]["apps"]
    for each in apps.values():
        each["dependsOn"] = [new if name == old else name for name in each.get("dependsOn", ())]
    document["tenants"][tenant]["apps"] = {new if name == old else name: each for name, each in apps.items()}
    return f"app {tenant}/{old} is now {new}"


def _app_moves(document: Data, random: Random) -> str:
    tenant, app = _any_app(document, random)
    return app and _toggle(
        document["tenants"][tenant]["apps"][app], "clusters", _selector(random), random, f"app {tenant}/{app}"
    )


def _app_becomes_another_kind(document: Data, random: Random) -> str:
    tenant, app = _any_app(document, random)
    if not app:
        return ""
    own = document["tenants"][tenant]
    kind = "helm" if kind_of(own["apps"][app]) == "kustomize" else "kustomize"
    kept = {key: value for key, value in own["apps"][app].items() if key in ("clusters", "state")}
    own["apps"][app] = {kind: _block(own, kind, random), **kept}
    return f"app {tenant}/{app} is now of {kind}"


def _app_is_told(document: Data, random: Random) -> str:
    tenant, app = _any_app(document, random)
    if not app:
        return ""
    own = document["tenants"][tenant]["apps"][app]
    patch = _patch(kind_of(own), random)
    own[kind_of(own)].update(patch)
    return f"app {tenant}/{app} says {patch}"


def _app_is_overridden(document: Data, random: Random) -> str:
    tenant, app = _any_app(document, random)
    if not app:
        return ""
    own = document["tenants"][tenant]["apps"][app]
    level, name = random.choice([("environments", "dev"), *(("clusters", each) for each in CLUSTERS)])
    said = {kind_of(own): _patch(kind_of(own), random)}
    overridden = own.setdefault("overrides", {}).setdefault(level, {})
    return _toggle(overridden, name, said, random, f"app {tenant}/{app}, {level}")


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


# --- sources ------------------------------------------------------------------------------------------------------


def _source_is_renamed(document: Data, random: Random) -> str:
    tenant = _one(document["tenants"], random)
    if not tenant:
        return ""
    own = document["tenants"][tenant]
    old = _one(own["sources"], random)
    new = old[:-2] if old.endswith("-2") else f"{old}-2"
    own["sources"] = {new if name == old else name: each for name, each in own["sources"].items()}
    for block in _blocks(own):
        if block.get("source") == old:
            block["source"] = new
    return f"source {tenant}/{old} is now {new}"


# --- clusters, the environment, add-ons ---------------------------------------------------------------------------


def _cluster_leaves_or_comes_back(document: Data, random: Random) -> str:
    cluster = random.choice(REMOTES)
    declared = document["clusters"][cluster]
    goes = declared["environments"] == ["dev"]
    declared["environments"] = ["spare"] if goes else ["dev"]
    return f"cluster {cluster} {'leaves' if goes else 'comes back'}"


def _cluster_is_told(document: Data, random: Random) -> str:
    cluster = random.choice(CLUSTERS)
    document["clusters"][cluster]["variables"] = {"color": random.choice(COLORS)}
    return f"cluster {cluster} says {document['clusters'][cluster]['variables']}"


def _environment_is_told(document: Data, random: Random) -> str:
    dev = document["environments"]["dev"]
    if random.random() < 0.5:
        dev["maxDeletions"] = random.randint(1, 5)
        return f"{dev['maxDeletions']} may go at once"
    dev["variables"]["color"] = random.choice(COLORS)
    return f"environment dev says {dev['variables']['color']}"


def _addon_comes(document: Data, random: Random) -> str:
    addons = document["platform"].setdefault("addons", {})
    addon = _unused(ADDONS, addons, random)
    if not addon:
        return ""
    made: Data = {"clusters": _selector(random)}
    if random.random() < 0.5:
        made |= {"source": copy.deepcopy(CHARTS), "helm": {"chart": "plain", "version": "1.0.0"}}
        made["helm"]["targetNamespace"] = "tenantry-system"
    else:
        block = {"path": "./plain", "namePrefix": "{app}-", "targetNamespace": "tenantry-system"}
        made |= {"source": copy.deepcopy(GIT), "kustomize": block}
    addons[addon] = made
    return f"add-on {addon} comes"


def _addon_goes(document: Data, random: Random) -> str:
    addons = document["platform"].get("addons", {})
    addon = _leaving_first(addons, random)
    if not addon:
        return ""
    del addons[addon]
    return f"add-on {addon} goes"


# --- states -------------------------------------------------------------------------------------------------------


def _state_of_a_tenant(document: Data, random: Random) -> str:
    tenant = _one(document["tenants"], random)
    return tenant and _state(document["tenants"][tenant], ("paused", "offboarding"), random, f"tenant {tenant}")


def _state_of_an_app(document: Data, random: Random) -> str:
    tenant, app = _any_app(document, random)
    states = ("paused", "offboarding")
    return app and _state(document["tenants"][tenant]["apps"][app], states, random, f"app {tenant}/{app}")


def _state_of_an_addon(document: Data, random: Random) -> str:
    addons = document["platform"].get("addons", {})
    addon = _one(addons, random)
    return addon and _state(addons[addon], ("paused", "offboarding"), random, f"add-on {addon}")


def _state_of_a_cluster(document: Data, random: Random) -> str:
    cluster = random.choice(CLUSTERS)
    return _state(document["clusters"][cluster], ("paused",), random, f"cluster {cluster}")


def _all_is_active_again(document: Data, _: Random) -> str:
    paused = [each for each in _parts(document) if each.get("state") == "paused"]
    for each in paused:
        del each["state"]
    return "all is active again" if paused else ""


def _is_paused(document: Data) -> bool:
    """Whether anything is. Flux would not move apps from one namespace to another then, nor those that depend on it."""
    return any(each.get("state") == "paused" for each in _parts(document))


def _parts(document: Data) -> Iterator[Data]:
    """All that has a state."""
    yield from document["clusters"].values()
    yield from document["platform"].get("addons", {}).values()
    for tenant in document["tenants"].values():
        yield from (tenant, *tenant["apps"].values())


def _state(part: Data, states: tuple[str, ...], random: Random, what: str) -> str:
    if part.pop("state", ""):
        return f"{what} is active again"
    part["state"] = random.choice(states)
    return f"{what} is {part['state']}"


# --- accidents ----------------------------------------------------------------------------------------------------


def _all_tenants_go(document: Data, _: Random) -> str:
    document["tenants"] = {}
    return "the list of tenants is emptied"


def _many_apps_go(document: Data, random: Random) -> str:
    for tenant in document["tenants"].values():
        tenant["apps"] = dict(list(tenant["apps"].items())[: random.randint(0, 1)])
    return "most apps go"


def _another_kubeconfig(document: Data, random: Random) -> str:
    cluster = _one([each for each in REMOTES if occupied(document, each)], random)
    if not cluster:
        return ""
    document["clusters"][cluster]["kubeconfig"] = {"vcluster": {"name": cluster, "namespace": "elsewhere"}}
    return f"cluster {cluster} has its kubeconfig elsewhere"


# --- what means nothing -------------------------------------------------------------------------------------------


def _order_changes(document: Data, random: Random) -> str:
    shuffled = _shuffled(document, random)
    document.clear()
    document.update(shuffled)
    return "the same in another order"


def _shuffled(value: Any, random: Random) -> Any:
    if not isinstance(value, dict):
        return value
    keys = list(value)
    random.shuffle(keys)
    return {key: _shuffled(value[key], random) for key in keys}


def _comments_change(_: Data, random: Random) -> str:
    return f"a comment that says {random.choice(COLORS)}"


# --- choices ------------------------------------------------------------------------------------------------------


def _selector(random: Random) -> Data:
    return random.choice(
        [
            {"all": True},
            {"names": random.sample(CLUSTERS, random.randint(1, 2))},
            {"labels": {"tier": random.choice(["hub", "edge"])}},
            {"all": True, "exclude": [random.choice(CLUSTERS)]},
        ]
    )


def _one(names: Any, random: Random) -> str:
    """Any of them; "" if there is none."""
    listed = sorted(names)
    return random.choice(listed) if listed else ""


def _unused(names: tuple[str, ...], used: Any, random: Random) -> str:
    return _one([name for name in names if name not in used], random)


def _leaving_first(parts: Data, random: Random) -> str:
    """One that was given up, if there is such a one."""
    return _one([name for name, each in parts.items() if each.get("state") == "offboarding"] or parts, random)


def _any_app(document: Data, random: Random) -> tuple[str, str]:
    apps = [(name, app) for name, tenant in document["tenants"].items() for app in tenant["apps"]]
    return random.choice(sorted(apps)) if apps else ("", "")


def _blocks(tenant: Data) -> Iterator[Data]:
    for app in tenant["apps"].values():
        kind = kind_of(app)
        yield app[kind]
        for level in app.get("overrides", {}).values():
            yield from (each[kind] for each in level.values())


def _toggle(part: Data, key: str, value: Any, random: Random, what: str) -> str:
    """Set a key, or take away what is there."""
    if key in part and random.random() < 0.5:
        del part[key]
        return f"{what} no longer says {key}"
    part[key] = value
    return f"{what} says {key} {value}"


def _mend_dependencies(document: Data) -> None:
    """Whoever edits an app sees to what depends on it: it has to be there, of the same kind, and on the same clusters."""
    for tenant in document["tenants"].values():
        for name, app in tenant["apps"].items():
            apps = {other: each for other, each in tenant["apps"].items() if kind_of(each) == kind_of(app)}
            fit = "clusters" not in app
            wanted = [
                each for each in app.get("dependsOn", ()) if fit and each in apps and "clusters" not in apps[each]
            ]
            app.pop("dependsOn", None)
            if wanted and not _reaches(tenant["apps"], wanted, name):
                app["dependsOn"] = wanted


def _reaches(apps: Data, names: list[str], wanted: str) -> bool:
    return any(name == wanted or _reaches(apps, apps[name].get("dependsOn", []), wanted) for name in names)


SAME = (_order_changes, _comments_change)
_WEIGHTED: tuple[tuple[Edit, int], ...] = (
    (_tenant_comes, 8),
    (_tenant_goes, 4),
    (_tenant_is_renamed, 2),
    (_tenant_moves, 4),
    (_tenant_is_told, 6),
    (_defaults_are_changed, 1),
    (_namespace_comes, 3),
    (_namespace_goes, 3),
    (_app_goes_elsewhere, 3),
    (_app_comes, 6),
    (_app_goes, 4),
    (_app_is_renamed, 3),
    (_app_moves, 4),
    (_app_becomes_another_kind, 2),
    (_app_is_told, 4),
    (_app_is_overridden, 5),
    (_source_is_renamed, 3),
    (_cluster_leaves_or_comes_back, 4),
    (_cluster_is_told, 2),
    (_environment_is_told, 2),
    (_addon_comes, 3),
    (_addon_goes, 2),
    (_state_of_a_tenant, 3),
    (_state_of_an_app, 4),
    (_state_of_an_addon, 2),
    (_state_of_a_cluster, 2),
    (_all_is_active_again, 6),
    (_all_tenants_go, 1),
    (_many_apps_go, 1),
    (_another_kubeconfig, 1),
    (_order_changes, 2),
    (_comments_change, 2),
)
EDITS = tuple(edit for edit, _ in _WEIGHTED)
WEIGHTS = tuple(weight for _, weight in _WEIGHTED)
