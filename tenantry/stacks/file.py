"""All stacks of a project, and the settings in their files that both the program and the commands need."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tenantry.guard.claims import Claim
from tenantry.guard.permissions import CEILING, CEILING_SHARE, checked, limit_in
from tenantry.kube.yaml_text import LOADER
from tenantry.messages.errors import UNREACHABLE, Refused
from tenantry.stacks.outcome import for_stack

NAMESPACE = "tenantry"
"""Of the settings' keys."""


class Reach(NamedTuple):
    """How a management cluster is reached, with the same defaults as kubectl.

    kubeconfig: a file; None: the file that KUBECONFIG names, else ~/.kube/config. context: None: the file's current one.
    """

    kubeconfig: Path | None = None
    context: str | None = None


@dataclass(frozen=True, slots=True)
class StackTarget:
    """None: the stack does not set it, so the default locations or the environment's number apply.

    max_deletions: how many tenants, namespaces and apps one run may remove. allowed_deletions: what it may remove besides, by
    name. files: the target is a directory, not a cluster; directory: which one, if the stack sets it.
    claim: what the stack runs; None: the stack does not exist. hubs: of an environment with several management clusters, by name.
    without: those that runs leave as they are.
    """

    kubeconfig: Path | None = None
    context: str | None = None
    max_deletions: int | str | None = None
    files: bool = False
    claim: Claim | None = None
    allowed_deletions: tuple[str, ...] = ()
    directory: str | None = None
    hubs: Mapping[str, Reach] = field(default_factory=dict)
    without: frozenset[str] = frozenset()

    def reaches(self, environment: str, hubs: Sequence[str]) -> dict[str, Reach]:
        """As `reaches`, of the management clusters of an environment."""
        return reaches(environment, hubs, Reach(self.kubeconfig, self.context), self.hubs)


def reaches(environment: str, hubs: Sequence[str], alone: Reach, given: Mapping[str, Reach]) -> dict[str, Reach]:
    """How the management clusters of an environment are reached, by name; by "" if it has only one.

    Args:   alone, given: what the stack's config says of the only one, and of each of several.
    Raises: Refused: it says nothing of one of them, or something of another cluster.
    """
    if len(hubs) < 2:
        if given:
            raise Refused(
                f"{NAMESPACE}:hubs is for environments with several management clusters, and '{environment}' has one",
                f"pulumi config rm {NAMESPACE}:hubs; pulumi config set {NAMESPACE}:context NAME",
            )
        return {"": alone}
    if unknown := [name for name in given if name not in hubs]:
        raise Refused(
            f"{NAMESPACE}:hubs names '{unknown[0]}', which is no management cluster of environment '{environment}'"
            f" (these are {', '.join(hubs)})",
            f"pulumi config rm --path '{NAMESPACE}:hubs.{unknown[0]}'",
        )
    if alone.context:
        raise Refused(
            f"{NAMESPACE}:context is for environments with one management cluster, and '{environment}' has {len(hubs)}",
            f"pulumi config rm {NAMESPACE}:context; pulumi config set --path '{NAMESPACE}:hubs.{hubs[0]}.context' NAME",
        )
    # The current context of a file would be the same cluster for all of them.
    if unset := [name for name in hubs if given.get(name, Reach()) == Reach()]:
        raise Refused(
            f"environment '{environment}' has several management clusters, and the stack's config does not say how to reach"
            f" {', '.join(unset)}",
            "\n       ".join(f"pulumi config set --path '{NAMESPACE}:hubs.{name}.context' NAME" for name in unset),
        )
    return {name: Reach(given[name].kubeconfig or alone.kubeconfig, given[name].context) for name in hubs}


def without_in(value: object) -> list[str]:
    """The value of `without`: names of management clusters that runs leave as they are. Raises: Refused: it is no list of names."""
    names = [value] if isinstance(value, str) and value else value or []
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise Refused(
            f"{NAMESPACE}:without has to be a list of management clusters",
            f"pulumi config rm {NAMESPACE}:without; pulumi config set --path '{NAMESPACE}:without[0]' HUB",
        )
    return names


def check_without(environment: str, hubs: Sequence[str], without: Collection[str]) -> None:
    """Raises: Refused: a run cannot leave out these management clusters of an environment."""
    if unknown := sorted({*without} - {*hubs}):
        raise Refused(
            f"'{unknown[0]}' cannot be left out: it is no management cluster of environment '{environment}'"
            f" (its management clusters: {', '.join(hubs)})",
            f"--without {hubs[-1]}, or: pulumi config rm {NAMESPACE}:without",
        )
    if without and {*without} >= {*hubs}:
        raise Refused(
            f"nothing is left of environment '{environment}' without {', '.join(hubs)}",
            f"leave out fewer management clusters; or: pulumi config rm {NAMESPACE}:without",
        )


def for_hub(text: str, hub: str) -> str:
    """The text with each setting of the only management cluster in it as that of one of several; hub: "": as it is."""
    if not hub:
        return text
    setting, path = rf"pulumi config set {NAMESPACE}:(context|kubeconfig)", f"{NAMESPACE}:hubs.{hub}"
    text = re.sub(setting, lambda found: f"pulumi config set --path '{path}.{found[1]}'", text)
    return re.sub(r"--(context|kubeconfig)\b(?! )", rf"--\1 {hub}=NAME", text)


def unanswered(failure: Refused, hub: str, environment: str) -> Refused:
    """Why one of several management clusters cannot be reached, with how to go on without it; hub: "": the failure as it is."""
    fix = for_hub(failure.fix, hub)
    if hub and failure.code == UNREACHABLE:
        run = f"tenantry up --environment {environment} --without {hub}"
        fix += f"; to leave what is there as it is: {run} (pulumi config set --path '{NAMESPACE}:without[0]' {hub})"
    return Refused(failure.message, fix, code=failure.code)


def hubs_in(value: object) -> dict[str, Reach]:
    """The value of `hubs`; empty: not set. Raises: Refused: it is no mapping of names, each with a context or a kubeconfig."""
    if not value:
        return {}
    entries = value.items() if isinstance(value, dict) else [("NAME", None)]
    found: dict[str, Reach] = {}
    for name, entry in entries:
        keys = entry if isinstance(entry, dict) else {"": ""}
        if not keys.keys() <= {"context", "kubeconfig"} or not all(isinstance(each, str) for each in keys.values()):
            raise Refused(
                f"{NAMESPACE}:hubs has to hold a context, a kubeconfig or both for each management cluster, and nothing else",
                f"pulumi config rm --path '{NAMESPACE}:hubs.{name}'; pulumi config set --path '{NAMESPACE}:hubs.{name}.context'"
                " NAME",
            )
        kubeconfig = keys.get("kubeconfig")
        found[str(name)] = Reach(Path(kubeconfig) if kubeconfig else None, keys.get("context") or None)
    return found


def stack_target(project: Path, environment: str) -> StackTarget:
    """Read `Pulumi.<environment>.yaml` in the project's directory. Without such a file nothing is set.

    Raises: Refused: the file is not YAML, or `tenantry up` would refuse one of the settings.
    """
    try:
        return _target(project, environment)
    except Refused as refused:
        raise Refused(refused.message, for_stack(refused.fix, environment), code=refused.code) from None


def _target(project: Path, environment: str) -> StackTarget:
    file = project / f"Pulumi.{environment}.yaml"
    content = read_yaml(file)
    if content is None:
        return StackTarget()
    about = read_yaml(project / "Pulumi.yaml") or {}
    settings = {**_defaults(about), **_settings(content, file)}
    kubeconfig = settings.get("kubeconfig")
    return StackTarget(
        project / Path(kubeconfig).expanduser() if kubeconfig else None,
        settings.get("context") or None,
        deletions(settings.get("maxDeletions")),
        is_directory(settings.get("target")),
        _claim(about.get("name"), environment, settings),
        allowed(_config(content, "allowDeletions")),
        settings.get("directory") or None,
        {
            name: each._replace(kubeconfig=project / each.kubeconfig.expanduser() if each.kubeconfig else None)
            for name, each in hubs_in(_hubs(content, about)).items()
        },
        frozenset(without_in(_config(content, "without"))),
    )


def deletions(text: str | None) -> int | str | None:
    """The value of `maxDeletions`: a number, or a share such as "10%"; None: not set. Raises: Refused: it is neither."""
    if not text:
        return None
    limit = limit_in(text)
    if limit is None:
        raise Refused(
            f"{NAMESPACE}:maxDeletions is '{text}', but must be a number or a share such as 10%",
            f"pulumi config set {NAMESPACE}:maxDeletions 10, or pulumi config rm {NAMESPACE}:maxDeletions",
        )
    number, most, sign = (limit, CEILING, "") if isinstance(limit, int) else (int(limit[:-1]), CEILING_SHARE, "%")
    if number > most:
        raise Refused(
            f"{NAMESPACE}:maxDeletions is {number}{sign}, but a stack may set at most {most}{sign}: it applies to every later run"
            " too",
            f"name what may be removed: pulumi config set --path '{NAMESPACE}:allowDeletions[0]' tenant/TENANT; then pulumi config"
            f" rm {NAMESPACE}:maxDeletions",
        )
    return limit


def allowed(value: object) -> tuple[str, ...]:
    """The value of `allowDeletions`; empty: not set. Raises: Refused: it is not a list of names of what a run can remove."""
    if not value:
        return ()
    if not isinstance(value, list):
        raise Refused(
            f"{NAMESPACE}:allowDeletions is not a list",
            f"pulumi config rm {NAMESPACE}:allowDeletions, then pulumi config set --path '{NAMESPACE}:allowDeletions[0]'"
            " tenant/TENANT",
        )
    return checked(value)


def is_directory(text: str | None) -> bool:
    """Whether `target` names a directory of files; without it the target is the cluster. Raises: Refused: it names neither."""
    if text not in (None, "", "cluster", "directory"):
        raise Refused(
            f"{NAMESPACE}:target is '{text}', but must be 'cluster' or 'directory'",
            f"pulumi config set {NAMESPACE}:target cluster (or directory)",
        )
    return text == "directory"


def directory_of(environment: str) -> str:
    """Where a stack with the target `directory` writes, if it does not set another directory."""
    return f"rendered/{environment}"


def _claim(project: Any, stack: str, settings: dict[str, str]) -> Claim | None:
    return Claim(settings.get("environment") or stack, f"{project}/{stack}") if project else None


def _config(content: dict[str, Any], key: str) -> object:
    config = content.get("config")
    return config.get(f"{NAMESPACE}:{key}") if isinstance(config, dict) else None


def _hubs(content: dict[str, Any], about: dict[str, Any]) -> object:
    """What the stack's file says of several management clusters, or else the project's file."""
    for config in (content.get("config"), about.get("config")):
        entry = config.get(f"{NAMESPACE}:hubs") if isinstance(config, dict) else None
        if entry:
            return entry.get("value", entry) if isinstance(entry, dict) else entry
    return None


def _settings(content: dict[str, Any], file: Path) -> dict[str, str]:
    """The settings in a stack's file as Pulumi passes them: text.

    Raises: Refused: one is encrypted, or is not a scalar.
    """
    config = content.get("config") or {}
    if not isinstance(config, dict):
        raise Refused(f"'config' in {file} is not a mapping", "correct it; `pulumi config set` writes the file")
    found: dict[str, str] = {}
    for key, value in config.items():
        namespace, _, name = str(key).partition(":")
        if namespace == NAMESPACE and name in _KEYS and value is not None:
            if isinstance(value, dict | list):
                raise Refused(f"{key} in {file} is not plain text", f"pulumi config set --plaintext {key} VALUE")
            found[name] = _as_text(value)
    return found


_KEYS = ("environment", "target", "kubeconfig", "context", "directory", "maxDeletions")


def _defaults(about: dict[str, Any]) -> dict[str, str]:
    """The settings in the project's file that apply to all of its stacks."""
    declared = about.get("config")
    found: dict[str, str] = {}
    for key, entry in declared.items() if isinstance(declared, dict) else ():
        namespace, _, name = key.rpartition(":")
        if (namespace or about.get("name")) == NAMESPACE and name in _KEYS:
            value = entry.get("value", entry.get("default")) if isinstance(entry, dict) else entry
            found |= {} if value is None else {name: _as_text(value)}
    return found


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_yaml(file: Path) -> dict[str, Any] | None:
    """A file of Pulumi's; None: there is no such file. Raises: Refused: it is not YAML."""
    try:
        content = yaml.load(file.read_text(encoding="utf-8"), LOADER)
    except FileNotFoundError:
        return None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise Refused(
            f"{file} is not YAML", "correct it, or name the cluster with --kubeconfig and --context"
        ) from None
    return content if isinstance(content, dict) else {}


_PREFIX, _SUFFIX = "Pulumi.", ".yaml"


class Stack(NamedTuple):
    """A stack that has a file."""

    name: str
    environment: str
    target: StackTarget


def stacks_of(project: Path) -> list[Stack]:
    """The stacks with a file in the project's directory, by environment, then by name.

    Raises: Refused: a file or a setting is invalid.
    """
    names = (file.name.removeprefix(_PREFIX).removesuffix(_SUFFIX) for file in project.glob(f"{_PREFIX}*{_SUFFIX}"))
    return sorted((_stack(project, name) for name in names), key=lambda each: (each.environment, each.name))


def stacks_running(project: Path, environment: str) -> list[Stack]:
    """The stacks of one environment, by name. Only one of them may run it on its cluster; its claim there says which one.

    Raises: Refused: a file or a setting is invalid.
    """
    return [stack for stack in stacks_of(project) if stack.environment == environment]


def target_of(project: Path, environment: str) -> StackTarget:
    """How to reach an environment: as the stack of its name says, otherwise as the first stack that runs it says.

    Raises: Refused: a file or a setting is invalid.
    """
    if (project / f"{_PREFIX}{environment}{_SUFFIX}").exists():
        return stack_target(project, environment)
    running = stacks_running(project, environment)
    return running[0].target if running else StackTarget()


def _stack(project: Path, name: str) -> Stack:
    target = stack_target(project, name)
    return Stack(name, target.claim.environment if target.claim else name, target)
