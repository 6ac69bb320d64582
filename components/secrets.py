"""Secrets get their values from the stack's secret config, marked as secret on the way.

A tenant's Secret whose value nobody has set is held alone, and everything else of the run goes through. What is held and exists is
registered with all changes ignored, so that it stays as it is: what is not registered is deleted. What does not exist is left out,
and Flux says what it lacks. The platform's own credentials are not held: a
run without them is refused, because add-ons and baselines are everybody's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pulumi

from tenantry.cluster.reading import permitted
from tenantry.cluster.requests import in_parallel
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.kube.secret_values import MissingValue, data_of, missing, values_of
from tenantry.messages.errors import Refused
from tenantry.messages.text import listed
from tenantry.plan.plan import Plan
from tenantry.stacks.file import NAMESPACE, Reach
from tenantry.stacks.outcome import HELD, for_stack, is_started_by_tenantry, tell

from .contact import connected
from .ending import Check, Then

GROUPS = ("credentials", "platformCredentials")
"""The keys of the stack's config under which values stand."""


@dataclass(frozen=True, slots=True)
class SecretConfig:
    """Values by group, owner, name and key. Never print them."""

    values: Mapping[str, Any] = field(repr=False)


def read_secrets() -> SecretConfig:
    """The running stack's secret config. Raises: Refused: it was set as plain text, or is not a mapping."""
    config = pulumi.Config(NAMESPACE)
    return SecretConfig({group: _group(config, group) for group in GROUPS})


def with_secrets(plan: Plan, secrets: SecretConfig, held: Collection[ObjectId] = ()) -> Plan:
    """The plan with the values in its Secrets.

    Args: held: Secrets that get none. Raises: Refused: values of others are missing; names all of them.
    """
    if absent := missing((each for each in plan.objects if each.id not in held), secrets.values):
        what = (
            "a value that the fleet names is" if len(absent) == 1 else f"{len(absent)} values that the fleet names are"
        )
        raise Refused(f"{what} not in the stack's secret config", "\n       ".join(map(command_of, absent)))
    filled = (planned if planned.id in held else _filled(planned, secrets) for planned in plan.objects)
    return replace(plan, objects=tuple(filled))


def with_plain_secrets(objects: Iterable[KubeObject], secrets: SecretConfig) -> Iterator[KubeObject]:
    """The same objects as plain data, to be compared with those on the cluster. Never print or register them."""
    yield from (_plain(planned, secrets) for planned in objects)


def left_over(plan: Plan, secrets: SecretConfig) -> list[str]:
    """A warning for each tenant that the environment does not have, but the config has values of: the next tenant with this
    name would get them.
    """
    given = secrets.values.get("credentials")
    known = {planned.owner.tenant for planned in plan.objects}
    return [
        f"the stack's secret config still has credentials of tenant '{name}', which the environment does not have: a new tenant"
        f" with this name could use them\n  fix: pulumi config rm --path '{_path(('credentials', name))}'"
        for name in sorted(given if isinstance(given, dict) else ())
        if name not in known
    ]


def _group(config: pulumi.Config, group: str) -> Any:
    text = config.get(group)
    if not text:
        return {}
    if not pulumi.runtime.is_config_secret(f"{NAMESPACE}:{group}"):
        raise Refused(
            f"the stack's config holds {NAMESPACE}:{group} as plain text, which anyone who reads the stack's file could see",
            f"replace the values, then set them with pulumi config set --secret --path '{NAMESPACE}:{group}.NAME...'",
        )
    try:
        return json.loads(text)
    except ValueError:
        raise Refused(
            f"the stack's config holds under {NAMESPACE}:{group} something other than a mapping of names",
            f"pulumi config rm {NAMESPACE}:{group}, then set single values with --secret --path",
        ) from None


def _filled(planned: KubeObject, secrets: SecretConfig) -> KubeObject:
    if planned.secret is None:
        return planned
    manifest = _plain(planned, secrets).manifest
    return replace(planned, manifest={**manifest, "data": pulumi.Output.secret(manifest["data"])})


def _plain(planned: KubeObject, secrets: SecretConfig) -> KubeObject:
    if planned.secret is None:
        return planned
    data = data_of(planned.secret, values_of(planned.secret, secrets.values))
    return replace(planned, manifest={**planned.manifest, "data": data})


def command_of(absent: MissingValue) -> str:
    """The command that sets a value."""
    return f"pulumi config set --secret --path '{_path(absent.path)}'"


def _path(parts: Sequence[str]) -> str:
    """A value's path as Pulumi's command line takes it."""
    path = "".join(f".{part}" if re.fullmatch(r"[A-Za-z0-9_-]+", part) else f'["{part}"]' for part in parts)
    return f"{NAMESPACE}:{path.removeprefix('.')}"


@dataclass(frozen=True, slots=True)
class Holding:
    """kept: Secrets that exist, and stay as they are. left_out: those that do not. message: what is missing, with a fix."""

    kept: frozenset[ObjectId] = frozenset()
    left_out: frozenset[ObjectId] = frozenset()
    message: str = ""

    @property
    def ids(self) -> frozenset[ObjectId]:
        return self.kept | self.left_out

    def registered(self, plan: Plan) -> Plan:
        """The plan without what is left out."""
        if not self.left_out:
            return plan
        objects = (
            replace(planned, depends_on=tuple(id for id in planned.depends_on if id not in self.left_out))
            for planned in plan.objects
            if planned.id not in self.left_out
        )
        return replace(plan, objects=tuple(objects))

    def ending(self, check: Check | None) -> Check | None:
        """The check at the end of a run, which says what was held."""
        return Then(check, self._say) if self.ids else check

    def _say(self) -> None:
        """Raises: RunError: nobody else would say it. The engine then deletes nothing, and the next run does."""
        tell(HELD)
        if not is_started_by_tenantry():
            raise pulumi.RunError(self.message)


def holding(plan: Plan, secrets: SecretConfig, target: Reach, is_in_state: Callable[[ObjectId], bool]) -> Holding:
    """What has to be held: nothing in a run that is refused, because it lacks values of the platform.

    Raises: Refused: the cluster or the state cannot be read.
    """
    lacking = [planned for planned in plan.objects if missing([planned], secrets.values)]
    if not (lacking and all(each.owner.tenant for each in lacking)):
        return Holding()
    held = [each.id for each in lacking]
    kept = frozenset(id for id in _on_cluster(target, held) if is_in_state(id))
    left_out = frozenset(held) - kept
    message = for_stack(_without_values(lacking, secrets, kept, left_out), pulumi.get_stack())
    pulumi.log.warn(message)
    return Holding(kept, left_out, message)


def _on_cluster(target: Reach, ids: Sequence[ObjectId]) -> list[ObjectId]:
    with connected(target) as client:
        found = in_parallel(lambda id: permitted(client, id, metadata_only=True), ids)
    return [id for id, there in zip(ids, found, strict=True) if there]


def _without_values(
    lacking: Iterable[KubeObject], secrets: SecretConfig, kept: Collection[ObjectId], left_out: Collection[ObjectId]
) -> str:
    values = missing(lacking, secrets.values)
    what = "a value is" if len(values) == 1 else f"{len(values)} values are"
    commands = "\n       ".join(map(command_of, values))
    done = [
        f"{listed(sorted(ids))} {one if len(ids) == 1 else several}"
        for ids, one, several in (
            (kept, "stays as it is", "stay as they are"),
            (left_out, "is left out", "are left out"),
        )
        if ids
    ]
    so = f"{', and '.join(done)}; everything else of the run goes through"
    return f"{what} not in the stack's secret config, so {so}\n  fix: {commands}"
