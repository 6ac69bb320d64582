"""What a judge reports of an app on a cluster: findings with their evidence, lines of the file, and commands to type next."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, NamedTuple

from tenantry.cluster.connect import Way
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placed import placed_app
from tenantry.fleet.settings import setting_origin
from tenantry.messages.errors import Path, TenantryError
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.flux_status import Readiness
from tenantry.source.parsed_file import override_of


class Stage(StrEnum):
    """Where on the way from the file to the pods a cause lies."""

    FILE = "file"
    SOURCE = "source"
    FLUX = "flux"
    DEPENDENCY = "dependency"
    BASELINE = "baseline"
    CLUSTER = "cluster"
    OBJECT = "object"


class Evidence(NamedTuple):
    """An object and its status. what: kind and name. since: RFC 3339; "" if it is not known."""

    what: str
    state: str
    since: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """cause: one line. advice: what to change, where no command does it; "" if there is nothing to say. next: commands.

    follows: whether it is a consequence of what is wrong further on, if something is wrong there: Flux waits for pods.
    failed: whether it is of an object that waiting alone does not cure, which explains what Flux says of it.
    """

    json_keys: ClassVar = ("stage", "cause", "evidence", "advice", "next")

    stage: Stage
    cause: str
    evidence: tuple[Evidence, ...] = ()
    advice: str = ""
    next: tuple[str, ...] = ()
    follows: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """Why an app is not well on a cluster, or that it is.

    status:    as in `tenantry status`.
    findings:  the most causal first; empty: everything is well.
    trail:     the way from the source to the app's objects, which it counts.
    unread:    what could not be read, and why. read_as: as whom the app's cluster was read; None: as oneself, or not at all.
    """

    json_keys: ClassVar = (
        *("tenant", "app", "cluster", "status", "well", "cause"),
        *("findings", "trail", "unread", "read_as"),
    )

    asked: PlannedApp
    status: Readiness
    findings: tuple[Finding, ...] = ()
    trail: tuple[Evidence, ...] = ()
    unread: tuple[str, ...] = ()
    read_as: str | None = None

    @property
    def tenant(self) -> str | None:
        """None for an add-on."""
        return self.asked.tenant or None

    @property
    def app(self) -> str:
        return self.asked.name

    @property
    def cluster(self) -> str:
        return self.asked.cluster

    @property
    def well(self) -> bool:
        return not self.findings

    @property
    def cause(self) -> str | None:
        """In one line; None if everything is well."""
        return self.findings[0].cause if self.findings else None


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands that work as they are printed, and the lines of the fleet's file that set an app's values. None deletes anything.

    kubectl: the options of kubectl for the management cluster.
    """

    fleet: Fleet
    environment: str
    kubectl: tuple[str, ...] = ()

    def line(self, app: PlannedApp, key: tuple[str, ...]) -> str:
        """`tenants.yaml:85`, of a value of the app, or of a setting of its tenant there; "" if the file does not set it."""
        try:
            values = placed_app(self.fleet, self.environment, app.at, app.cluster)
            origins = (value.origin for value in values if value.path[: len(key)] == key)
            if origin := next(filter(None, origins), None):
                location = origin.location
            elif path := self._origin(app, key) if app.tenant else ():
                location = self.fleet.source.locate(path, key=True)
            else:
                return ""
            return f"{location.file}:{location.line}"
        except (TenantryError, KeyError):
            return ""

    def _origin(self, app: PlannedApp, key: tuple[str, ...]) -> Path:
        """Where the file sets a setting of the app's tenant; () if it does not.

        What all tenants have is changed for this one in its own entry.
        """
        path = setting_origin(self.fleet, app.tenant, self.environment, app.cluster, *key)
        if key[0] not in path:
            return ()
        own = path[:2] == ("tenants", app.tenant) or override_of(path)
        return path if own else ("tenants", app.tenant)

    def edited(self, at: str) -> tuple[str, ...]:
        """To change a line of the file, then to apply it. at: the line; "" if the file does not set it."""
        return (f"edit {at}", self.run("up")) if at else ()

    def applied(self) -> tuple[str, ...]:
        """Shows what the next run changes, then runs it."""
        return (self.run("preview"), self.run("up"))

    def run(self, *words: str) -> str:
        """`tenantry WORDS -e ENV`"""
        return shlex.join(("tenantry", *words, "-e", self.environment))

    def on_hub(self, command: str) -> str:
        """A command of kubectl or flux for the management cluster."""
        return f"{command} {shlex.join(self.kubectl)}" if self.kubectl else command

    def to_cluster(self, way: Way) -> str:
        """The options, for a shell, with which kubectl gets to an app's cluster as Flux does.

        The kubeconfig of a remote goes from its Secret through a pipe, so it is in no file. "": there is no way.
        """
        if way.by_identity:
            return ""
        account = ("--as", way.user) if way.user else ()
        if way.kubeconfig is None:
            return shlex.join((*self.kubectl, *account))
        name, namespace, key = way.kubeconfig.name, way.kubeconfig.namespace, way.kubeconfig.key
        template = f'go-template={{{{index .data "{key}" | base64decode}}}}'
        secret = ("kubectl", "get", "secret", name, "--namespace", namespace, "--output", template, *self.kubectl)
        return f"{shlex.join(account)} --kubeconfig <({shlex.join(secret)})"
