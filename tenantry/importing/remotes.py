"""What the remotes of a Git repository tell of it: which source of Flux it is, and, where that was not read, its address.

Never: shows a user's name, a password or a token that stands in the address of a remote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from tenantry.importing.model import Key, Read, key_of
from tenantry.importing.programs import NotBuilt, run

ORIGIN = "origin"
_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+):(?P<path>[^:\s?#][^\s?#]*)")
"""`git@host:path`. A host without a dot can be a name of somebody's own settings for ssh, which Flux does not know."""


def assumed(environment: str, key: Key, root: Path) -> Read | None:
    """The Git repository that was not read, as remote `origin` tells it; None: it tells no address or no branch.

    Args: root: the directory that the source is; it has to be a Git repository's own, and none below.
    """
    url, branch = _address(root), _branch(root)
    if not (url and branch):
        return None
    spec = {"interval": "1m", "url": url, "ref": {"branch": branch}}
    if url.startswith("ssh:"):  # Flux takes no ssh without a key, for which `flux bootstrap` makes this Secret
        spec["secretRef"] = {"name": key.name}
    metadata = {"name": key.name, "namespace": key.namespace}
    manifest = {"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": key.kind, "metadata": metadata, "spec": spec}
    return Read(environment, manifest, f"the Git remote '{ORIGIN}' of {root}")


def told_by_remote(source: Read) -> str:
    """The comment at the address of a source that was not read."""
    key = key_of(source.manifest)
    return (
        f"decide: no address of {key} was read, so this is what the Git remote '{ORIGIN}' tells. It has to be what Flux"
        " fetches: the steps of the report have the command that shows it"
    )


def _address(root: Path) -> str:
    return for_flux(_git(root, "config", "--local", f"remote.{ORIGIN}.url")) if (root / ".git").exists() else ""


def _branch(root: Path) -> str:
    """The branch that is checked out, if the remote has it; else the remote's default one."""
    current = _git(root, "symbolic-ref", "--short", "HEAD")
    if current and _git(root, "rev-parse", "--verify", "--quiet", f"refs/remotes/{ORIGIN}/{current}"):
        return current
    default = _git(root, "symbolic-ref", "--short", f"refs/remotes/{ORIGIN}/HEAD")
    return default.removeprefix(f"{ORIGIN}/") or current


def for_flux(url: str) -> str:
    """The address of a remote as Flux takes it, without its credentials; "" if Flux cannot take it, such as a path."""
    if found := _SCP.fullmatch(url):
        return f"ssh://git@{found['host']}/{found['path'].lstrip('/')}"
    try:
        split = urlsplit(url)
        host, port = split.hostname, split.port
    except ValueError:
        return ""
    if split.scheme not in ("http", "https", "ssh") or not host or not split.path.strip("/") or re.search(r"\s", url):
        return ""
    user = f"{split.username or 'git'}@" if split.scheme == "ssh" else ""
    where = f"[{host}]" if ":" in host else host
    return f"{split.scheme}://{user}{where}{f':{port}' if port else ''}{split.path}"


def remotes(root: Path) -> Iterator[tuple[str, str]]:
    """The addresses of a Git repository's remotes, as `plain` gives them, each with the branch that is checked out."""
    branch = _git(root, "symbolic-ref", "--short", "HEAD")
    for line in _git(root, "config", "--local", "--get-regexp", r"^remote\..*\.url$").splitlines():
        if branch and (address := plain(line.partition(" ")[2])):
            yield address, branch


def plain(url: str) -> str:
    """An address without its scheme, its user and its ending: the same for https, ssh and the scp form. A path is none."""
    scheme, found, rest = url.strip().partition("://")
    if not found:
        scheme, rest = "", url.strip()
        if rest.startswith(("/", ".")) or ":" not in rest:
            return ""
        rest = rest.replace(":", "/", 1)
    host, slash, path = rest.rpartition("@")[2].partition("/")
    return f"{host.partition(':')[0].lower()}{slash}{path.rstrip('/').removesuffix('.git')}" if scheme != "file" else ""


def _git(root: Path, *arguments: str) -> str:
    """What git prints; "" if it cannot."""
    try:
        return run(("git", *arguments), root, {}).decode(errors="replace").strip()
    except (NotBuilt, OSError):
        return ""
