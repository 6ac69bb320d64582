"""The fleet map of a review."""

from __future__ import annotations

from dataclasses import replace

from tenantry.cli.page.diff_page import STATES, diff_page, review_map
from tenantry.cli.page.fleet_map import Alert, Row, Value
from tenantry.compare.fields import FieldChange
from tenantry.compare.review.model import Change, Danger, DangerKind, Effect, Review, Setting
from tenantry.kube.objects import ObjectId
from tenantry.messages.data import ABSENT
from tests.unit.cli.diff import samples
from tests.unit.texts import fleet, planned, rocky

TEXT = rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}")
FLEET, PLANS = fleet(TEXT), {"dev": planned(TEXT)}


def reviewed(*changes: Change, dangers: tuple[Danger, ...] = (), name: str = "dev") -> Review:
    tenant = samples.a_tenant(*changes, sentences=("it is paused",))
    return samples.review(samples.environment(tenant, name=name, total=2, dangers=dangers))


def web(**given: object) -> Change:
    return samples.an_app(**{"clusters": ("edge",), "of": 2, **given})  # type: ignore[arg-type]


def test_a_change_is_an_entry_on_the_columns_of_its_clusters() -> None:
    change = web(
        settings=(Setting("helm.version", "1.2.0", "1.3.0"), Setting("suspend", ABSENT, [1])),
        fields=(FieldChange(("HelmRelease", "spec", "values"), "a\nb\n", "a\nc\n"),),
        sentences=("the app is installed anew",),
        objects=(ObjectId("v1", "HelmRelease", "kamaji", "edge-rocky-web"),),
    )
    shown = review_map(reviewed(change), FLEET.clusters, PLANS, PLANS)
    assert shown.rows == (Row("platform"), Row("rocky", (0, 1, 0, 1), ("it is paused",)))
    assert [each.cluster for each in shown.columns] == ["hub", "edge"]
    (entry,) = shown.entries
    assert (entry.row, entry.columns, STATES[entry.state].key) == (1, (1,), "changed")
    assert (entry.kind, entry.name, entry.of, entry.lines) == ("app", "web", 2, ("the app is installed anew",))
    assert entry.values == (
        Value("helm.version", "1.2.0", "1.3.0"),
        Value("suspend", None, "[1]"),
        Value("HelmRelease.spec.values", lines=("@@ -1,2 +1,2 @@", " a", "-b", "+c")),
    )
    assert entry.objects == ("HelmRelease kamaji/edge-rocky-web",)


def test_every_effect_has_a_state() -> None:
    changes = [web(effect=effect) for effect in Effect]
    shown = review_map(reviewed(*changes), FLEET.clusters, PLANS, PLANS)
    assert [STATES[each.state].key for each in shown.entries] == ["added", "removed", "changed", "renamed"]


def test_a_danger_is_an_alert_and_an_entry_where_it_is() -> None:
    danger = Danger(kind=DangerKind.POD_SECURITY, text="pods may be privileged", tenants=("rocky",), clusters=("hub",))
    shown = review_map(reviewed(web(), dangers=(danger,)), FLEET.clusters, PLANS, PLANS)
    assert shown.alerts == (Alert(label="pod security", text="pods may be privileged", where="dev", entries=(1,)),)
    entry = shown.entries[1]
    assert (entry.row, entry.columns, STATES[entry.state].key) == (1, (0,), "danger")


def test_a_danger_without_clusters_is_where_its_tenant_changes() -> None:
    danger = Danger(kind=DangerKind.RIGHTS, text="more rights", tenants=("rocky",))
    shown = review_map(reviewed(web(), dangers=(danger,)), FLEET.clusters, PLANS, PLANS)
    assert (shown.alerts[0].where, shown.entries[1].columns) == ("dev", (1,))
    # If nothing of the tenant changes, it is where the tenant is; without a tenant, everywhere.
    shown = review_map(reviewed(dangers=(danger, replace(danger, tenants=()))), FLEET.clusters, PLANS, PLANS)
    assert {each.columns for each in shown.entries} == {(0, 1)}


def test_the_same_danger_in_two_environments_is_one_alert() -> None:
    danger = Danger(kind=DangerKind.RIGHTS, text="more rights", tenants=("rocky",), clusters=("hub",))
    both = [reviewed(web(), dangers=(danger,), name=name).environments[0] for name in ("dev", "prod")]
    shown = review_map(samples.review(*both), FLEET.clusters, {}, {})
    assert [(each.where, each.entries) for each in shown.alerts] == [("dev, prod", (1, 3))]
    assert [(each.environment, each.cluster) for each in shown.columns] == [
        ("dev", "hub"),
        ("dev", "edge"),
        ("prod", "hub"),
        ("prod", "edge"),
    ]


def test_control_characters_are_spelled_out() -> None:
    change = web(name="a\x1b[2Jb", settings=(Setting("k\u202e", "x\u200b", "y"),))
    (entry,) = review_map(reviewed(change), FLEET.clusters, PLANS, PLANS).entries
    assert entry.name == "a\\x1b[2Jb"
    assert entry.values == (Value("k\\u202e", "x\\u200b", "y"),)


def test_the_page_says_how_much_changes() -> None:
    page = diff_page(samples.BUMPED, "main", ["too much is removed"], {}, {}, {})
    assert page.heading == "prod: 1 tenant, 1 app on 479 of 501 clusters"
    assert page.figures == (
        ("0", "dangers"),
        ("1", "tenants"),
        ("1", "apps and add-ons"),
        ("479 of 501", "clusters"),
        ("+0 ~0 \N{MINUS SIGN}0", "objects"),
    )
    assert (page.about, page.notes) == ("compared with main", ("No difference in dev, test.",))
    assert (page.refusals, page.calm) == (("too much is removed",), "No dangers found")


def test_without_a_difference_the_page_says_so() -> None:
    page = diff_page(samples.review(unchanged=("dev",)), "main", [], {}, {}, {})
    assert (page.heading, page.figures, page.calm, page.notes) == ("No difference", (), "", ())
    assert page.map.entries == ()
