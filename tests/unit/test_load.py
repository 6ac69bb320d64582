"""Plans of environments side by side."""

from __future__ import annotations

import pytest

from tenantry.load import plan_one
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import format_invalid
from tenantry.plan.plan import plan
from tests.table import table
from tests.unit.texts import FRAME, fleet, named, told

BESIDE = FRAME.replace(
    "dev: {management: hub}", 'dev: {management: hub}\n  r1: {extends: dev, namespace: "{env}-{tenant}"}'
).replace("hub: {environments: [dev]", "hub: {environments: [dev, r1]")
TENANT = (
    "  {}: {{clusters: {{all: true}}, sources: {{s: {{git: {{url: https://git.example.com/x, ref: {{branch: main}}}}}}}},"
    " apps: {{web: {{kustomize: {{source: s}}}}}}}}\n"
)
ADDON = """\
  addons:
    dns:
      clusters: {names: [hub]}
      source: {git: {url: https://git.example.com/dns, ref: {tag: v1}}}
      kustomize: {}
"""


@table("environment", ["dev", "r1"])
def test_an_environment_is_not_planned_alone_where_it_would_take_what_another_has(environment: str) -> None:
    loaded = fleet(BESIDE + "tenants:\n" + TENANT.format("rocky") + TENANT.format("r1-rocky"))
    with pytest.raises(InvalidFleet) as caught:
        plan_one(loaded, environment)
    first, second = ("10:3", "11:13") if environment == "r1" else ("11:3", "10:10")
    other, tenant = ("dev", "r1-rocky") if environment == "r1" else ("r1", "rocky")
    expected = told(
        f"tenants.yaml:{second}: error[planned-twice]: environments '{environment}' and '{other}' would both create"
        f" Namespace r1-rocky on cluster 'hub'",
        f"  at tenants.{tenant}",
        f"  first: tenants.yaml:{first}",
        "  fix: rename one of them, or change the 'namespace' of one environment",
        "Found 1 error",
    )
    assert expected == format_invalid(caught.value) + "\n"


def test_an_add_on_belongs_to_the_first_environment_that_its_cluster_names() -> None:
    text = BESIDE[: BESIDE.index("platform:")] + "platform:\n" + ADDON
    dns = ["GitRepository tenantry-system/dns", "Kustomization tenantry-system/dns"]
    assert (dns, []) == tuple(named(plan(fleet(text), each)) for each in ("dev", "r1"))
    swapped = text.replace("[dev, r1]", "[r1, dev]")
    assert ([], dns) == tuple(named(plan(fleet(swapped), each)) for each in ("dev", "r1"))
