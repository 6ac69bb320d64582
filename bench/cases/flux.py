"""Flux's controllers: how many apps they reconcile in a minute, and what an app costs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.flux_sandbox import CONTROLLERS, Sandbox, Spent
from bench.tables import Row, Table

OBJECTS = 5
"""ConfigMaps that each app installs."""
_HEAD = """\
apiVersion: tenantry/v1
environments: {prod: {management: hub}}
clusters:
  hub: {environments: [prod]}
  edge: {environments: [prod], kubeconfig: {capi: {cluster: edge, namespace: capi}}}
platform: {chart: {helm: {url: "http://sandbox.test/charts", version: 0.3.0}}}
defaults: {clusters: {all: true}, interval: 1h, retryInterval: 5s}
tenants:
"""
_TENANT = """\
  team-{number}:
    sources:
      manifests: {{git: {{url: "http://sandbox.test/git/bench/apps.git", ref: {{branch: main}}, interval: 1h}}}}
      charts: {{helm: {{url: "http://sandbox.test/charts", interval: 1h}}}}
    apps:
      web: {{kustomize: {{source: manifests, path: ./web}}}}
      cache: {{helm: {{source: charts, chart: cache, version: 1.x}}}}
"""
_CHAIN = 3
"""Kustomizations that depend on each other."""


def measure(*, tenants: int, workers: Sequence[int]) -> Iterator[Table]:
    with TemporaryDirectory(prefix="tenantry-bench-") as name, Sandbox(Path(name), _content) as made:
        made.up(_text(tenants))
        yield _installed(made.apply(), tenants)
        yield _reconciled(list(_rounds(made, "", list(_KINDS))), tenants)
        yield _with_workers(made, tenants, workers)


_KINDS: Mapping[str, tuple[str, str]] = {
    "Kustomizations of the management cluster": ("Kustomization", "hub"),
    "Kustomizations of a remote": ("Kustomization", "edge"),
    "releases of the management cluster": ("HelmRelease", "hub"),
    "releases of a remote": ("HelmRelease", "edge"),
    "Git repositories": ("GitRepository", "hub"),
}


def _rounds(made: Sandbox, setting: str, names: Sequence[str]) -> Iterator[Row]:
    """Each kind is reconciled once, without a change."""
    for name in names:
        spent = made.reconcile(*_KINDS[name])
        yield Row(f"{name}{setting}", more=_per_app(spent))


def _per_app(spent: Spent) -> dict[str, float]:
    own = sum(spent.processor[each] for each in CONTROLLERS)
    return {
        "objects": spent.objects,
        "a minute": spent.objects / spent.seconds * 60,
        "controller, s each": own / spent.objects,
        "API server, s each": spent.processor["kube-apiserver"] / spent.objects,
        "cores in use": sum(spent.processor.values()) / spent.seconds,
    }


def _installed(spent: Spent, tenants: int) -> Table:
    apps = 4 * tenants
    rows = [
        Row(name, more={"seconds": spent.processor[name], "s for each app": spent.processor[name] / apps})
        for name in (*CONTROLLERS, "kube-apiserver", "etcd")
    ]
    return Table(
        "flux-install",
        f"Installing {apps} apps with Flux",
        f"{tenants} tenants, each with a Kustomization and a release of {OBJECTS} ConfigMaps on the management cluster and on a"
        f" remote, with their baselines and sources. Processor time until all are Ready, which took {spent.seconds:.0f} s."
        " One run.",
        tuple(rows),
    )


def _reconciled(rows: Sequence[Row], tenants: int) -> Table:
    return Table(
        "flux-reconcile",
        "Reconciling without a change",
        f"{tenants} objects of a kind are asked at once to reconcile. The controllers, both API servers and etcd share the"
        " machine: where `cores in use` is about the number of its cores, the machine is the limit. One run.",
        tuple(rows),
    )


def _with_workers(made: Sandbox, tenants: int, workers: Sequence[int]) -> Table:
    rows: list[Row] = []
    names = ("Kustomizations of the management cluster", "Kustomizations of a remote", "releases of a remote")
    for count in workers:
        seconds = 1 if count == workers[0] else 5
        flags = {"concurrent": count, "requeue-dependency": f"{seconds}s"}
        made.up(_text(tenants), {each: flags for each in CONTROLLERS})
        made.apply()
        rows += _rounds(made, f", --concurrent={count}", names)
        took = made.chain(_CHAIN)
        rows.append(Row(f"{_CHAIN} new apps in a row, --requeue-dependency={seconds}s", took))
    return Table(
        "flux-workers",
        "Workers and dependencies",
        "As above, with one set of controllers. New apps in a row depend on each other: a controller looks for a dependency again"
        " after `--requeue-dependency`, which is 30 s by default. One run.",
        tuple(rows),
    )


def _text(tenants: int) -> bytes:
    return (_HEAD + "".join(_TENANT.format(number=number) for number in range(tenants))).encode()


def _content(root: Path) -> None:
    """A Git repository with an app, and the same app as a chart."""
    web, chart = root / "git" / "bench" / "apps" / "web", root / "charts" / "cache"
    web.mkdir(parents=True)
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: cache\nversion: 1.0.0\n")
    for number in range(OBJECTS):
        text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {greeting: hello}\n"
        (web / f"{number}.yaml").write_text(text.replace("NAME", f"web-{number}"))
        (chart / "templates" / f"{number}.yaml").write_text(text.replace("NAME", f"cache-{number}"))
