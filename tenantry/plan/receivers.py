"""The receivers of one scope: a Receiver for each, which has the scope's sources fetched.

They are in the namespace of the sources. Next to a remote's kubeconfig, that namespace holds other tenants' sources too, so a
Receiver names each of its own, and adding a source changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.resolve import resolved
from tenantry.fleet.rules.receivers import lacking
from tenantry.flux.conformance import check_spec
from tenantry.grants.authors import may_name
from tenantry.grants.grants import is_filled
from tenantry.grants.wall import Wall, below
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.errors import Findings, Path, collecting, raise_found
from tenantry.model import Receiver
from tenantry.plan.attachments import Attachments
from tenantry.plan.objects.scope import Scope, check_length, check_size
from tenantry.plan.objects.sources import reference
from tenantry.plan.planned_apps import AppSet

API = "notification.toolkit.fluxcd.io/v1"

_NOT_FETCHED = "ExternalArtifact"
"""Another controller makes it, and Flux's webhooks do not know its API version."""


def plan_receivers(
    fleet: Fleet, scope: Scope, planned: AppSet, variables: Mapping[str, str], findings: Findings
) -> Iterator[tuple[Path, tuple[KubeObject, ...]]]:
    """The receivers of the scope's tenant, or the platform's, that have something to fetch, with their places in the document.

    Shape: for each the Secrets it needs, its Receiver; Secrets come again with the next receiver that needs them.
    Args:  planned: the apps of the scope. findings: is given what keeps a receiver from being planned.
    """
    attachments = Attachments(fleet, scope, variables)
    wall = Wall(fleet, scope, variables)
    at = ("tenants", scope.tenant, "receivers") if scope.tenant else ("platform", "receivers")
    for name in fleet.document.tenants[scope.tenant].receivers if scope.tenant else fleet.document.platform.receivers:
        with collecting(findings):
            receiver = resolved(fleet, (*at, name), Receiver, variables)
            raise_found(lacking(fleet, (*at, name), receiver))
            filled = receiver.sources is None and is_filled(fleet, (*at, name))
            own = partial(may_name, fleet, scope.tenant, "sources") if filled else None
            if fetched := tuple(_fetched(receiver, planned, own)):
                made = _object(scope, name, receiver, fetched, (*at, name))
                raise_found(wall.check("Receiver", made.manifest["spec"], below(*at, name)))
                bound = attachments.bound(made)
                yield (*at, name), (*attachments.made.values(), bound)


def _object(scope: Scope, name: str, receiver: Receiver, fetched: tuple[ObjectId, ...], at: Path) -> KubeObject:
    spec = {**receiver.flux, "resources": [reference(id) for id in fetched]}
    if receiver.credentials:
        spec["secretRef"] = {"name": receiver.credentials}
    made = scope.object(API, "Receiver", name, {"spec": spec}, depends_on=(*scope.made_home, *fetched))
    check_length(made, at)
    check_size(made, at)
    raise_found(check_spec("Receiver", spec, at))
    return made


def _fetched(receiver: Receiver, planned: AppSet, own: Callable[[str], bool] | None) -> Iterator[ObjectId]:
    """What Flux fetches for the receiver. Flux never looks into an OCI registry for a HelmRepository, but for its charts.

    Args: own: which sources count where the receiver names none; None: all of them.
    """
    for name in sorted(planned.sources):
        source = planned.sources[name]
        if own and not own(name):
            continue
        if source.id.kind == _NOT_FETCHED or (receiver.sources is not None and name not in receiver.sources):
            continue
        if source.manifest["spec"].get("type") == "oci":
            yield from _charts_of(source, planned)
        else:
            yield source.id


def _charts_of(source: KubeObject, planned: AppSet) -> list[ObjectId]:
    charts = (each for each in planned.objects.values() if each.id.kind == "HelmChart")
    return sorted(each.id for each in charts if each.manifest["spec"]["sourceRef"] == reference(source.id))
