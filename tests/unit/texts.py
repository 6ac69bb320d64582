"""Texts of fleets, and what becomes of them; shared by the tests of the core."""

from __future__ import annotations

from functools import cache
from textwrap import dedent

from tenantry.facts.explain import Explanation, explain
from tenantry.facts.facts import Kind, Subject
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import PLATFORM
from tenantry.kube.objects import KubeObject
from tenantry.load import fleet_of, plan_all
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import format_invalid
from tenantry.plan.plan import Plan, plan
from tenantry.source.parse import parse

FRAME = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub}
clusters:
  hub: {environments: [dev], labels: {tier: hub}}
  edge: {environments: [dev], labels: {tier: edge}, kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
"""
"""A management cluster `hub`, a remote `edge`; tests put `tenants:` behind it, from line 8."""
CHART = 'helm: {url: "https://charts.example.com", version: 0.1.0}'
FROM_GIT = 'git: {url: "https://git.example.com/fleet", ref: {branch: main}, path: ./charts/objects/}'
"""What stands below `platform.chart` in the frame, and what may stand there instead."""


def rocky(apps: str, rest: str = "clusters: {names: [hub]}") -> str:
    """The frame with one tenant that has a Git and a Helm source; `apps` and `rest` are YAML of any indentation."""
    return (
        FRAME
        + "tenants:\n  rocky:\n"
        + "    sources:\n"
        + "      manifests: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}\n"
        + "      charts: {helm: {url: https://charts.example.com}}\n"
        + _indented(rest, 4)
        + "    apps:\n"
        + _indented(apps, 6)
    )


def _indented(text: str, columns: int) -> str:
    return "".join(f"{' ' * columns}{line}\n" for line in dedent(text).strip("\n").splitlines())


def fleet(text: str) -> Fleet:
    return fleet_of(parse(text.encode(), "tenants.yaml"))


def explained(fleet: Fleet, subject: str, cluster: str | None = None, environment: str = "dev") -> Explanation:
    """What `explain` says of `rocky/web`, `platform/dns` or `rocky`."""
    tenant, _, app = subject.partition("/")
    if tenant == PLATFORM:
        return explain(fleet, plan(fleet, environment), Subject(Kind.ADDON, name=app), cluster)
    return explain(fleet, plan(fleet, environment), Subject(Kind.APP if app else Kind.TENANT, tenant, app), cluster)


@cache
def planned(text: str, environment: str = "dev") -> Plan:
    """The plan of a text, made once, because many tests look at the same one; none of them changes it."""
    return plan(fleet(text), environment)


def problems(text: str | bytes) -> str:
    """Everything the author is told about a file; raises AssertionError for a sound one."""
    raw = text.encode() if isinstance(text, str) else text
    try:
        plan_all(fleet_of(parse(raw, "tenants.yaml")))
    except InvalidFleet as invalid:
        return format_invalid(invalid) + "\n"
    raise AssertionError("the fleet is sound")


def told(*lines: str) -> str:
    """The expected answer of `problems`."""
    return "".join(f"{line}\n" for line in lines)


def one(plan: Plan, kind: str, name: str) -> KubeObject:
    """The only object of a kind and name."""
    (found,) = (object for object in plan.objects if (object.id.kind, object.id.name) == (kind, name))
    return found


def named(plan: Plan) -> list[str]:
    """Every object as `Kind namespace/name`, in the order of the plan."""
    return [str(object.id) for object in plan.objects]
