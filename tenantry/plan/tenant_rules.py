"""What a tenant's own Flux objects may not say, as expressions of the admission policy of management clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenantry.grants.grants import POLICYS_SHORTEST
from tenantry.grants.limits import duration_paths
from tenantry.messages.text import listed
from tenantry.model.durations import LONGEST_DURATION
from tenantry.plan.admission_objects import Rule

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
