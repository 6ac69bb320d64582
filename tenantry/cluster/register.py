"""Registers a remote cluster: an account there as which Flux connects, and a kubeconfig with its token on the management cluster.

No token and no address is in a message, and nothing is replaced that was not made here.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import yaml

from tenantry.cluster import connect as kubeconfigs
from tenantry.cluster.apply_bootstrap import FIELD_MANAGER, Outcome, apply
from tenantry.cluster.inventory import FoundSecret, secret_of
from tenantry.cluster.kubectl import get
from tenantry.cluster.prepare import TIMEOUT, Connect, connect, may_everything
from tenantry.cluster.reach import answered
from tenantry.cluster.requests import every, one, patched, seen_as, token_of
from tenantry.kube.objects import Manifest, ObjectId, labels_of, object_id
from tenantry.kube.tokens import end_of_token
from tenantry.kube.yaml_text import document, documents
from tenantry.messages.errors import NOT_ALLOWED, UNREACHABLE, Refused
from tenantry.model import SecretKey
from tenantry.plan.objects.scope import MANAGED_BY, ROLE_LABEL, TENANT_LABEL
from tenantry.plan.registration import ACCOUNT, REGISTERED, connection, kubeconfig_secret

if TYPE_CHECKING:
    from lightkube.config.kubeconfig import SingleConfig

    from tenantry.cluster.client import Client

SHORTEST, USUAL = 600, 30 * 86_400
"""Seconds that a token is valid: what Kubernetes allows at least, and the default."""
_PATIENCE = 20
"""How often a new right is tried. An API server knows it after a moment."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A cluster to register. reference: of its kubeconfig on the management cluster. account: the platform's on the cluster.

    platform: the platform's namespace. seconds: how long the token is to be valid. bootstrap: what every cluster needs.
    """

    cluster: str
    reference: SecretKey
    platform: str
    account: str
    seconds: int
    bootstrap: tuple[Manifest, ...]

    @property
    def user(self) -> str:
        """Whom Flux impersonates for the platform."""
        return f"system:serviceaccount:{self.reference.namespace}:{self.account}"


class Address(NamedTuple):
    """Where a cluster is, as its kubeconfig says. authority: certificates in base64."""

    server: str
    authority: str


class Renewed(NamedTuple):
    """A cluster with a new token. end: until when it is valid. failure: why there is none."""

    cluster: str
    end: datetime | None = None
    failure: Refused | None = None


def address_of(config: SingleConfig, server: str | None) -> Address:
    """The address of a cluster. server: that takes the place of the one in an administrator's kubeconfig.

    Raises: Refused: it does not verify the server, or its file cannot be read.
    """
    cluster = config.cluster
    if cluster.insecure:
        message = f"context '{config.context_name}' does not verify the server, and Flux always does"
        raise Refused(message, "name a context with 'certificate-authority-data'")
    authority = cluster.certificate_auth_data or ""
    if cluster.certificate_auth:
        path = Path(config.abs_file(cluster.certificate_auth))
        try:
            authority = base64.b64encode(path.read_bytes()).decode()
        except OSError as error:
            fix = "name a context whose files can be read"
            raise Refused(f"certificate {path} cannot be read: {error.strerror}", fix) from None
    return Address(server or cluster.server, authority)


def kubeconfig_of(cluster: str, address: Address, token: str) -> bytes:
    """A kubeconfig with nothing but a token."""
    there = {
        "server": address.server,
        **({"certificate-authority-data": address.authority} if address.authority else {}),
    }
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster, "cluster": there}],
        "users": [{"name": ACCOUNT, "user": {"token": token}}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": ACCOUNT}}],
        "current-context": cluster,
    }
    return documents([content]).encode()


@dataclass(frozen=True, slots=True)
class Registrar:
    """Registers a cluster. remote: a client of an administrator of the cluster. hub: of its management cluster."""

    registration: Registration
    remote: Client = field(repr=False)
    hub: Client = field(repr=False)
    address: Address
    connect: Connect = connect

    def check(self) -> None:
        """Ask for everything that is in the way. Raises: Refused: something there was not made here; nothing was changed."""
        asked = self.registration
        for manifest in connection(asked.platform, asked.reference.namespace):
            id = object_id(manifest)
            there = one(self.remote, id)
            if there and id.name != asked.platform and not MANAGED_BY.items() <= labels_of(there).items():
                raise Refused(f"{id} exists on cluster '{asked.cluster}', and was not made by Tenantry", _other(id))
        secret = secret_of(self.hub, asked.reference)
        if secret and secret.labels.get(REGISTERED) != asked.cluster:
            raise _not_ours(asked.cluster, asked.reference)
        home = one(self.hub, ObjectId("v1", "Namespace", "", asked.reference.namespace))
        if home and ({TENANT_LABEL, *ROLE_LABEL} & labels_of(home).keys()):
            message = f"namespace '{asked.reference.namespace}' on the management cluster is a tenant's"
            raise Refused(message, "keep kubeconfigs in a namespace of their own: --namespace NAME")

    def apply(self, *, dry_run: bool) -> Iterator[tuple[ObjectId, Outcome]]:
        """Prepare the cluster, and make the account there. Raises: Refused: the cluster does not take all of it."""
        asked = self.registration
        own = connection(asked.platform, asked.reference.namespace)
        known = {object_id(each) for each in asked.bootstrap}
        yield from apply(
            self.remote, [*asked.bootstrap, *(each for each in own if object_id(each) not in known)], dry_run=dry_run
        )

    def store(self) -> tuple[datetime | None, bool]:
        """Store a kubeconfig with a new token. Returns until when it is valid, and whether the cluster took it from here.

        Raises: Refused: the cluster gives no token, or does not do with it what Flux needs.
        """
        asked = self.registration
        content = kubeconfig_of(
            asked.cluster, self.address, token_of(self.remote, asked.platform, ACCOUNT, asked.seconds)
        )
        proven = self._prove(content)
        home = {"name": asked.reference.namespace, "labels": MANAGED_BY}
        _make(self.hub, {"apiVersion": "v1", "kind": "Namespace", "metadata": home})
        secret = kubeconfig_secret(asked.cluster, asked.reference, base64.b64encode(content).decode())
        if not _make(self.hub, secret):
            found = secret_of(self.hub, asked.reference)
            if found is None or found.labels.get(REGISTERED) != asked.cluster:
                raise _not_ours(asked.cluster, asked.reference)
            patched(self.hub, object_id(secret), secret, manager=FIELD_MANAGER, dry_run=False)
        return _end(content), proven

    def _prove(self, content: bytes) -> bool:
        """Whether the cluster answers to a kubeconfig from here. Raises: Refused: it answers, and Flux could not work with it."""
        try:
            with self.connect(kubeconfigs.of_secret(content)) as client, answered(TIMEOUT):
                _impersonates(client, self.registration.user)
        except Refused as refused:
            if refused.code != UNREACHABLE:
                raise
            return False
        return True


def _impersonates(client: Client, user: str) -> None:
    """Try to impersonate a user, for as long as a new right may need. Raises: Refused."""
    for attempt in range(_PATIENCE):
        try:
            seen = seen_as(client, user)
        except Refused as refused:
            if refused.code != NOT_ALLOWED or attempt + 1 == _PATIENCE:
                raise Refused(f"with the new token one cannot act as '{user}': {refused.message}", _SEE) from None
            time.sleep(0.25)
            continue
        if seen != user:
            raise Refused(f"who acts as '{user}' with the new token is seen as somebody else", _SEE)
        return


_SEE = "have the proxy before the cluster pass on impersonation, or name an address that leads past it: --server URL"


@dataclass(frozen=True, slots=True)
class Renewer:
    """Renews tokens. hub: of the management cluster. platform: the platform's namespace. seconds: how long a token is valid."""

    hub: Client = field(repr=False)
    platform: str
    seconds: int
    connect: Connect = connect

    def renew(self, cluster: str, reference: SecretKey) -> Renewed:
        """Store a new token of the account, which it gets for itself. failure: the old one is left as it was."""
        try:
            with answered(TIMEOUT):
                return Renewed(cluster, self._renewed(cluster, reference))
        except Refused as refused:
            return Renewed(cluster, failure=refused)

    def _renewed(self, cluster: str, reference: SecretKey) -> datetime | None:
        content = _own(cluster, reference, secret_of(self.hub, reference))
        try:
            with self.connect(kubeconfigs.of_secret(content)) as client:
                token = token_of(client, self.platform, ACCOUNT, self.seconds)
            new = _with_token(content, token)
            with self.connect(kubeconfigs.of_secret(new)) as client:
                may_everything(client)  # whatever the answer is: it accepts the token
        except Refused as refused:
            if refused.code != NOT_ALLOWED:
                raise
            raise Refused("its token is not valid any more, or may not be renewed", _anew(cluster)) from None
        change = {"data": {reference.key: base64.b64encode(new).decode()}}
        id = ObjectId("v1", "Secret", reference.namespace, reference.name)
        if patched(self.hub, id, change, manager=FIELD_MANAGER, dry_run=False) is None:
            raise Refused(f"{id} was deleted in the meantime", _anew(cluster))
        return _end(new)


def _own(cluster: str, reference: SecretKey, secret: FoundSecret | None) -> bytes:
    """The kubeconfig that was made here. Raises: Refused: there is none."""
    if secret is None or (secret.labels.get(REGISTERED) == cluster and reference.key not in secret.data):
        raise Refused(f"cluster '{cluster}' is not registered: its kubeconfig is missing", _anew(cluster))
    if secret.labels.get(REGISTERED) != cluster:
        raise _not_ours(cluster, reference)
    return secret.data[reference.key]


def _with_token(content: bytes, token: str) -> bytes:
    """The same kubeconfig with another token. Raises: Refused: it is not one that was made here."""
    try:
        parsed = document(content)
        (user,) = parsed["users"]
        user["user"] = {"token": token}
        return documents([parsed]).encode()
    except (KeyError, TypeError, ValueError, yaml.YAMLError):
        raise Refused("the kubeconfig is not as `tenantry cluster register` made it", "register it again") from None


def _end(content: bytes) -> datetime | None:
    return end_of_token(kubeconfigs.of_secret(content).user.token or "")  # type: ignore[union-attr]  # it has a user


def _make(client: Client, manifest: Manifest) -> bool:
    """Create an object; False: there is one of its name. Raises: Refused: without the server's words, which could quote it."""
    from httpx2 import HTTPStatusError
    from lightkube.codecs import from_dict

    id = object_id(manifest)
    if id.kind == "Namespace" and one(client, id):
        return False  # somebody may not create namespaces, and need not
    try:
        client.create(from_dict(dict(manifest)), field_manager=FIELD_MANAGER)
    except HTTPStatusError as error:
        if error.response.status_code == HTTPStatus.CONFLICT:
            return False
        fix = "use credentials that may create it on the management cluster"
        raise Refused(f"cannot create {id}: HTTP {error.response.status_code}", fix, code=NOT_ALLOWED) from None
    return True


def _not_ours(cluster: str, at: SecretKey) -> Refused:
    message = f"Secret {at.namespace}/{at.name} on the management cluster was not made for '{cluster}' by this command"
    return Refused(message, "name another Secret in the cluster's 'kubeconfig'")


def _other(id: ObjectId) -> str:
    if id.kind == "Namespace":
        return "keep the kubeconfig in a namespace whose name the cluster does not use: --namespace NAME"
    return f"see what it is: {get(id)}; rename it, or set another 'platform.namespace'"


def _anew(cluster: str) -> str:
    return f"tenantry cluster register {cluster} --kubeconfig FILE --context NAME"


def registered(hub: Client, namespaces: set[str]) -> Mapping[str, tuple[str, str]]:
    """Namespace and name of the Secrets that were made here, by the names of their clusters. Raises: Refused: not allowed."""
    return {
        labels_of(each)[REGISTERED]: (str(each["metadata"]["namespace"]), str(each["metadata"]["name"]))
        for namespace in sorted(namespaces)
        for each in every(hub, "v1", "Secret", namespace=namespace, selector=REGISTERED, metadata_only=True)
    }
