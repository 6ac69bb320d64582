"""What a tenant must not do by itself, refused by the API servers: the policies that `cluster bootstrap` installs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tenantry.grants.grants import POLICYS_SHORTEST
from tenantry.grants.limits import duration_paths
from tenantry.grants.requirements import EXACT_VERSION, IMAGES, PINNED, VERIFIED
from tenantry.kube.objects import Manifest
from tenantry.messages.text import listed
from tenantry.model.scalars import LONGEST_DURATION
from tenantry.plan.objects.scope import ACCOUNT_LABEL, ENVIRONMENT_LABEL, MANAGED_BY, ROLE_LABEL, TENANT_LABEL

Rule = tuple[str, str]
"""An expression that is true of objects that are allowed, and what the author of another one is told."""


def flux_rules(platform: Sequence[str], *, shared_identity: bool) -> Iterator[Rule]:
    """Args: platform: the namespaces of add-ons. shared_identity: whether tenants may use the controllers' cloud identity."""
    yield _dependencies(platform)
    yield "!has(object.spec.kubeConfig)", "a tenant's Flux objects have no kubeConfig: they act on this cluster"
    yield _account()
    yield _references()
    yield _marks()
    yield _intervals()
    yield _durations()
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
    parts = (f"object.spec.?chart.?metadata.?{each}.orValue({{}})" for each in ("labels", "annotations"))
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


_PREFIX = "tenantry/"
"""How the labels and annotations begin that the fleet gives its objects."""
_API = "admissionregistration.k8s.io/v1"
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
    return (*_objects(rules), *_requirements(), *_status(), *remote_policies())


def remote_policies() -> tuple[Manifest, ...]:
    """The policies of every cluster, each with its binding."""
    return (*_baselines(), *_images(), *label_policies())


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
    return _policy(
        "tenantry-labels",
        [{**_rule("*", ("*/*",), "CREATE", "UPDATE"), "scope": "Namespaced"}],
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
    """A baseline does not take over what exists, so a tenant could keep a part of it out under its name."""
    name = "object.metadata.name"
    everywhere = (
        "authorizer.group(request.resource.group).resource(request.resource.resource).check('create').allowed()"
    )
    return _policy(
        "tenantry-baselines",
        [
            _rule("", ("limitranges", "resourcequotas"), "CREATE"),
            _rule("networking.k8s.io", ("networkpolicies",), "CREATE"),
            _rule("rbac.authorization.k8s.io", ("rolebindings",), "CREATE"),
        ],
        {
            "named": f"{name} == 'tenantry' || {name}.startsWith('tenantry-') || {name}.startsWith('tenantry.')",
            **_OTHERS,
        },
        {},
        [(everywhere, "names that begin with 'tenantry' are the platform's to give")],
    )


def _namespaces() -> tuple[Manifest, ...]:
    """The labels of a namespace say whose it is, also to the network policies of others."""
    marks = (f"metadata.?{each}.orValue({{}})" for each in ("labels", "annotations"))
    changed = (f"object.{mark} != oldObject.{mark}" for mark in marks)
    return _policy(
        "tenantry-namespaces",
        [_rule("", ("namespaces", "namespaces/finalize", "namespaces/status"), "UPDATE")],
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
    return _policy(
        "tenantry-tenants",
        [_rule(group, resources, "CREATE", "UPDATE") for group, resources in _FLUX.items()],
        # Flux takes its finalizer off whatever stands in an object, but nobody may write anything new into it.
        {"changes": "request.operation == 'CREATE' || object.?spec != oldObject.?spec"},
        {
            "labels": "namespaceObject.metadata.?labels.orValue({})",
            "everywhere": f"{everywhere} || {_DEPLOYS}",
            "account": f"variables.labels[?'{ACCOUNT_LABEL}'].orValue(variables.labels[?'{TENANT_LABEL}'].orValue(''))",
        },
        rules,
    )


def _requirements() -> tuple[Manifest, ...]:
    """What the platform requires of sources, which a tenant's namespace says in annotations that only the platform may write.

    A chart of a Git repository or a bucket is as good as that one. The HelmChart that helm-controller makes of a release has the
    spec that stands in the release.
    """
    of_repository = f"{_CHART}.?sourceRef.?kind.orValue('HelmRepository') == 'HelmRepository'"
    tagged = f"{_REF}.?semver.orValue('') == '' && {_REF}.?tag.orValue('') != ''"
    named = f"{_REF}.?name.orValue('') != '' ? {_REF}.name.startsWith('refs/tags/') : {tagged}"
    git = f"({_REF}.?commit.orValue('') != '' || (variables.pinned == 'tags' && ({named})))"
    oci = f"({_REF}.?digest.orValue('') != '' || (variables.pinned == 'tags' && {tagged}))"
    chart = f"(!variables.hasChart || !({of_repository}) || {_CHART}.?version.orValue('*').matches(r'{EXACT_VERSION}'))"
    signed = "(size(variables.signed) > 0 && variables.signed.all(each, each in variables.accepted))"
    pinned = {"GitRepository": git, "OCIRepository": oci, "HelmChart": chart, "HelmRelease": chart}
    verified = {
        **dict.fromkeys(("GitRepository", "OCIRepository"), signed),
        **dict.fromkeys(("HelmChart", "HelmRelease"), f"(!variables.hasChart || !({of_repository}) || {signed})"),
    }
    return _policy(
        "tenantry-requirements",
        [
            _rule("source.toolkit.fluxcd.io", _FETCHED, "CREATE", "UPDATE"),
            _rule("helm.toolkit.fluxcd.io", ("helmreleases",), "CREATE", "UPDATE"),
        ],
        {"changes": _CHANGES},
        {
            "said": _SAID,
            "pinned": f"variables.said[?'{PINNED}'].orValue('')",
            "accepted": f"variables.said[?'{VERIFIED}'].orValue('').split('\\n')",
            "hasChart": "object.kind == 'HelmChart' || has(object.spec.chart)",
            "ref": "object.spec.?ref.orValue({})",
            "chart": "object.kind == 'HelmChart' ? object.spec : object.spec.?chart.?spec.orValue({})",
            "verify": "(object.kind == 'HelmRelease' ? variables.chart : object.spec).?verify.orValue({})",
            "by": (
                "variables.verify.?provider.orValue('git ' +"
                " (variables.verify.?mode.orValue('HEAD') == 'head' ? 'HEAD' : variables.verify.?mode.orValue('HEAD')))"
            ),
            "identities": "variables.verify.?matchOIDCIdentity.orValue([])",
            "signed": (
                "variables.verify == {} ? []"
                " : variables.verify.?secretRef.hasValue()"
                " ? [variables.by + ' key=' + variables.verify.?secretRef.?name.orValue('')]"
                " : size(variables.identities) == 0 ? [variables.by] : variables.identities.map(each, variables.by +"
                " ' issuer=' + each.?issuer.orValue('') + ' subject=' + each.?subject.orValue(''))"
            ),
        },
        [
            (
                f"variables.pinned == '' || {_by_kind(pinned)}",
                "the platform requires pinned sources: a Git commit, an OCI digest, an exact version of a chart",
            ),
            (
                f"!('{VERIFIED}' in variables.said) || {_by_kind(verified)}",
                "the platform requires a 'verify' that it accepts",
            ),
        ],
    )


_SAID = "namespaceObject.metadata.?annotations.orValue({})"
_CHANGES = "request.operation == 'CREATE' || object.?spec != oldObject.?spec"
_CHART, _REF = "variables.chart", "variables.ref"
_FETCHED = ("buckets", "externalartifacts", "gitrepositories", "helmcharts", "ocirepositories")


def _by_kind(rules: Mapping[str, str]) -> str:
    """One rule for each kind; objects of others are refused."""
    return "(" + " || ".join(f"(object.kind == '{kind}' && {rule})" for kind, rule in rules.items()) + ")"


def _images() -> tuple[Manifest, ...]:
    """The images that pods may run, on every cluster."""
    lists = ("containers", "initContainers", "ephemeralContainers")
    accepted = (
        "variables.accepted.exists(it, it.endsWith('*') ? {0}.startsWith(it.substring(0, size(it) - 1)) : {0} == it)"
    )
    checks = (
        f"object.spec.?{each}.orValue([]).all(each, {accepted.format('each.?image.orValue(' + chr(39) * 2 + ')')})"
        for each in lists
    )
    return _policy(
        "tenantry-images",
        [_rule("", ("pods", "pods/ephemeralcontainers"), "CREATE", "UPDATE")],
        {"changes": _CHANGES},
        {"said": _SAID, "accepted": f"variables.said[?'{IMAGES}'].orValue('').split('\\n')"},
        [
            (
                f"!('{IMAGES}' in variables.said) || ({' && '.join(checks)})",
                "the platform requires images of registries that it accepts",
            )
        ],
    )


def approval_policy(platform: str) -> tuple[Manifest, ...]:
    """Who approves a wave does it in the own name and as a member of a group, and takes back or changes nothing.

    It holds for everybody, the account that runs changes included. Each entry is lines: the user, the group, and what is approved.
    """
    before = "(request.operation == 'CREATE' ? {} : oldObject.?data.orValue({}))"
    lines = "object.data[key].split('\\n')"
    return _policy(
        "tenantry-approvals",
        [_rule("", ("configmaps",), "CREATE", "UPDATE")],
        {"approvals": f"object.metadata.name.startsWith('tenantry-') && object.metadata.name.endsWith('{APPROVALS}')"},
        {"before": before, "now": "object.?data.orValue({})"},
        [
            (
                "variables.before.all(key, variables.now[?key].orValue('') == variables.before[key])",
                "an approval is not changed or removed",
            ),
            (
                f"variables.now.all(key, key in variables.before || ({lines}[0] == request.userInfo.username"
                f" && size({lines}) > 1 && {lines}[1] in request.userInfo.groups))",
                "an approval is in the name of the user who writes it, and of a group that the user is in",
            ),
        ],
        selector={"matchLabels": {"kubernetes.io/metadata.name": platform}},
    )


APPROVALS = ".approvals"
"""How the names of ConfigMaps end that hold approvals."""


def _status() -> tuple[Manifest, ...]:
    """Flux believes the status of its objects, such as where the content of a source lies."""
    resources = {group: tuple(f"{name}/status" for name in names) for group, names in _FLUX.items()}
    reporter = "authorizer.group(request.resource.group).resource(request.resource.resource).subresource('status')"
    return _policy(
        "tenantry-status",
        [_rule(group, names, "UPDATE") for group, names in resources.items()],
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


_ENVIRONMENT = {"key": ENVIRONMENT_LABEL, "operator": "Exists"}
_FLEETS = {"matchExpressions": [_ENVIRONMENT], "matchLabels": ROLE_LABEL}
"""The tenants' namespaces of all environments."""


def _policy(
    name: str,
    rules: list[Manifest],
    conditions: Mapping[str, str],
    variables: Mapping[str, str],
    validations: Iterable[Rule],
    selector: Manifest = _FLEETS,
) -> tuple[Manifest, Manifest]:
    metadata = {"name": name, "labels": MANAGED_BY}
    # With what the API server would add: it takes all of this for one value, so two who apply less are in conflict.
    matched = {"matchPolicy": "Equivalent", "namespaceSelector": selector, "objectSelector": {}, "resourceRules": rules}
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": matched,
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


def _rule(group: str, resources: tuple[str, ...], *operations: str) -> Manifest:
    matched = {"apiGroups": [group], "operations": list(operations), "resources": list(resources)}
    return {**matched, "apiVersions": ["*"], "scope": "*"}
