"""Fleets without the keys that go: what is frozen is what stays."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

Data = dict[str, Any]

SUSPECT = re.compile(
    r"\b(fluxShards|dedicatedFluxShards|shard|longNames|formerly|imageAutomation|externalArtifact|roleBindings|policies|roles"
    r"|updates|share|push|variables|windows|approval|checks|maxParallel|unreachableAfter|by|require|scope|account|each|of|class"
    r"|environment|management|receivers|from|provider|gate|disabled|rollout|limits|shortestInterval)\b"
)
"""Words of a text that may have a key which goes."""

_OF_SETTINGS = ("roleBindings", "roles", "require", "shard", "formerly")
_OF_ROLLOUTS = ("by", "disabled", "unreachableAfter", "checks", "maxParallel")
_OF_WAVES = ("approval", "exclude", "tenants", "class")
_OF_KUBECONFIGS = ("from", "provider", "cluster", "address", "certificateAuthority", "audiences", "serviceAccountName")
_OF_GRANTS = ("share", "push", "limits", "variables", "roles", "labels", "annotations", "shortestInterval")


class Unkept(Exception):
    """A fleet needs a key that goes, so that nothing is left of what it shows."""


def kept(document: Any) -> Any:
    """The document, or a file that it includes, without keys that go. Raises: Unkept."""
    document = copy.deepcopy(document)
    if not isinstance(document, dict):
        return document
    _drop(document, "windows")
    if isinstance(document.get("include"), list):
        document["include"] = [each for each in map(_include, document["include"]) if each is not None]
    for each in _entries(document, "environments"):
        _environment(each)
    for each in (*_entries(document, "clusters"), *_entries(document, "clusterGroups")):
        _cluster(each)
    for group in ("tenants", "tenantClasses"):
        for each in _entries(document, group):
            _tenant(each)
    if isinstance(defaults := document.get("defaults"), dict):
        _tenant(defaults)
    if isinstance(platform := document.get("platform"), dict):
        _platform(platform)
    return document


def _include(item: Any) -> Any:
    if isinstance(item, dict):
        if item.keys() & {"environment", "each", "class"}:
            return None
        _drop(item, "of")
    return item


def _environment(each: Data) -> None:
    if isinstance(each.get("management"), list):
        raise Unkept
    _drop(each, "windows", "fluxShards", "dedicatedFluxShards")
    if isinstance(after := each.get("after"), dict):
        _drop(after, "gate")
    _rollout(each)


def _rollout(each: Data) -> None:
    rollout = each.get("rollout")
    if isinstance(rollout, dict):
        if rollout.get("by", "clusters") != "clusters":
            del each["rollout"]
            return
        _drop(rollout, *_OF_ROLLOUTS)
        for wave in rollout.get("waves") or ():
            if isinstance(wave, dict):
                _drop(wave, *_OF_WAVES)


def _cluster(each: Data) -> None:
    _drop(each, "windows", "shard", "management")
    kubeconfig = each.get("kubeconfig")
    for block in kubeconfig.values() if isinstance(kubeconfig, dict) else ():
        if isinstance(block, dict) and {"from", "provider"} & block.keys():
            _drop(block, *_OF_KUBECONFIGS)


def _platform(platform: Data) -> None:
    _drop(platform, "longNames", "require", "receivers")
    for each in _entries(platform, "addons"):
        _drop(each, "scope", "account", "imageAutomation")
        if each.get("rollout") is not False:
            _drop(each, "rollout")
        _sources({"": each.get("source")})
        _blocks(each)
    _sources(platform.get("sources"))


def _tenant(tenant: Data) -> None:
    _settings(tenant)
    for each in _entries(tenant, "namespaces"):
        _settings(each)
    if isinstance(grants := tenant.get("grants"), dict):
        _drop(grants, *_OF_GRANTS)
        if isinstance(grants.get("settings"), list):
            stay = ("interval", "retryInterval", "timeout", "quota", "limits", "network", "namespaces", "owners")
            grants["settings"] = [name for name in grants["settings"] if name in stay]
    sources = tenant.get("sources")
    gone = _sources(sources)
    other = next(iter(sources), None) if isinstance(sources, dict) else None
    for app in _entries(tenant, "apps"):
        _drop(app, "imageAutomation")
        if app.get("rollout") is not False:
            _drop(app, "rollout")
        _blocks(app)
        for block in ("kustomize", "helm"):
            if isinstance(app.get(block), dict) and app[block].get("source") in gone:
                app[block]["source"] = other
    for over in _overrides(tenant):
        _settings(over)


def _settings(each: Data) -> None:
    _drop(each, *_OF_SETTINGS)
    _blocks(each)
    network = each.get("network")
    if isinstance(network, dict):
        if base := network.get("base"):
            each["network"] = base
        else:
            del each["network"]


def _overrides(each: Data) -> Iterator[Data]:
    overrides = each.get("overrides")
    if isinstance(overrides, dict):
        for group in ("environments", "clusters"):
            yield from _entries(overrides, group)
        yield from (one for one in overrides.get("where") or () if isinstance(one, dict))


def _blocks(each: Data) -> None:
    for one in (each, *_overrides(each)):
        for block in ("kustomize", "helm"):
            if isinstance(one.get(block), dict):
                _drop(one[block], "updates")


def _sources(sources: Any) -> set[str]:
    """Without sources of other programs; the names of these."""
    gone = set()
    for name, source in list(sources.items()) if isinstance(sources, dict) else ():
        if isinstance(source, dict):
            if "externalArtifact" in source:
                del sources[name]
                gone.add(name)
            for block in source.values():
                if isinstance(block, dict):
                    _drop(block, "updates")
    return gone


def _entries(data: Data, key: str) -> Iterator[Data]:
    found = data.get(key)
    if isinstance(found, dict):
        yield from (each for each in found.values() if isinstance(each, dict))


def _drop(data: Data, *keys: str) -> None:
    for key in keys:
        data.pop(key, None)
