"""The stack of an environment, and the settings in their files that both the program and the commands need."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import yaml

from tenantry.guard.claims import Claim
from tenantry.guard.ways import CEILING, CEILING_SHARE, checked, limit_in
from tenantry.kube.yaml_text import LOADER
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Refused
from tenantry.messages.text import listed
from tenantry.stacks.outcome import for_stack

NAMESPACE = "tenantry"
"""Of the settings' keys."""


class Reach(NamedTuple):
    """How a management cluster is reached, with the same defaults as kubectl.

    kubeconfig: a file; None: the file that KUBECONFIG names, else ~/.kube/config. context: None: the file's current one.
    """

    kubeconfig: Path | None = None
    context: str | None = None


HERE = Reach()
"""As kubectl without options."""


class Stack(NamedTuple):
    """A stack, as its file describes it. None: the file does not set it, so the default locations or the environment's number
    apply.

    reach: how the management cluster is reached. max_deletions: how many tenants, namespaces and apps one run may remove.
    allowed_deletions: what it may remove besides, by name. claim: what the stack runs; None: it has no file.
    """

    name: str
    environment: str
    reach: Reach = HERE
    max_deletions: int | str | None = None
    claim: Claim | None = None
    allowed_deletions: tuple[str, ...] = ()


def stack_named(project: Path, name: str) -> Stack:
    """Read `Pulumi.<name>.yaml` in the project's directory. Without such a file nothing is set.

    Raises: Refused: the file is not YAML, or `tenantry up` would refuse one of the settings.
    """
    try:
        return _stack(project, name)
    except Refused as refused:
        raise Refused(refused.message, for_stack(refused.fix, name), code=refused.code) from None


def _stack(project: Path, name: str) -> Stack:
    file = project / f"{_PREFIX}{name}{_SUFFIX}"
    content = read_yaml(file)
    if content is None:
        return Stack(name, name)
    about = read_yaml(project / "Pulumi.yaml") or {}
    shared = _settings(about, project / "Pulumi.yaml", str(about.get("name")))
    settings = {**shared, **_settings(content, file)}
    environment, kubeconfig = settings.get("environment") or name, settings.get("kubeconfig")
    return Stack(
        name,
        environment,
        Reach(project / Path(kubeconfig).expanduser() if kubeconfig else None, settings.get("context") or None),
        deletions(settings.get("maxDeletions")),
        Claim(environment, f"{about['name']}/{name}") if about.get("name") else None,
        allowed(settings.get("allowDeletions")),
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


_KEYS = ("environment", "kubeconfig", "context", "maxDeletions", "allowDeletions")


def _settings(content: dict[str, Any], file: Path, project: str = "") -> dict[str, Any]:
    """The settings in a file as Pulumi passes them: text, and a list. Args: project: of the project's file, its name.

    Raises: Refused: one is encrypted, or has another form.
    """
    config = content.get("config") or {}
    if not isinstance(config, dict):
        raise Refused(f"'config' in {file} is not a mapping", "correct it; `pulumi config set` writes the file")
    settings: dict[str, Any] = {}
    for key, value in config.items():
        namespace, _, name = str(key).rpartition(":")
        if (namespace or project) != NAMESPACE or name not in _KEYS:
            continue
        if project and isinstance(value, dict):
            value = value.get("value", value.get("default"))
        if isinstance(value, dict | list) and name != "allowDeletions":
            raise Refused(f"{key} in {file} is not plain text", f"pulumi config set --plaintext {key} VALUE")
        if value is not None:
            settings[name] = value if name == "allowDeletions" else _as_text(value)
    return settings


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


def backend_of(project: Path, given: Mapping[str, str]) -> str:
    """The address of the backend that keeps the state; "" if only Pulumi knows it, from `pulumi login`.

    Args:   given: the user's environment variables, which win over the project's file.
    Raises: Refused: Pulumi.yaml is not YAML.
    """
    url = mapping_at(read_yaml(project / "Pulumi.yaml") or {}, "backend").get("url")
    return given.get("PULUMI_BACKEND_URL") or (url if isinstance(url, str) else "")


def is_self_managed(backend: str) -> bool:
    """Whether the state is in files, a bucket or a database. False if it is in Pulumi Cloud, or if that is unknown."""
    return bool(backend) and urlsplit(backend).scheme not in ("http", "https")


def refreshes_always(project: Path) -> bool:
    """Whether Pulumi reads what is on the cluster before each run, unless an option says otherwise."""
    return mapping_at(read_yaml(project / "Pulumi.yaml") or {}, "options").get("refresh") == "always"


_PREFIX, _SUFFIX = "Pulumi.", ".yaml"


def target_of(project: Path, environment: str) -> Stack:
    """The stack that runs an environment: that of its name, otherwise the one whose file names it. Without one nothing is set.

    Raises: Refused: the files of several stacks name the environment, or a file or a setting is invalid.
    """
    files = project.glob(f"{_PREFIX}*{_SUFFIX}")
    names = sorted(file.name.removeprefix(_PREFIX).removesuffix(_SUFFIX) for file in files)
    if environment in names and (own := stack_named(project, environment)).environment == environment:
        return own
    running = [stack for name in names if (stack := stack_named(project, name)).environment == environment]
    if len(running) > 1:
        raise Refused(
            f"the files of several stacks name environment '{environment}': {listed(stack.name for stack in running)}",
            "one stack runs an environment: remove the files of the others",
        )
    return running[0] if running else stack_named(project, environment)._replace(environment=environment)
