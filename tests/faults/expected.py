"""What a run has to make of a fleet and of its successor, told from the documents alone: where tenants are, and what is refused.

Written after docs/lifecycle.md and docs/clusters.md, and without a look at the planner: it is what that one is held against.
It knows as much of tenants.yaml as the random walk writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from tenantry.messages.text import counted

Data: TypeAlias = dict[str, Any]
ENVIRONMENT = "dev"


@dataclass(frozen=True, slots=True)
class Place:
    """A tenant on a cluster, or with no tenant the platform: its namespaces, and its apps with their kind."""

    namespaces: frozenset[str]
    apps: frozenset[tuple[str, str]]


Places: TypeAlias = dict[tuple[str, str], Place]
"""By tenant, "" for the platform, and cluster."""


def kind_of(app: Data) -> str:
    return "kustomize" if "kustomize" in app else "helm"


def places(document: Data) -> Places:
    """What is where in the environment."""
    found: Places = {}
    for cluster, declared in document["clusters"].items():
        if ENVIRONMENT not in declared["environments"]:
            continue
        for name, tenant in {"": _platform(document), **document["tenants"]}.items():
            selector = tenant.get("clusters") or document["defaults"]["clusters"]
            apps = {
                (app, kind_of(each))
                for app, each in tenant["apps"].items()
                if _takes(each.get("clusters") or selector, cluster, declared)
            }
            # Without apps, a tenant that is off-boarded is placed for its namespaces' sake.
            is_given_up = bool(name) and not tenant["apps"] and tenant.get("state") == "offboarding"
            if apps or (is_given_up and _takes(selector, cluster, declared)):
                namespaces = {name, *(f"{name}-{key}" for key in tenant.get("namespaces", ()))} if name else set()
                found[name, cluster] = Place(frozenset(namespaces), frozenset(apps))
    return found


def refusal(before: Data, after: Data) -> str:
    """Words of the message with which a run refuses the step, "" if it takes it.

    before: what the last run took.
    """
    was, will = places(before), places(after)
    for cluster, declared in before["clusters"].items():
        if (
            declared.get("kubeconfig") != after["clusters"][cluster].get("kubeconfig")
            and _on(was, cluster)
            and _on(will, cluster)
        ):
            return f"cluster '{cluster}' is reached through"
    if any(_occupied_namespaces(before, was, will)):
        return "and Flux could not clean up any more"
    if any(_left_behind(before, was, will)):
        return "Flux would leave behind what they installed"
    gone = {what: sum(not each for each in leaving) for what, leaving in _gone(before, was, will).items()}
    if all_of := _emptied(before, was, will):
        return f"this run would remove {all_of} of environment 'dev'"
    limit = after["environments"][ENVIRONMENT].get("maxDeletions", 3)
    over = (
        f"{counted(count, what)}; the limit for '{ENVIRONMENT}' is {limit} (maxDeletions)"
        for what, count in gone.items()
        if count > limit
    )
    return next(over, "")


def occupied(document: Data, cluster: str) -> bool:
    """Whether the environment has anything on a cluster."""
    return _on(places(document), cluster)


def _on(there: Places, cluster: str) -> bool:
    return any(each == cluster for _, each in there)


def _platform(document: Data) -> Data:
    return {"apps": document["platform"].get("addons", {})}


def _takes(selector: Data, cluster: str, declared: Data) -> bool:
    if cluster in selector.get("exclude", ()):
        return False
    labels = declared.get("labels", {})
    wanted = selector.get("labels")
    by_labels = wanted is not None and all(labels.get(key) == value for key, value in wanted.items())
    return bool(selector.get("all")) or cluster in selector.get("names", ()) or by_labels


def _gone(before: Data, was: Places, will: Places) -> dict[str, list[bool]]:
    """What goes, by kind, each with whether it was given up; what belongs to something bigger that goes is not told again."""
    staying = {tenant for tenant, _ in will}
    leaving = {name for name, each in before["tenants"].items() if each.get("state") == "offboarding"}
    tenants = {tenant for tenant, _ in was if tenant and tenant not in staying}
    namespaces = [
        tenant in leaving
        for (tenant, cluster), place in was.items()
        # A namespace that goes alone stays with its data, and counts as none.
        if tenant and (tenant, cluster) not in will
        for _ in place.namespaces
    ]
    apps = [
        _state(before, tenant, app) == "offboarding" or tenant in leaving for tenant, _, app in _apps_gone(was, will)
    ]
    return {"tenant": [each in leaving for each in tenants], "namespace": namespaces, "app": apps}


def _emptied(before: Data, was: Places, will: Places) -> str:
    """What there is no more of at all, not counting what was given up."""
    leaving = {name for name, each in before["tenants"].items() if each.get("state") == "offboarding"}
    kept = {(*where, name) for where, place in was.items() for name in place.namespaces if where[0] not in leaving}
    there = {(*where, name) for where, place in will.items() for name in place.namespaces}
    if not there:
        return "every tenant" if kept else ""
    staying = {tenant for tenant, _ in will}
    theirs = {each for each in kept if each[0] in staying}
    return "every namespace" if theirs and theirs.isdisjoint(there) else ""


def _occupied_namespaces(before: Data, was: Places, will: Places) -> Iterator[bool]:
    """Whether an app has something in a namespace that goes while the tenant stays there; nothing is suspended then."""
    for (tenant, cluster), place in was.items():
        if not tenant or (tenant, cluster) not in will:
            continue
        gone = place.namespaces - will[tenant, cluster].namespaces
        remote = "kubeconfig" in before["clusters"][cluster]
        for app, kind in place.apps:
            target = before["tenants"][tenant]["apps"][app][kind].get("targetNamespace", "")
            yield f"{tenant}-{target}" in gone and (remote or (app, kind) in will[tenant, cluster].apps)


def _apps_gone(was: Places, will: Places) -> Iterator[tuple[str, str, str]]:
    """Apps that go while the place they are at stays, which that of the platform always does: (tenant, cluster, app)."""
    nothing = Place(frozenset(), frozenset())
    for (tenant, cluster), place in was.items():
        if not tenant or (tenant, cluster) in will:
            yield from ((tenant, cluster, app) for app, _ in place.apps - will.get((tenant, cluster), nothing).apps)


def _left_behind(before: Data, was: Places, will: Places) -> Iterator[bool]:
    """Whether what goes is suspended. Only with a namespace that was given up goes all that is in it."""
    for tenant, cluster, app in _apps_gone(was, will):
        yield "paused" in (
            _state(before, tenant, app),
            before["clusters"][cluster].get("state"),
            before["tenants"].get(tenant, {}).get("state"),
        )
    for tenant, cluster in was.keys() - will.keys():
        if tenant:
            remote, own = "kubeconfig" in before["clusters"][cluster], before["tenants"][tenant]
            is_paused = before["clusters"][cluster].get("state") == "paused"
            apps = (_state(before, tenant, app) for app, _ in was[tenant, cluster].apps)
            stays = own.get("state") != "offboarding"
            yield (is_paused and remote) or (stays and (is_paused or "paused" in (own.get("state"), *apps)))


def _state(document: Data, tenant: str, app: str) -> str:
    apps = document["tenants"][tenant]["apps"] if tenant else document["platform"]["addons"]
    return str(apps[app].get("state", "active"))
