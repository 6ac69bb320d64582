"""The kinds that a cluster serves without any definition, those of Flux, and objects that a spec names by group, version and kind:
health checks, and the targets of patches and of ignored drift.

What no object can match fails after a timeout, or does nothing at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path as File
from typing import Any

from tenantry.flux.schemas import kinds, schema_of
from tenantry.kube.names import object_name_problem
from tenantry.kube.objects import CLUSTER_SCOPED, group_of, is_built_in, is_cluster_scoped, is_of_flux
from tenantry.messages.data import mappings_in
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import shown
from tenantry.messages.redact import shorten
from tenantry.messages.text import closest

_NOT_PLANNED = {
    "ExternalArtifact": "source.toolkit.fluxcd.io/v1",
    **dict.fromkeys(("ImagePolicy", "ImageRepository", "ImageUpdateAutomation"), "image.toolkit.fluxcd.io/v1"),
}
"""The kinds of Flux of which no fleet has objects, as Flux 2.9 serves them."""
_ALSO = {("autoscaling/v1", "HorizontalPodAutoscaler"), ("events.k8s.io/v1", "Event")}
OLD_GROUPS = frozenset({"", "apps", "autoscaling", "batch", "extensions", "policy"})
"""The groups without a dot: no definition can add one, and these get no more kinds."""


@cache
def kubernetes() -> dict[str, Any]:
    """What `docgen.schemas.kubernetes` derives. kinds: the definition of each, by group, version and kind."""
    data: dict[str, Any] = json.loads(File(__file__).with_name("kubernetes.json").read_bytes())
    return data


@cache
def api_of() -> dict[str, str]:
    """Each kind of Kubernetes and of Flux with the group and version to write for it: a cluster serves these of each kind."""
    for_all = {kind: api for api, names in CLUSTER_SCOPED.items() for kind in names}
    built_in = {kind: api for api, _, kind in (key.rpartition("/") for key in kubernetes()["kinds"])}
    return {**for_all, **built_in, **{kind: schema_of(kind).api_version for kind in kinds()}, **_NOT_PLANNED}


@cache
def _by_name() -> dict[str, str]:
    names = ((kind, kind.lower()) for kind in api_of())
    return {name: kind for kind, low in names for name in (low, f"{low}s", f"{low}es", f"{low[:-1]}ies")}


def kind_named(name: str) -> str:
    """The kind that kubectl finds under a name such as `deployments.apps` or `Pods`; "" if it is none of these."""
    return _by_name().get(name.partition(".")[0].lower(), "")


def kinds_of(api_version: str) -> list[str]:
    """The kinds that are known in the group of an API version."""
    return [kind for kind, api in api_of().items() if group_of(api) == group_of(api_version)]


def is_served(api_version: str, kind: str) -> bool:
    """Whether a cluster can serve the kind: of groups that definitions add, and of Kubernetes' newer kinds, all can be."""
    if api_of().get(kind) == api_version or (api_version, kind) in _ALSO:
        return True
    group = group_of(api_version)
    is_of_flux_itself = bool(kinds_of(api_version)) and not is_built_in(api_version)
    if is_of_flux_itself or group in OLD_GROUPS or "." not in group:
        return False
    if is_cluster_scoped(api_version, kind) and kind not in api_of():  # one of the newer kinds, in several versions
        return True
    return not is_built_in(api_version) or not (kind in api_of() or closest(kind, kinds_of(api_version)))


def is_namespaced(api_version: str, kind: str) -> bool:
    """Whether the kind is Kubernetes' or Flux's own and is in namespaces; of others only their definition says it."""
    api = api_of().get(kind, "")
    return bool(api) and group_of(api) == group_of(api_version) and not is_cluster_scoped(api, kind)


_KIND = re.compile(r"[A-Z][A-Za-z0-9]*")
_API = re.compile(r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?/)?v[0-9]+(?:(?:alpha|beta)[0-9]+)?")
_CHECK = {"apiVersion": "apps/v1", "kind": "", "name": ""}
"""The keys of a health check, with what Flux takes where one is missing."""
_RBAC = "rbac.authorization.k8s.io"


def check_problems(spec: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the health checks of a Kustomization. Flux takes apps/v1 where one has no API version."""
    if spec.get("wait"):
        return  # Flux ignores them then
    for index, entry in enumerate(mappings_in(spec.get("healthChecks"))):
        at: Path = ("healthChecks", index)
        api, kind, name = (str(entry.get(key) or default) for key, default in _CHECK.items())
        if problem := kind_problem(api, kind):
            yield problem.below(*at)
        if group_of(api) != _RBAC and (why := object_name_problem(name)):
            why = "a health check has no patterns" if "*" in name else f"it {why}"
            fix = "name one object, or write 'wait: true' instead, which waits for all that is applied"
            if not object_name_problem(name.lower()):
                fix = f"write '{name.lower()}'"
            yield Problem((*at, "name"), "bad-check", f"{shown(name)} is no name of an object: {why}", fix=fix)
        if is_namespaced(api, kind) and not entry.get("namespace"):
            target = spec.get("targetNamespace")
            message = f"{kind} '{shorten(name)}' of this health check has no namespace, and Flux takes none from 'targetNamespace'"
            yield Problem(at, "bad-check", message, fix=f"add 'namespace: {target or 'NAMESPACE'}'")


def kind_problem(api: str, kind: str) -> Problem | None:
    """What is wrong with a group, version and kind, at the key that is wrong."""
    if not _KIND.fullmatch(kind):
        return _no_kind(kind)
    if not _API.fullmatch(api):
        fix = f"write '{api_of()[kind]}'" if kind in api_of() else "write group and version, such as 'apps/v1'"
        return _unknown("apiVersion", f"{shown(api)} is no group and version", fix)
    if is_served(api, kind):
        return None
    who = "Flux 2.9" if is_of_flux(api) else "Kubernetes"
    if kind in api_of():
        return _unknown("apiVersion", f"{who} has no {kind} in {api}", f"write '{api_of()[kind]}'")
    near = kind_named(kind) or closest(kind, kinds_of(api))
    fix = f"write '{near}'" if near else "correct the kind, or the group"
    return _unknown("kind", f"{who} has no kind '{kind}' in {api}", fix)


def _no_kind(kind: str) -> Problem:
    fix = "write it as in a manifest, such as 'Deployment', and the group in 'apiVersion'"
    fix = f"write '{meant}'" if (meant := kind_named(kind)) else fix
    return _unknown("kind", f"{shown(kind)} is no kind, and matches no object", fix)


def _unknown(key: str, message: str, fix: str) -> Problem:
    return Problem((key,), "unknown-kind", message, fix=fix)


def target_problems(target: Mapping[str, Any]) -> Iterator[Problem]:
    """What no object can match in a target, whose texts are regular expressions for the whole value: alternatives are looked at."""
    for key in ("group", "version"):
        text = str(target.get(key) or "")
        if "/" in text:
            group, _, version = text.rpartition("/")
            fix = f"write 'group: {shorten(group)}' and 'version: {shorten(version)}'"
            yield _unknown(key, f"{shown(text)} is no {key} of an object", fix)
            return
    group, version, kinds = (str(target.get(key) or "") for key in ("group", "version", "kind"))
    for kind in kinds.split("|") if re.fullmatch(r"[\w.|]+", kinds) else ():
        meant = kind_named(kind)
        if kind[:1].islower() or (meant and kind not in api_of()):
            yield _no_kind(kind)
        elif meant and kinds == kind and not set(group + version) & set("*+?[](){}|\\^$"):
            own = group_of(api_of()[kind])
            # Others have a Role, a Service or a Provider too: without a group only the old versions of the groups without a dot are
            # surely Kubernetes' own.
            is_own = group == own if group else own in OLD_GROUPS and bool(own) and "beta" in version
            if group and not is_served(f"{group}/{version or 'v1'}", kind) and group != own:
                fix = f"write 'group: {own}'" if own else "remove 'group'"
                yield _unknown("group", f"group '{shorten(group)}' has no kind '{kind}'", fix)
            elif version and is_own and not is_served(f"{own}/{version}".lstrip("/"), kind):
                fix = f"write 'version: {api_of()[kind].rpartition('/')[2]}'"
                yield _unknown("version", f"no cluster serves {kind} in version '{shorten(version)}'", fix)
