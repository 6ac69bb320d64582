"""Prepares all clusters of an environment at once: `tenantry cluster bootstrap --all`.

Remote clusters are reached with the kubeconfigs that Flux uses. No message quotes any part of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tenantry.cluster.apply_bootstrap import Outcome, apply
from tenantry.cluster.connect import connect_remote
from tenantry.cluster.inventory import identity, unmarked
from tenantry.cluster.reach import answered, config_of
from tenantry.cluster.requests import in_parallel, may
from tenantry.fleet.fleet import Fleet, platform_account, remotes_of
from tenantry.messages.errors import NOT_ALLOWED, Refused, refuse
from tenantry.messages.progress import Tell, counting, silent
from tenantry.messages.text import listed
from tenantry.model import SecretKey
from tenantry.plan.bootstrap import bootstrap, kubeconfig_of
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from lightkube.config.kubeconfig import SingleConfig

    from tenantry.cluster.client import Client

TIMEOUT = 15.0
"""Seconds for each step of an answer."""
Connect = Callable[["SingleConfig"], "Client"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A cluster, and how many of its objects had which outcome. failure: why it was not prepared, or not to the end."""

    cluster: str
    outcomes: Mapping[Outcome, int] = field(default_factory=dict)
    failure: Refused | None = None


@dataclass(frozen=True, slots=True)
class _Reached:
    """A remote cluster that answers. user: whom to impersonate there; "": nobody."""

    config: SingleConfig = field(repr=False)
    user: str
    uid: str


def connect(config: SingleConfig) -> Client:
    """A client of a remote cluster. Raises: Refused: a certificate or key of its kubeconfig cannot be used."""
    return connect_remote(config, TIMEOUT)


def to_prepare(fleet: Fleet, environment: str) -> tuple[list[str], Mapping[str, str]]:
    """The clusters of an environment, its management clusters first; and the states of those that are left out, by name."""
    hubs, remotes = fleet.environments[environment].managements, remotes_of(fleet, environment)
    idle = {name: state for name in remotes if (state := fleet.clusters[name].state) in ("paused", "decommissioned")}
    return [*hubs, *(name for name in remotes if name not in idle)], idle


def prepare(
    client: Client,
    fleet: Fleet,
    plan: Plan,
    names: Collection[str],
    *,
    dry_run: bool,
    tell: Tell = silent,
    connect: Connect = connect,
) -> list[Prepared]:
    """Prepare clusters of a plan's environment, several at once. The failure of one does not stop the others.

    Args:   client: of the management clusters. names: of clusters. tell: is told how many clusters are done.
    Raises: Refused: a management cluster is another one than the file says, or has no marker.
    """
    refuse(unmarked(client, fleet, plan))
    return _All(client, fleet, plan, dry_run, connect).prepared(names, tell)


@dataclass(frozen=True, slots=True)
class _All:
    client: Client
    fleet: Fleet
    plan: Plan
    dry_run: bool
    connect: Connect

    def prepared(self, names: Collection[str], tell: Tell) -> list[Prepared]:
        hubs = {each.hub or self.plan.management: each for each in self.client.each()}
        remotes = [name for name in names if name not in hubs]
        reached = dict(zip(remotes, in_parallel(self._reached, remotes), strict=True))
        uids = {name: uid for name, hub in hubs.items() if (uid := identity(hub))}
        uids |= {name: found.uid for name, found in reached.items() if isinstance(found, _Reached) and found.uid}

        def one(name: str) -> Prepared:
            twins = [other for other, uid in uids.items() if name in uids and uid == uids[name] and other != name]
            if name in hubs:
                return self._apply(name, hubs[name])
            found = reached[name]
            if isinstance(found, Refused):
                return Prepared(name, failure=found)
            if twins:
                message = f"it is the same cluster as {listed(map(repr, twins))}: one of the kubeconfigs is another's"
                return Prepared(name, failure=Refused(message, "have the kubeconfigs written for the clusters meant"))
            with self.connect(found.config) as remote:
                if found.user:
                    remote.http.headers["Impersonate-User"] = found.user
                return self._apply(name, remote)

        return in_parallel(counting(one, len(names), "clusters", tell), names)

    def _apply(self, name: str, client: Client) -> Prepared:
        outcomes: Counter[Outcome] = Counter()
        manifests = bootstrap(self.fleet, self.plan.environment, name)
        try:
            with answered(TIMEOUT):
                for _, outcome in apply(client, manifests, dry_run=self.dry_run):
                    outcomes[outcome] += 1
        except Refused as refused:
            return Prepared(name, {} if self.dry_run else outcomes, refused)
        return Prepared(name, outcomes)

    def _reached(self, name: str) -> _Reached | Refused:
        """A remote cluster, once it is known as whom one may change it; or why it cannot be prepared."""
        environment = self.plan.environment
        reference = kubeconfig_of(self.fleet, environment, name)
        if not isinstance(reference, SecretKey):
            return Refused("Flux alone gets its token, by workload identity", self._by_hand(name))
        try:
            config = config_of(self.client.at(self._hub(name)), reference)
            with self.connect(config) as remote, answered(TIMEOUT):
                account = platform_account(self.fleet, environment, name)
                user = self._administrator(name, remote, f"system:serviceaccount:{reference.namespace}:{account}")
                return _Reached(config, user, identity(remote))
        except Refused as refused:
            return refused

    def _hub(self, name: str) -> str:
        hub = self.plan.hub_by_cluster[name]
        return hub if any(each.hub == hub for each in self.client.each()) else ""

    def _administrator(self, name: str, remote: Client, platform: str) -> str:
        """Whom to impersonate to change the cluster: nobody with an administrator's kubeconfig, else the platform's account.

        That account has all rights once the cluster was prepared. Raises: Refused: neither may.
        """
        try:
            if may_everything(remote):
                return ""
        except Refused as refused:
            if refused.code != NOT_ALLOWED:
                raise
            fix = "have the kubeconfig's writer renew it"
            raise Refused("it does not accept the credentials of its kubeconfig", fix) from None
        remote.http.headers["Impersonate-User"] = platform
        try:
            if may_everything(remote):
                return platform
        except Refused as refused:
            if refused.code != NOT_ALLOWED:
                raise
        finally:
            del remote.http.headers["Impersonate-User"]
        message = "its kubeconfig is not that of an administrator, and it was not prepared before"
        raise Refused(message, self._by_hand(name), code=NOT_ALLOWED)

    def _by_hand(self, name: str) -> str:
        return (
            f"tenantry cluster bootstrap {name} --environment {self.plan.environment} --kubeconfig FILE --context NAME"
        )


def may_everything(client: Client) -> bool:
    """Whether the user of a client has all rights on a cluster. Raises: Refused: the cluster does not say."""
    return may(client, verb="*", group="*", resource="*")
