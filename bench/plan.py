"""How long a large fleet takes from text to plan, guard and YAML: `python bench/plan.py [TENANTS]` (default 1000).

Prints each step in seconds and as a ratio to parsing. Ratios vary less between machines than seconds do.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tenantry.guard import RunLimits, check, held
from tenantry.load import fleet_of
from tenantry.plan.plan import plan
from tenantry.render import to_yaml
from tenantry.source.parse import parse

_HEAD = """\
apiVersion: tenantry/v1
environments: {prod: {management: hub}}
clusters:
  hub: {environments: [prod]}
  edge: {environments: [prod], kubeconfig: {capi: {cluster: edge, namespace: capi}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
defaults: {clusters: {names: [hub]}}
tenants:
"""

_TENANT = """\
  team-{0}:
    sources:
      manifests: {{git: {{url: "https://git.example.com/{0}/manifests", ref: {{branch: main}}}}}}
    apps:
      api: {{kustomize: {{source: manifests, path: "./api/{{env}}"}}, clusters: {{all: true}}}}
      web: {{kustomize: {{source: manifests, path: "./web/{{env}}"}}, dependsOn: [api]}}
"""


def text_of(tenants: int) -> bytes:
    """A fleet file with 11 objects for each tenant."""
    return (_HEAD + "".join(_TENANT.format(number) for number in range(tenants))).encode()


def main() -> None:
    tenants = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    text = text_of(tenants)
    times: dict[str, float] = {}
    with timed("parse", times.__setitem__):
        source = parse(text, "tenants.yaml")
    with timed("check", times.__setitem__):
        fleet = fleet_of(source)
    with timed("plan", times.__setitem__):
        planned = plan(fleet, "prod")
    with timed("guard", times.__setitem__):
        now = held((each.manifest for each in planned.objects), "prod")
        check(planned, now, RunLimits(protected=True, deletions=0))
    with timed("render", times.__setitem__):
        rendered = to_yaml(each.manifest for each in planned.objects)
    print(f"{tenants} tenants, {len(text)} bytes in, {len(planned.objects)} objects, {len(rendered)} bytes out")
    for step, seconds in times.items():
        print(f"{step:8} {seconds:6.2f} s  {seconds / times['parse']:5.1f} x parse")


@contextmanager
def timed(step: str, record: Callable[[str, float], None]) -> Iterator[None]:
    """Pass the duration of the body, in seconds, to `record`."""
    start = time.perf_counter()
    yield
    record(step, time.perf_counter() - start)


if __name__ == "__main__":
    main()
