"""OCI artifacts: a layer of an image is unpacked, as source-controller does. Logins are those of `docker login`."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tenantry.manifests import artifact
from tenantry.manifests.cache import Cache
from tenantry.manifests.charts import logins
from tenantry.manifests.model import NotFetched, NotRendered, Options, require_url
from tenantry.manifests.programs import DOWNLOAD, NETWORK, OUTPUT, kept, run

_URL = re.compile(r"oci://[\w.-]+(?::\d+)?(?:/[\w.-]+)+/?")
_SECONDS = 120


def tags(url: str, *, insecure: bool) -> list[str]:
    """The tags of a repository. Raises: NotFetched."""
    require_url(url, _URL)
    known = logins()
    files = (Path(known["HELM_REGISTRY_CONFIG"]), Path(known["DOCKER_CONFIG"], "config.json"))
    configs = [str(each.absolute()) for each in files if each.is_file()]
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
        require_url(spec["url"], _URL)
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
