"""What a tenant must not do by itself, refused by the API servers: the policies that `bootstrap` installs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenantry.kube.objects import Manifest
from tenantry.plan.admission_objects import Rule, matched, policy
from tenantry.plan.objects.scope import ACCOUNT_LABEL, ENVIRONMENT_LABEL, ROLE_LABEL, TENANT_LABEL
from tenantry.plan.tenant_rules import ONLY_FLUXS_FINALIZERS, flux_rules

_PREFIX = "tenantry/"
"""How the labels and annotations begin that the fleet gives its objects."""
DEPLOYING = ("tenantry", "fleets", "deploy")
"""The API group, the resource and the verb of a right that only these policies ask for. Who has it on the whole cluster counts as
the platform with few rights: otherwise an account would have to write in all namespaces, also Secrets, to run a stack.
"""
_DEPLOYS = "authorizer.group('{}').resource('{}').check('{}').allowed()".format(*DEPLOYING)
_OTHERS = {"others": f"!{_DEPLOYS}"}
_FLUX = {
    "kustomize.toolkit.fluxcd.io": ("kustomizations",),
    "helm.toolkit.fluxcd.io": ("helmreleases",),
    "source.toolkit.fluxcd.io": (
        "buckets",
        "externalartifacts",
        "gitrepositories",
        "helmcharts",
        "helmrepositories",
        "ocirepositories",
    ),
    "notification.toolkit.fluxcd.io": ("alerts", "providers", "receivers"),
    "image.toolkit.fluxcd.io": ("imagepolicies", "imagerepositories", "imageupdateautomations"),
    "source.extensions.fluxcd.io": ("artifactgenerators",),
}


def management_policies(platform: Sequence[str], *, shared_identity: bool) -> tuple[Manifest, ...]:
    """The policies of a management cluster, each with its binding.

    Args: platform: the namespaces of add-ons. shared_identity: whether tenants may use the controllers' cloud identity.
    """
    rules = flux_rules(platform, shared_identity=shared_identity)
    return (*_objects(rules), *_status(), *remote_policies())


def remote_policies() -> tuple[Manifest, ...]:
    """The policies of every cluster, each with its binding."""
    return (*_baselines(), *label_policies())


def label_policies() -> tuple[Manifest, ...]:
    """The policies that keep the fleet's labels and annotations from tenants, each with its binding."""
    return (*_namespaces(), *_labels())


def _labels() -> tuple[Manifest, ...]:
    """The fleet's labels and annotations on what lies in a tenant's namespace.

    This holds for every kind, at creation and at each change, also for what Flux applies in a tenant's name. Who may write objects
    of a kind in all namespaces, such as the platform and the controllers of Kubernetes and Flux, is no tenant, and neither is who
    may deploy fleets.
    """
    # The API server's limit for one expression is that of two checks.
    verbs = "(request.operation == 'CREATE' ? ['create'] : ['patch', 'update'])"
    everywhere = "authorizer.group(request.resource.group).resource(request.resource.resource).check(verb).allowed()"
    return policy(
        "tenantry-labels",
        [{**matched("*", ("*/*",), "CREATE", "UPDATE"), "scope": "Namespaced"}],
        {"sets": " || ".join(map(_changes_fleets_keys, ("labels", "annotations"))), **_OTHERS},
        {},
        [
            (
                f"{verbs}.exists(verb, {everywhere})",
                f"labels and annotations that begin with '{_PREFIX}' are the platform's to set",
            )
        ],
    )


def _changes_fleets_keys(part: str) -> str:
    """Whether a request changes one of the fleet's keys in a part of the metadata, in CEL."""
    now = f"object.?metadata.?{part}.orValue({{}})"
    before = f"(request.operation == 'CREATE' ? {{}} : oldObject.?metadata.?{part}.orValue({{}}))"
    return (
        f"{now}.exists(key, key.startsWith('{_PREFIX}') && {before}[?key].orValue(null) != {now}[key])"
        f" || {before}.exists(key, key.startsWith('{_PREFIX}') && !(key in {now}))"
    )


def _baselines() -> tuple[Manifest, ...]:
    """A baseline does not take over what exists, so a tenant could keep a part of it out under its name, or remove it."""
    name = "(request.operation == 'DELETE' ? oldObject : object).metadata.name"
    every = ("CREATE", "UPDATE", "DELETE")
    # Kubernetes itself may only delete: what lies in a namespace that is deleted.
    verb = "request.operation == 'DELETE' ? 'delete' : 'create'"
    everywhere = f"authorizer.group(request.resource.group).resource(request.resource.resource).check({verb}).allowed()"
    return policy(
        "tenantry-baselines",
        [
            matched("", ("limitranges", "resourcequotas"), *every),
            matched("networking.k8s.io", ("networkpolicies",), *every),
            matched("rbac.authorization.k8s.io", ("rolebindings",), *every),
        ],
        {
            "named": f"{name}.matches('^tenantry($|[-.])')",
            **_OTHERS,
        },
        {},
        [(everywhere, "names that begin with 'tenantry' are the platform's to give")],
    )


def _namespaces() -> tuple[Manifest, ...]:
    """The labels of a namespace say whose it is, also to the network policies of others."""
    marks = (f"metadata.?{field}.orValue({{}})" for field in ("labels", "annotations"))
    changed = (f"object.{mark} != oldObject.{mark}" for mark in marks)
    return policy(
        "tenantry-namespaces",
        [matched("", ("namespaces", "namespaces/finalize", "namespaces/status"), "UPDATE")],
        {
            "fleets": _of_a_tenant("oldObject.metadata.?labels.orValue({})"),
            "changes": " || ".join(changed),
            **_OTHERS,
        },
        {},
        [
            (
                "['patch', 'update'].exists(verb, authorizer.group('').resource('namespaces').check(verb).allowed())",
                "labels and annotations of a tenant's namespace are the platform's to change",
            )
        ],
        # A selector would look at the labels after the change.
        selector={},
    )


def _objects(rules: Iterable[Rule]) -> tuple[Manifest, ...]:
    everywhere = "authorizer.group('kustomize.toolkit.fluxcd.io').resource('kustomizations').check('create').allowed()"
    return policy(
        "tenantry-tenants",
        [matched(group, resources, "CREATE", "UPDATE") for group, resources in _FLUX.items()],
        # Flux takes its finalizer off whatever stands in an object, but nobody may write anything new into it.
        {"changes": f"request.operation == 'CREATE' || object.?spec != oldObject.?spec || !({ONLY_FLUXS_FINALIZERS})"},
        {
            "labels": "namespaceObject.metadata.?labels.orValue({})",
            "everywhere": f"{everywhere} || {_DEPLOYS}",
            "account": f"variables.labels[?'{ACCOUNT_LABEL}'].orValue(variables.labels[?'{TENANT_LABEL}'].orValue(''))",
        },
        rules,
    )


def _status() -> tuple[Manifest, ...]:
    """Flux believes the status of its objects, such as where the content of a source lies."""
    resources = {group: tuple(f"{name}/status" for name in names) for group, names in _FLUX.items()}
    reporter = "authorizer.group(request.resource.group).resource(request.resource.resource).subresource('status')"
    return policy(
        "tenantry-status",
        [matched(group, names, "UPDATE") for group, names in resources.items()],
        {},
        {},
        [
            (
                f"['patch', 'update'].exists(verb, {reporter}.check(verb).allowed())",
                "the status of a Flux object is its controller's to write",
            )
        ],
    )


def _of_a_tenant(labels: str) -> str:
    """Whether labels of a namespace, in CEL, are those of a tenant's, on any cluster."""
    (role,) = ROLE_LABEL.items()
    return f"{labels}[?'{role[0]}'].orValue('') == '{role[1]}' && '{ENVIRONMENT_LABEL}' in {labels}"
