"""Charts of Helm repositories, and charts and artifacts of OCI registries, as Flux fetches them.

Charts come with `helm pull`, which resolves ranges as Flux does. Of an artifact a layer is unpacked, as source-controller does.
Logins are those of `helm registry login` and `docker login`.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tenantry.manifests import artifact
from tenantry.manifests.cache import Cache
from tenantry.manifests.model import NotFetched, NotRendered, Options, require_url
from tenantry.manifests.programs import DOWNLOAD, NETWORK, OUTPUT, kept, run
from tenantry.messages.text import grouped
from tenantry.versions.semver import is_exact

_CHART = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)*")
_URL = re.compile(r"(?:https?|oci)://[^\s-]\S*")
_SECONDS = 120
_ASKED = "asked"
"""What a repository is called in helm's own list, which lasts for one question."""


def helm_variables(home: Path) -> dict[str, str]:
    """Helm with directories of its own: no plugins, no repositories, no cluster."""
    return {
        "HOME": str(home),
        "TMPDIR": str(home),
        "HELM_CACHE_HOME": str(home / "cache"),
        "HELM_CONFIG_HOME": str(home / "config"),
        "HELM_DATA_HOME": str(home / "data"),
        "HELM_PLUGINS": str(home / "plugins"),
        "KUBECONFIG": os.devnull,
    }


def index(helm: tuple[str, ...], url: str) -> dict[str, frozenset[str]]:
    """The versions of each chart of a Helm repository over HTTP. Raises: NotFetched."""
    require_url(url, _URL)
    with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
        home = Path(temporary)
        _run([*helm, "repo", "add", "--", _ASKED, url], home)
        listed = _run([*helm, "search", "repo", "--versions", "--devel", "--output=json"], home, OUTPUT)
    try:
        found = [(str(entry["name"]), str(entry["version"])) for entry in json.loads(listed)]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NotFetched("helm lists its charts in a form that is not known here") from None
    return {
        chart.removeprefix(f"{_ASKED}/"): frozenset(version for _, version in versions)
        for chart, versions in grouped(found, lambda each: each[0]).items()
    }


def _run(command: list[str], home: Path, most: int = DOWNLOAD) -> bytes:
    """What helm prints. Raises: NotFetched."""
    variables = {**helm_variables(home), **logins(), **kept(*NETWORK)}
    try:
        return run(command, home, variables, seconds=_SECONDS, most=most)
    except NotRendered as failed:
        raise NotFetched(f"helm: {_cause(str(failed))}") from None


class ChartSources:
    """Fetches charts once; those with an exact version are kept on disk."""

    def __init__(self, options: Options, cache: Cache, scratch: Cache) -> None:
        self._helm = options.programs.get("helm")
        self._cache = cache
        self._scratch = scratch

    def from_repository(self, repository: Mapping[str, Any], chart: str, version: str) -> Path:
        """The chart of a HelmChart whose source is a HelmRepository. Raises: NotFetched."""
        if not _CHART.fullmatch(chart):
            raise NotFetched(f"'{chart}' is not the name of a chart")
        url = repository["url"]
        if repository.get("type") == "oci":
            return self._pull((f"{url.rstrip('/')}/{chart}",), url, version, plain=bool(repository.get("insecure")))
        return self._pull((f"--repo={url}", "--", chart), url, version, plain=False)

    def from_registry(self, spec: Mapping[str, Any]) -> Path:
        """The chart that an OCIRepository is: by digest, range or tag, in this order. Raises: NotFetched."""
        ref, url = spec.get("ref") or {}, spec["url"].rstrip("/")
        plain = bool(spec.get("insecure"))
        if digest := ref.get("digest"):
            return self._pull((f"{url}@{digest}",), url, "", plain=plain)
        if semver := ref.get("semver"):
            return self._pull((url,), url, semver, plain=plain)
        return self._pull((f"{url}:{ref.get('tag', 'latest')}",), url, "", plain=plain)

    def _pull(self, what: tuple[str, ...], url: str, version: str, *, plain: bool) -> Path:
        require_url(url, _URL)
        if self._helm is None:
            raise NotFetched("the command 'helm' is not installed", "install Helm")
        options = [f"--version={version}"] if version else []
        options += ["--plain-http"] if plain else []
        words = what if "--" in what else ("--", *what)
        # A range or a tag can become another version: such a chart is fetched in every run.
        kept = self._cache if is_exact(version) or "@" in what[-1] else self._scratch
        key = f"chart {what} {version} {plain}"
        return kept.directory(key, lambda into: self._download([*options, *words], into))

    def _download(self, arguments: list[str], into: Path) -> None:
        assert self._helm
        with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
            home = Path(temporary)
            _run([*self._helm, "pull", f"--destination={home}", *arguments], home)
            archives = list(home.glob("*.tgz"))
            if len(archives) != 1:
                raise NotFetched("helm fetched no chart")
            artifact.unpack(archives[0], into)


def _cause(said: str) -> str:
    """Helm's message without the address, which it repeats."""
    return said.split("is not a valid chart repository or cannot be reached: ", 1)[-1]


def logins() -> dict[str, str]:
    """The user's logins at registries: `helm registry login` and `docker login` write them."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    known = os.environ.get("HELM_REGISTRY_CONFIG") or str(config / "helm" / "registry" / "config.json")
    docker = os.environ.get("DOCKER_CONFIG") or str(Path.home() / ".docker")
    return {"HELM_REGISTRY_CONFIG": known, "DOCKER_CONFIG": docker}


_REPOSITORY = re.compile(r"oci://[\w.-]+(?::\d+)?(?:/[\w.-]+)+/?")


def tags(url: str, *, insecure: bool) -> list[str]:
    """The tags of a repository. Raises: NotFetched."""
    require_url(url, _REPOSITORY)
    known = logins()
    files = (Path(known["HELM_REGISTRY_CONFIG"]), Path(known["DOCKER_CONFIG"], "config.json"))
    configs = [str(file.absolute()) for file in files if file.is_file()]
    request = {"url": url.rstrip("/"), "insecure": insecure, "configs": configs}
    try:
        found = json.loads(_asked(request))
    except NotRendered as failed:
        raise NotFetched(str(failed).splitlines()[-1]) from None
    except (ValueError, RecursionError):
        raise NotFetched("the registry lists its tags in a form that is not known here") from None
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _asked(request: Mapping[str, Any], most: int = OUTPUT) -> bytes:
    """What a process of its own prints, which asks the registry. Raises: NotRendered."""
    command = [sys.executable, "-m", "tenantry.manifests.pull", json.dumps(request)]
    variables = kept("HOME", "DOCKER_CONFIG", "PYTHONPATH", "TMPDIR", "REQUESTS_CA_BUNDLE", *NETWORK)
    # Python imports from the directory that `-m` starts in, so it is one of its own.
    with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
        return run(command, Path(temporary), variables, seconds=_SECONDS, most=most)


class ArtifactSources:
    """Keeps artifacts on disk that are named by their digest."""

    def __init__(self, options: Options, cache: Cache, scratch: Cache) -> None:
        self._git = options.programs["git"]
        self._cache = cache
        self._scratch = scratch

    def fetch(self, spec: Mapping[str, Any]) -> Path:
        """The files of an OCIRepository. Raises: NotFetched."""
        selector, ref = spec.get("layerSelector") or {}, spec.get("ref") or {}
        require_url(spec["url"], _REPOSITORY)
        if selector.get("operation") == "copy":
            raise NotFetched("it is an archive that Flux does not unpack")
        request = {
            "url": spec["url"].rstrip("/"),
            "ref": ref,
            "insecure": bool(spec.get("insecure")),
            "mediaType": selector.get("mediaType", ""),
        }
        key = f"oci {json.dumps(request, sort_keys=True)} {spec.get('ignore')!r}"
        # A tag can become another artifact: it is fetched in every run.
        cache = self._cache if ref.get("digest") else self._scratch
        return cache.directory(key, lambda into: self._pull(request, spec.get("ignore"), into))

    def _pull(self, request: dict[str, Any], ignore: str | None, into: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
            archive, tree = Path(temporary, "layer"), Path(temporary, "tree")
            tree.mkdir()
            try:
                _asked({**request, "into": str(archive)}, DOWNLOAD)
                artifact.unpack(archive, tree)
                artifact.take(tree, into, ignore, self._git)
            except NotRendered as failed:
                raise NotFetched(str(failed).splitlines()[-1]) from None
