"""A management cluster with hundreds of remotes that are far away: what Flux needs for them, and how soon a push arrives.

The remotes are one control plane, which Flux reaches with a kubeconfig for each of them and through a proxy that delays. For each
remote Flux has a client and a connection of its own, as in a fleet; what hundreds of API servers need is not shown.
"""

from __future__ import annotations

import base64
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from bench.cases.flux import OBJECTS
from bench.flux_sandbox import CONTROLLERS, Sandbox, Spent
from bench.tables import Row, Table
from tenantry.kube.objects import KubeObject, Manifest
from tenantry.load import fleet_of
from tenantry.plan import apps, platform, sources
from tenantry.plan.plan import plan
from tenantry.source.parse import parse

_HEAD = """\
apiVersion: tenantry/v1
environments: {prod: {management: hub}}
platform: {chart: {helm: {url: "http://sandbox.test/charts", version: 0.3.0}}}
defaults: {clusters: {labels: {tier: far}}, interval: 1h, retryInterval: 30s}
tenants:
  rocky:
    sources:
      manifests: {git: {url: "http://sandbox.test/git/bench/apps.git", ref: {branch: main}, interval: 1h}}
    apps:
      web: {kustomize: {source: manifests, path: ./web}}
clusters:
  hub: {environments: [prod]}
"""
_REMOTE = """\
  {name}:
    environments: [prod]
    labels: {{tier: far}}
    kubeconfig: {{secret: {{name: {name}, namespace: remotes, key: value}}}}
"""
_MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {version: VERSION}\n"
_KINDS = ("ServiceAccount", "GitRepository", "Kustomization")
"""What is planned for the remotes and measured; baselines are left out, because the remotes are one cluster."""


def measure(*, remotes: int, workers: Sequence[int], milliseconds: int) -> Iterator[Table]:
    rows: list[Row] = []
    with TemporaryDirectory(prefix="tenantry-bench-") as name, Sandbox(Path(name), _content) as made:
        for count in workers:
            flags = {"concurrent": count}
            made.up(_fleet(["edge"]), dict.fromkeys(CONTROLLERS, flags))
            with _far(made.api_port("edge"), milliseconds) as port:
                for setting, objects in _planned(remotes, port, made).items():
                    rows += _rounds(made, objects, f"{setting}, --concurrent={count}")
    yield Table(
        "flux-remotes",
        f"{remotes} remotes, {milliseconds} ms away",
        f"A management cluster and {remotes} kubeconfigs that lead to one control plane, with {milliseconds} ms added to each round"
        f" trip. One Kustomization of {OBJECTS} ConfigMaps for each remote, all of one Git repository. A push: seconds from the"
        " request to fetch the sources until all remotes have the commit. Requests include those of the benchmark. All programs"
        " share two cores. One run.",
        tuple(rows),
    )


def _rounds(made: Sandbox, objects: Sequence[Manifest], setting: str) -> Iterator[Row]:
    before = made.requests()
    spent = made.bring(objects)
    yield Row(f"first installation, {setting}", more=_shown(spent, made, before))
    before = made.requests()
    version = str(time.monotonic_ns())
    spent = made.push("bench/apps", {f"web/{number}.yaml": _manifest(number, version) for number in range(OBJECTS)})
    yield Row(f"a push, {setting}", more=_shown(spent, made, before))


def _shown(spent: Spent, made: Sandbox, before: Mapping[str, int]) -> dict[str, float]:
    after, memory = made.requests(), made.memory()
    return {
        "s": spent.seconds,
        **{f"{name}, s": spent.processor[name] for name in ("source-controller", "kustomize-controller")},
        "API servers, s": spent.processor["kube-apiserver"],
        "requests to the hub": after["hub"] - before["hub"],
        "to the remotes": after["edge"] - before["edge"],
        **{f"{name}, MB": memory[name] for name in ("source-controller", "kustomize-controller")},
    }


def _fleet(remotes: Sequence[str]) -> bytes:
    return (_HEAD + "".join(_REMOTE.format(name=name) for name in remotes)).encode()


def _planned(remotes: int, far: int, made: Sandbox) -> dict[str, list[Manifest]]:
    """What lies on the management cluster for all remotes, with a source for all of them, and with one for each."""
    names = [f"far-{number}" for number in range(remotes)]
    planned = plan(fleet_of(parse(_fleet(names), "tenants.yaml")), "prod")
    with _without_sharing():
        alone = plan(fleet_of(parse(_fleet(names), "tenants.yaml")), "prod")
    text = re.sub(r"(server: https://127\.0\.0\.1:)\d+", rf"\g<1>{far}", made.kubeconfig("edge"))
    value = base64.b64encode(text.encode()).decode()
    secrets = [_secret(name, value) for name in names]
    return {
        "one source for all": [*secrets, *_of_remotes(planned.objects)],
        "a source for each": [*secrets, *_of_remotes(alone.objects)],
    }


def _secret(name: str, value: str) -> Manifest:
    metadata = {"name": name, "namespace": "remotes"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"value": value}}


def _of_remotes(objects: Sequence[KubeObject]) -> Iterator[Manifest]:
    for each in objects:
        if each.id.kind == "Kustomization":
            # All remotes are one cluster, so each has a namespace of its own there.
            spec = {**each.manifest["spec"], "targetNamespace": f"web-{each.owner.cluster}"}
            yield {**each.manifest, "spec": spec}
        elif each.id.kind in _KINDS:
            yield each.manifest


@contextmanager
def _without_sharing() -> Iterator[None]:
    """Plan each cluster's own sources, as fleets had them before clusters shared any."""

    def own(_fleet: Any, _scope: Any, planned: KubeObject, *_: Any, **__: Any) -> KubeObject:
        return planned

    places = ((sources, "shared"), (platform, "shared"), (apps, "shared_chart"), (platform, "shared_chart"))
    patches = [patch.object(module, name, own) for module, name in places]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()


@contextmanager
def _far(port: int, milliseconds: int) -> Iterator[int]:
    """The port at which a cluster is as many milliseconds away."""
    command = [sys.executable, "-m", "bench.latency", str(port), str(milliseconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as proxy:
        assert proxy.stdout
        try:
            yield int(proxy.stdout.readline())
        finally:
            proxy.terminate()


def _manifest(number: int, version: str) -> str:
    return _MANIFEST.replace("NAME", f"web-{number}").replace("VERSION", f'"{version}"')


def _content(root: Path) -> None:
    web = root / "git" / "bench" / "apps" / "web"
    web.mkdir(parents=True)
    for number in range(OBJECTS):
        (web / f"{number}.yaml").write_text(_manifest(number, "1"))
