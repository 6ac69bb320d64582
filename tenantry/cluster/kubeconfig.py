"""Reads kubeconfigs as kubectl does: which file, which context, and what its cluster and its user say.

Source: k8s.io/client-go, `tools/clientcmd`.
Never: quotes a credential, or ignores what kubectl would act upon.
"""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tenantry.kube.yaml_text import document
from tenantry.messages.errors import Refused

OTHER_FILE = "name another with --kubeconfig, or: pulumi config set tenantry:kubeconfig FILE"
OTHER_CONTEXT = "choose another context with --context, or: pulumi config set tenantry:context NAME"
RENEW = f"renew it, or {OTHER_CONTEXT}"
PROTOCOLS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
"""Of credential plugins."""
_EXTENSION = "client.authentication.k8s.io/exec"
"""The extension of a cluster whose content a credential plugin gets."""


class _Part(BaseModel):
    """A part of a kubeconfig. Keys that kubectl does not know are ignored, and `null` stands for no value."""

    model_config = ConfigDict(frozen=True, strict=True, alias_generator=lambda name: name.replace("_", "-"))


class _Variable(_Part):
    name: str
    value: str = ""


class Plugin(_Part):
    """A command that prints credentials. interactiveMode: whether it gets the terminal."""

    command: str
    args: tuple[str, ...] | None = Field(None, strict=False)
    env: tuple[_Variable, ...] | None = Field(None, strict=False)
    api_version: str = Field(alias="apiVersion")
    install_hint: str | None = Field(None, alias="installHint")
    provide_cluster_info: bool | None = Field(None, alias="provideClusterInfo")
    interactive_mode: str | None = Field(None, alias="interactiveMode")

    @property
    def mode(self) -> str:
        """Never, IfAvailable or Always; "": none is named, which the current version of the protocol does not allow."""
        return self.interactive_mode or ("" if self.api_version == PROTOCOLS[0] else "IfAvailable")


def _twice(part: _Part, *names: str) -> str:
    """A problem if something is given as data and as a file."""
    for name in names:
        if getattr(part, name) and getattr(part, f"{name}_data"):
            key = name.replace("_", "-")
            return f"has '{key}' and '{key}-data': only one of them is allowed"
    return ""


class _NamedExtension(_Part):
    name: str
    extension: Any = None


class Cluster(_Part):
    """Where an API server is, and how its certificate is verified."""

    server: str = ""
    tls_server_name: str | None = None
    insecure_skip_tls_verify: bool | None = None
    certificate_authority: str | None = None
    certificate_authority_data: str | None = Field(None, repr=False)
    proxy_url: str | None = Field(None, repr=False)
    disable_compression: bool | None = None
    extensions: tuple[_NamedExtension, ...] | None = Field(None, strict=False)

    @property
    def is_secure(self) -> bool:
        """Whether requests are encrypted. kubectl sends no credentials otherwise."""
        return self.server.startswith("https://")

    @property
    def problem(self) -> str:
        """Why kubectl does not take this cluster; "": it does."""
        if self.insecure_skip_tls_verify and (self.certificate_authority or self.certificate_authority_data):
            return "has a certificate authority and 'insecure-skip-tls-verify': only one of them is allowed"
        return _twice(self, "certificate_authority")

    @property
    def plugin_config(self) -> Any:
        """What the cluster says to credential plugins."""
        return next((each.extension for each in self.extensions or () if each.name == _EXTENSION), None)


class User(_Part):
    """How requests are authenticated, and as whom they act."""

    token: str | None = Field(None, repr=False)
    token_file: str | None = Field(None, alias="tokenFile")
    username: str | None = None
    password: str | None = Field(None, repr=False)
    client_certificate: str | None = None
    client_certificate_data: str | None = Field(None, repr=False)
    client_key: str | None = None
    client_key_data: str | None = Field(None, repr=False)
    exec: Plugin | None = Field(None, repr=False)
    auth_provider: Any = Field(None, repr=False)
    as_user: str | None = Field(None, alias="as")
    as_uid: str | None = None
    as_groups: tuple[str, ...] | None = Field(None, strict=False)
    as_user_extra: dict[str, list[str]] | None = None

    @property
    def problem(self) -> str:
        """Why kubectl does not take this user; "": it does."""
        certificate, key = (
            self.client_certificate or self.client_certificate_data,
            self.client_key or self.client_key_data,
        )
        if self.auth_provider:
            return "names an 'auth-provider', which kubectl 1.26 and later do not know: use its 'exec' plugin"
        if (self.token or self.token_file) and (self.username or self.password):
            return "has a token and a user name: only one of them is allowed"
        if certificate and not key:
            return "has a client certificate without its key"
        if not self.as_user and (self.as_uid or self.as_groups or self.as_user_extra):
            return "impersonates groups, a uid or extra values, but no user: 'as' is missing"
        if self.exec and self.exec.mode not in ("Never", "IfAvailable", "Always"):
            return "needs an 'interactiveMode' of its plugin: Never, IfAvailable or Always"
        return _twice(self, "client_certificate", "client_key")


class _Context(_Part):
    cluster: str = ""
    user: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One context of a kubeconfig. name: of the context; "": none. source: the file or files, as the user knows them;
    "": it is one that Flux uses. file: what `kubectl --kubeconfig` takes; None: what kubectl reads by itself.
    """

    name: str = ""
    source: str = ""
    file: Path | None = None
    cluster: Cluster
    user: User = field(repr=False)

    def __str__(self) -> str:
        return f"context '{self.name}' of kubeconfig {self.source}" if self.source else "the kubeconfig that Flux uses"

    @property
    def authority(self) -> str | None:
        """Certificates in PEM format. Raises: OSError, ValueError: the file cannot be read, or the data is no certificate."""
        return _content(self.cluster.certificate_authority_data, self.cluster.certificate_authority)

    @property
    def certificate(self) -> tuple[str, str] | None:
        """The client's certificate and key in PEM format. Raises: as `authority`."""
        certificate = _content(self.user.client_certificate_data, self.user.client_certificate)
        key = _content(self.user.client_key_data, self.user.client_key)
        return (certificate, key or "") if certificate else None

    @property
    def token(self) -> str | None:
        """The content of the token's file as it is now, before the token. Raises: OSError, ValueError: as `authority`."""
        if not self.user.token_file:
            return self.user.token or None
        return Path(self.user.token_file).read_text(encoding="utf-8").strip()


def _content(data: str | None, file: str | None) -> str | None:
    """Raises: OSError, ValueError. Comments of other alphabets are left out: OpenSSL takes ASCII alone."""
    if not data and not file:
        return None
    content = b64decode("".join(data.split()), validate=True) if data else Path(str(file)).read_bytes()
    return content.decode("ascii", errors="ignore")


# --- the files -----------------------------------------------------------------------------------------------------------

_P = TypeVar("_P", bound=_Part)


@dataclass(frozen=True, slots=True)
class _Kubeconfig:
    """current: the name of the current context."""

    current: str
    clusters: Mapping[str, Cluster]
    users: Mapping[str, User]
    contexts: Mapping[str, _Context]

    def access(self, name: str, source: str, file: Path | None) -> Access | None:
        """The context of a name; None: its cluster or its user is missing."""
        context = self.contexts[name]
        cluster, user = self.clusters.get(context.cluster), self.users.get(context.user or "")
        if cluster is None or user is None or not cluster.server:
            return None
        return Access(name=name, source=source, file=file, cluster=cluster, user=user)


def select(file: Path | None, context: str | None) -> Access:
    """The server and the credentials of one context.

    Args:   file: None: the files that KUBECONFIG names, of which the first one that has an entry counts; else ~/.kube/config.
            context: None: the current one.
    Raises: Refused: the file or context does not exist or is invalid.
    """
    files, source, named = _files(file)
    kubeconfig = _merged([_read(path) for path in files])
    name = context or kubeconfig.current
    if name not in kubeconfig.contexts:
        what = f"context '{name}'" if name else "current context"
        contexts = sorted(kubeconfig.contexts, key=lambda known: (-SequenceMatcher(None, name, known).ratio(), known))
        raise Refused(f"kubeconfig {source} has no {what} (contexts: {', '.join(contexts) or 'none'})", OTHER_CONTEXT)
    access = kubeconfig.access(name, source, named)
    if access is None:
        problem = f"context '{name}' of kubeconfig {source} lacks its cluster or its user"
        raise Refused(problem, f"complete it, or {OTHER_CONTEXT}")
    for what, part in (("cluster", access.cluster), ("user", access.user)):
        if problem := part.problem:
            raise Refused(f"the {what} of {access} {problem}", f"correct it, or {OTHER_CONTEXT}")
    return access


def _files(file: Path | None) -> tuple[list[Path], str, Path | None]:
    """The files to read, how they are called, and what kubectl is told."""
    if file is None:
        names = list(dict.fromkeys(filter(None, os.environ.get("KUBECONFIG", "").split(os.pathsep))))
        if len(names) > 1:
            paths = [path for path in map(Path, names) if path.exists()]
            return paths, os.pathsep.join(names), None
        file = Path(names[0] if names else "~/.kube/config")
    file = file.expanduser()
    return [file], str(file), file


def _read(file: Path) -> _Kubeconfig:
    try:
        return _parsed(document(file.read_text(encoding="utf-8")), file.absolute().parent)
    except OSError as error:
        fix = f"{OTHER_FILE} (`tenantry sandbox up` writes the sandbox's)"
        raise Refused(f"kubeconfig {file} cannot be read: {error.strerror}", fix) from None
    except ValidationError as error:
        # The input of an error can be a secret, so only its place is shown.
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise Refused(
            f"kubeconfig {file} has a value of a wrong type at '{place}'", f"repair it, or {OTHER_FILE}"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        raise Refused(f"kubeconfig {file} is not YAML", f"repair it, or {OTHER_FILE}") from None
    except (AttributeError, KeyError, TypeError, ValueError):
        raise Refused(f"{file} is YAML, but not a kubeconfig", f"repair it, or {OTHER_FILE}") from None


_PATHS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
"""Keys of clusters and users whose values are files."""


def _parsed(content: Mapping[str, Any], directory: Path | None) -> _Kubeconfig:
    """directory: where relative paths start, also that of a plugin; None: no files and no plugins are allowed.

    Raises: AttributeError, KeyError, TypeError, ValueError: it is no kubeconfig, or names what is not allowed.
    """

    def located(value: Any) -> Any:
        if directory is None:
            raise ValueError("a file or a plugin")
        return str(directory / value) if isinstance(value, str) and value else value

    def entry(model: type[_P], part: Mapping[str, Any]) -> _P:
        given = {key: located(value) if key in _PATHS else value for key, value in part.items() if value is not None}
        if isinstance(plugin := given.get("exec"), Mapping) and os.sep in str(plugin.get("command")):
            given["exec"] = {**plugin, "command": located(plugin["command"])}
        return model.model_validate(given)

    def entries(key: str, model: type[_P]) -> dict[str, _P]:
        made = ((each["name"], each.get(key.removesuffix("s")) or {}) for each in content.get(key) or ())
        return {name: entry(model, part) for name, part in made}

    if not content.keys() & {"clusters", "contexts", "users"}:
        raise ValueError("no kubeconfig")
    current = str(content.get("current-context") or "")
    return _Kubeconfig(current, entries("clusters", Cluster), entries("users", User), entries("contexts", _Context))


def _merged(kubeconfigs: list[_Kubeconfig]) -> _Kubeconfig:
    first, *others = kubeconfigs or [_Kubeconfig("", {}, {}, {})]
    for other in others:
        first = _Kubeconfig(
            first.current or other.current,
            {**other.clusters, **first.clusters},
            {**other.users, **first.users},
            {**other.contexts, **first.contexts},
        )
    return first


# --- the kubeconfigs that Flux uses ---------------------------------------------------------------------------------------

_REFUSED = {
    "clusters": ("certificate-authority", "insecure-skip-tls-verify"),
    "users": ("client-certificate", "client-key", "tokenFile", "exec", "auth-provider"),
}
"""What Flux refuses or ignores: files, programs, and a server that nobody verifies. Source: fluxcd.io, "Remote clusters"."""


def of_secret(data: bytes) -> Access:
    """The current context of a kubeconfig from somebody else, limited to what Flux accepts: no files, no commands.

    Raises: Refused: it is not a kubeconfig; the message quotes nothing from it.
    """
    access = None
    try:
        kubeconfig = _parsed(_accepted(document(data)), None)
        access = kubeconfig.access(kubeconfig.current, "", None)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError, yaml.YAMLError):
        pass
    # Where something is left out that Flux refuses, the rest alone can look contradictory.
    contradictory = access and (access.user.problem or access.cluster.problem) and not ignored_in(data)
    if access is None or contradictory or not _is_address(access.cluster.server):
        fix = "have its writer write a complete one, whose current context names a cluster and a user"
        raise Refused("the kubeconfig that Flux uses is incomplete, or is none", fix)
    return access


def _is_address(server: str) -> bool:
    try:
        url = urlsplit(server if "://" in server else f"https://{server}")
        return url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        return False


def _accepted(content: Mapping[str, Any]) -> dict[str, Any]:
    parts = {
        group: [
            {**entry, group[:-1]: {k: v for k, v in (entry.get(group[:-1]) or {}).items() if k not in keys}}
            for entry in content[group]
        ]
        for group, keys in _REFUSED.items()
    }
    return {**content, **parts}


def ignored_in(data: bytes) -> list[str]:
    """The keys of a kubeconfig, as `of_secret` takes it, that Flux refuses or ignores: also in what the context does not use."""

    def ignored() -> Iterator[str]:
        content = document(data)
        for group, keys in _REFUSED.items():
            for entry in content[group]:
                yield from (key for key in keys if (entry[group[:-1]] or {}).get(key))

    return list(dict.fromkeys(ignored()))
