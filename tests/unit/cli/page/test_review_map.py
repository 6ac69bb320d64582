"""The fleet map of a review."""

from __future__ import annotations

from dataclasses import replace

from tenantry.cli.page.diff_page import diff_page
from tenantry.cli.page.document import Notice
from tenantry.cli.page.fleet_map import Alert, Row, Value
from tenantry.cli.page.review_map import STATES, review_map
from tenantry.compare.fields import FieldChange
from tenantry.compare.review.model import Change, Danger, DangerKind, Effect, Part, PartKind, Review, Setting
from tenantry.kube.objects import ObjectId
from tenantry.messages.data import ABSENT
from tenantry.messages.errors import Refused
from tests.table import table
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
    whole = Danger(kind=DangerKind.GATE, text="no gate")
    shown = review_map(reviewed(dangers=(danger, whole)), FLEET.clusters, PLANS, PLANS)
    assert [(each.row, each.columns) for each in shown.entries] == [(1, (0, 1)), (0, (0, 1))]


def test_the_same_danger_in_two_environments_is_one_alert() -> None:
    danger = Danger(kind=DangerKind.RIGHTS, text="more rights", tenants=("rocky",), clusters=("hub",))
    both = [reviewed(web(), dangers=(danger,), name=name).environments[0] for name in ("dev", "prod")]
    shown = review_map(samples.review(*both), FLEET.clusters, {}, {})
    assert [(each.where, each.entries) for each in shown.alerts] == [("dev, prod", (1,))]
    assert shown.entries[1].columns == (0, 2)
    assert [(each.environment, each.cluster) for each in shown.columns] == [
        ("dev", "hub"),
        ("dev", "edge"),
        ("prod", "hub"),
        ("prod", "edge"),
    ]


def test_equal_changes_of_two_environments_are_one_entry() -> None:
    both = [reviewed(web(settings=(samples.BUMP,)), name=name).environments[0] for name in ("dev", "prod")]
    (entry,) = review_map(samples.review(*both), FLEET.clusters, {}, {}).entries
    assert (entry.columns, entry.of, entry.words) == ((0, 1), 4, "1.2.0 → 1.3.0")


QUOTA = samples.quota("rocky", "edge").changes[0]
GONE = web(name="old", effect=Effect.REMOVED)


@table(
    ("kind", "text", "changes", "expected"),
    [
        (DangerKind.QUOTA, "the quota is lowered", (web(), QUOTA), (1,)),
        (DangerKind.DELETION, "app 'old' (tenant 'rocky') is removed", (web(), GONE), (1,)),
        (DangerKind.REINSTALLATION, "app 'web' (tenant 'rocky') is installed anew", (web(), GONE), (0,)),
        (DangerKind.DELETION, "everything is removed", (web(), GONE), (1,)),
        (DangerKind.PROTECTION, "nothing is protected", (QUOTA,), (0,)),
        (DangerKind.PROTECTION, "nothing is protected", (QUOTA, web()), ()),
        (DangerKind.QUOTA, "the quota is lowered", (web(), replace(QUOTA, clusters=("hub",))), ()),
    ],
)
def test_a_danger_belongs_to_the_change_that_makes_it(
    kind: DangerKind, text: str, changes: tuple[Change, ...], expected: tuple[int, ...]
) -> None:
    danger = Danger(kind=kind, text=text, tenants=("rocky",), clusters=("edge",))
    shown = review_map(reviewed(*changes, dangers=(danger,)), FLEET.clusters, PLANS, PLANS)
    assert shown.entries[-1].about == expected


def test_what_leaves_with_a_cluster_is_told_of_the_cluster() -> None:
    cluster = Change(part=Part(PartKind.CLUSTER, "", "edge"), effect=Effect.REMOVED, clusters=("edge",), of=2)
    leaving = replace(cluster, part=Part(PartKind.TENANT, "rocky", "rocky"))
    danger = Danger(kind=DangerKind.DELETION, text="it is removed", tenants=("rocky",), clusters=("edge",))
    (environment,) = reviewed(leaving, dangers=(danger,)).environments
    shown = review_map(samples.review(replace(environment, clusters=(cluster,))), FLEET.clusters, PLANS, PLANS)
    assert [(each.told, each.about) for each in shown.entries] == [(-1, ()), (0, ()), (-1, (1, 0))]


def test_few_cells_are_listed() -> None:
    assert review_map(reviewed(web()), FLEET.clusters, PLANS, PLANS).listed
    assert not review_map(samples.BUMPED, {}, {}, {}).listed


def test_control_characters_are_spelled_out() -> None:
    change = web(name="a\x1b[2Jb", settings=(Setting("k\u202e", "x\u200b", "y"),))
    (entry,) = review_map(reviewed(change), FLEET.clusters, PLANS, PLANS).entries
    assert entry.name == "a\\x1b[2Jb"
    assert entry.values == (Value("k\\u202e", "x\\u200b", "y"),)


def test_the_page_says_how_much_changes() -> None:
    refused = Refused("it would remove\n  namespace 'a'\n  namespace 'b'", "put it back; or run `tenantry up -e prod`")
    page = diff_page(samples.BUMPED, "main", [refused], {}, {}, {})
    assert page.heading == "prod: rocky/web 1.2.0 → 1.3.0 on 479 clusters"
    assert page.figures == (
        ("0", "dangers"),
        ("1", "tenant"),
        ("1", "apps and add-ons"),
        ("479 of 501", "clusters"),
        ("+0 ~0 \N{MINUS SIGN}0", "objects"),
    )
    assert (page.about, page.notes) == ("compared with main", (Notice(("No difference in dev, test.",)),))
    lines = ("it would remove", "namespace 'a'", "namespace 'b'")
    notice = Notice(lines, ("put it back; or run `tenantry up -e prod`",), ("tenantry up -e prod",))
    assert (page.refusals, page.calm) == ((notice,), "No dangers found")


def test_without_a_difference_the_page_says_so() -> None:
    page = diff_page(samples.review(unchanged=("dev",)), "main", [], {}, {}, {})
    assert (page.heading, page.figures, page.calm, page.notes) == ("No difference", (), "", ())
    assert page.map.entries == ()
