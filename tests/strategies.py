"""Hypothesis strategies: valid fleets as plain data, and changes to them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from hypothesis import strategies as st

from tenantry.render import to_yaml

Data = dict[str, Any]
Path = tuple[str | int, ...]

_TENANTS = ("rocky", "movy", "tina")
_APPS = ("web", "db", "cache", "worker")
_ADDONS = ("dns", "certs")
_REGIONS = st.sampled_from(["eu", "us"])
_LONGEST = "s" * 63
_ENVIRONMENTS = ("dev", "prod")


def text_of(fleet: Data) -> bytes:
    """The file of a fleet."""
    return to_yaml([fleet]).encode()


@st.composite
def fleets(draw: st.DrawFn, least: int = 1) -> Data:
    """A sound fleet: one or two environments, each with its hub and up to two remotes, add-ons and tenants.

    Args: least: how many environments at least.
    """
    environments = _ENVIRONMENTS[: draw(st.integers(least, 2))]
    clusters: Data = {}
    for environment in environments:
        clusters[f"hub{environment}"] = {"environments": [environment], "labels": {"region": draw(_REGIONS)}}
        for index in range(draw(st.integers(0, 2))):
            name = f"edge{environment}{index}"
            clusters[name] = {
                "environments": [environment],
                "labels": {"region": draw(_REGIONS)},
                "variables": {"domain": f"{name}.example.com"},
                **({"from": draw(_FROM)} if draw(st.booleans()) else {"kubeconfig": draw(_kubeconfigs(name))}),
                **draw(_SHARD),
            }
    whens = _whens(environments, sorted(clusters))
    addons = {name: draw(_addons(sorted(clusters), whens)) for name in _ADDONS[: draw(st.integers(0, 2))]}
    tenants = {name: draw(_tenants(sorted(clusters), addons, whens)) for name in _TENANTS[: draw(st.integers(0, 3))]}
    templates: Data = {"clusters": _TEMPLATES} if any("from" in each for each in clusters.values()) else {}
    if any("from" in each for each in tenants.values()):
        templates["tenants"] = {"small": {**draw(_settings), "overrides": draw(_overrides_of_all(whens))}}
    for tenant in tenants.values():
        if _is_everywhere(tenant) and draw(st.booleans()):
            tenant["environments"] = [draw(st.sampled_from(environments))]
    return {
        "apiVersion": "tenantry/v1",
        "environments": {
            environment: {
                "management": f"hub{environment}",
                "namespace": draw(
                    st.sampled_from(["{tenant}", "{env}-{tenant}", "{tenant}-{stage}", f"{environment}x-{{tenant}}"])
                ),
                "variables": {"stage": environment, "domain": f"{environment}.example.com"},
                **draw(_WAVES),
            }
            for environment in environments
        },
        **({"templates": templates} if templates else {}),
        "clusters": clusters,
        "platform": {
            "chart": {"helm": {"url": "https://charts.{domain}", "version": "0.1.0"}},
            "addons": addons,
            "credentials": _CREDENTIALS,
            "alerts": draw(_alerts(addons)) if addons else {},
            "overrides": draw(_overrides_of_platform(addons, whens)),
        },
        "defaults": {"clusters": {"all": True}, **draw(_settings), "overrides": draw(_overrides_of_all(whens))},
        "tenants": tenants,
    }


_WAVES = st.sampled_from([{}, {"waves": ["40%", "rest"]}])
_SHARD = st.fixed_dictionaries({}, optional={"shard": st.sampled_from(["a", "b"])})


def _is_everywhere(tenant: Data) -> bool:
    """Whether the tenant's apps are on all clusters, so that a list of environments leaves some for each."""
    selectors = [tenant.get("clusters", {"all": True}), *(app.get("clusters") for app in tenant["apps"].values())]
    return all(each in (None, {"all": True}) for each in selectors)


@st.composite
def shared_hubs(draw: st.DrawFn) -> Data:
    """A sound fleet whose environments have one management cluster, and any clusters in common."""
    fleet = draw(fleets(least=2))
    extending = draw(st.booleans())
    environments = fleet["environments"]
    for environment in environments.values():
        environment.update(management="hubdev", namespace="{env}-{tenant}")
    environments["dev"]["namespace"] = draw(st.sampled_from(["{env}-{tenant}", "{tenant}", "{tenant}-x"]))
    for tenant in fleet["tenants"].values():
        tenant.pop("environments", None)  # clusters of these are drawn below
    if extending:
        few = fleet["tenants"] and draw(st.booleans())
        environments["r1"] = {"extends": "prod", **({"tenants": [min(fleet["tenants"])]} if few else {})}
    for name, cluster in fleet["clusters"].items():
        cluster["environments"] = draw(st.lists(st.sampled_from(sorted(environments)), min_size=1, unique=True))
        if cluster["environments"] == ["r1"]:  # else an app of a tenant that is not in it would be nowhere
            cluster["environments"] += ["dev"]
        if name != "hubdev":
            cluster.setdefault("kubeconfig", draw(_kubeconfigs(name)))
    _keep_to_one_kind(fleet)
    return fleet


_FROM = st.sampled_from(("remote", ["remote"], ["zoned", "remote"], ["remote", "zoned"]))
_TEMPLATES: Data = {
    "zoned": {"from": ["all"], "labels": {"tier": "zone", "zone": "a"}, "variables": {"domain": "zone.example.com"}},
    "all": {"labels": {"tier": "edge"}, "variables": {"domain": "edge.example.com"}},
    "remote": {"from": "all", "kubeconfig": {"kamaji": {"controlPlane": "{cluster}", "namespace": "clusters"}}},
}


def _keep_to_one_kind(fleet: Data) -> None:
    """Without the dependencies on add-ons of the other kind: of two environments, only one has them in its stack."""
    addons = {f"platform/{name}": _kind(each) for name, each in fleet["platform"]["addons"].items()}
    for tenant in fleet["tenants"].values():
        tenant.pop("dependsOn", None)
        for app in tenant["apps"].values():
            if "dependsOn" in app:
                app["dependsOn"] = [name for name in app["dependsOn"] if addons.get(name, _kind(app)) == _kind(app)]


def _kind(app: Data) -> str:
    return "kustomize" if "kustomize" in app else "helm"


def _kubeconfigs(cluster: str) -> st.SearchStrategy[Data]:
    shared = st.sampled_from(["clusters", f"ns{cluster}"])
    return st.one_of(
        shared.map(lambda namespace: {"kamaji": {"controlPlane": cluster, "namespace": namespace}}),
        shared.map(lambda namespace: {"capi": {"cluster": cluster, "namespace": namespace}}),
        shared.map(lambda namespace: {"vcluster": {"name": cluster, "namespace": namespace}}),
        shared.map(
            lambda namespace: {"secret": {"name": f"{cluster}.example.com", "namespace": namespace, "key": "value"}}
        ),
    )


def _selectors(clusters: list[str]) -> st.SearchStrategy[Data]:
    return st.one_of(
        st.just({"all": True}),
        st.lists(st.sampled_from(clusters), min_size=1, unique=True).map(lambda names: {"names": names}),
    )


_SUBJECTS: st.SearchStrategy[Data] = st.sampled_from(
    [{"group": "team"}, {"user": "a@b.example"}, {"serviceAccount": {"name": "ci"}}]
)


def _with_a_role(subject: Data) -> st.SearchStrategy[Data]:
    return st.sampled_from([subject, {**subject, "role": "edit"}])


_settings: st.SearchStrategy[Data] = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["admin", "edit", "system:aggregate-to-view"]),
        "interval": st.sampled_from(["1m", "10m"]),
        "network": st.sampled_from(["isolated", "strict", "open"]),
        "quota": st.dictionaries(st.sampled_from(["pods", "cpu"]), st.integers(1, 9), max_size=2),
        "limits": st.just({"default": {"cpu": "1"}}),
        "labels": st.just({"team": "a"}),
        "annotations": st.just({"example.com/contact": "{team}"}),
        "podSecurity": st.sampled_from(["baseline", {"warn": "restricted", "version": "latest"}]),
        "owners": st.lists(_SUBJECTS.flatmap(_with_a_role), max_size=3),
    },
)
_NAMESPACES: st.SearchStrategy[Data] = st.dictionaries(
    st.sampled_from(["jobs", "builds"]),
    st.fixed_dictionaries(
        {},
        optional={
            "name": st.just("{env}-{namespace}-{key}"),
            "quota": st.just({"pods": 1, "cpu": None}),
            "labels": st.just({"team": None}),
            "network": st.sampled_from(["open", "strict"]),
            "serviceAccount": st.booleans(),
            "objects": st.just({"ca": None}),
        },
    ),
)
_OBJECTS: Data = {
    "ca": {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "{namespace}-ca",
            "labels": {"where": "{cluster}"},
            "annotations": {"example.com/a": "{}"},
        },
        "data": {"ca.crt": "{domain}"},
    },
    "door": {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}},
    },
}
_ACCOUNT: st.SearchStrategy[Data] = st.fixed_dictionaries(
    {},
    optional={
        "name": st.just("deployer"),
        "annotations": st.just({"example.com/role": "arn:x"}),
        "imagePullSecrets": st.just(["there"]),
    },
)

_CREDENTIALS: Data = {
    "git": {"keys": ["password", "username"]},
    "hook": {"keys": ["token"]},
    "pull": {"registry": "registry.example.com"},
    "keys": {"keys": ["address", "ca.crt", "lead.asc"]},
    "there": {"existing": True},
}
_CONFIGS: Data = {
    "settings": {"data": {"HOST": "{tenant}.{domain}"}},
    "values": {"data": {"values.yaml": "host: {domain}"}},
    "there": {"existing": True},
}
_OPTIONAL_SOURCES: dict[str, Data] = {
    "bundle": {"oci": {"url": "oci://registry.{domain}/b", "ref": {"tag": "v1"}, "certSecretRef": {"name": "keys"}}},
    "blobs": {"bucket": {"bucketName": "b", "endpoint": "s3.{domain}", "proxySecretRef": {"name": "there"}}},
}

_KUSTOMIZE: st.SearchStrategy[Data] = st.fixed_dictionaries(
    {"source": st.sampled_from(["manifests", _LONGEST, *_OPTIONAL_SOURCES])},
    optional={
        "path": st.sampled_from(["./{app}", "./{app}/{env}", "./{app}/{cluster}"]),
        "prune": st.booleans(),
        "commonMetadata": st.just({"labels": {"where": "{cluster}"}}),
        "postBuild": st.just(
            {
                "substitute": {"HOST": "{tenant}.{domain}", "ODD": "1e3"},
                "substituteFrom": [{"kind": "ConfigMap", "name": "settings"}, {"kind": "Secret", "name": "there"}],
            }
        ),
        "decryption": st.just({"provider": "sops", "secretRef": {"name": "keys"}}),
    },
)
_CHARTS: st.SearchStrategy[Data] = st.one_of(
    st.fixed_dictionaries(
        {
            "source": st.just("charts"),
            "chart": st.sampled_from(["web", "db"]),
            "version": st.sampled_from(["1.0.0", "1.x"]),
        },
        optional={"chartInterval": st.just("1h")},
    ),
    st.sampled_from(
        [{"source": "whole"}, {"source": "blobs", "chart": "./c"}, {"source": "manifests", "chart": "./c"}]
    ),
)
_REMEDIATIONS: list[Data] = [
    {"remediation": {"retries": 3, "remediateLastFailure": True}},
    {"strategy": {"name": "RetryOnFailure", "retryInterval": "1m"}},
    {"strategy": None, "remediation": None},
]
_RELEASE: st.SearchStrategy[Data] = st.fixed_dictionaries(
    {},
    optional={
        "valuesFrom": st.just(
            [
                {"kind": "ConfigMap", "name": "values"},
                {"kind": "Secret", "name": "git", "valuesKey": "password", "optional": True},
            ]
        ),
        "values": st.just({"host": "{domain}", "n": [2**53, {"no": "on"}], "gone": None}),
        "timeout": st.just("1m"),
        **{action: st.sampled_from(_REMEDIATIONS) for action in ("install", "upgrade")},
    },
)
_HELM = st.builds(lambda chart, release: {**chart, **release}, _CHARTS, _RELEASE)


@st.composite
def _apps(draw: st.DrawFn, clusters: list[str], addons: Data, whens: st.SearchStrategy[Data]) -> Data:
    apps: Data = {}
    for name in _APPS[: draw(st.integers(1, len(_APPS)))]:
        kind = draw(st.sampled_from(["kustomize", "helm"]))
        app: Data = {kind: draw(_KUSTOMIZE if kind == "kustomize" else _HELM)}
        # Those that say where they run themselves are kept out of dependencies: both ends have to be on each cluster.
        if draw(st.booleans()):
            app["clusters"] = draw(_selectors(clusters))
        elif before := [other for other, each in apps.items() if "clusters" not in each]:
            app["dependsOn"] = draw(st.lists(st.sampled_from(before), unique=True))
        if waitable := [f"platform/{name}" for name, each in addons.items() if _everywhere(each)]:
            app.setdefault("dependsOn", []).extend(draw(st.lists(st.sampled_from(waitable), unique=True)))
        if draw(st.booleans()):
            app["metadata"] = {
                "labels": {"example.com/where": "{cluster}"},
                "annotations": {"example.com/who": "{tenant}"},
            }
        app["overrides"] = draw(_lists_of(whens, _patches(kind)))
        apps[name] = app
    return apps


def _everywhere(addon: Data) -> bool:
    return "all" in addon["clusters"]


_PROVIDERS: st.SearchStrategy[Data] = st.sampled_from(
    [
        {
            "provider": {"type": "slack", "address": "https://slack.com/api/x", "channel": "{cluster}"},
            "credentials": "there",
        },
        {"provider": {"type": "generic", "proxySecretRef": {"name": "keys"}, "timeout": "30s"}, "credentials": "there"},
        {
            "provider": {
                "type": "gitlab",
                "address": "https://git.{domain}/team/x",
                "commitStatusExpr": "string(event.reason)",
            },
            "credentials": "git",
        },
        {"provider": {"type": "alertmanager", "address": "http://a.{domain}", "certSecretRef": {"name": "keys"}}},
    ]
)
_FILTERS: st.SearchStrategy[Data] = st.fixed_dictionaries(
    {},
    optional={
        "eventSeverity": st.sampled_from(["info", "error"]),
        "eventMetadata": st.just({"where": "{cluster}", "domain": "{domain}"}),
        "exclusionList": st.just(["waiting.*socket"]),
        "suspend": st.booleans(),
    },
)


@st.composite
def _alerts(draw: st.DrawFn, apps: Data) -> Data:
    alerts: Data = {}
    for name in draw(st.lists(st.sampled_from(["chat", "commits", "web"]), unique=True)):
        alert = {**draw(_PROVIDERS), **draw(_FILTERS)}
        if draw(st.booleans()):
            alert["apps"] = draw(st.lists(st.sampled_from(sorted(apps)), min_size=1, unique=True))
        told = [apps[app] for app in alert.get("apps", apps)]
        if alert["provider"]["type"] == "gitlab" and all("helm" in app for app in told):
            alert["provider"] = {"type": "generic", "address": "https://hooks.{domain}"}
        alerts[name] = alert
    return alerts


def _waiting(addons: Data) -> st.SearchStrategy[Data]:
    """What all of a tenant waits for."""
    everywhere = [f"platform/{name}" for name, each in addons.items() if _everywhere(each)]
    if not everywhere:
        return st.just({})
    return st.fixed_dictionaries({}, optional={"dependsOn": st.lists(st.sampled_from(everywhere), unique=True)})


@st.composite
def _receivers(draw: st.DrawFn, sources: list[str]) -> Data:
    receivers: Data = {}
    for name in draw(st.lists(st.sampled_from(["push", "registry", "web"]), unique=True)):
        receivers[name] = {**draw(_CALLS)}
        if draw(st.booleans()):
            receivers[name]["sources"] = draw(st.lists(st.sampled_from(sources), min_size=1, unique=True))
    return receivers


_OIDC: Data = {
    "issuerURL": "https://ci.{domain}",
    "validations": [{"expression": "claims.sub == '{env}'", "message": "another repository"}],
}
_CALLS: st.SearchStrategy[Data] = st.sampled_from(
    [
        {"type": "github", "credentials": "hook", "events": ["ping", "push"]},
        {
            "type": "gitlab",
            "credentials": "there",
            "interval": "5m",
            "resourceFilter": "res.metadata.name != '{cluster}'",
        },
        {"type": "gcr", "credentials": "there", "suspend": True},
        {"type": "generic-oidc", "oidcProviders": [_OIDC]},
    ]
)


def _whens(environments: Sequence[str], clusters: list[str]) -> st.SearchStrategy[Data]:
    """Where an override holds."""
    # That one is in all fleets, also in those that a test makes of this one.
    names = st.sampled_from([["dev"], ["dev"], [*environments]])
    selectors: st.SearchStrategy[Data] = st.one_of(
        _REGIONS.map(lambda region: {"labels": {"region": region}}),
        st.sampled_from(clusters).map(lambda name: {"names": [name]}),
        st.sampled_from(clusters).map(lambda name: {"all": True, "exclude": [name]}),
    )
    return st.one_of(
        st.fixed_dictionaries({"environments": names}),
        st.fixed_dictionaries({"clusters": selectors}),
        st.fixed_dictionaries({"environments": names, "clusters": selectors}),
    )


def _lists_of(whens: st.SearchStrategy[Data], changes: st.SearchStrategy[Data]) -> st.SearchStrategy[list[Data]]:
    """Overrides, each with changes."""
    return st.lists(st.builds(lambda when, change: {"when": when, **change}, whens, changes), max_size=2)


_TIMES: st.SearchStrategy[Data] = st.fixed_dictionaries(
    {}, optional={"timeout": st.sampled_from(["3m", "4m"]), "interval": st.sampled_from(["5m", "7m"])}
)
_OF_ALL: dict[str, st.SearchStrategy[Data]] = {"kustomize": _TIMES, "helm": _TIMES}
_METADATA = st.just({"labels": {"example.com/where": "elsewhere"}, "annotations": {"example.com/who": None}})


def _patches(kind: str) -> st.SearchStrategy[Data]:
    """What an override changes in an app of a kind, or in one of any kind."""
    return st.fixed_dictionaries({}, optional={**({kind: _TIMES} if kind else {}), "metadata": _METADATA})


def _several(changes: dict[str, st.SearchStrategy[Data]]) -> st.SearchStrategy[Data]:
    return st.fixed_dictionaries({}, optional=changes)


_PATCHES_FOR_ALL = {
    "manifests": st.just({"git": {"ref": {"tag": "v2"}}}),
    _LONGEST: st.just({"git": {"interval": "3m"}, "metadata": {"labels": {"example.com/where": "{cluster}"}}}),
    "whole": st.just({"oci": {"ref": {"semver": "2.x"}}, "credentials": None}),
}
"""What may differ of the sources of a tenant that is still to come: it may have no credentials."""
_PATCHES_OF_SOURCES = _several({**_PATCHES_FOR_ALL, "charts": st.just({"credentials": "git"})})


def _overrides_of_all(whens: st.SearchStrategy[Data]) -> st.SearchStrategy[list[Data]]:
    """What differs of all tenants: each of them has these sources, and its apps have any kind."""
    apps = _several({name: _patches("") for name in _APPS})
    parts = _several({**_OF_ALL, "sources": _several(_PATCHES_FOR_ALL), "apps": apps})
    return _lists_of(whens, st.builds(lambda *changes: {**changes[0], **changes[1]}, _settings, parts))


@st.composite
def _overrides(draw: st.DrawFn, apps: Data, whens: st.SearchStrategy[Data]) -> list[Data]:
    """What differs of a tenant."""
    of_apps = _several({name: _patches(_kind(app)) for name, app in apps.items()})
    parts = _several({**_OF_ALL, "sources": _PATCHES_OF_SOURCES, "apps": of_apps})
    overrides = draw(_lists_of(whens, st.builds(lambda *changes: {**changes[0], **changes[1]}, _settings, parts)))
    for override in overrides:
        if "environments" not in override["when"]:
            override.update(draw(st.sampled_from([{}, {}, {"state": "active"}, {"state": "removing"}])))
    return overrides


def _overrides_of_platform(addons: Data, whens: st.SearchStrategy[Data]) -> st.SearchStrategy[list[Data]]:
    of_addons = _several({name: _patches_of_addon(addon) for name, addon in addons.items()})
    return _lists_of(whens, _several({**_OF_ALL, "addons": of_addons}))


def _patches_of_addon(addon: Data) -> st.SearchStrategy[Data]:
    (source,) = addon["source"]
    patches = st.sampled_from([{}, {"source": {source: {"interval": "9m"}}}])
    return st.builds(lambda patch, of_source: {**patch, **of_source}, _patches(_kind(addon)), patches)


@st.composite
def _tenants(draw: st.DrawFn, clusters: list[str], addons: Data, whens: st.SearchStrategy[Data]) -> Data:
    tenant = {
        **draw(_settings),
        **draw(_waiting(addons)),
        "credentials": _CREDENTIALS,
        "configs": _CONFIGS,
        "sources": {
            "manifests": {
                "git": {"url": "https://git.example.com/x", "ref": {"branch": "main"}},
                "credentials": draw(st.sampled_from(["git", "there"])),
            },
            _LONGEST: {
                "git": {"url": "ssh://git@git.example.com/y", "ref": {"semver": "1.x"}},
                "credentials": "there",
            },
            "charts": {"helm": {"url": "https://charts.{domain}"}},
            "whole": {"oci": {"url": "oci://registry.example.com/c", "ref": {"semver": "1.x"}}, "credentials": "pull"},
            **_OPTIONAL_SOURCES,
        },
        "apps": draw(_apps(clusters, addons, whens)),
    }
    tenant["alerts"] = draw(_alerts(tenant["apps"]))
    fetched = list(tenant["sources"])
    tenant["receivers"] = draw(_receivers(fetched))
    tenant["overrides"] = draw(_overrides(tenant["apps"], whens))
    if draw(st.booleans()):
        tenant["from"] = "small"
    if draw(st.booleans()):
        tenant["namespaces"] = draw(_NAMESPACES)
    if draw(st.booleans()):
        tenant["namespace"] = "{env}-{tenant}-own"
    if draw(st.booleans()):
        tenant["serviceAccount"] = draw(_ACCOUNT)
    if draw(st.booleans()):
        tenant["objects"] = copy.deepcopy(_OBJECTS)
    if draw(st.booleans()):
        rule = {"apiGroups": [""], "resources": ["persistentvolumes"], "verbs": ["get", "create"]}
        tenant["clusterRoles"] = {"pv": {"rules": [rule]}, "more": {"role": "pv-access"}}
    if draw(st.booleans()):
        tenant["clusterObjects"] = {
            "disk": {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": "{env}-{namespace}-high"},
                "value": 10,
            }
        }
    return {**tenant, "clusters": draw(_selectors(clusters))} if draw(st.booleans()) else tenant


_ADDON_NAMESPACE: st.SearchStrategy[Data] = st.fixed_dictionaries(
    {},
    optional={
        "labels": st.just({"team": "platform"}),
        "annotations": st.just({"example.com/contact": "platform"}),
        "podSecurity": st.sampled_from(["privileged", {"enforce": "baseline", "version": "latest"}]),
        "objects": st.builds(copy.deepcopy, st.just(_OBJECTS)),
    },
)
_ADDON: st.SearchStrategy[Data] = st.fixed_dictionaries({}, optional={"targetNamespace": st.just("addons")})


@st.composite
def _addons(draw: st.DrawFn, clusters: list[str], whens: st.SearchStrategy[Data]) -> Data:
    addon = draw(_addons_without(clusters))
    return {**addon, "overrides": draw(_lists_of(whens, _patches_of_addon(addon)))}


@st.composite
def _addons_without(draw: st.DrawFn, clusters: list[str]) -> Data:
    addon: Data = {"clusters": draw(_selectors(clusters))}
    if draw(st.booleans()):
        addon["namespaces"] = {f"{{app}}-{{env}}-{draw(st.sampled_from(['a', 'b']))}": draw(_ADDON_NAMESPACE)}
        addon["adopt"] = draw(st.booleans())
    if draw(st.booleans()):
        return {
            **addon,
            "source": {"git": {"url": "https://git.example.com/a", "ref": {"tag": "v1"}}},
            "kustomize": draw(_ADDON),
        }
    helm = {"chart": "a", "version": "1.0.0", "targetNamespace": "addons"}
    return {**addon, "source": {"helm": {"url": "https://charts.{domain}"}}, "helm": helm}


# --- what can be done to a fleet --------------------------------------------------------------------------------


def shuffled(data: Any) -> st.SearchStrategy[Any]:
    """The same data with the keys of all its mappings in another order. One seed is drawn: an order of each mapping takes long."""
    return st.integers(0, 2**32).map(lambda seed: _shuffled(data, Random(seed)))


def _shuffled(data: Any, random: Random) -> Any:
    if isinstance(data, dict):
        return {key: _shuffled(data[key], random) for key in random.sample(list(data), len(data))}
    return [_shuffled(item, random) for item in data] if isinstance(data, list) else data


_JUNK_TEXTS = [
    "",
    "x",
    "rocky",
    "hubdev",
    "web",
    "{nope}",
    "{",
    "..",
    "a" * 70,
    "A b",
    "\x1b\n",
    "é",
    "kube-system",
    "[key]",
]
_JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [*_JUNK_TEXTS, None, 0, -1, 1.5, 2**62, True, False, [], {}, ["x"], [None], [[]], {"x": 1}, {"": None}, {"a.b": {}}]
)


@st.composite
def mutated(draw: st.DrawFn, fleet: Data) -> Data:
    """The fleet with up to three of its values removed, replaced by junk, moved to another key or copied elsewhere."""
    fleet = copy.deepcopy(fleet)
    for _ in range(draw(st.integers(1, 3))):
        paths = list(_paths(fleet))
        if not paths:
            break
        *way, last = draw(st.sampled_from(paths))
        parent: Any = fleet
        for part in way:
            parent = parent[part]
        action = draw(st.sampled_from(["remove", "replace", "rename", "copy"]))
        if action == "remove":
            del parent[last]
        elif action == "replace":
            parent[last] = draw(_JUNK)
        elif action == "rename" and isinstance(parent, dict):
            parent[str(draw(_JUNK))] = parent.pop(last)
        else:
            *other_way, other_last = draw(st.sampled_from(paths))
            value = copy.deepcopy(parent[last])
            target: Any = fleet
            for part in other_way:
                target = target[part]
            target[other_last] = value
    return fleet


def _paths(data: Any, at: Path = ()) -> Iterator[Path]:
    items: Any = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*at, key)
        yield from _paths(value, (*at, key))
