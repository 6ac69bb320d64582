"""What waves cost: the same fleet of many clusters with and without a rollout, on a management cluster alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from statistics import median

from bench.clusters import CONTROLLERS, SERVERS, Clusters
from bench.clusters import clusters as started
from bench.fleets import write
from bench.measure import Used
from bench.players import played
from bench.tables import Row, Table
from tenantry.cluster.connect import connect
from tenantry.load import fleet_of, plan_one
from tenantry.source.parse import parse
from tenantry.stacks.command import tuned

_HUB = """\
apiVersion: tenantry/v1
environments:
  prod:
    management: hub
{rollout}clusterGroups:
  edge:
    environments: [prod]
    labels: {{tier: edge}}
    kubeconfig: {{kamaji: {{controlPlane: "{{cluster}}", namespace: {namespace}}}}}
clusters:
  hub: {{environments: [prod]}}
{clusters}platform: {{chart: {{helm: {{url: "https://charts.example.com", version: 0.3.0}}}}}}
defaults: {{clusters: {{{selected}}}}}
tenants:
  rocky:
    configs: {{settings: {{data: {{COLOR: blue}}}}}}
    sources:
      manifests: {{git: {{url: "https://git.example.com/rocky", ref: {{tag: v1}}}}}}
      charts: {{helm: {{url: "https://charts.example.com"}}}}
    apps:
      web:
        kustomize:
          source: manifests
          path: "./v{version}"
          postBuild: {{substituteFrom: [{{kind: ConfigMap, name: settings}}]}}
      db: {{helm: {{source: charts, chart: db, version: 1.0.0}}}}
"""
_CLUSTER = "  edge-{0}: {{group: edge, labels: {{ring: {1}}}}}\n"
_ROLLOUT = "    waves: [{labels: {ring: canary}}, 25%, rest]\n"
_NAMESPACE = "remotes"
_FIRST = 5
"""Clusters in the first wave."""
_QUIET = ("--yes", "--skip-preview", "--suppress-outputs")
_WITHOUT, _IN_WAVES = "at once", "in waves"
_PHASES = {
    "preview of a change on all clusters": ("preview", ()),
    "up of it": ("up", _QUIET),
    "up without change": ("up", _QUIET),
}


def fleet(count: int, version: int, *, in_waves: bool) -> bytes:
    """A tenant with two apps on so many remote clusters. version: of the first app's path."""
    edges = (_CLUSTER.format(each, "canary" if each < _FIRST else "late") for each in range(count))
    words = {
        "rollout": _ROLLOUT if in_waves else "",
        "namespace": _NAMESPACE,
        "clusters": "".join(edges),
        "selected": "labels: {tier: edge}" if count else "names: [hub]",
        "version": version,
    }
    return _HUB.format(**words).encode()


def measure(*, clusters: int, rounds: int) -> Iterator[Table]:
    # The sandbox runs no remote cluster: what their controllers would say is played.
    with started(fleet(0, 1, in_waves=False)) as made:
        kubeconfig = made.sandbox / "hub" / "kubeconfig"
        with connect(kubeconfig, None) as client:
            client.http.post("/api/v1/namespaces", json={"metadata": {"name": _NAMESPACE}}).raise_for_status()
        made.stop(CONTROLLERS)
        try:
            with played(kubeconfig):
                yield _measured(made, clusters, rounds)
        finally:
            made.go_on(CONTROLLERS)


def _measured(made: Clusters, clusters: int, rounds: int) -> Table:
    text = fleet(clusters, 1, in_waves=True)
    objects = len(plan_one(fleet_of(parse(text, "tenants.yaml")), "prod").objects)
    write(made.root, text)
    made.pulumi("stack", "select", "--create", "prod")
    _pulumi(made, "up", _QUIET)
    found: dict[str, dict[str, list[tuple[Used, float]]]] = {phase: {} for phase in _PHASES}
    for turn in range(2 * rounds):
        name = _IN_WAVES if turn % 2 else _WITHOUT
        write(made.root, fleet(clusters, turn + 2, in_waves=name == _IN_WAVES))
        for phase, (verb, options) in _PHASES.items():
            before = made.processor_of(SERVERS)
            used = _pulumi(made, verb, options)
            found[phase].setdefault(name, []).append((used, made.processor_of(SERVERS) - before))
    return Table(
        "rollouts",
        f"A change on {clusters} clusters, at once and in waves",
        f"A tenant with a Kustomization and a Helm release on {clusters} remote clusters: {objects:,} objects on the management"
        " cluster, which alone runs. Flux's controllers are stopped, and a script sets the status that they would set. The waves"
        f" are {_FIRST} clusters, a quarter of the rest and all others. Seconds of the processor of the engine with the program"
        " and the provider, their ratio, seconds, and seconds of the processor of the API server and etcd. "
        f"{f'Both take turns; medians of {rounds} runs.' if rounds > 1 else 'One run each.'}",
        tuple(Row(phase, more=_figures(by_name)) for phase, by_name in found.items()),
    )


def _pulumi(made: Clusters, verb: str, options: tuple[str, ...]) -> Used:
    command = tuned(verb, "prod", options)
    return made.pulumi(*command.argv[1:], variables=command.variables)


def _figures(found: Mapping[str, list[tuple[Used, float]]]) -> dict[str, float]:
    def of(name: str, figure: str) -> float:
        return median(servers if figure == "servers" else getattr(used, figure) for used, servers in found[name])

    at_once, in_waves = (partial(of, name) for name in (_WITHOUT, _IN_WAVES))
    return {
        f"processor, {_WITHOUT}": at_once("processor"),
        f"processor, {_IN_WAVES}": in_waves("processor"),
        "ratio": in_waves("processor") / at_once("processor"),
        f"seconds, {_WITHOUT}": at_once("seconds"),
        f"seconds, {_IN_WAVES}": in_waves("seconds"),
        f"servers, {_WITHOUT}": at_once("servers"),
        f"servers, {_IN_WAVES}": in_waves("servers"),
    }
