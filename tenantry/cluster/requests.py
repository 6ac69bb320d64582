"""Plain requests to an API server: manifests of any kind, with a time limit, several at once."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tenantry.flux.schemas import kinds, schema_of
from tenantry.kube.objects import Manifest, ObjectId, group_of, is_built_in, is_of_flux
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import NOT_ALLOWED, UNREACHABLE, Refused

if TYPE_CHECKING:
    import httpx2

    from tenantry.cluster.client import Client

_T = TypeVar("_T")
_U = TypeVar("_U")

AUTHENTICATION = "authentication.k8s.io/v1"
AUTHORIZATION = "authorization.k8s.io/v1"
FIELD_MANAGER = "tenantry-cli"
"""Of what is written beside the objects of a plan."""
ANSWER_TIMEOUT = 30.0
"""Seconds for one answer, if the caller does not say; a page of a list takes a fraction of one."""
_AT_ONCE = 16
_PAGE = 500
_NOT_YET = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
)
"""What a server answers that has just begun, has just learned of a kind, waits for etcd, or has too much to do."""
_FOR_GOOD = "failed to create typed patch object"
"""What a server answers about a field that it does not know, with status 500, however often it is asked."""
_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds until such a server is asked again."""
_METADATA = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1,application/json"
"""Asks for metadata alone: `{}` is `List` for a list, and empty for one object."""


class Served(NamedTuple):
    """A kind as a cluster serves it. resource: its name in URL paths."""

    resource: str
    namespaced: bool


def plural(kind: str) -> str:
    """The kind's resource name in URL paths."""
    if kind in kinds():
        return schema_of(kind).plural
    name = kind.lower()
    if name.endswith(("s", "x", "ch", "sh")):
        return f"{name}es"
    return f"{name[:-1]}ies" if name.endswith("y") and name[-2:-1] not in "aeiou" else f"{name}s"


def path_of(id: ObjectId) -> str:
    """The URL path of an object of Kubernetes' own kinds, or of Flux's."""
    return f"{_within(id.api_version, id.namespace)}/{plural(id.kind)}/{id.name}"


def _is_possible(*names: str) -> bool:
    """Whether there can be objects with such names. Others would lead to another path on the server, or to none."""
    return all(
        name not in (".", "..") and len(name) <= _LONGEST and name.isprintable() and _SEPARATORS.isdisjoint(name)
        for name in names
    )


_LONGEST = 253
_SEPARATORS = frozenset("/%?#")


def one(client: Client, id: ObjectId, *, metadata_only: bool = False) -> Manifest | None:
    """An object, or None; what others wrote may be its identity.

    Raises: Refused: reading is not allowed. httpx2.RequestError: no answer; its message may contain the address.
    """
    if not _is_possible(id.kind, id.namespace, id.name, *id.api_version.split("/", 1)):
        return None
    answer = _sent(
        client, "GET", _path(client, id), str(id), headers={"Accept": _METADATA.format("")} if metadata_only else {}
    )
    return None if answer is None else {**answer, "apiVersion": id.api_version, "kind": id.kind}


def every(
    client: Client,
    api_version: str,
    kind: str,
    *,
    namespace: str = "",
    selector: str = "",
    fields: str = "",
    metadata_only: bool = False,
    unknown: Refused | None = None,
) -> Iterator[Manifest]:
    """All objects of a kind that match a label selector and a selector of fields.

    namespace: "": objects in all namespaces, or cluster-scoped ones. unknown: what to raise if the cluster does not know
    the kind; by default the result is empty. Raises: as `one`.
    """
    if not _is_possible(namespace):
        return
    what = f"{plural(kind)} in {namespace}" if namespace else plural(kind)
    headers = {"Accept": _METADATA.format("List")} if metadata_only else {}
    selectors = {"labelSelector": selector, "fieldSelector": fields}
    chosen = {key: value for key, value in selectors.items() if value}

    path = f"{_within(api_version, namespace)}/{_resource(client, api_version, kind)}"
    parameters = {"limit": str(_PAGE), **chosen}
    while (page := _sent(client, "GET", path, what, params=parameters, headers=headers)) is not None:
        # The server omits these from the items of a list.
        yield from ({**item, "apiVersion": api_version, "kind": kind} for item in page.get("items") or ())
        if not (following := page.get("metadata", {}).get("continue")):
            return
        parameters["continue"] = following
    if unknown:
        raise unknown


def served_kinds(client: Client, api_version: str) -> Mapping[str, Served]:
    """The kinds that a cluster serves; empty for an unknown version. A client asks once for each version. Raises: as `one`."""
    if api_version not in client.served:
        answer = _sent(client, "GET", _root(api_version), f"the kinds of {api_version}") or {}
        listed = (resource for resource in answer.get("resources") or () if "/" not in resource["name"])
        client.served[api_version] = {
            resource["kind"]: Served(resource["name"], bool(resource["namespaced"])) for resource in listed
        }
    return client.served[api_version]


def _resource(client: Client, api_version: str, kind: str) -> str:
    """The kind's name in URL paths: of a kind that neither Kubernetes nor Flux defines, only the cluster knows it."""
    if is_built_in(api_version) or is_of_flux(api_version):
        return plural(kind)
    served = served_kinds(client, api_version).get(kind)
    return served.resource if served else plural(kind)


def ask(client: Client, api_version: str, kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Create a review object, such as an access review, and return the status in the answer.

    Raises: as `one`; Refused, too: the cluster does not know this kind of review.
    """
    content = {"apiVersion": api_version, "kind": kind, **body}
    answer = _sent(client, "POST", f"{_root(api_version)}/{plural(kind)}", plural(kind), json=content)
    if answer is None:
        raise Refused(f"the cluster does not serve {kind}", "use a cluster of a version that Flux supports")
    status: dict[str, Any] = answer.get("status") or {}
    return status


def may(client: Client, **attributes: str) -> bool:
    """Whether the user of a client has a right. attributes: as an access review has them, such as verb and namespace.

    Raises: as `ask`.
    """
    asked = {"spec": {"resourceAttributes": attributes}}
    return bool(ask(client, AUTHORIZATION, "SelfSubjectAccessReview", asked).get("allowed"))


def seen_as(client: Client, user: str) -> str:
    """Whom a cluster sees in a request that impersonates a user: itself, or somebody else where a proxy drops or replaces this.

    Raises: Refused: impersonating is not allowed, or the cluster cannot say.
    """
    path = f"{_root(AUTHENTICATION)}/selfsubjectreviews"
    content = {"apiVersion": AUTHENTICATION, "kind": "SelfSubjectReview"}
    headers = {"Impersonate-User": user}
    answer = _sent(client, "POST", path, "who one is on the cluster", json=content, headers=headers)
    if answer is None:
        fix = "upgrade its Kubernetes to 1.30 or later"
        raise Refused("it does not serve SelfSubjectReview, so nobody knows as whom it is read", fix)
    return str(mapping_at(mapping_at(answer, "status"), "userInfo").get("username") or "")


def in_parallel(call: Callable[[_T], _U], items: Iterable[_T]) -> list[_U]:
    """The results in the order of the items."""
    items = list(items)
    if len(items) < 2:
        return list(map(call, items))
    with ThreadPoolExecutor(min(_AT_ONCE, len(items))) as pool:
        return list(pool.map(call, items))


def _path(client: Client, id: ObjectId) -> str:
    return f"{_within(id.api_version, id.namespace)}/{_resource(client, id.api_version, id.kind)}/{id.name}"


def _within(api_version: str, namespace: str) -> str:
    return f"{_root(api_version)}/namespaces/{namespace}" if namespace else _root(api_version)


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _sent(client: Client, method: str, path: str, what: str, **rest: Any) -> dict[str, Any] | None:
    def refused(response: httpx2.Response) -> Refused:
        status = response.status_code
        code = NOT_ALLOWED if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN) else UNREACHABLE
        return Refused(f"cannot read {what}: HTTP {status}", f"use credentials that may read {what}", code=code)

    return _answer(client, method, path, f"cannot read {what}", refused, **rest)


def _answer(
    client: Client,
    method: str,
    path: str,
    failed: str,
    refused: Callable[[httpx2.Response], Refused],
    **rest: Any,
) -> dict[str, Any] | None:
    """The answer to a request, which is sent again for up to 15 seconds while the server cannot answer yet; None: nothing is there.

    failed: for messages. refused: what to raise where the server refuses.
    """
    import httpx2

    timeout = client.http.timeout if client.http.timeout.read else httpx2.Timeout(ANSWER_TIMEOUT)
    pauses = iter(_PAUSES)
    while True:
        response = client.http.request(method, path, timeout=timeout, **rest)
        if response.is_success:
            break
        if response.status_code == HTTPStatus.NOT_FOUND:
            return None
        waits = response.status_code in _NOT_YET and _FOR_GOOD not in response.text
        if not waits or (pause := next(pauses, None)) is None:
            raise refused(response)
        time.sleep(pause)
    try:
        content: dict[str, Any] = response.json()
    except ValueError:
        raise Refused(f"{failed}: the answer is not JSON", "check that the server is an API server") from None
    return content


def patched(
    client: Client, id: ObjectId, content: Mapping[str, Any], *, manager: str, dry_run: bool
) -> Manifest | None:
    """Merge content into an object, as a field manager. Returns None if the object does not exist.

    Raises: Refused: the server does not allow or accept it; the message names the verb and the kind, or the server's reason.
            httpx2.RequestError: no answer.
    """
    parameters = {"fieldManager": manager, **({"dryRun": "All"} if dry_run else {})}
    form = {"Content-Type": "application/merge-patch+json"}
    return _changed(client, "PATCH", id, content, params=parameters, headers=form)


def applied(
    client: Client, id: ObjectId, manifest: Manifest, *, manager: str, force: bool = True, dry_run: bool = True
) -> Manifest | None:
    """An object after a server-side apply; None: the cluster does not serve its kind. By default nothing is changed.

    force: whether it takes over fields of other managers. Raises: as `patched`.
    """
    parameters = {
        "fieldManager": manager,
        **({"force": "true"} if force else {}),
        **({"dryRun": "All"} if dry_run else {}),
    }
    form = {"Content-Type": "application/apply-patch+yaml"}
    return _changed(client, "PATCH", id, manifest, params=parameters, headers=form)


def deleted(client: Client, id: ObjectId, uid: str) -> None:
    """Delete an object, unless it is another one of the same name. Raises: as `patched`."""
    _changed(client, "DELETE", id, {"propagationPolicy": "Background", "preconditions": {"uid": uid}})


def _changed(client: Client, method: str, id: ObjectId, content: Mapping[str, Any], **rest: Any) -> Manifest | None:
    """The answer to a change of an object; None: it does not exist. Raises: as `patched`."""

    def refused(response: httpx2.Response) -> Refused:
        return _not_changed(id, response, method.lower())

    return _answer(client, method, _path(client, id), f"cannot change {id}", refused, json=content, **rest)


class Conflict(Refused):
    """Another field manager owns a field of the change, or the object has changed meanwhile."""


_NO_RIGHT = re.compile(r"User \"[^\"]*\" cannot ")


def _not_changed(id: ObjectId, response: httpx2.Response, verb: str) -> Refused:
    status = response.status_code
    try:
        reason = " ".join(str(response.json().get("message") or "").split())
    except (ValueError, AttributeError):
        reason = ""
    # A quota and an admission plugin forbid, too, whatever the rights.
    is_right = status == HTTPStatus.FORBIDDEN and (verb == "delete" or not reason or _NO_RIGHT.search(reason))
    if status == HTTPStatus.UNAUTHORIZED or is_right:
        kinds_name = f"{plural(id.kind)}.{group_of(id.api_version)}"
        where = f" in namespace {id.namespace}" if id.namespace else ""
        fix = f"use credentials that may '{verb}' {kinds_name}{where}"
        return Refused(f"cannot change {id}: HTTP {status}", fix, code=NOT_ALLOWED)
    because = f": {reason}" if reason else ""
    kind = Conflict if status == HTTPStatus.CONFLICT else Refused
    return kind(f"cannot change {id}: HTTP {status}{because}", "see the reason that the server gives, then try again")
