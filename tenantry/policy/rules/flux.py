"""Rules about Flux's objects, the service accounts that they use, and tenants' permissions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tenantry.policy.resource import Resource, entries, lookup, mapping
from tenantry.policy.rule import Violation
from tenantry.policy.stack import Stack, gives_all, is_binding

_REFERENCES = {
    "Alert": ("eventSources[]",),
    "ExternalArtifact": ("sourceRef",),
    "HelmRelease": ("chart.spec.sourceRef", "chartRef"),
    "ImagePolicy": ("imageRepositoryRef",),
    "ImageUpdateAutomation": ("sourceRef",),
    "Kustomization": ("sourceRef",),
    "Receiver": ("resources[]",),
}
"""Where the spec of a kind names other objects with their namespace. Dependencies have a rule of their own."""
_FLUX = ".toolkit.fluxcd.io"


def reconcilers_name_a_service_account(resource: Resource) -> Iterator[Violation]:
    """Every Kustomization and HelmRelease names a service account. Without one Flux uses its controller's own rights,
    which cover the whole cluster.
    """
    if resource.is_reconciler and not resource.spec.get("serviceAccountName"):
        fix = "set spec.serviceAccountName to the tenant's service account, or to the platform's for an add-on"
        yield Violation(resource, f"{resource} names no service account", fix)


def references_stay_in_their_namespace(resource: Resource) -> Iterator[Violation]:
    """Flux objects refer only to objects of their own namespace. A reference to another namespace lets a tenant read
    what belongs to others, and Flux's lockdown flags refuse it.
    """
    if not resource.group.endswith(_FLUX):
        return
    for path in _REFERENCES.get(resource.kind, ()):
        for reference in lookup(resource.spec, path):
            namespace = reference.get("namespace") or resource.namespace
            if namespace != resource.namespace:
                what = f"{resource} names {reference.get('kind', 'an object')} '{namespace}/{reference.get('name')}' in spec.{path}"
                fix = f"declare it in namespace '{resource.namespace}' too, and name it without a namespace"
                yield Violation(resource, what, fix)
    if lookup(resource.spec, "accessFrom.namespaceSelectors[]"):
        fix = "remove spec.accessFrom; let each tenant that needs the source declare it in its own namespace"
        yield Violation(resource, f"{resource} lets other namespaces in", fix)


def dependencies_lead_to_no_other_tenant(stack: Stack) -> Iterator[Violation]:
    """Apps wait only for apps of their own tenant and for the platform's add-ons. An app that waits for another
    tenant's app lets that tenant decide when it is rolled out.
    """
    for resource in stack.objects:
        for dependency in entries(resource.spec.get("dependsOn")) if resource.is_reconciler else ():
            namespace = str(dependency.get("namespace") or resource.namespace)
            if namespace != resource.namespace and namespace in stack.tenant_namespaces:
                what = f"{resource} waits for '{namespace}/{dependency.get('name')}', which is another tenant's"
                yield Violation(
                    resource, what, "remove it from spec.dependsOn, or let the platform run it as an add-on"
                )


def kustomizations_say_what_they_remove(resource: Resource) -> Iterator[Violation]:
    """Every Kustomization sets what happens to objects that leave it, and to all its objects when it is deleted.
    Flux's defaults are not visible in the object.
    """
    if not resource.is_kustomization:
        return
    if resource.spec.get("prune") is None:
        yield Violation(resource, f"{resource} does not say 'prune'", "set spec.prune to true or false")
    if not resource.spec.get("deletionPolicy"):
        fix = "set spec.deletionPolicy: WaitForTermination, or Delete, Orphan, MirrorPrune"
        yield Violation(resource, f"{resource} does not say 'deletionPolicy'", fix)


def releases_say_where_they_are(resource: Resource) -> Iterator[Violation]:
    """Every HelmRelease sets its release name, its namespaces, and whether Flux corrects drift. The defaults depend on
    other fields, and a release whose name changes is installed a second time.
    """
    if not resource.is_release:
        return
    for field in ("releaseName", "targetNamespace", "storageNamespace"):
        if not resource.spec.get(field):
            yield Violation(resource, f"{resource} does not say '{field}'", f"set spec.{field}")
    if not any(drift.get("mode") for drift in lookup(resource.spec, "driftDetection")):
        fix = "set spec.driftDetection.mode: enabled, or warn, disabled"
        yield Violation(resource, f"{resource} does not say 'driftDetection'", fix)


class _Role(NamedTuple):
    """The role that a binding grants; a ClusterRole has no namespace."""

    kind: str
    namespace: str
    name: str


_ROLES = ("Role", "ClusterRole")
_CLUSTER_ADMIN = _Role("ClusterRole", "", "cluster-admin")


def tenants_have_rights_in_their_namespaces_only(stack: Stack) -> Iterator[Violation]:
    """No tenant, neither its service account nor its people, gets cluster-admin or a role that allows everything or to take it, and
    no tenant's service account gets rights outside of tenants' namespaces. Otherwise Flux, acting for one tenant,
    could reach the others.
    """
    unlimited = {_key(each) for each in stack.everywhere if each.kind in _ROLES and gives_all(each)}
    for binding in filter(is_binding, stack.everywhere):
        role = _role_of(binding)
        if stack.is_for_tenant(binding) and (role == _CLUSTER_ADMIN or role in unlimited):
            who = _listed(stack.tenants_named(binding)) or "the subject that it names in a tenant's namespace"
            fix = "bind a role that lists what is needed, such as 'edit' or 'admin', in the tenant's namespaces"
            yield Violation(binding, f"{binding} gives {who} the role '{role.name}', which gives all rights", fix)
        elif _is_of_the_file(binding):
            continue  # whether the main file gives this is for the rules about frames
        elif binding.namespace not in stack.all_tenant_namespaces and (who := _listed(stack.accounts_named(binding))):
            where = f"namespace '{binding.namespace}', which is no tenant's" if binding.namespace else "all namespaces"
            fix = "use RoleBindings in the tenant's own namespaces"
            yield Violation(binding, f"{binding} gives {who} the role '{role.name}' in {where}", fix)


def _is_of_the_file(binding: Resource) -> bool:
    """Whether a binding is one that Tenantry makes for `clusterRoles` of a tenant."""
    return binding.kind == "ClusterRoleBinding" and bool(binding.tenant) and binding.name.startswith("tenantry.")


def _role_of(binding: Resource) -> _Role:
    role = mapping(binding.props.get("roleRef"))
    kind = str(role.get("kind"))
    return _Role(kind, binding.namespace if kind == "Role" else "", str(role.get("name")))


def _key(role: Resource) -> _Role:
    return _Role(role.kind, role.namespace if role.kind == "Role" else "", role.name)


def _listed(who: Iterable[str]) -> str:
    """Without duplicates: a binding can name a service account in two ways."""
    return ", ".join(dict.fromkeys(who))
