"""Reads certain objects of an environment: a few one by one, many in one list for each kind, in pages; and what decides about a
change of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.cluster.requests import FIELD_MANAGER, may, served_kinds
from tenantry.fleet.fleet import Fleet
from tenantry.kube.objects import Manifest, ObjectId, is_built_in, is_of_flux, labels_of, object_id, readable_id
from tenantry.messages.errors import NOT_ALLOWED, UNREACHABLE, Problem, Refused, error
from tenantry.messages.text import grouped, listed
from tenantry.plan.objects.apps import HELM_API, KUSTOMIZE_API
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL
from tenantry.plan.plan import Plan
from tenantry.rollout.change import Change, wanted_of
from tenantry.rollout.flux_status import REQUESTED
from tenantry.rollout.readiness import Live, Request

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


_NAMED = 3
_FEW = 32
"""So many objects of a kind are read one by one. A list holds those of all clusters, and takes longer in a large fleet."""


SECRET = ("v1", "Secret")
APP_KINDS = {"Kustomization": KUSTOMIZE_API, "HelmRelease": HELM_API}
"""Kind -> API version of what stands for an app."""


def of_environment(
    client: Client,
    environment: str,
    kind: tuple[str, str],
    planned: Iterable[ObjectId],
    *,
    labelled: bool,
    metadata_only: bool,
) -> list[Manifest]:
    """The objects of a kind with the environment's label, or without it. Of Secrets that may not be listed, those that are planned:
    few rights are rights to read these by their names.

    Raises: as `read_objects`.
    """
    selector = f"{ENVIRONMENT_LABEL}{'=' if labelled else '!='}{environment}"
    try:
        return list(requests.every(client, *kind, selector=selector, metadata_only=metadata_only))
    except Refused as refused:
        if kind != SECRET or refused.code != NOT_ALLOWED:
            raise
    client.unlisted = True
    ids = [id for id in dict.fromkeys(planned) if (id.api_version, id.kind) == kind]
    secrets = requests.in_parallel(lambda id: permitted(client, id, metadata_only=metadata_only), ids)
    return [
        secret for secret in secrets if secret and (labels_of(secret).get(ENVIRONMENT_LABEL) == environment) is labelled
    ]


def permitted(client: Client, id: ObjectId, *, metadata_only: bool = False) -> Manifest | None:
    """As `requests.one`; None for a Secret that may not be read, if the client takes note of it."""
    try:
        return requests.one(client, id, metadata_only=metadata_only)
    except Refused as refused:
        if client.unread is None or id.kind != "Secret" or refused.code != NOT_ALLOWED:
            raise
    client.unread.add(id)
    return None


UNLISTED = "these credentials may not list Secrets, so nobody has looked for Secrets that the file does not declare"


def not_read(client: Client) -> str:
    """A message about the Secrets that could not be read; "" if there is none."""
    if not client.unread:
        return ""
    what = "it exists, is somebody else's or was changed"
    if len(client.unread) > 1:
        what = "they exist, are somebody else's or were changed"
    names = listed(sorted(map(str, client.unread)), 3)
    return f"{names} may not be read with these credentials, so nobody has checked whether {what}"


def read_objects(
    client: Client, environment: str, wanted: Iterable[ObjectId], *, whole: bool = True
) -> Mapping[ObjectId, Manifest]:
    """Those of an environment's objects that exist.

    whole: False: of ConfigMaps and Secrets only the metadata is read.
    Raises: Refused: reading is not allowed. httpx2.RequestError: no answer.
    """
    ids = frozenset(wanted)

    def bare(kind: tuple[str, str]) -> bool:
        return kind[0] == "v1" and not whole

    def many_of(kind: tuple[str, str]) -> list[Manifest]:
        return of_environment(client, environment, kind, ids, labelled=True, metadata_only=bare(kind))

    def one(id: ObjectId) -> list[Manifest]:
        manifest = permitted(client, id, metadata_only=bare((id.api_version, id.kind)))
        return [manifest] if manifest else []

    kinds = grouped(sorted(ids), lambda id: (id.api_version, id.kind))
    few = [id for alike in kinds.values() if len(alike) <= _FEW for id in alike]
    many = [kind for kind, alike in kinds.items() if len(alike) > _FEW]
    read = chain.from_iterable((*requests.in_parallel(one, few), *requests.in_parallel(many_of, many)))
    live = {id: manifest for manifest in read if (id := readable_id(manifest)) in ids and id}
    unseen = [id for kind in many for id in kinds[kind] if id not in live]
    return {**live, **without_label(client, environment, unseen, metadata_only=bare)}


def without_label(
    client: Client,
    environment: str,
    wanted: Iterable[ObjectId],
    *,
    metadata_only: Callable[[tuple[str, str]], bool] = lambda _: False,
    tenants: Collection[str] = (),
) -> dict[ObjectId, Manifest]:
    """Those of some objects that exist without the environment's label: in a tenant's namespace, the tenant can take it off.

    One list of metadata for each kind.
    Args:   metadata_only: by API version and kind, of which ones nothing else is read. tenants: namespaces in which all that stands
            for apps is wanted, too.
    Raises: as `read_objects`.
    """
    kinds = grouped(sorted(set(wanted)), lambda id: (id.api_version, id.kind))
    apps = {(api_version, kind) for kind, api_version in APP_KINDS.items()}

    def others(kind: tuple[str, str]) -> list[Manifest]:
        ids, spaces = {*kinds.get(kind, ())}, tenants if kind in apps else ()
        live = of_environment(client, environment, kind, ids, labelled=False, metadata_only=True)
        found = [
            manifest for manifest in live if (id := readable_id(manifest)) and (id in ids or id.namespace in spaces)
        ]
        if metadata_only(kind):
            return found
        whole = requests.in_parallel(lambda manifest: requests.one(client, object_id(manifest)), found)
        return [manifest for manifest in whole if manifest]

    read = requests.in_parallel(others, sorted({*kinds, *(apps if tenants else ())}))
    return {object_id(manifest): manifest for manifest in chain.from_iterable(read)}


def unserved(client: Client, fleet: Fleet, plan: Plan) -> Iterator[Problem]:
    """One problem for each kind that the cluster does not serve, or not where the file has it.

    Raises: Refused: reading is not allowed.
    """
    hub = plan.management
    first: dict[tuple[str, str, bool], ObjectId] = {}
    for planned in plan.objects:
        if not is_built_in(planned.id.api_version):
            first.setdefault((planned.id.api_version, planned.id.kind, bool(planned.id.namespace)), planned.id)
    versions = list(dict.fromkeys(version for version, *_ in first))
    found = requests.in_parallel(lambda api_version: served_kinds(client, api_version), versions)
    served = dict(zip(versions, found, strict=True))
    for (api_version, kind, _), id in first.items():
        at = fleet.source.line_of(plan.origins.get(id, ()))
        if kind not in served[api_version]:
            message = f"cluster '{hub}' does not serve {kind} of {api_version}, which {id} is ({at})"
            fix = "install its definition first, such as by an add-on, and declare the object once that runs"
            if is_of_flux(api_version):
                fix = "install Flux and its CRDs, or upgrade them"
            yield error("unknown-kind", message, fix)
        elif id.namespace and not served[api_version][kind].namespaced:
            message = f"{kind} of {api_version} is in no namespace on cluster '{hub}', but {id} is ({at})"
            yield error(
                "cluster-scoped", message, "declare it under the tenant's 'clusterObjects', or install it by an add-on"
            )
        elif served[api_version][kind].namespaced and not id.namespace:
            message = f"{kind} of {api_version} is in a namespace on cluster '{hub}', but {id} is not ({at})"
            yield error("namespaced", message, "declare it under the tenant's 'objects'")


def check_deletable(client: Client, environment: str, secrets: Iterable[ObjectId]) -> None:
    """Refuse to delete Secrets where these credentials may not list any: Pulumi's provider would wait without an end for a list.

    Raises: Refused; as `requests.ask`.
    """
    for namespace, ids in grouped(secrets, lambda id: id.namespace).items():
        if not all(may(client, verb=verb, resource="secrets", namespace=namespace) for verb in ("list", "watch")):
            raise Refused(
                f"this would delete {listed(map(str, ids), _NAMED)}, and these credentials may not list the Secrets of namespace"
                f" '{namespace}', which Pulumi's provider does when it deletes one",
                f"have an administrator delete it, and run the same command with --refresh; to let them delete such Secrets from"
                f" now on: tenantry bootstrap --environment {environment} --roles deploy --for WHO --secrets",
                code=NOT_ALLOWED,
            )


def live_for(client: Client, change: Change, known: Live | None = None, applied: Iterable[ObjectId] = ()) -> Live:
    """The objects that decide about a change. known: what has just been read. applied: as of `ask`.

    Raises: Refused: reading is not allowed.
    """
    known = known or {}
    missing = wanted_of(change, applied) - known.keys()
    return {**known, **read_objects(client, change.plan.environment, missing, whole=False)}


def reconcile(client: Client, asked: Iterable[Request]) -> None:
    """Have Flux reconcile objects now. One that does not arrive is sent again with the next asking.

    Raises: Refused: it is not allowed.
    """

    def send(request: Request) -> None:
        annotations = {"metadata": {"annotations": {REQUESTED: request.token}}}
        try:
            requests.patched(client, request.id, annotations, manager=FIELD_MANAGER, dry_run=False)
        except Refused as refused:
            if refused.code != UNREACHABLE:
                raise

    requests.in_parallel(send, asked)
