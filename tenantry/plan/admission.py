"""What a tenant must not do by itself, refused by the API servers: the policies that `bootstrap` installs.

On management clusters they also say, in expressions, what a tenant's own Flux objects may not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tenantry.grants.grants import POLICYS_SHORTEST
from tenantry.grants.limits import duration_paths
from tenantry.kube.objects import Manifest
from tenantry.messages.text import listed
from tenantry.model.durations import LONGEST_DURATION
from tenantry.plan.objects.scope import ACCOUNT_LABEL, ENVIRONMENT_LABEL, MANAGED_BY, ROLE_LABEL, TENANT_LABEL

Rule = tuple[str, str]
"""An expression that is true of objects that are allowed, and the message for all others."""
_API = "admissionregistration.k8s.io/v1"
_OF_ENVIRONMENT = {"key": ENVIRONMENT_LABEL, "operator": "Exists"}
FLEETS = {"matchExpressions": [_OF_ENVIRONMENT], "matchLabels": ROLE_LABEL}
"""The tenants' namespaces of all environments."""


def policy(
    name: str,
    rules: list[Manifest],
    conditions: Mapping[str, str],
    variables: Mapping[str, str],
    validations: Iterable[Rule],
    selector: Manifest = FLEETS,
) -> tuple[Manifest, Manifest]:
    """A policy and its binding. Args: rules: the requests that it looks at; conditions: which of these it judges."""
    metadata = {"name": name, "labels": MANAGED_BY}
    # With what the API server would add: it takes all of this for one value, so two who apply less are in conflict.
    constraints = {
        "matchPolicy": "Equivalent",
        "namespaceSelector": selector,
        "objectSelector": {},
        "resourceRules": rules,
    }
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": constraints,
        **({"matchConditions": _named(conditions)} if conditions else {}),
        **({"variables": _named(variables)} if variables else {}),
        "validations": [{"expression": text, "message": message} for text, message in validations],
    }
    binding = {"policyName": name, "validationActions": ["Deny"]}
    return (
        {"apiVersion": _API, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": spec},
        {"apiVersion": _API, "kind": "ValidatingAdmissionPolicyBinding", "metadata": metadata, "spec": binding},
    )


def _named(expressions: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "expression": text} for name, text in expressions.items()]


def matched(group: str, resources: tuple[str, ...], *operations: str) -> Manifest:
    """Requests that a policy looks at."""
    asked = {"apiGroups": [group], "operations": list(operations), "resources": list(resources)}
    return {**asked, "apiVersions": ["*"], "scope": "*"}


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


ONLY_FLUXS_FINALIZERS = (
    "object.metadata.?finalizers.orValue([]).all(name, name == 'finalizers.fluxcd.io'"
    " || (request.operation == 'UPDATE' && name in oldObject.metadata.?finalizers.orValue([])))"
)
"""Whether a request adds no finalizer but Flux's own. One that nobody takes off again keeps each run from deleting the object."""


def flux_rules(platform: Sequence[str], *, shared_identity: bool) -> Iterator[Rule]:
    """Args: platform: the namespaces of add-ons. shared_identity: whether tenants may use the controllers' cloud identity."""
    yield _dependencies(platform)
    yield "!has(object.spec.kubeConfig)", "a tenant's Flux objects have no kubeConfig: they act on this cluster"
    yield _account()
    yield _references()
    yield _marks()
    yield _intervals()
    yield _durations()
    yield (
        f"variables.everywhere || {ONLY_FLUXS_FINALIZERS}",
        "a tenant's Flux objects have no finalizers but Flux's own",
    )
    if not shared_identity:
        yield from _identity()


def _dependencies(platform: Sequence[str]) -> Rule:
    own = "!has(each.namespace) || each.namespace == object.metadata.namespace"
    is_addons = f"== '{platform[0]}'" if len(platform) == 1 else f"in {list(platform)}"
    addon = f"each.namespace {is_addons} && !has(each.readyExpr)"
    return (
        f"!has(object.spec.dependsOn) || object.spec.dependsOn.all(each, {own} || ({addon}))",
        f"a tenant's dependsOn names its own namespace, or without a readyExpr {listed(map(repr, platform))}",
    )


def _account() -> Rule:
    """Without one, Flux acts with its own rights unless it has a flag against that."""
    return (
        "!(object.kind in ['Kustomization', 'HelmRelease']) || (has(object.spec.serviceAccountName) &&"
        " (variables.account == '' ? object.spec.serviceAccountName != ''"
        " : object.spec.serviceAccountName == variables.account))",
        "a tenant's serviceAccountName names the tenant's account",
    )


def _references() -> Rule:
    """Flux refuses the same if it has a flag for it."""
    single = ("sourceRef", "chartRef", "chart.spec.sourceRef", "imageRepositoryRef")
    several = ("eventSources", "resources", "sources")
    own = "in ['', request.namespace]"
    named = [f"object.spec.?{path.replace('.', '.?')}.?namespace.orValue('') {own}" for path in single]
    named += [f"object.spec.?{path}.orValue([]).all(each, each.?namespace.orValue('') {own})" for path in several]
    return " && ".join(named), "a tenant's Flux objects refer to objects of their own namespace only"


def _marks() -> Rule:
    """helm-controller makes the HelmChart of a release with its own rights, and with the labels that the release names."""
    parts = (f"object.spec.?chart.?metadata.?{field}.orValue({{}})" for field in ("labels", "annotations"))
    return (
        " && ".join(f"{part}.all(key, !key.startsWith('tenantry/'))" for part in parts),
        "the labels and annotations of a tenant's chart do not begin with 'tenantry/'",
    )


def _intervals() -> Rule:
    strategies = ("install.strategy", "upgrade.strategy")
    paths = (
        "interval",
        "retryInterval",
        "chart.spec.interval",
        *(f"{strategy}.retryInterval" for strategy in strategies),
    )
    long_enough = (
        f"duration(object.spec.?{path.replace('.', '.?')}.orValue('{POLICYS_SHORTEST}')) >= duration('{POLICYS_SHORTEST}')"
        for path in paths
    )
    return " && ".join(long_enough), f"a tenant's intervals are at least {POLICYS_SHORTEST}"


def _durations() -> Rule:
    """Flux's CRDs take `9999999h`, which Go's 64 bits of nanoseconds do not hold. A controller that lists one such object lists no
    object of that kind any more, of no tenant. The API server's own parser is Go's, so here the duration is an error, which denies.
    """
    longest = f"{int(LONGEST_DURATION // 3600)}h"
    short_enough = (
        f"duration(object.spec.?{path.replace('.', '.?')}.orValue('{POLICYS_SHORTEST}')) <= duration('{longest}')"
        for path in duration_paths()
    )
    return " && ".join(short_enough), f"a tenant's intervals and timeouts are at most {longest}"


def _identity() -> Iterator[Rule]:
    """A Secret is not enough, because Flux falls back to its own identity if a key is missing in it."""
    message = "the cloud identity of Flux's controllers is not the tenants' to use"
    yield "!(object.spec.?provider.orValue('') in ['aws', 'azure', 'gcp'])", message
    yield (
        "!has(object.spec.decryption) || has(object.spec.decryption.secretRef)"
        " || has(object.spec.decryption.serviceAccountName)",
        f"{message}: decryption has a secretRef",
    )
    clouds = "['azuredevops', 'azureeventhub', 'googlepubsub']"
    yield (
        f"object.kind != 'Provider' || !(object.spec.type in {clouds})"
        " || (object.spec.type != 'googlepubsub' && has(object.spec.secretRef) && variables.everywhere)",
        f"{message}: only the fleet's file declares alerts of these types",
    )
