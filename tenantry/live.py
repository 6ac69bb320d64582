"""The management cluster as it is, asked by an ordinary Kubernetes client. Imports no pulumi, as commands ask too.

lightkube is imported where it is used: it takes a tenth of a second, and most commands need no cluster. No message shows
anything of a kubeconfig but names, files and the server's address.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from tenantry.errors import Refused

if TYPE_CHECKING:
    import lightkube
    from lightkube.config.kubeconfig import KubeConfig, SingleConfig

PATIENCE = 3.0
"""Seconds a cluster has for each step of a first answer; it takes milliseconds, and a plan should not wait for one that is gone."""

_NAME_ANOTHER = "name another one: pulumi config set tenantry:kubeconfig FILE"
_EXEC = "client.authentication.k8s.io/"


def connect(kubeconfig: Path | None, context: str | None) -> lightkube.Client:
    """A client for a cluster that has just answered and accepted the credentials.

    Args:   kubeconfig: None: the file that KUBECONFIG names, else ~/.kube/config. context: None: the file's current one.
    Raises: Refused: names the file, context or server that is wrong, after at most a few seconds.
    """
    import lightkube

    file = kubeconfig.expanduser() if kubeconfig else _usual_file()
    config = _chosen(_read(file), context, file)
    with _explained(config, file):
        _ask(config)
        return lightkube.Client(config)


def _usual_file() -> Path:
    files = [file for file in os.environ.get("KUBECONFIG", "").split(os.pathsep) if file]
    if len(files) > 1:
        raise Refused(f"KUBECONFIG names {len(files)} files, which one is meant is not clear", _NAME_ANOTHER)
    return Path(files[0] if files else "~/.kube/config").expanduser()


def _read(file: Path) -> KubeConfig:
    import msgspec
    from lightkube.config.kubeconfig import KubeConfig

    try:
        kubeconfig = KubeConfig.from_dict(yaml.safe_load(file.read_text(encoding="utf-8")), fname=file)
    except OSError as error:
        remedy = f"put it there (the sandbox's comes with `tenantry sandbox up`), or {_NAME_ANOTHER}"
        raise Refused(f"kubeconfig {file} can not be read: {error.strerror}", remedy) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        # What the parser says quotes the line, which may hold a key.
        raise Refused(f"kubeconfig {file} is not YAML", f"repair it, or {_NAME_ANOTHER}") from None
    except (AttributeError, KeyError, TypeError, msgspec.ValidationError):
        raise Refused(f"{file} is YAML, but not a kubeconfig", f"repair it, or {_NAME_ANOTHER}") from None
    for user in kubeconfig.users.values():
        # As to tokens, versions 1 and 1beta1 are the same; lightkube knows only the older name.
        if user.exec and user.exec.apiVersion == f"{_EXEC}v1":
            user.exec.apiVersion = f"{_EXEC}v1beta1"
    return kubeconfig


def _chosen(kubeconfig: KubeConfig, context: str | None, file: Path) -> SingleConfig:
    from lightkube.core.exceptions import ConfigError

    name = context or kubeconfig.current_context
    there_are = f"there are: {', '.join(_closest_first(name or '', kubeconfig.contexts)) or 'none'}"
    remedy = "pulumi config set tenantry:context NAME"
    if not name:
        raise Refused(f"kubeconfig {file} has no current context ({there_are})", remedy)
    if name not in kubeconfig.contexts:
        raise Refused(f"kubeconfig {file} has no context '{name}' ({there_are})", remedy)
    try:
        config = kubeconfig.get(name)
    except (ConfigError, KeyError):
        config = None
    if config is None or config.user is None:
        raise Refused(f"context '{name}' of kubeconfig {file} lacks its cluster or its user", "complete it, or choose another context")
    return config


def _closest_first(name: str, names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda each: (-SequenceMatcher(None, name, each).ratio(), each))


def _ask(config: SingleConfig) -> None:
    """Ask who we are: every identity that a cluster accepts may, and nobody else."""
    import httpx2
    import lightkube
    from lightkube.models.authentication_v1 import SelfSubjectReviewStatus  # noqa: F401
    from lightkube.resources.authentication_v1 import SelfSubjectReview

    with lightkube.Client(config, timeout=httpx2.Timeout(PATIENCE)) as client:
        client.create(SelfSubjectReview())


@contextmanager
def _explained(config: SingleConfig, file: Path) -> Iterator[None]:
    """Turn what can go wrong on the way to a first answer into one line."""
    raise NotImplementedError
    yield
