"""Two apps that install the same on one cluster: when one goes, Flux removes what the other one shows as ready."""

from __future__ import annotations

from tenantry.fleet.fleet import Fleet
from tenantry.load import fleet_of, plan_all
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import format_invalid
from tenantry.source.parse import parse
from tests.table import table

FRAME = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub}}
clusters: {hub: {environments: [dev]}}
platform: {ADDONS}
tenants:
  rocky:
    clusters: {all: true}
    namespaces: {jobs: {}}
    sources:
      m: {git: {url: "https://git.example.com/rocky/m", ref: {branch: main}}}
      same: {git: {url: "ssh://git@git.example.com/rocky/m.git", ref: {branch: main}, interval: 1h}, credentials: there}
      other: {git: {url: "https://git.example.com/rocky/m", ref: {tag: v1}}}
      charts: {helm: {url: "https://charts.example.com"}}
    credentials: {there: {existing: true}}
    apps:
      one: {ONE}
      two: {TWO}
"""
SHOP = "kustomize: {source: m, path: ./shop}"
GIT = "{git: {url: 'https://git.example.com/dns', ref: {branch: main}}}"
ADDON = f"clusters: {{all: true}}, source: {GIT}, kustomize: {{path: ./dns}}"
RELEASE = "helm: {source: charts, chart: web, version: 1.x, releaseName: web, storageNamespace: NAMESPACE}"


def fleet(one: str, two: str, addons: str = "") -> Fleet:
    text = FRAME.replace("ONE", one).replace("TWO", two).replace("ADDONS", addons)
    return fleet_of(parse(text.encode(), "tenants.yaml"))


def said(one: str, two: str, addons: str = "") -> str:
    try:
        plan_all(fleet(one, two, addons))
    except InvalidFleet as invalid:
        return format_invalid(invalid)
    return ""


@table(
    "two",
    [
        SHOP,
        "kustomize: {source: m, path: shop/}",
        "kustomize: {source: m, path: ./shop/./}",
        "kustomize: {source: same, path: ./shop}",
        "kustomize: {source: m, path: ./shop, targetNamespace: rocky}",
        "kustomize: {source: m, path: ./shop, images: [{name: web, newTag: v2}], interval: 1h}",
        "kustomize: {source: m, path: './{place}'}, overrides: [{when: {environments: [dev]}, kustomize: {path: shop}}]",
        "kustomize: {source: m, path: ./shop, prune: false}",
        "kustomize: {source: m, path: ./shop, deletionPolicy: Orphan}",
    ],
)
def test_two_apps_with_the_same_manifests_are_refused(two: str) -> None:
    assert said(SHOP, two.replace("{place}", "{app}")) == (
        "tenants.yaml:17:7: error[installed-twice]: app 'two' of tenant 'rocky' and app 'one' of tenant 'rocky' would both install"
        " the manifests in 'shop' of one source: when one of them goes, Flux removes what the other one has\n"
        "  at tenants.rocky.apps.two\n"
        "  first: tenants.yaml:16:7\n"
        "  on cluster 'hub'\n"
        "  fix: remove one of them, or give it another 'path', 'targetNamespace', 'namePrefix' or 'nameSuffix'\n"
        "Found 1 error"
    )


@table(
    ("one", "two"),
    [
        (SHOP, "kustomize: {source: m, path: ./shop/base}"),
        (SHOP, "kustomize: {source: other, path: ./shop}"),
        (SHOP, "kustomize: {source: m, path: ./shop, targetNamespace: jobs}"),
        (SHOP, "kustomize: {source: m, path: ./shop, namePrefix: blue-}"),
        (SHOP, "kustomize: {source: m, path: ./shop, nameSuffix: -blue}"),
        (SHOP, "kustomize: {source: m, path: ./shop, components: [../tls]}"),
        (SHOP, "kustomize: {source: m, path: ./shop, postBuild: {substitute: {NAME: blue}}}"),
        (SHOP, "kustomize: {source: m, path: ./shop, patches: [{patch: '[]', target: {kind: Service}}]}"),
        ("kustomize: {source: m}", "kustomize: {source: m}"),
        (f"{SHOP[:-1]}, deletionPolicy: Orphan}}", f"{SHOP[:-1]}, deletionPolicy: Orphan}}"),
        (f"{SHOP[:-1]}, prune: false, deletionPolicy: MirrorPrune}}", f"{SHOP[:-1]}, deletionPolicy: Orphan}}"),
    ],
)
def test_what_may_differ_or_deletes_nothing_is_taken(one: str, two: str) -> None:
    assert said(one, two) == ""


def test_add_ons_with_sources_of_their_own_are_compared_too() -> None:
    both = f"addons: {{dns: {{{ADDON}}}, names: {{{ADDON}}}}}"
    found = said(SHOP, SHOP.replace("shop", "web"), both)
    assert "add-on 'names' and add-on 'dns' would both install the manifests in 'dns' of one source" in found
    assert not said(SHOP, SHOP.replace("shop", "web"), both.replace("./dns", "./names", 1))


def test_two_releases_of_one_name_in_one_namespace_are_refused_wherever_helm_stores_them() -> None:
    one, two = RELEASE.replace("NAMESPACE", "rocky"), RELEASE.replace("NAMESPACE", "jobs")
    assert "would both install a release 'web' of one chart in namespace 'rocky': when one of them goes, Flux" in said(
        one, two
    )
    assert "error[duplicate-release]" in said(one, one)
    assert "installed-twice" not in said(one, one)
    assert not said(one, two.replace("chart: web", "chart: worker"))
    assert not said(one, two.replace("version: 1.x", "version: 1.x, targetNamespace: jobs"))
