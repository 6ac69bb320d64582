"""Rules about where a tenant's objects are, and about the kubeconfigs beside the Flux objects that use them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from tenantry.policy.frame import frame_of
from tenantry.policy.main_file import CLOSED, MainFile
from tenantry.policy.resource import Resource, entries, lookup, mapping
from tenantry.policy.rule import Violation
from tenantry.policy.stack import Stack
from tenantry.policy.tenants import APP, CLUSTER, ENVIRONMENT, Place, Tenants

_OF_BASELINES = ("LimitRange", "Namespace", "NetworkPolicy", "ResourceQuota", "Role", "RoleBinding")


def tenants_objects_are_in_their_namespaces(tenants: Tenants) -> Iterator[Violation]:
    """Every object of a tenant is in a namespace of the tenant, or beside a cluster's kubeconfig under the tenant's prefix.
    Anywhere else it could replace or use what belongs to others.
    """
    for resource, place in tenants.placed:
        if problem := _misplaced(resource, place):
            fix = f"put it into namespace '{place.namespace}'"
            if place.kubeconfig:
                first = f"{place.namespace}." if place.shared else f"{place.cluster}-{place.namespace}-"
                fix = f"put it into namespace '{place.home}', with a name that begins with '{first}'"
            yield Violation(resource, f"{resource} of tenant '{place.tenant}' {problem}", fix)


def tenants_namespaces_are_theirs_alone(tenants: Tenants) -> Iterator[Violation]:
    """A namespace of a tenant belongs to nobody else: not to another tenant or environment on the same clusters, an add-on,
    the platform team, Kubernetes or Flux. Whoever shares a namespace shares its service accounts and Secrets.
    """
    for resource in tenants.namespaces:
        place = tenants.place_of(resource)
        if place is None:
            continue
        others = tenants.claims(place.environment).get(resource.name, frozenset())
        others -= {f"{place.tenant} ({place.environment})"}
        if whose := _reserved_for(resource.name, tenants) or ", ".join(sorted(others)):
            what = f"{resource} of tenant '{place.tenant}' belongs to {whose}"
            yield Violation(resource, what, "rename the tenant, or change the template of its namespaces")


def tenants_are_where_the_main_file_puts_them(tenants: Tenants) -> Iterator[Violation]:
    """A tenant is declared in the main file or has a template there, and its apps are on clusters and in environments that
    the main file gives it. `all` in a grant does not include clusters that run Flux.
    """
    for resource in tenants.objects:
        given = resource.by or resource
        if frame_of(tenants.file, given.tenant) is None:
            what = f"{resource} belongs to tenant '{given.tenant}', which the main file does not know"
            yield Violation(resource, what, "declare the tenant under 'tenants:' in the main file")
        elif (place := tenants.place_of(resource)) is None:
            where = f"cluster '{given.labels.get(CLUSTER)}' in environment '{given.labels.get(ENVIRONMENT)}'"
            yield Violation(
                resource, f"{resource} is for {where}, which the main file does not know", "correct its labels"
            )
        elif problem := _on_another_hub(resource, tenants.file, place):
            fix = "create it with the provider of that management cluster"
            yield Violation(resource, f"{resource} of tenant '{place.tenant}' {problem}", fix)
        elif resource.by is None and (problem := _not_given(resource, place)):
            yield Violation(
                resource, f"{resource} of tenant '{place.tenant}' {problem}", "extend 'grants:' of the tenant"
            )


def _misplaced(resource: Resource, place: Place) -> str:
    """What is wrong with the place of an object, in words; "" if it is right."""
    if resource.by and (resource.tenant != place.tenant or not _is_of_baseline(resource, place)):
        return "is none that a baseline installs for it"
    if not resource.namespace:
        if resource.kind == "Namespace":
            return "" if resource.name in place.namespaces else "is none of its namespaces"
        if place.is_cluster_right(resource) or place.is_cluster_object(resource):
            return ""
        return "is in no namespace, so it holds for the whole cluster"
    if place.kubeconfig is None or resource.by:
        return "" if resource.namespace in place.namespaces else "is in a namespace that is not the tenant's"
    if resource.namespace != place.home:
        return f"is not beside the kubeconfig of cluster '{place.cluster}'"
    own = (
        resource.name == place.account
        if resource.kind == "ServiceAccount"
        else place.is_own_name(resource.kind, resource.name)
        or place.is_of_classes(resource)
        or (resource.is_reconciler and resource.name == place.reconciler(resource.labels.get(APP) or "baseline"))
    )
    return "" if own else "has a name beside kubeconfigs that is not the tenant's"


def _is_of_baseline(resource: Resource, place: Place) -> bool:
    """Whether a baseline may install the object: one of its own kinds, or one that the main file names."""
    return (
        resource.kind in _OF_BASELINES
        or _is_for_pods(resource, place)
        or place.is_declared(resource)
        or place.is_cluster_right(resource)
        or place.is_cluster_object(resource)
    )


def _is_for_pods(account: Resource, place: Place) -> bool:
    """Whether an account on a remote cluster is the one that the main file gives to the tenant's pods."""
    frame = place.frame
    named = "serviceAccount" in frame.own and account.name == frame.account
    return account.kind == "ServiceAccount" and named and account.namespace in place.namespaces


def _reserved_for(name: str, tenants: Tenants) -> str:
    """Whose namespace of the cluster or the platform has this name."""
    file = tenants.file
    if any(fnmatchcase(name, each) for each in CLOSED):
        return "Kubernetes or Flux"
    if name in file.kubeconfig_namespaces:
        return "the kubeconfigs of clusters"
    if name in file.addon_namespaces:
        return "an add-on"
    if name == file.home or name in file.accounts:
        return "the platform team"
    return (
        "a tool of the platform team" if any(fnmatchcase(name, pattern) for pattern in file.reserved_patterns) else ""
    )


def _on_another_hub(resource: Resource, file: MainFile, place: Place) -> str:
    """Why an object is not on the management cluster of its cluster, in words; "" if it is."""
    several = len(file.hubs(place.environment)) > 1
    wanted = file.hub_of(place.cluster, place.environment) if several else ""
    if resource.hub == wanted:
        return ""
    return f"is on management cluster '{resource.hub}', but cluster '{place.cluster}' has '{wanted}'"


def _not_given(resource: Resource, place: Place) -> str:
    """Why an object is not where the main file puts its app, in words; "" if it is."""
    app = str(resource.labels.get(APP, ""))
    # What several apps need, such as sources and alerts, names none of them.
    if resource.kind == "ServiceAccount":
        return ""
    if not place.frame.allows_cluster(place.cluster, app):
        return f"is for cluster '{place.cluster}', which is not granted to it"
    if not place.frame.allows_environment(place.environment, app):
        return f"is in environment '{place.environment}', which is not granted to it"
    return ""


_KUBECONFIG = re.compile(r"""["']?kind["']?\s*:\s*["']?Config\b""")
_SECRET_FIELD = re.compile(r"(?i)secretref$|^valuesFrom$|^substituteFrom$")
_NOT_REFERENCES = ("kubeConfig", "values")


def kubeconfigs_lie_where_no_tenant_has_rights(stack: Stack) -> Iterator[Violation]:
    """A remote cluster's kubeconfig, and the Flux objects that use it, are in a namespace where no tenant has any
    rights. Anyone who can read Secrets or write Flux objects there controls that cluster.
    """
    for resource in stack.objects:
        if resource.namespace not in stack.with_tenants_rights:
            continue
        fix = "put it into the namespace of the cluster's kubeconfig, in which no tenant is bound to a role"
        where = f"namespace '{resource.namespace}', where a tenant has rights"
        if resource.is_reconciler and resource.spec.get("kubeConfig"):
            yield Violation(resource, f"{resource} uses a kubeconfig in {where}", fix)
        if (resource.group, resource.kind) == ("", "Secret") and _holds_a_kubeconfig(resource):
            yield Violation(resource, f"{resource} holds a kubeconfig in {where}", fix)


def kubeconfigs_are_for_flux_alone(stack: Stack) -> Iterator[Violation]:
    """Only 'kubeConfig' names a Secret with a kubeconfig. Flux reads Secrets with its own rights, and would pass this
    one on to a chart, a manifest or a Git server.
    """
    kubeconfigs = {
        (each.namespace, str(reference.get("name")))
        for each in stack.objects
        if each.is_reconciler
        for reference in lookup(each.spec, "kubeConfig.secretRef")
        if reference.get("name")
    }
    for resource in stack.objects:
        if not resource.group.endswith(".toolkit.fluxcd.io"):
            continue
        for path, name in _secrets_named(resource.spec, "spec"):
            if (resource.namespace, name) in kubeconfigs:
                fix = "name another Secret; a fleet's own are those that tenants.yaml declares as credentials"
                yield Violation(resource, f"{resource} names the kubeconfig '{name}' in {path}", fix)


def _secrets_named(value: Mapping[str, Any], at: str) -> Iterator[tuple[str, str]]:
    """The names of Secrets that a spec refers to, each with its path."""
    for key, inner in value.items():
        if key in _NOT_REFERENCES:
            continue
        for each in [inner] if isinstance(inner, Mapping) else entries(inner):
            if _SECRET_FIELD.search(key) and each.get("kind", "Secret") == "Secret" and each.get("name"):
                yield f"{at}.{key}", str(each["name"])
            yield from _secrets_named(each, f"{at}.{key}")


def _holds_a_kubeconfig(secret: Resource) -> bool:
    written = [str(each) for each in mapping(secret.props.get("stringData")).values()]
    encoded = mapping(secret.props.get("data")).values()
    return any(_KUBECONFIG.search(text) for text in (*written, *map(_decoded, encoded)))


def _decoded(value: object) -> str:
    try:
        return base64.b64decode(str(value)).decode(errors="replace")
    except ValueError:
        return ""
