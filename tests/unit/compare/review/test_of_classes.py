"""A change of a class is told once, for its tenants; what else changes is told of each of them."""

from __future__ import annotations

from tenantry.cli.diff.words import of_classes
from tenantry.compare.review.model import EnvironmentReview
from tests.unit.compare.review.outline import reviewed
from tests.unit.texts import FRAME

CLASSES = """\
tenantClasses:
  customer:
    clusters: {names: [edge]}
    sources: {charts: {helm: {url: https://charts.example.com}}}
    apps: {app: {helm: {source: charts, chart: shop, version: 4.2.0, values: {seats: 5}}}}
  small: {class: customer, quota: {pods: 10}, overrides: {environments: {dev: {timeout: 1m}}}}
tenants:
  a: {class: small}
  b: {class: small, apps: {app: {helm: {values: {seats: 9}}}}}
  c: {class: customer, quota: {pods: 10}}
"""


def changed(*replacements: tuple[str, str]) -> EnvironmentReview:
    after = CLASSES
    for old, new in replacements:
        assert old in after
        after = after.replace(old, new, 1)
    (environment,) = reviewed(FRAME + CLASSES, FRAME + after).environments
    return environment


def told(review: EnvironmentReview) -> list[tuple[str, str, list[str]]]:
    """Who is told of, in words, and the keys of the settings."""
    return [
        (each.tenant, each.of_class, [setting.key for change in each.changes for setting in change.settings])
        for each in review.tenants
    ]


def objects(review: EnvironmentReview) -> list[object]:
    return sorted((id for each in review.tenants for change in each.changes for id in change.objects), key=str)


def accounted(review: EnvironmentReview) -> bool:
    """Whether each object that differs is in exactly one change."""
    diff = review.diff
    ids = {each.id for each in (*diff.changed, *diff.added.objects, *diff.removed.objects)}
    return objects(review) == sorted(ids, key=str)


def test_a_setting_of_a_class_is_told_of_the_class() -> None:
    review = changed(("small: {class: customer, quota: {pods: 10}", "small: {class: customer, quota: {pods: 20}"))
    assert told(review) == [("a", "small", ["quota.pods"]), ("b", "small", ["quota.pods"])]
    (group,) = of_classes(review)
    assert (group.tenants, len(group.review.changes[0].objects)) == (("a", "b"), 2)
    assert accounted(review)


def test_so_is_one_of_its_overrides_and_of_its_parents() -> None:
    review = changed(("timeout: 1m", "timeout: 2m"), ("version: 4.2.0", "version: 4.3.0"))
    assert [(group.review.of_class, group.tenants) for group in of_classes(review)] == [
        ("small", ("a", "b")),
        ("customer", ("a", "b", "c")),
    ]
    assert accounted(review)


def test_an_app_that_comes_with_a_class_is_told_of_the_class() -> None:
    more = "apps: {more: {helm: {source: charts, chart: more, version: 1.0.0}}, app: "
    review = changed(("apps: {app: ", more))
    assert [(each.tenant, each.of_class) for each in review.tenants] == [
        ("a", "customer"),
        ("b", "customer"),
        ("c", "customer"),
    ]
    assert accounted(review)


def test_what_a_tenant_changes_itself_is_the_tenants() -> None:
    review = changed(
        ("pods: 10}, over", "pods: 20}, over"),
        ("seats: 9", "seats: 10"),
        ("a: {class: small", "a: {class: small, role: edit"),
    )
    assert told(review) == [
        ("a", "small", ["quota.pods"]),
        ("b", "small", ["quota.pods"]),
        ("a", "", ["role"]),
        ("b", "", ["helm.values.seats"]),
    ]
    assert accounted(review)


def test_another_class_is_a_change_of_the_tenant() -> None:
    review = changed(("c: {class: customer, quota: {pods: 10}}", "c: {class: small}"))
    assert {(each.tenant, each.of_class) for each in review.tenants} == {("c", "")}
    assert accounted(review)


def test_a_value_beside_those_of_a_class_is_the_tenants() -> None:
    review = changed(("c: {class: customer, quota: {pods: 10}}", "c: {class: customer, quota: {pods: 20}}"))
    assert told(review) == [("c", "", ["quota.pods"])]


def test_a_source_that_tenants_share_is_told_of_the_class_for_each_of_them() -> None:
    review = changed(("https://charts.example.com", "https://other.example.com"))
    groups = {(group.review.of_class, group.tenants) for group in of_classes(review)}
    assert groups == {("customer", ("a", "b", "c"))}
    assert {each.tenant: each.changes[0].part.name for each in review.tenants if each.of_class} == dict.fromkeys(
        "abc", "charts"
    )
    assert accounted(review)
