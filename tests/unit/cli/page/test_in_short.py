"""A change in a few words: in a cell, and in the title of a page."""

from __future__ import annotations

from typing import Any

from tenantry.cli.page.in_short import in_short, title
from tenantry.compare.fields import FieldChange
from tenantry.compare.review.model import Change, Effect, Part, PartKind, Setting, TenantReview
from tenantry.messages.data import ABSENT
from tests.table import table
from tests.unit.cli.diff import samples


def web(*settings: Setting, **given: Any) -> Change:
    return samples.an_app(settings=settings, **{"clusters": ("hub", "edge"), "of": 2, **given})


def tenant(effect: Effect, *clusters: str, of: int = 3, **given: Any) -> Change:
    return Change(part=Part(PartKind.TENANT, "tina", "tina"), effect=effect, clusters=clusters, of=of, **given)


LONG = "x" * 50


@table(
    ("change", "expected"),
    [
        (web(samples.BUMP), "1.2.0 → 1.3.0"),
        (web(Setting("kustomize.path", "./a", "./b")), "path ./a → ./b"),
        (web(Setting("helm.values.web.replicas", 2, 3)), "web.replicas 2 → 3"),
        (web(Setting("quota.pods", 40, 50)), "quota pods 40 → 50"),
        (web(Setting("quota.pods", ABSENT, 50)), "quota pods +50"),
        (web(Setting("role", "view", ABSENT)), "role no longer view"),
        (web(Setting("port", 1, "1")), "port 1 → '1'"),
        (web(Setting("values", "a\nb", "a\nc")), "values"),
        (web(Setting("path", "a", LONG)), "path"),
        (web(samples.BUMP, Setting("path", "a", "b")), "1.2.0 → 1.3.0, and 1 more"),
        (web(fields=(FieldChange(("HelmRelease", "spec", "timeout"), "5m", "6m"),)), "spec.timeout 5m → 6m"),
        (web(sentences=(LONG, "it is paused")), "it is paused"),
        (web(effect=Effect.ADDED), ""),
        (web(effect=Effect.RENAMED, was="old"), "was old"),
        (tenant(Effect.REMOVED, "hub"), "leaves"),
        (web(Setting("a\x1b", "b", "c\u202e")), "a\\x1b b → c\\u202e"),
    ],
)
def test_a_cell_says_what_changes(change: Change, expected: str) -> None:
    assert in_short(change) == expected


def of(*changes: Change, name: str = "rocky", **given: Any) -> TenantReview:
    return samples.a_tenant(*changes, tenant=name, **given)


ADDON = Change(
    part=Part(PartKind.ADDON, "", "certs"), effect=Effect.CHANGED, clusters=("hub",), of=2, settings=(samples.BUMP,)
)
QUOTA = samples.quota("rocky", "hub")


@table(
    ("tenants", "expected"),
    [
        ([of(tenant(Effect.REMOVED, "hub"), name="tina")], "tina leaves hub"),
        ([of(tenant(Effect.ADDED, "a", "b", "c"), name="tina", effect=Effect.ADDED)], "tina comes to 3 clusters"),
        ([of(web(samples.BUMP))], "rocky/web 1.2.0 → 1.3.0"),
        ([of(web(samples.BUMP, clusters=("edge",)))], "rocky/web 1.2.0 → 1.3.0 on edge"),
        ([of(web(effect=Effect.REMOVED, clusters=("edge",)))], "rocky/web is removed from edge"),
        ([of(web(effect=Effect.ADDED))], "rocky/web is new"),
        ([of(web(effect=Effect.RENAMED, was="old"))], "old becomes rocky/web"),
        ([of(ADDON, name="")], "add-on certs 1.2.0 → 1.3.0 on hub"),
        ([QUOTA, of(web(samples.BUMP), name="movy")], "quota pods 40 → 50 for rocky; movy/web 1.2.0 → 1.3.0"),
        ([of(web(samples.BUMP), name=each) for each in ("a", "b", "c")], "app web of 3 tenants 1.2.0 → 1.3.0"),
        ([QUOTA, samples.quota("movy", "hub")], "quota pods 40 → 50 for rocky and movy"),
        (
            [of(web(samples.BUMP, name=f"app-{at}"), name=f"t-{at}") for at in range(4)],
            "4 tenants, 4 apps on 2 of 501 clusters",
        ),
        (
            [of(web(Setting("path", "a" * 9, "b" * 9), name=LONG), web(samples.BUMP, name=LONG))],
            "1 tenant, 1 app on 2 of 501 clusters",
        ),
    ],
)
def test_a_title_says_what_a_handful_of_changes_does(tenants: list[TenantReview], expected: str) -> None:
    assert title(samples.review(samples.environment(*tenants))) == f"prod: {expected}"


def test_environments_with_the_same_change_are_in_one_title() -> None:
    one, other = samples.environment(QUOTA), samples.environment(QUOTA, name="dev")
    assert title(samples.review(one, other)) == "prod, dev: quota pods 40 → 50 for rocky"
    third = samples.environment(of(tenant(Effect.REMOVED, "hub"), name="tina"), name="test")
    assert title(samples.review(one, third)) == "prod: quota pods 40 → 50 for rocky; test: tina leaves hub"
