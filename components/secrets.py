"""Secrets get their values from the stack's secret config, marked as secret on the way. A plan never knows the values."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pulumi

from tenantry.kube.objects import REGISTRY_KEY, KubeObject, ObjectId, SecretValues
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted
from tenantry.plan.plan import Plan
from tenantry.stacks.file import NAMESPACE
from tenantry.stacks.outcome import for_stack

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


def with_secrets(plan: Plan, secrets: SecretConfig, missing: Collection[ObjectId] = ()) -> Plan:
    """The plan with the values in its Secrets. missing: Secrets without a value, as `missing_values` names them."""
    filled = (
        planned if planned.id in missing else _filled(planned, secrets, pulumi.Output.secret)
        for planned in plan.objects
    )
    return replace(plan, objects=tuple(filled))


def with_plain_secrets(objects: Iterable[KubeObject], secrets: SecretConfig) -> Iterator[KubeObject]:
    """The same objects as plain data, to be compared with those on the cluster. Never print or register them."""
    return (_filled(planned, secrets, dict) for planned in objects)


def _filled(planned: KubeObject, secrets: SecretConfig, marked: Callable[[Mapping[str, str]], Any]) -> KubeObject:
    if planned.secret is None:
        return planned
    data = data_of(planned.secret, values_of(planned.secret, secrets.values))
    return replace(planned, manifest={**planned.manifest, "data": marked(data)})


def data_of(secret: SecretValues, values: Mapping[str, str]) -> dict[str, str]:
    """`data` of the Secret, in base64 as the API wants it.

    Source: kubernetes.io, "Pull an Image from a Private Registry": the form of .dockerconfigjson.
    """
    if not secret.registry:
        return {key: _base64(values[key]) for key in secret.keys}
    login = {key: values[key] for key in ("username", "password")}
    login["auth"] = _base64(f"{values['username']}:{values['password']}")
    return {REGISTRY_KEY: _base64(json.dumps({"auths": {secret.registry: login}}))}


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def values_of(secret: SecretValues, config: Mapping[str, Any]) -> dict[str, str]:
    """A Secret's values in a config of nested mappings. Empty values and values that are not text count as missing."""
    below: Any = config
    for part in secret.path:
        below = below.get(part) if isinstance(below, Mapping) else None
    given = below if isinstance(below, Mapping) else {}
    return {key: given[key] for key in secret.keys if isinstance(given.get(key), str) and given[key]}


# --- values that are missing, and those that nobody needs -----------------------------------------------------------


def missing(objects: Iterable[KubeObject], config: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The paths of the values that objects need and a config does not hold, each once: several clusters may hold the same."""
    return [
        (*secret.path, key)
        for secret in dict.fromkeys(object.secret for object in objects if object.secret)
        for key in secret.keys
        if key not in values_of(secret, config)
    ]


def missing_values(plan: Plan, secrets: SecretConfig) -> dict[ObjectId, str]:
    """The Secrets of tenants without a value, each with the commands that set it.

    Raises: Refused: values of the platform's are missing: add-ons and baselines are everybody's.
    """
    if absent := missing((planned for planned in plan.objects if not planned.owner.tenant), secrets.values):
        raise Refused(_what(absent), "\n       ".join(map(_command, absent)))
    stack, reasons = pulumi.get_stack(), dict[ObjectId, str]()
    for planned in plan.objects:
        if paths := missing([planned], secrets.values):
            commands = ", and ".join(map(_command, paths))
            reasons[planned.id] = for_stack(f"{_what(paths)}: {commands}", stack)
    return reasons


def _what(paths: Sequence[Sequence[str]]) -> str:
    return f"{counted(len(paths), 'value')} missing in the stack's secret config"


def orphaned_values(plan: Plan, secrets: SecretConfig) -> list[str]:
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


def _command(path: Sequence[str]) -> str:
    """The command that sets a value."""
    return f"pulumi config set --secret --path '{_path(path)}'"


def _path(parts: Sequence[str]) -> str:
    """A value's path as Pulumi's command line takes it."""
    path = "".join(f".{part}" if re.fullmatch(r"[A-Za-z0-9_-]+", part) else f'["{part}"]' for part in parts)
    return f"{NAMESPACE}:{path.removeprefix('.')}"
