"""Checks whether Flux can reach the remote clusters of a plan, and what their kubeconfigs permit.

The checks contact a remote with the kubeconfig that Flux uses. No message quotes any part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from tenantry.cluster.connect import NO_SECRET, Connect, answered, connect_app, kubeconfig_of
from tenantry.cluster.inventory import OTHER_CLUSTER, UNMARKED, marked_as
from tenantry.cluster.kubeconfig import Access, ignored_in, of_secret
from tenantry.cluster.kubectl import mark
from tenantry.cluster.leftovers import Rights, rights_by_cluster
from tenantry.cluster.requests import AUTHORIZATION, ask, in_parallel, one, seen_as
from tenantry.fleet.fleet import Fleet, platform_account
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.errors import NOT_ALLOWED, NOT_POSSIBLE, UNREACHABLE, Problem, Refused, Severity, error, warning
from tenantry.messages.text import listed
from tenantry.model import ConfigMap, SecretKey
from tenantry.plan.bootstrap import MARKER, remote_policies
from tenantry.plan.plan import Plan
from tenantry.preflight.adoption import check_accounts, check_rights
from tenantry.preflight.fitness import check_policies

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


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


@dataclass(frozen=True, slots=True)
class Contact:
    """What is known about one cluster. problems: errors first."""

    json_keys: ClassVar = ("cluster", "fit", "problems")
    cluster: str
    problems: tuple[Problem, ...]

    @property
    def fit(self) -> bool:
        return not any(problem.severity is Severity.ERROR for problem in self.problems)


def contact(hub: Client, remote: Remote, connect: Connect = connect_app) -> Contact:
    """Check a kubeconfig and, unless Flux would refuse it anyway, what it permits on its cluster.

    connect: makes the client of the remote. Raises: Refused: the Secret may not be read.
    """
    reference = remote.reference
    if isinstance(reference, ConfigMap):
        # Its rights cannot be checked: Flux alone gets the token.
        id = ObjectId("v1", "ConfigMap", reference.namespace, reference.name)
        fix = "create it, with the keys of Flux's 'kubeConfig.configMapRef'"
        missing = () if one(hub, id) else (error("no-configmap", f"there is no {id}", fix),)
        return Contact(remote.name, missing)
    try:
        kubeconfig = kubeconfig_of(hub, reference)
        config = of_secret(kubeconfig)
    except Refused as refused:
        if refused.code not in (NO_SECRET, NOT_POSSIBLE):
            raise
        code = NO_SECRET if refused.code == NO_SECRET else "bad-kubeconfig"
        return Contact(remote.name, (error(code, refused.message, refused.fix),))
    if ignored := ignored_in(kubeconfig):
        message = f"Flux refuses or ignores {listed(map(repr, ignored))} of the kubeconfig"
        fix = "write certificates or a token into it: kubectl config view --flatten; or use workload identity: 'configMap'"
        return Contact(remote.name, (error("not-taken", message, fix),))
    return Contact(remote.name, errors_first(_access(remote, config, connect)))


def _access(remote: Remote, config: Access, connect: Connect) -> list[Problem]:
    """What the cluster itself refuses."""
    problems: list[Problem] = []
    try:
        with connect(config) as client, answered():
            try:
                ask(client, AUTHORIZATION, "SelfSubjectAccessReview", _ANYTHING)
            except Refused as refused:
                if refused.code != NOT_ALLOWED:
                    raise
                fix = "have the kubeconfig's writer renew it"
                return [error("not-accepted", "it does not accept the credentials of its kubeconfig", fix)]
            for problem in _Access(client, remote).problems():
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


@dataclass(frozen=True, slots=True)
class _Access:
    client: Client = field(repr=False)
    remote: Remote

    def problems(self) -> Iterator[Problem]:
        marked = self._marked()
        if marked and marked != self.remote.name:
            yield self._other(marked)  # other findings would be about the wrong cluster
            return
        yield from self._impersonation()
        yield from self._bootstrap(marked)
        accounts = self.remote.accounts
        yield from self._readable(lambda: check_accounts(self.client, self.remote.reference.namespace, accounts))
        yield from self._readable(lambda: check_rights(self.client, self.remote.rights))

    def _marked(self) -> str | None:
        """The name in the cluster's marker; its own if this user may not read it. None: there is no marker."""
        try:
            return marked_as(self.client, self.remote.bootstrapped)
        except Refused:
            return self.remote.name

    def _other(self, marked: str) -> Problem:
        name, platform = self.remote.name, self.remote.bootstrapped
        return error(
            OTHER_CLUSTER,
            f"its kubeconfig reaches another cluster, which is marked as '{marked}' (ConfigMap {platform}/{MARKER})",
            f"have the kubeconfig's writer write that of '{name}'; if '{marked}' was renamed in the file: "
            + mark(platform, name, "--context", "NAME"),
        )

    def _impersonation(self) -> Iterator[Problem]:
        """Impersonate each account, as Flux does. An access review is no proof: a proxy before the cluster answers for itself."""
        namespace = self.remote.reference.namespace
        users = {f"system:serviceaccount:{namespace}:{account}": account for account in self.remote.accounts}
        seen = dict(zip(users, in_parallel(self._seen_as, users), strict=True))
        denied = [users[each] for each, as_whom in seen.items() if not as_whom]
        dropped = [users[each] for each, as_whom in seen.items() if as_whom and as_whom != each]
        if dropped:
            yield error(
                "no-impersonation",
                f"who impersonates {listed(dropped)} of namespace '{namespace}' with its kubeconfig is seen as somebody else, so"
                " Flux would act with the kubeconfig's own rights for every tenant",
                "have the proxy before the cluster pass on impersonation, or write a kubeconfig that leads past it",
            )
        if denied:
            yield error(
                "no-impersonation",
                f"its kubeconfig may not impersonate {listed(denied)} of namespace '{namespace}', which Flux acts as there",
                "give its user on the cluster the verb 'impersonate' for 'serviceaccounts', or write an administrator's"
                " kubeconfig",
            )

    def _seen_as(self, user: str) -> str:
        """Whom the cluster sees; "": nobody, because it is not allowed."""
        try:
            return seen_as(self.client, user)
        except Refused as refused:
            if refused.code != NOT_ALLOWED:
                raise
            return ""

    def _bootstrap(self, marked: str | None) -> Iterator[Problem]:
        """Check the namespace, its marker and the rights of the platform's account, as far as this user may read them."""
        remote = self.remote
        fix = f"tenantry bootstrap {remote.name} --environment {remote.environment} --kubeconfig FILE --context NAME"
        namespace = ObjectId("v1", "Namespace", "", remote.bootstrapped)
        if not self._permitted(lambda: one(self.client, namespace)):
            yield error("not-bootstrapped", f"namespace '{remote.bootstrapped}' does not exist on it", fix)
        elif not marked:
            message = f"it is not marked as '{remote.name}', so a kubeconfig of another cluster in its place would not be noticed"
            yield warning(UNMARKED, message, fix)
        yield from self._readable(lambda: check_policies(remote_policies(), "it", lambda id: one(self.client, id), fix))

    @staticmethod
    def _readable(part: Callable[[], Iterator[Problem]]) -> list[Problem]:
        """The problems that a part finds; none if this user may not read what it needs."""
        try:
            return list(part())
        except Refused:
            return []

    @staticmethod
    def _permitted(question: Callable[[], object]) -> bool:
        """The answer to a question; True if this user may not ask it."""
        try:
            return bool(question())
        except Refused:
            return True


# --- all clusters -----------------------------------------------------------------------------------------------------


def errors_first(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: problem.severity))
