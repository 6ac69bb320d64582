"""A fleet that passed all checks of shape, and queries that more than one layer needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from tenantry.fleet.blocks import Block, flux_blocks
from tenantry.fleet.lineages import AFTER, ENVIRONMENTS, Lineages
from tenantry.fleet.templates import Once, is_shared
from tenantry.kube.names import join
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import UNKNOWN_NAME, InvalidFleet, Path, Problem, Refused
from tenantry.messages.placeholders import names_in
from tenantry.messages.redact import HIDDEN, is_sensitive, shorten
from tenantry.model import Cluster, Document, Environment
from tenantry.source.parsed_file import ParsedFile

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Fleet:
    """document: the typed content; source: the same as plain data with places, which merging works on.

    left_out: entries that are in the source but not in the document because their shape is wrong.
    known_problems: whether the file is known to be wrong, so that planning may skip what others have reported.
    environments: all but frames: each has a stack.
    shared: what `once` keeps; a planner empties it after each tenant.
    """

    document: Document
    source: ParsedFile
    left_out: frozenset[Path] = frozenset()
    known_problems: bool = False
    shared: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    environments: dict[str, Environment] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        declared = self.document.environments.items()
        object.__setattr__(
            self, "environments", {name: environment for name, environment in declared if environment.management}
        )

    def extending(self, environment: str) -> list[str]:
        """The environments with a stack that extend this one, in the order of the file."""
        return [name for name in self.environments if environment in self.lineage(name)]

    def is_frame(self, environment: str) -> bool:
        return environment in self.document.environments.keys() - self.environments.keys()

    def check_stack(self, environment: str) -> None:
        """Raises: Refused: the environment is a frame. One that is not declared passes."""
        if self.is_frame(environment):
            message = f"environment '{environment}' of {self.source.file} is a frame, and has no stack"
            raise Refused(message, f"name one of: {', '.join(self.extending(environment))}", code=UNKNOWN_NAME)

    @property
    def clusters(self) -> dict[str, Cluster]:
        return self.document.clusters

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks of Flux's own keys. Several rules look at all of them, and finding them takes time."""
        return self.once(("blocks",), (), lambda: tuple(flux_blocks(self.source.data)))

    def once(self, key: tuple[Hashable, ...], of: tuple[object, ...], make: Callable[[], _T]) -> _T:
        """What a function returns, called once for all clusters on which it would return the same. What it raises is not kept.

        Args: key: its name, and what the result depends on; of: the objects that it depends on, by identity.
        """
        known = (*key, *map(id, of))
        if (kept := self.shared.get(known)) is None:
            kept = self.shared[known] = (make(), of)  # `of` is kept, so that no other object gets one of the identities
        made: _T = kept[0]
        return made

    def raw(self, *path: str | int) -> dict[str, Any]:
        """The mapping at a path as written; empty if the path does not exist."""
        return mapping_at(self.source.data, *path)

    def valid(self, *path: str | int) -> dict[str, Any]:
        """The same without keys whose value does not fit."""
        if not self.left_out:
            return self.raw(*path)
        return {key: value for key, value in self.raw(*path).items() if (*path, key) not in self.left_out}

    def names(self, *path: str) -> set[str]:
        """The keys at a path as written, also of entries that were left out, and of those that stand elsewhere by mistake."""
        return {*self.raw(*path), *(str(entry[-1]) for entry in self.left_out if entry[:-1] == path)}

    def lineage(self, environment: str) -> list[str]:
        """The environments whose overrides apply in this one: those it extends, starting with the most general, and itself."""
        lineages = self.once(("lineages",), (), lambda: Lineages(ENVIRONMENTS, self.source.data["environments"]))
        return [*lineages.of(environment)] or [environment]

    def in_order(self) -> list[str]:
        """The environments with a stack, each after those in its `after`, otherwise in the order of the file."""
        declared = {name: {"after": environment.before} for name, environment in self.environments.items()}
        return [*Lineages(AFTER, declared).joined(declared)]

    def own(self, environment: str) -> dict[str, Any]:
        """An environment as it is written, without what it inherits."""
        return mapping_at(self.source.unmerged, "environments", environment)

    def declared_at(self, environment: str, key: str) -> Path:
        """Where the value of an environment's key is written: in the environment or in the nearest one that it extends."""
        at = ("environments", environment, key)
        return self.source.origin(at) if key in self.raw("environments", environment) else at

    def diagnose(self, findings: Iterable[Problem]) -> Iterator[Problem]:
        """Findings with their places in the file."""
        return diagnose(self.source, findings)

    def invalid(self, findings: Iterable[Problem]) -> InvalidFleet:
        return InvalidFleet(self.diagnose(findings))


def diagnose(source: ParsedFile, findings: Iterable[Problem]) -> Iterator[Problem]:
    """Findings with their places in the file they were found in.

    One in a template is reported once, not for each entry that takes it over.
    """
    for finding in Once(source)(findings):
        path, notes = source.origin(finding.path), finding.notes
        if is_shared(path) and path != finding.path:
            whose = f"template '{path[2]}'" if path[0] == "templates" else "'defaults'"
            notes = (*notes, f"{str(finding.path[0])[:-1]} '{finding.path[1]}' has it from {whose}")
        place = source.locate(finding.path, key=finding.at_key)
        yield replace(finding, path=path, message=_without_secret(source, finding), notes=notes).at(place)


_NAME = re.compile(r"[a-z]{1,20}(-[a-z]{1,20}){0,3}")
"""What people call things. A password of small letters alone looks the same."""


def _without_secret(source: ParsedFile, finding: Problem) -> str:
    """The message, without the value in question if that may be a password. A value that reads as a name is shown."""
    value = source.value(finding.path)
    sensitive = any(is_sensitive(part) for part in finding.path[-3:] if isinstance(part, str))
    if not (sensitive and isinstance(value, str)) or _NAME.fullmatch(value):
        return finding.message
    return finding.message.replace(f"'{shorten(value)}'", HIDDEN)


def clusters_of(fleet: Fleet, environment: str) -> list[str]:
    """The clusters of an environment, in the order of the file."""
    return [name for name, cluster in fleet.clusters.items() if environment in cluster.environments]


def environment_part(fleet: Fleet, environment: str, hub: str) -> tuple[str, ...]:
    """The part of a name that separates the environment's objects from those of others on its management cluster."""
    beside = {name: declared for name, declared in fleet.environments.items() if declared.management == hub}
    # Where `{env}` is part of the namespaces of tenants, it separates them already.
    plain = next((name for name, declared in beside.items() if "env" not in names_in(declared.namespace)), None)
    return (environment,) if len(beside) > 1 and environment != plain else ()


def platform_account(fleet: Fleet, environment: str, cluster: str) -> str:
    """The service account that the environment's baselines and add-ons use on a cluster.

    On the management cluster itself no stack owns the account, so all environments share it there.
    """
    account, hub = fleet.clusters[cluster].platformServiceAccount, fleet.environments[environment].management
    return account if cluster == hub else join(account, *environment_part(fleet, environment, hub))


def neighbours(fleet: Fleet, environment: str) -> list[str]:
    """The other environments that share a management cluster or any cluster with this one."""
    management = fleet.environments[environment].management
    shared = (cluster.environments for cluster in fleet.clusters.values() if environment in cluster.environments)
    beside = set[str]().union(*shared)
    return [
        name
        for name, declared in fleet.environments.items()
        if name != environment and (name in beside or declared.management == management)
    ]


_GIVEN_UP = {"state": "offboarding"}


def offboarded(fleet: Fleet) -> Fleet:
    """The fleet as if each tenant and each add-on had `state: offboarding`. What is paused is resumed."""
    document = fleet.document
    tenants = {name: tenant.model_copy(update=_GIVEN_UP) for name, tenant in document.tenants.items()}
    addons = {name: addon.model_copy(update=_GIVEN_UP) for name, addon in document.platform.addons.items()}
    platform = document.platform.model_copy(update={"addons": addons})
    return replace(fleet, document=document.model_copy(update={"tenants": tenants, "platform": platform}))
