"""Classes of tenants: what a tenant takes over, and where the author is told what is wrong with it."""

from __future__ import annotations

from typing import Any

from tenantry.fleet.classes import is_of_class, is_platforms_source
from tenantry.load import warnings_of
from tests.table import table
from tests.unit.texts import FRAME, explained, fleet, planned, problems, told

CUSTOMER = (
    "customer: {clusters: {names: [hub]}, sources: {charts: {helm: {url: https://charts.example.com}}},"
    " apps: {app: {helm: {source: charts, chart: shop, version: 4.2.0, values: {seats: 5, tier: low}}}}}"
)
"""A class with an app, at line 9 of what `text` makes."""


def text(classes: str, tenants: str, defaults: str = "{}") -> str:
    """The frame, defaults on line 8 and classes from line 10; an entry on each line."""
    lines = (
        f"{key}:\n" + "".join(f"  {line}\n" for line in given.splitlines())
        for key, given in (("tenantClasses", classes), ("tenants", tenants))
    )
    return f"{FRAME}defaults: {defaults}\n" + "".join(lines)


def tenant(classes: str, own: str, defaults: str = "{}") -> dict[str, Any]:
    """The whole entry of tenant `acme`."""
    return fleet(text(classes, f"acme: {own}", defaults)).raw("tenants", "acme")


def test_a_tenant_has_what_its_classes_say_and_what_differs() -> None:
    classes = f"{CUSTOMER}\nsso: {{labels: {{b: sso}}}}\n"
    classes += "small: {class: customer, quota: {pods: 10}, labels: {a: small, b: small}}"
    whole = tenant(classes, "{class: [small, sso], labels: {c: own}, apps: {app: {helm: {values: {seats: 250}}}}}")
    assert whole["labels"] == {"a": "small", "b": "sso", "c": "own"}
    assert whole["quota"] == {"pods": 10}
    assert whole["apps"]["app"]["helm"]["values"] == {"seats": 250, "tier": "low"}
    assert whole["sources"] == {"charts": {"helm": {"url": "https://charts.example.com"}}}


MERGED: list[tuple[str, str, str, Any]] = [
    # what, the class, the tenant's own, the tenant's whole entry
    (
        "lists are replaced",
        "{owners: [{user: a, role: view}]}",
        "{owners: [{user: b, role: view}]}",
        {"owners": [{"user": "b", "role": "view"}]},
    ),
    (
        "a selector is taken whole",
        "{clusters: {labels: {tier: hub}}}",
        "{clusters: {names: [hub]}}",
        {"clusters": {"names": ["hub"]}},
    ),
    (
        "and so is that of a grant",
        "{grants: {clusters: {labels: {tier: hub}}}}",
        "{grants: {clusters: {names: [hub]}}}",
        {"grants": {"clusters": {"names": ["hub"]}}},
    ),
    (
        "a ref is taken whole",
        "{sources: {s: {git: {url: https://git.example.com/s, ref: {branch: main}}}}}",
        "{sources: {s: {git: {ref: {tag: v1}}}}}",
        {"sources": {"s": {"git": {"url": "https://git.example.com/s", "ref": {"tag": "v1"}}}}},
    ),
    (
        "null removes an entry",
        "{configs: {a: {existing: true}, b: {existing: true}}}",
        "{configs: {a: null}}",
        {"configs": {"b": {"existing": True}}},
    ),
    (
        "null removes a setting, also from the defaults",
        "{quota: {pods: 5, cpu: 1}}",
        "{quota: {pods: null}}",
        {"quota": {"pods": None, "cpu": 1}},
    ),
    (
        "what a class takes from the defaults stays away",
        "{quota: null}",
        "{quota: {cpu: 2}}",
        {"quota": {"pods": None, "cpu": 2}},
    ),
    (
        "where is appended",
        "{overrides: {where: [{clusters: {labels: {tier: hub}}, role: view}]}}",
        "{overrides: {where: [{clusters: {labels: {tier: hub}}, role: edit}]}}",
        {
            "overrides": {
                "where": [
                    {"clusters": {"labels": {"tier": "hub"}}, "role": "view"},
                    {"clusters": {"labels": {"tier": "hub"}}, "role": "edit"},
                ]
            }
        },
    ),
    (
        "overrides of an environment are merged",
        "{overrides: {environments: {dev: {role: view, timeout: 1m}}}}",
        "{overrides: {environments: {dev: {role: edit}}}}",
        {"overrides": {"environments": {"dev": {"role": "edit", "timeout": "1m"}}}},
    ),
]


@table("what, of_class, own, expected", MERGED, ids=lambda row: row[0])
def test_entries_are_merged(what: str, of_class: str, own: str, expected: Any) -> None:
    whole = tenant(f"c: {of_class}", f"{{class: c, {own[1:]}", "{quota: {pods: 3}}")
    assert whole == {**expected, "class": "c"}, what


def test_the_plan_is_that_of_tenants_written_out() -> None:
    classes = f"{CUSTOMER}\nsmall: {{class: customer, quota: {{pods: 10}}}}"
    short = planned(text(classes, "acme: {class: small, apps: {app: {helm: {values: {seats: 250}}}}}"))
    long = planned(
        text(
            CUSTOMER,
            "acme:\n    clusters: {names: [hub]}\n    quota: {pods: 10}\n"
            "    sources: {charts: {helm: {url: https://charts.example.com}}}\n"
            "    apps: {app: {helm: {source: charts, chart: shop, version: 4.2.0, values: {seats: 250, tier: low}}}}",
        )
    )
    assert short.objects == long.objects


def test_tenants_of_the_same_classes_share_what_they_do_not_change() -> None:
    source = fleet(text(CUSTOMER, "acme: {class: customer}\nbeta: {class: [customer], quota: {pods: 1}}")).source.data
    acme, beta = source["tenants"]["acme"], source["tenants"]["beta"]
    assert acme["apps"] is beta["apps"] is source["tenantClasses"]["customer"]["apps"]


def test_explain_names_the_class_and_its_line() -> None:
    entry = "{clusters: {labels: {tier: hub}}, helm: {values: {OVER: 1}}}"
    where = f"apps: {{app: {{helm: {{values: {{KEY: 6}}}}, overrides: {{where: [{entry}]}}}}}}"
    classes = f"{CUSTOMER}\nsmall: {{class: customer, {where.replace('KEY', 'a').replace('OVER', 'b')}}}"
    own = f"acme: {{class: small, {where.replace('KEY', 'seats').replace('OVER', 'c')}}}"
    built = fleet(text(classes, own))
    (placed,) = explained(built, "acme/app").placed
    origins = {value.path[-1]: value.origin for value in placed.values}
    levels = {key: (origin.level, origin.location.line) for key, origin in origins.items() if origin}
    assert (levels["version"], levels["seats"]) == (("class customer", 10), ("app", 13))
    assert (levels["b"], levels["c"]) == (("where tier=hub", 11), ("where tier=hub", 13))


def test_a_value_is_known_as_the_classs_or_the_tenants() -> None:
    source = fleet(text(CUSTOMER, "acme: {class: customer, apps: {app: {helm: {values: {seats: 6}}}}}")).source
    app = ("tenants", "acme", "apps", "app", "helm")
    assert is_of_class(source, ("tenants", "acme", "sources", "charts"))
    assert is_of_class(source, (*app, "version"))
    assert not is_of_class(source, (*app, "values", "seats"))
    assert not is_of_class(source, ("tenants", "acme", "class"))


AUTHORS: list[tuple[str, str, str, bool]] = [
    # what, the class's source, the tenant's own, whether it is the platform's
    ("equal for all", "{helm: {url: https://charts.example.com}}", "{}", True),
    ("equal on a cluster", "{helm: {url: 'https://charts.example.com/{cluster}'}}", "{}", True),
    ("the tenant's name", "{helm: {url: 'https://charts.example.com/{tenant}'}}", "{}", False),
    ("credentials", "{helm: {url: https://charts.example.com}, credentials: c}", "{}", False),
    ("the tenant changes it", "{helm: {url: https://charts.example.com}}", "{s: {helm: {interval: 1h}}}", False),
    ("the tenant's alone", "null", "{s: {helm: {url: https://charts.example.com}}}", False),
]


@table("what, of_class, own, expected", AUTHORS, ids=lambda row: row[0])
def test_the_platform_is_the_author_of_a_source_that_is_equal_for_all(
    what: str, of_class: str, own: str, expected: object
) -> None:
    sources = "" if of_class == "null" else f", sources: {{s: {of_class}}}"
    given = f"c: {{credentials: {{c: {{existing: true}}}}{sources}}}"
    source = fleet(text(given, f"acme: {{class: c, sources: {own}}}")).source
    assert is_platforms_source(source, "acme", "s") is expected, what


MANY = "".join(f"t{number}: {{class: customer}}\n" for number in range(150))


def test_what_is_wrong_in_a_class_is_told_once_and_hides_nothing_else() -> None:
    wrong = CUSTOMER.replace("chart: shop,", "chrt: shop,")
    found = problems(text(wrong, f"{MANY}other: {{rolle: view}}"))
    assert found.count("chrt") == 2  # the message and the line
    assert "tenant 't0' has it from class 'customer'" in found
    assert "rolle" in found
    assert found.endswith("Found 2 errors\n")


def test_a_class_is_checked_without_tenants_and_may_be_a_part() -> None:
    part = "part: {apps: {app: {waves: false}}, sources: {s: {git: {url: https://git.example.com/s}}}}"
    assert fleet(text(part, "acme: {}"))
    assert problems(text("part: {apps: {app: {nope: 1}}, state: offboarding}", "acme: {}")) == told(
        "tenants.yaml:10:23: error[unknown-key]: key 'nope' is not known here",
        "  at tenantClasses.part.apps.app.nope",
        "  known: clusters, dependsOn, environments, helm, kustomize, metadata,",
        "    overrides, state, waves",
        "  fix: remove it",
        "tenants.yaml:10:41: error[bad-value]: 'offboarding' is not allowed here",
        "  at tenantClasses.part.state",
        "  allowed: active, paused",
        "  fix: write one of these",
        "Found 2 errors",
    )


def test_a_warning_about_a_class_is_one_about_all_of_its_tenants() -> None:
    unused = (
        f"{CUSTOMER}\nsmall: {{class: customer, sources: {{more: {{helm: {{url: https://charts.example.com/more}}}}}}}}"
    )
    (warning,) = warnings_of(fleet(text(unused, "a: {class: small}\nb: {class: small}")))
    assert warning.message == "source 'more' is declared, but never used: no app of tenant 'a' names it"
    uses = "b: {class: small, apps: {app: {helm: {source: more}}}}\na: {class: small}"
    assert warnings_of(fleet(text(unused, uses))) == ()


WRONG: list[tuple[str, str, str, str]] = [
    # what, classes, tenants, what the author is told
    (
        "unknown",
        CUSTOMER,
        "acme: {class: custmer}",
        told(
            "tenants.yaml:12:17: error[unknown-class]: tenant 'acme' names class 'custmer', which is not declared",
            "  at tenants.acme.class",
            "  declared: customer (closest: customer)",
            "  fix: write 'customer', or declare it under 'tenantClasses:'",
            "Found 1 error",
        ),
    ),
    (
        "unknown above",
        CUSTOMER.replace("{clusters:", "{class: nope, clusters:", 1),
        "acme: {class: customer}",
        told(
            "tenants.yaml:10:21: error[unknown-class]: class 'customer' names class 'nope', which is not declared",
            "  at tenantClasses.customer.class",
            "  declared: none",
            "  fix: declare it under 'tenantClasses:', or correct the name",
            "Found 1 error",
        ),
    ),
    (
        "twice",
        CUSTOMER,
        "acme: {class: [customer, customer]}",
        told(
            "tenants.yaml:12:17: error[duplicate]: tenant 'acme' names class 'customer' twice",
            "  at tenants.acme.class",
            "  fix: remove one of them",
            "Found 1 error",
        ),
    ),
    (
        "itself",
        "a: {class: a}",
        "acme: {class: a}",
        told(
            "tenants.yaml:10:14: error[class-cycle]: class 'a' names itself",
            "  at tenantClasses.a.class",
            "  fix: remove one 'class:'",
            "Found 1 error",
        ),
    ),
    (
        "circle",
        "b: {class: a}\na: {class: [b]}",
        "acme: {class: b}",
        told(
            "tenants.yaml:11:14: error[class-cycle]: classes name each other: a -> b -> a",
            "  at tenantClasses.a.class",
            "  fix: remove one 'class:'",
            "Found 1 error",
        ),
    ),
    (
        "source of another kind",
        CUSTOMER,
        "acme: {class: customer, sources: {charts: {oci: {url: oci://r.example.com/c, ref: {tag: v1}}}}}",
        told(
            "tenants.yaml:12:46: error[other-kind]: source 'charts' of tenant 'acme' has 'helm:' from a class, and 'oci:' here",
            "  at tenants.acme.sources.charts.oci",
            "  class: tenants.yaml:10:59",
            "  fix: write 'helm:', or give this source another name",
            "Found 1 error",
        ),
    ),
    (
        "app of another kind",
        f"{CUSTOMER}\nsmall: {{class: customer, apps: {{app: {{kustomize: {{path: ./x}}}}}}}}",
        "acme: {class: small}",
        told(
            "tenants.yaml:11:41: error[other-kind]: app 'app' of class 'small' has 'helm:' from a class, and 'kustomize:' here",
            "  at tenantClasses.small.apps.app.kustomize",
            "  class: tenants.yaml:10:115",
            "  fix: write 'helm:', or give this app another name",
            "Found 1 error",
        ),
    ),
    (
        "wrong type",
        CUSTOMER,
        "acme: {class: 5}",
        told(
            "tenants.yaml:12:17: error[wrong-type]: expected the name of a class or a list of names, found the number 5",
            "  at tenants.acme.class",
            "  fix: write a name, as in 'class: small'",
            "Found 1 error",
        ),
    ),
]


@table("what, classes, tenants, expected", WRONG, ids=lambda row: row[0])
def test_what_is_wrong_with_classes_is_told_with_its_place(
    what: str, classes: str, tenants: str, expected: str
) -> None:
    assert problems(text(classes, tenants)) == expected, what


def test_a_long_chain_of_classes_is_refused() -> None:
    chain = "".join(f"c{number}: {{class: c{number + 1}}}\n" for number in range(3000)) + "c3000: {}"
    assert "classes above it, one through the other" in problems(text(chain, "acme: {class: c0}"))
