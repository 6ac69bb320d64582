"""Checks whether Flux can reach the remote clusters of a plan, and what their kubeconfigs permit.

The checks contact a remote with the kubeconfig that Flux uses. No message quotes any part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from tenantry.cluster.connect import NO_SECRET, answered, connect_remote, kubeconfig_of
from tenantry.cluster.inventory import OTHER_CLUSTER, UNMARKED, marked_as
from tenantry.cluster.kubeconfig import Access, ignored_in, of_secret
from tenantry.cluster.kubectl import mark
from tenantry.cluster.leftovers import Rights, rights_by_cluster
from tenantry.cluster.requests import AUTHORIZATION, ask, in_parallel, one, seen_as
from tenantry.fleet.fleet import Fleet, platform_account
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.errors import NOT_ALLOWED, NOT_POSSIBLE, UNREACHABLE, Problem, Refused, error, warning
from tenantry.messages.text import listed
from tenantry.model import ConfigMap, SecretKey
from tenantry.plan.bootstrap import MARKER, remote_policies
from tenantry.plan.plan import Plan
from tenantry.preflight.adoption import check_accounts, check_rights
from tenantry.preflight.fitness import check_policies

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote cluster that Flux reaches for a plan.

    accounts: the service accounts that Flux impersonates there, all in the kubeconfig's namespace.
    bootstrapped: the namespace that it needs there.
    rights: of the tenants, by namespace.
    """

    name: str
    environment: str
    reference: SecretKey | ConfigMap
    accounts: tuple[str, ...]
    bootstrapped: str
    rights: Mapping[str, Rights] = field(default_factory=dict, compare=False, repr=False)


def remotes(fleet: Fleet, plan: Plan) -> list[Remote]:
    """The active remote clusters for which the plan has Flux objects."""
    rights = rights_by_cluster(fleet, plan)
    accounts: dict[str, dict[str, None]] = {}
    for planned in plan.objects:
        spec: Mapping[str, Any] = planned.manifest.get("spec") or {}
        if "kubeConfig" in spec:
            accounts.setdefault(planned.owner.cluster, {})[spec["serviceAccountName"]] = None
    return [
        Remote(
            name,
            plan.environment,
            declared.kubeconfig.resolved,
            tuple(accounts[name]),
            fleet.document.platform.namespace,
            rights[name],
        )
        for name, declared in fleet.clusters.items()
        if name in accounts and declared.state == "active" and declared.kubeconfig
    ]


def remote_of(fleet: Fleet, plan: Plan, name: str) -> Remote:
    """A remote cluster as `remotes` has it, also if nothing is planned on it yet. Raises: Refused: Flux alone gets its token."""
    if not (found := next((remote for remote in remotes(fleet, plan) if remote.name == name), None)):
        kubeconfig, account = fleet.clusters[name].kubeconfig, platform_account(fleet, plan.environment, name)
        assert kubeconfig is not None, "a remote cluster has a kubeconfig"
        platform = fleet.document.platform.namespace
        found = Remote(name, plan.environment, kubeconfig.resolved, (account,), platform)
    if isinstance(found.reference, ConfigMap):
        message = f"cluster '{name}' is reached by workload identity: there is no kubeconfig to check"
        raise Refused(message, "see `tenantry status` for what Flux says about it")
    return found


def contact(hub: Client, remote: Remote) -> list[Problem]:
    """The problems of a kubeconfig and, unless Flux would refuse it anyway, of what it permits on its cluster.

    Raises: Refused: the Secret may not be read.
    """
    reference = remote.reference
    if isinstance(reference, ConfigMap):
        # Its rights cannot be checked: Flux alone gets the token.
        id = ObjectId("v1", "ConfigMap", reference.namespace, reference.name)
        fix = "create it, with the keys of Flux's 'kubeConfig.configMapRef'"
        return [] if one(hub, id) else [error("no-configmap", f"there is no {id}", fix)]
    try:
        kubeconfig = kubeconfig_of(hub, reference)
        config = of_secret(kubeconfig)
    except Refused as refused:
        if refused.code not in (NO_SECRET, NOT_POSSIBLE):
            raise
        code = NO_SECRET if refused.code == NO_SECRET else "bad-kubeconfig"
        return [error(code, refused.message, refused.fix)]
    if ignored := ignored_in(kubeconfig):
        message = f"Flux refuses or ignores {listed(map(repr, ignored))} of the kubeconfig"
        fix = "write certificates or a token into it: kubectl config view --flatten; or use workload identity: 'configMap'"
        return [error("not-taken", message, fix)]
    return _access(remote, config)


def _access(remote: Remote, config: Access) -> list[Problem]:
    """What the cluster itself refuses."""
    problems: list[Problem] = []
    try:
        with connect_remote(config) as client, answered():
            try:
                ask(client, AUTHORIZATION, "SelfSubjectAccessReview", _ANYTHING)
            except Refused as refused:
                if refused.code != NOT_ALLOWED:
                    raise
                fix = "have the kubeconfig's writer renew it"
                return [error("not-accepted", "it does not accept the credentials of its kubeconfig", fix)]
            for problem in _problems(client, remote):
                problems.append(problem)
    except Refused as refused:
        if refused.code == UNREACHABLE:
            how = refused.message if refused.message.endswith(" from here") else f"{refused.message} from here"
            message = f"{how}, so the rights of its kubeconfig were not checked"
            fix = "check that it runs; if only Flux can reach it, see `tenantry status`"
            problems.append(warning("unreachable", message, fix))
        else:
            problems.append(error("not-readable", refused.message, refused.fix))
    return problems


_ANYTHING: Manifest = {"spec": {"nonResourceAttributes": {"verb": "get", "path": "/version"}}}
"""What everybody may ask whose credentials a cluster accepts."""


def _problems(client: Client, remote: Remote) -> Iterator[Problem]:
    """What is wrong on the cluster, as far as this user may read it."""
    name, platform, namespace = remote.name, remote.bootstrapped, remote.reference.namespace
    marked = _permitted(lambda: marked_as(client, platform) or "", name)
    if marked and marked != name:
        # Other findings would be about the wrong cluster.
        yield error(
            OTHER_CLUSTER,
            f"its kubeconfig reaches another cluster, which is marked as '{marked}' (ConfigMap {platform}/{MARKER})",
            f"have the kubeconfig's writer write that of '{name}'; if '{marked}' was renamed in the file: "
            + mark(platform, name, "--context", "NAME"),
        )
        return
    yield from _impersonation(client, namespace, remote.accounts)
    fix = f"tenantry bootstrap {name} --environment {remote.environment} --kubeconfig FILE --context NAME"
    home = ObjectId("v1", "Namespace", "", platform)
    if not _permitted(lambda: bool(one(client, home)), otherwise=True):
        yield error("not-bootstrapped", f"namespace '{platform}' does not exist on it", fix)
    elif not marked:
        message = f"it is not marked as '{name}', so a kubeconfig of another cluster in its place would not be noticed"
        yield warning(UNMARKED, message, fix)
    none: list[Problem] = []
    yield from _permitted(lambda: [*check_policies(remote_policies(), "it", lambda id: one(client, id), fix)], none)
    yield from _permitted(lambda: [*check_accounts(client, namespace, remote.accounts)], none)
    yield from _permitted(lambda: [*check_rights(client, remote.rights)], none)


def _permitted(question: Callable[[], _T], otherwise: _T) -> _T:
    """The answer to a question. otherwise: if this user may not ask it."""
    try:
        return question()
    except Refused:
        return otherwise


def _impersonation(client: Client, namespace: str, accounts: Iterable[str]) -> Iterator[Problem]:
    """Impersonate each account, as Flux does. An access review is no proof: a proxy before the cluster answers for itself."""

    def seen(user: str) -> str:
        """Whom the cluster sees; "": nobody, because it is not allowed."""
        try:
            return seen_as(client, user)
        except Refused as refused:
            if refused.code != NOT_ALLOWED:
                raise
            return ""

    users = {f"system:serviceaccount:{namespace}:{account}": account for account in accounts}
    as_whom = dict(zip(users, in_parallel(seen, users), strict=True))
    if dropped := [users[user] for user, found in as_whom.items() if found and found != user]:
        yield error(
            "no-impersonation",
            f"who impersonates {listed(dropped)} of namespace '{namespace}' with its kubeconfig is seen as somebody else, so"
            " Flux would act with the kubeconfig's own rights for every tenant",
            "have the proxy before the cluster pass on impersonation, or write a kubeconfig that leads past it",
        )
    if denied := [users[user] for user, found in as_whom.items() if not found]:
        yield error(
            "no-impersonation",
            f"its kubeconfig may not impersonate {listed(denied)} of namespace '{namespace}', which Flux acts as there",
            "give its user on the cluster the verb 'impersonate' for 'serviceaccounts', or write an administrator's"
            " kubeconfig",
        )


def errors_first(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: problem.severity))
