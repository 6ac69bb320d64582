"""A review as text for a terminal."""

from __future__ import annotations

import click

from tenantry.cli.diff.terminal import as_text
from tenantry.cli.diff.values import EVERYTHING, DisplayLimits
from tenantry.compare.fields import FieldChange
from tenantry.compare.review.model import Change, Danger, DangerKind, Effect, Part, PartKind, Review, Setting
from tenantry.messages.data import ABSENT
from tests.table import table
from tests.unit.cli.diff.samples import ADMIN, BUMP, BUMPED, a_tenant, an_app, environment, quota, review

LIMITS = DisplayLimits()


def text(review: Review, width: int | None = None, limits: DisplayLimits = LIMITS) -> str:
    return click.unstyle(as_text(review, "main", limits, width))


def body(review: Review, width: int | None = None, limits: DisplayLimits = LIMITS) -> list[str]:
    """The lines below the heading of the first environment."""
    return text(review, width, limits).split("\n\n")[1].splitlines()[1:]


def test_the_same_bump_on_hundreds_of_clusters_is_one_line() -> None:
    assert text(BUMPED) == (
        "against main\n"
        "\n"
        "prod: 1 tenant, 1 app on 479 of 501 clusters\n"
        "  ~ tenant rocky\n"
        "      ~ app web on 479 of 501 clusters\n"
        "          ~ helm.version: 1.2.0 -> 1.3.0\n"
        "\n"
        "no difference: dev, test"
    )


def test_dangers_come_first_and_the_same_one_is_told_once() -> None:
    both = review(environment(dangers=(ADMIN,)), environment(name="dev", dangers=(ADMIN,)))
    assert text(both).splitlines()[2] == (
        "! prod, dev: tenant 'rocky' gives cluster-admin in its namespaces on edge-1 to its apps"
    )


def test_dangers_that_are_not_shown_are_counted_by_their_kind() -> None:
    kinds = [DangerKind.QUOTA] * 30 + [DangerKind.NETWORK] * 5
    dangers = tuple(Danger(kind=kind, text=str(number)) for number, kind in enumerate(kinds))
    shown = text(review(environment(dangers=dangers))).splitlines()
    assert shown[27] == "! and 10 more: 5 quota, 5 network; --all shows them"
    assert "! prod: 34" in text(review(environment(dangers=dangers)), limits=EVERYTHING)


def test_long_lines_are_continued_below_their_beginning() -> None:
    long = a_tenant(an_app(settings=(Setting("helm.values.note", "a " * 20 + "b", "a " * 20 + "c"),)))
    shown = body(review(environment(long)), width=60)
    assert shown[2:] == [
        "          ~ helm.values.note: a a a a a a a a a a a a a a a",
        "              a a a a a b -> a a a a a a a a a a a a a a a a",
        "              a a a a c",
    ]
    assert all(len(line) <= 60 for line in shown)


def test_a_word_longer_than_the_terminal_stays_whole() -> None:
    one = a_tenant(an_app(settings=(Setting("sources.x.git.url", "x", "https://git.example.com/" + "y" * 30),)))
    assert f"https://git.example.com/{'y' * 30}" in text(review(environment(one)), width=20)


def test_a_few_clusters_are_named() -> None:
    added = an_app(name="queue", effect=Effect.ADDED, clusters=("edge-1", "edge-2"), of=2)
    removed = an_app(name="db", effect=Effect.REMOVED, clusters=("edge-1",), of=2, sentences=("its data stays",))
    everywhere = an_app(name="a", clusters=("1", "2", "3", "4"), of=4)
    assert body(review(environment(a_tenant(added, removed, everywhere)))) == [
        "  ~ tenant rocky",
        "      + app queue on edge-1, edge-2",
        "      - app db on edge-1 (1 of 2 clusters)",
        "          its data stays",
        "      ~ app a on all 4 clusters",
    ]


def test_all_clusters_are_named_without_limits() -> None:
    assert "edge-477, edge-478 (479 of 501 clusters)" in text(BUMPED, limits=EVERYTHING)


def test_tenants_that_change_alike_are_shown_together() -> None:
    alike = [quota(f"t{number}", f"edge-{number}") for number in range(200)]
    assert body(review(environment(*alike, quota("rocky", "hub", "1", "2")))) == [
        "  ~ 200 tenants (t0, t1, t2, t3, t4, t5, t6, t7 and 192 more) on all 200 clusters",
        "      ~ quota.pods: 40 -> 50",
        "  ~ tenant rocky on hub",
        "      ~ quota.pods: 1 -> 2",
    ]
    assert len(body(review(environment(*alike)), limits=EVERYTHING)) == 400


def test_tenants_that_change_on_a_part_of_their_clusters_are_together_only_if_these_are_the_same() -> None:
    parts = [(("a",), "rocky"), (("a",), "movy"), (("b",), "tina")]
    tenants = [a_tenant(an_app(clusters=clusters, of=2, settings=(BUMP,)), tenant=name) for clusters, name in parts]
    shown = body(review(environment(*tenants)))
    assert [line for line in shown if "tenant" in line] == ["  ~ 2 tenants (rocky, movy)", "  ~ tenant tina"]


def test_environments_in_which_the_same_happens_are_shown_once() -> None:
    one, other = environment(quota("rocky", "hub-dev"), name="dev", total=1), environment(quota("rocky", "eu-1"))
    assert text(review(one, other)) == (
        "against main\n"
        "\n"
        "dev, prod: 1 tenant on 2 of 502 clusters\n"
        "  ~ tenant rocky on hub-dev, eu-1\n"
        "      ~ quota.pods: 40 -> 50"
    )
    different = review(one, environment(quota("rocky", "eu-1", "40", "60")))
    assert text(different).count("tenant rocky") == 2


def test_of_too_many_tenants_the_rest_is_counted_and_what_is_removed_comes_first() -> None:
    many = [quota(f"t{number}", "hub", "40", str(number)) for number in range(100)]
    gone = a_tenant(tenant="gone", effect=Effect.REMOVED)
    shown = body(review(environment(*many, a_tenant(tenant="new", effect=Effect.ADDED), gone)))
    assert (shown[0], shown[-1]) == (
        "  - tenant gone",
        "  and 62 more tenants: 61 changed, 1 added; --all shows them",
    )
    assert len(shown) < 81


def test_of_many_changes_and_settings_the_rest_is_counted() -> None:
    values = tuple(Setting(f"helm.values.k{number}", 1, 2) for number in range(10))
    apps = (an_app(name=f"a{number}", settings=values) for number in range(14))
    shown = body(review(environment(a_tenant(*apps))))
    assert "          and 2 more fields; --all shows them" in shown
    assert shown[-1] == "      and 2 more changes; --all shows them"


@table(
    ("before", "after", "expected"),
    [
        ("1.0", "1.1", "~ k: 1.0 -> 1.1"),
        (1, "1", "~ k: 1 -> '1'"),
        ("", "x", "~ k: '' -> x"),
        (" x", "x", "~ k: ' x' -> x"),
        (ABSENT, {"a": 1}, "+ k: {a: 1}"),
        (["a"], ABSENT, "- k: [a]"),
        (False, True, "~ k: false -> true"),
        ("\x1b[31m", "\u202e", "~ k: \\x1b[31m -> \\u202e"),
    ],
)
def test_values_are_shown_as_an_author_would_write_them(before: object, after: object, expected: str) -> None:
    shown = body(review(environment(a_tenant(an_app(settings=(Setting("k", before, after),))))))
    assert shown[2].strip() == expected


def test_the_lines_of_a_text_that_differ_are_shown() -> None:
    setting = Setting("configs.settings.APP", "level: info\nowner: rocky\n", "level: debug\nowner: rocky\n")
    assert body(review(environment(a_tenant(an_app(settings=(setting,))))))[2:] == [
        "          ~ configs.settings.APP:",
        "              - level: info",
        "              + level: debug",
    ]


def test_fields_without_a_known_setting_have_their_path() -> None:
    change = an_app(fields=(FieldChange(("spec", "hard", "requests.cpu"), ABSENT, "4"),))
    assert body(review(environment(a_tenant(change))))[2] == '          + spec.hard["requests.cpu"]: 4'


def test_what_is_added_is_described_on_one_line() -> None:
    values = (Setting("helm.chart", ABSENT, "db"), Setting("helm.version", ABSENT, "1.x"))
    own = Change(part=Part(PartKind.TENANT, "tina", ""), effect=Effect.ADDED, clusters=("a", "b"), of=2)
    db = an_app("tina", "db", effect=Effect.ADDED, clusters=("a", "b"), of=2, settings=values)
    jobs = an_app("tina", "jobs", effect=Effect.ADDED, clusters=("a",), of=1)
    added = review(environment(a_tenant(own, db, jobs, tenant="tina", effect=Effect.ADDED)))
    assert body(added) == [
        "  + tenant tina on a, b",
        "      + app db",
        "          helm.chart: db, helm.version: 1.x",
        "      + app jobs on a",
    ]
    assert body(added, limits=EVERYTHING)[2:4] == ["          + helm.chart: db", "          + helm.version: 1.x"]


def test_tenants_that_only_come_with_a_cluster_are_told_with_it() -> None:
    cluster = Change(
        part=Part(PartKind.CLUSTER, "", "edge-1"),
        effect=Effect.ADDED,
        clusters=("edge-1",),
        of=1,
        sentences=("it is used for the first time: tenants rocky, movy",),
    )
    comes = Change(part=Part(PartKind.TENANT, "rocky", ""), effect=Effect.ADDED, clusters=("edge-1",), of=2)
    more = an_app("movy", effect=Effect.ADDED, clusters=("edge-2",), of=2)
    tenants = (a_tenant(comes), a_tenant(comes, more, tenant="movy"))
    assert body(review(environment(*tenants, clusters=(cluster,)))) == [
        "  + cluster edge-1",
        "      it is used for the first time: tenants rocky, movy",
        "  ~ tenant movy",
        "      + app web on edge-2 (1 of 2 clusters)",
    ]
