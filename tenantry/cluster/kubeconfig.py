"""Reads a kubeconfig and selects a context, with a one-line message for everything that can be wrong with it.

lightkube reads kubeconfigs too, but lets any exception escape. No message quotes a file, because it holds keys.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tenantry.kube.documents import document
from tenantry.messages.errors import Refused

if TYPE_CHECKING:
    from lightkube.config.kubeconfig import KubeConfig, SingleConfig

_OTHER_FILE = "name another with --kubeconfig, or: pulumi config set tenantry:kubeconfig FILE"
_OTHER_CONTEXT = "choose another context with --context, or: pulumi config set tenantry:context NAME"


def select(file: Path | None, context: str | None) -> SingleConfig:
    """The server and the credentials of one context.

    Args:   file: None: the file that KUBECONFIG names, else ~/.kube/config. context: None: the file's current one.
    Raises: Refused: the file or context does not exist or is invalid.
    """
    from lightkube.core.exceptions import ConfigError

    file = file.expanduser() if file else _usual_file()
    kubeconfig = _read(file)
    name = context or kubeconfig.current_context
    if name not in kubeconfig.contexts:
        what = f"context '{name}'" if name else "current context"
        there_are = ", ".join(_closest_first(name or "", kubeconfig.contexts)) or "none"
        raise Refused(f"kubeconfig {file} has no {what} (contexts: {there_are})", _OTHER_CONTEXT)
    try:
        config = kubeconfig.get(name)
    except (ConfigError, KeyError):
        config = None
    if config is None or config.user is None:
        problem = f"context '{name}' of kubeconfig {file} lacks its cluster or its user"
        raise Refused(problem, f"complete it, or {_OTHER_CONTEXT}")
    return config


_CLUSTER = ("server", "tls-server-name", "certificate-authority-data", "proxy-url")
_USER = ("token", "username", "password", "client-certificate-data", "client-key-data")


def of_secret(data: bytes) -> SingleConfig:
    """The current context of a kubeconfig from somebody else, limited to what Flux accepts: no files, no commands.

    Raises: Refused: it is not a kubeconfig; the message quotes nothing from it.
    """
    from lightkube.config.kubeconfig import KubeConfig
    from lightkube.core.exceptions import ConfigError

    try:
        content = document(data)
        kept = {
            **content,
            "clusters": [_only(each, "cluster", _CLUSTER) for each in content["clusters"]],
            "users": [_only(each, "user", _USER) for each in content["users"]],
        }
        config = KubeConfig.from_dict(kept).get()
    except (AttributeError, ConfigError, KeyError, TypeError, ValueError, yaml.YAMLError):
        config = None
    if config is None or config.user is None:
        raise Refused("the kubeconfig is incomplete", "tenantry cluster check NAME says what is wrong")
    return config


def _only(entry: dict[str, Any], part: str, keys: tuple[str, ...]) -> dict[str, Any]:
    return {"name": entry["name"], part: {key: entry[part][key] for key in keys if key in (entry[part] or {})}}


def _usual_file() -> Path:
    files = [file for file in os.environ.get("KUBECONFIG", "").split(os.pathsep) if file]
    if len(files) > 1:
        raise Refused(f"KUBECONFIG names {len(files)} files, but only one is supported", _OTHER_FILE)
    return Path(files[0] if files else "~/.kube/config").expanduser()


def _read(file: Path) -> KubeConfig:
    from lightkube.config.kubeconfig import KubeConfig

    try:
        kubeconfig = KubeConfig.from_dict(document(file.read_text(encoding="utf-8")), fname=file)
    except OSError as error:
        fix = f"{_OTHER_FILE} (`tenantry sandbox up` writes the sandbox's)"
        raise Refused(f"kubeconfig {file} cannot be read: {error.strerror}", fix) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise Refused(f"kubeconfig {file} is not YAML", f"repair it, or {_OTHER_FILE}") from None
    except (AttributeError, KeyError, TypeError, ValueError):
        raise Refused(f"{file} is YAML, but not a kubeconfig", f"repair it, or {_OTHER_FILE}") from None
    for user in kubeconfig.users.values():
        if user.exec and user.exec.apiVersion == "client.authentication.k8s.io/v1":
            # lightkube supports only the previous version of this protocol; both versions pass a token in the same way.
            user.exec.apiVersion = "client.authentication.k8s.io/v1beta1"
    return kubeconfig


def _closest_first(name: str, names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda each: (-SequenceMatcher(None, name, each).ratio(), each))
