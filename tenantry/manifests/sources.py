"""Finds the files that an app is rendered from: fetched, from the cache, or in a directory that the user names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tenantry.manifests import artifact
from tenantry.manifests.cache import Cache, Once
from tenantry.manifests.git import GitSources
from tenantry.manifests.model import Inputs, NotFetched, Options
from tenantry.manifests.registries import ArtifactSources, ChartSources


class Sources:
    """Fetches every source once. `scratch` is a directory for what must not outlive the run."""

    def __init__(self, options: Options, scratch: Path) -> None:
        self._options = options
        cache = Cache(options.cache)
        self._scratch = Cache(scratch)
        self._git = GitSources(options, cache)
        self._charts = ChartSources(options, cache, self._scratch)
        self._artifacts = ArtifactSources(options, cache, self._scratch)
        self._fetched: Once[str, Path] = Once()

    def files(self, inputs: Inputs, local: Mapping[str, Path]) -> tuple[Path, Path]:
        """The root of the source and, for a release, the directory of the chart. Raises: NotFetched, with what to do."""
        try:
            if inputs.name in local:
                return self._local(inputs, local[inputs.name])
            return self._remote(inputs)
        except NotFetched as missing:
            kind = inputs.source["kind"]
            message = f"{kind} '{inputs.name}' cannot be fetched: {missing.message}"
            raise NotFetched(message, missing.fix or f"name a local copy: --source {inputs.name}=DIRECTORY") from None

    def _remote(self, inputs: Inputs) -> tuple[Path, Path]:
        spec, kind = inputs.source["spec"], inputs.source["kind"]
        chart = inputs.chart["spec"] if inputs.chart else None
        if kind == "HelmRepository" and chart:
            wanted = (chart["chart"], chart.get("version", "*"))
            fetched = self._once(spec, wanted, lambda: self._charts.from_repository(spec, *wanted))
            return (_only(fetched), _only(fetched))
        if kind == "GitRepository":
            root = self._once(spec, (), lambda: self._git.fetch(spec))
            return root, artifact.directory_in(root, chart["chart"]) if chart else root
        if kind == "OCIRepository" and inputs.app["kind"] == "HelmRelease":
            fetched = self._once(spec, ("chart",), lambda: self._charts.from_registry(spec))
            return _only(fetched), _only(fetched)
        if kind == "OCIRepository":
            root = self._once(spec, (), lambda: self._artifacts.fetch(spec))
            return root, root
        raise NotFetched(f"Tenantry does not fetch sources of this kind ({kind})")

    def _once(self, spec: Mapping[str, Any], wanted: tuple[str, ...], fetch: Any) -> Path:
        keys = ("url", "ref", "ignore", "type", "insecure", "include", "recurseSubmodules", "layerSelector")
        return self._fetched.get(repr([*(spec.get(key) for key in keys), wanted]), fetch)

    def _local(self, inputs: Inputs, directory: Path) -> tuple[Path, Path]:
        """A directory of the user in place of the source."""
        if not directory.is_dir():
            raise NotFetched(f"{directory} is not a directory", f"correct --source {inputs.name}=DIRECTORY")
        ignore = inputs.source["spec"].get("ignore")
        git = self._options.programs["git"]
        key = f"local {directory.resolve()} {ignore!r}"
        root = self._fetched.get(
            key, lambda: self._scratch.directory(key, lambda into: artifact.take(directory, into, ignore, git))
        )
        if inputs.app["kind"] != "HelmRelease":
            return root, root
        is_chart = (root / "Chart.yaml").is_file()
        path = inputs.chart["spec"]["chart"] if inputs.chart else "."
        chart = root if is_chart else artifact.directory_in(root, path)
        # The values files of a chart in a repository of charts are those in the chart.
        return (chart if inputs.source["kind"] == "HelmRepository" else root), chart


def _only(directory: Path) -> Path:
    """The directory in an unpacked chart, which has the chart's name."""
    found = [each for each in directory.iterdir() if (each / "Chart.yaml").is_file()]
    return found[0] if len(found) == 1 else directory
