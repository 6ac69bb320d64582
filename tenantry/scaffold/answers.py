"""What `tenantry init` asks for, checked, and as plain data for the record that `tenantry upgrade` reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlsplit

from tenantry.kube.names import dns_label_problem
from tenantry.messages.errors import Refused
from tenantry.messages.redact import shorten

FORGES = ("github", "gitlab", "none")
PORT = 8930
"""The port on loopback where the sandbox serves repositories."""
DEFAULT_ENVIRONMENTS = ("dev", "prod")
DEFAULT_TENANT = "rocky"
DEFAULT_REPOSITORY = "https://git.example.com/platform/fleet.git"

_PROJECT = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_URL = re.compile(r"(https?|ssh)://[^\s\"'\\{}<>$`]+")
_FOLDER = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_PREFIX = re.compile(r"([A-Za-z0-9_-][A-Za-z0-9_.-]*/)*")


_KEYS = {"tenant_repositories": "tenantRepositories", "port": "sandboxPort"}
"""The keys of the record that are not called as the answers are."""
_PAIRS = {"environments": ("name", "management"), "remotes": ("name", "environment")}
"""The answers that are pairs, and the keys of the two in the record."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The decisions behind a project. Raises: Refused: one of them cannot be used.

    environments:        (name, management cluster), in the order in which changes reach them.
    remotes:             (name, environment).
    repository:          the URL of the repository that holds the project.
    tenant_repositories: the URL before the names of the tenants' repositories, without a slash at the end.
    prefix:              the project's directory in its repository; "" or with a slash at the end.
    """

    name: str
    environments: tuple[tuple[str, str], ...]
    remotes: tuple[tuple[str, str], ...]
    repository: str
    tenant_repositories: str
    tenant: str | None
    forge: str
    port: int = PORT
    prefix: str = ""

    def __post_init__(self) -> None:
        _check(self)

    @property
    def owner(self) -> str:
        """The folder that stands for `tenant_repositories` in the sandbox."""
        return _segments(self.tenant_repositories, "tenants")[-1]

    @property
    def fleet(self) -> str:
        """`<owner>/<repository>`, which stands for `repository` in the sandbox."""
        *_, owner, name = ("platform", *_segments(self.repository, "fleet"))
        return f"{owner}/{name.removesuffix('.git')}"

    @property
    def clusters(self) -> dict[str, list[str]]:
        """The environments of each management cluster."""
        found: dict[str, list[str]] = {}
        for environment, management in self.environments:
            found.setdefault(management, []).append(environment)
        return found

    @property
    def sandboxed(self) -> str:
        """The environment that the sandbox runs: the first one."""
        return self.environments[0][0]

    def as_data(self) -> dict[str, Any]:
        """Plain data, as the record keeps it."""
        data = {_KEYS.get(field.name, field.name): getattr(self, field.name) for field in fields(self)}
        return data | {key: [dict(zip(keys, pair, strict=True)) for pair in data[key]] for key, keys in _PAIRS.items()}


def from_data(data: Mapping[str, Any]) -> Answers:
    """The answers in a record. Raises: KeyError, TypeError: they are not what `as_data` makes; Refused."""
    values = {field.name: data[_KEYS.get(field.name, field.name)] for field in fields(Answers)}
    for key, keys in _PAIRS.items():
        values[key] = tuple(tuple(str(one[name]) for name in keys) for one in data[key])
    texts = {name: str(value) for name, value in values.items() if name not in _PAIRS and value is not None}
    return Answers(**{**values, **texts, "port": int(values["port"])})


def project_name(directory: str) -> str:
    """A name for Pulumi's project, made from that of a directory."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", directory).strip("-.")[:100] or "fleet"


def parent_of(repository: str) -> str:
    """The URL that a repository's siblings begin with."""
    return repository.rstrip("/").rpartition("/")[0] if urlsplit(repository).path.strip("/").count("/") else repository


def public(url: str) -> str:
    """The URL of a repository as Flux takes it, from what `git remote` knows, without a user and password."""
    if match := re.fullmatch(r"(?:[\w.-]+@)?([\w.-]+):(?!//)/?(.+)", url):
        return f"https://{match[1]}/{match[2]}"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https", "ssh") or not parts.hostname:
        return ""
    port = f":{parts.port}" if parts.port and parts.scheme != "ssh" else ""
    return f"{'https' if parts.scheme == 'ssh' else parts.scheme}://{parts.hostname}{port}{parts.path}"


def _segments(url: str, default: str) -> list[str]:
    """The folders in a URL's path that the sandbox can serve under the same name."""
    return [folder for folder in urlsplit(url).path.split("/") if _FOLDER.fullmatch(folder)] or [default]


def _check(answers: Answers) -> None:
    _require(_PROJECT.fullmatch, answers.name, "name of the project", "use letters, digits, '-', '_' and '.'")
    if not answers.environments:
        raise Refused("a fleet needs an environment", "name one: --environment dev=hub-dev")
    for environment, management in answers.environments:
        _check_name(environment, "environment")
        _check_name(management, "management cluster")
    _check_twice([name for name, _ in answers.environments], "environment")
    _check_remotes(answers)
    for url in (answers.repository, answers.tenant_repositories):
        _require(_URL.fullmatch, url, "URL of a repository", "write it as https://git.example.com/platform/fleet.git")
        if urlsplit(url).password or (urlsplit(url).username and urlsplit(url).scheme != "ssh"):
            raise Refused(
                "a URL holds a user or a password", "leave them out: `credentials` in tenants.yaml names a Secret"
            )
    if answers.tenant is not None:
        _check_name(answers.tenant, "tenant")
        if f"{answers.owner}/{answers.tenant}" == answers.fleet:
            message = f"tenant '{answers.tenant}' would deploy from the fleet's own repository"
            raise Refused(message, "give the tenant another name, or name where tenants' repositories are")
    if answers.forge not in FORGES:
        raise Refused(f"'{shorten(answers.forge)}' is not a forge", f"use one of: {', '.join(FORGES)}")
    if not 0 < answers.port < 65536:
        raise Refused(f"{answers.port} is not a port", "use a number from 1 to 65535")
    _require(_PREFIX.fullmatch, answers.prefix, "directory of a project", "use letters, digits, '-', '_' and '.'")


def _check_remotes(answers: Answers) -> None:
    names, environments = [name for name, _ in answers.remotes], dict(answers.environments)
    for name, environment in answers.remotes:
        _check_name(name, "remote cluster")
        if environment not in environments:
            fix = f"use one of: {', '.join(environments)}, as in --remote {name}={answers.sandboxed}"
            raise Refused(f"remote cluster '{name}' is in environment '{environment}', which is not named", fix)
    _check_twice([*names, *answers.clusters], "cluster")


def _check_name(name: str, what: str) -> None:
    if problem := dns_label_problem(name):
        raise Refused(f"{what} '{shorten(name)}' {problem}", "use a name such as 'dev', 'hub-dev', 'edge-1' or 'rocky'")


def _check_twice(names: list[str], what: str) -> None:
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise Refused(f"{what} '{twice}' is named twice", "give each a name of its own")


def _require(form: Callable[[str], object], value: str, what: str, fix: str) -> None:
    if not form(value):
        raise Refused(f"'{shorten(value)}' is not a valid {what}", fix)
