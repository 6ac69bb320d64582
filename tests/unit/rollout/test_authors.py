"""Against whom it counts if an app is not ready, and who is stopped with whom."""

from __future__ import annotations

from tenantry.kube.objects import ObjectId
from tenantry.plan.plan import Plan
from tenantry.rollout.authors import PLATFORM, Author, Authors
from tests.table import table
from tests.unit.texts import planned

TENANTS = {
    "acme": "{class: customer}",
    "bolt": "{class: small, apps: {web: {kustomize: {path: ./own}}}}",
    "rocky": (
        "{clusters: {names: [hub, cell]}, sources: {m: {git: {url: 'https://git.example.com/r', ref: {tag: v1}}}},"
        " apps: {web: {kustomize: {source: m}}, api: {kustomize: {source: m, path: ./api}}}}"
    ),
}
TEXT = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub, waves: [{names: [cell]}, {all: true}]}
clusters:
  hub: {environments: [dev]}
  cell: {environments: [dev], kubeconfig: {secret: {name: cell, namespace: remotes, key: value}}}
platform:
  chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}
  addons:
    dns: {clusters: {all: true}, source: {helm: {url: "https://c.example.com"}}, helm: {chart: dns, version: 1.0.0}}
tenantClasses:
  customer:
    clusters: {names: [hub, cell]}
    sources: {m: {git: {url: "https://git.example.com/a", ref: {tag: v1}}}}
    apps:
      web: {kustomize: {source: m}}
      api: {kustomize: {source: m, path: ./api}}
  small: {class: customer}
tenants:
"""
PLAN = planned(TEXT + "".join(f"  {name}: {each}\n" for name, each in TENANTS.items()))
FIRST, LATER = "cell", "hub"
ACME, BOLT, ROCKY = Author("acme"), Author("bolt"), Author("rocky")
CUSTOMER = Author(of_class="customer")


def objects(*ends: str, plan: Plan = PLAN, kind: str = "") -> frozenset[ObjectId]:
    """Those whose names end so."""
    found = frozenset(each.id for each in plan.objects if each.id.name.endswith(ends) and kind in each.id.kind)
    assert found, ends
    return found


def one(end: str, kind: str = "") -> ObjectId:
    found = [id for id in objects(end, kind=kind) if id.kind in ("Kustomization", "HelmRelease")]
    assert len(found) == 1, found
    return found[0]


@table(
    ("name", "author"),
    [
        ("cell-rocky-web", ROCKY),
        ("cell-rocky-baseline", ROCKY),
        ("cell-acme-web", CUSTOMER),
        ("cell-bolt-web", CUSTOMER),
        ("cell-bolt-baseline", BOLT),
        ("cell-dns", PLATFORM),
    ],
)
def test_the_author_is_the_tenant_or_the_class_of_the_app_or_the_platform(name: str, author: Author) -> None:
    assert Authors(PLAN).of(one(name)) == author


def test_a_baseline_that_changes_with_the_platforms_chart_counts_against_the_platform() -> None:
    charts = frozenset(each.id for each in PLAN.objects if each.id.kind == "HelmChart" and not each.owner.tenant)
    authors = Authors(PLAN, charts | objects("-baseline"))
    assert authors.of(one("cell-rocky-baseline")) == PLATFORM
    assert authors.of(one("cell-rocky-web")) == ROCKY


@table(
    ("touched", "ready_before", "blamed"),
    [
        # It changes here, or only later: this wave has to prove it.
        (("cell-rocky-web",), False, ROCKY),
        (("hub-rocky-web", "rocky-web"), False, ROCKY),
        # Another app of the tenant changes.
        (("cell-rocky-api",), False, None),
        (("cell-rocky-api",), True, ROCKY),
        # The platform changes something, here or not yet.
        (("cell-dns",), True, PLATFORM),
        (("cell-dns",), False, None),
        # Another tenant changes something.
        (("cell-acme-web",), True, None),
    ],
)
def test_what_is_not_ready_counts_against_its_author_or_what_has_broken_it(
    touched: tuple[str, ...], *, ready_before: bool, blamed: Author | None
) -> None:
    authors = Authors(PLAN, objects(*touched))
    assert authors.blamed(one("cell-rocky-web"), 1, ready_before=ready_before) == blamed


def test_what_changes_in_later_waves_alone_has_broken_nothing_in_an_earlier_one() -> None:
    later = frozenset(id for id in objects("dns") if (wave := PLAN.wave_of(id)) and wave.number == 2)
    assert later
    assert Authors(PLAN, later).blamed(one("cell-rocky-web"), 1, ready_before=True) is None


def test_with_a_class_all_of_its_tenants_are_stopped_and_with_a_tenant_no_other_one() -> None:
    authors = Authors(PLAN)
    names = ("cell-rocky-web", "cell-acme-web", "cell-acme-api", "cell-bolt-baseline", "cell-dns")
    assert [authors.is_stopped(one(name), [CUSTOMER]) for name in names] == [False, True, True, True, False]
    assert [authors.is_stopped(one(name), [ACME]) for name in names] == [False, True, True, False, False]
    assert authors.tenants_of([CUSTOMER, ROCKY]) == {"acme", "bolt", "rocky"}
    assert (authors.in_words(CUSTOMER), authors.in_words(ROCKY)) == (
        "class 'customer' (tenants acme, bolt)",
        "tenant 'rocky'",
    )
