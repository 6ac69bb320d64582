"""Templates of tenants: what a tenant takes over, and where the author is told what is wrong with it."""

from __future__ import annotations

from typing import Any

from tenantry.fleet.templates import is_platforms_source, is_shared
from tenantry.load import warnings_of
from tests.table import table
from tests.unit.texts import FRAME, explained, fleet, planned, problems, told

CUSTOMER = (
    "customer: {clusters: {names: [hub]}, sources: {charts: {helm: {url: https://charts.example.com}}},"
    " apps: {app: {helm: {source: charts, chart: shop, version: 4.2.0, values: {seats: 5, tier: low}}}}}"
)
"""A template with an app, at line 9 of what `text` makes."""


def text(templates: str, tenants: str, defaults: str = "{}") -> str:
    """The frame, defaults on line 8 and templates from line 11; an entry on each line."""
    declared = "".join(f"    {line}\n" for line in templates.splitlines())
    own = "".join(f"  {line}\n" for line in tenants.splitlines())
    return f"{FRAME}defaults: {defaults}\ntemplates:\n  tenants:\n{declared}tenants:\n{own}"


def tenant(templates: str, own: str, defaults: str = "{}") -> dict[str, Any]:
    """The whole entry of tenant `acme`."""
    return fleet(text(templates, f"acme: {own}", defaults)).raw("tenants", "acme")


def test_a_tenant_has_what_its_templates_say_and_what_differs() -> None:
    templates = f"{CUSTOMER}\nsso: {{labels: {{b: sso}}}}\n"
    templates += "small: {from: customer, quota: {pods: 10}, labels: {a: small, b: small}}"
    whole = tenant(templates, "{from: [small, sso], labels: {c: own}, apps: {app: {helm: {values: {seats: 250}}}}}")
    assert whole["labels"] == {"a": "small", "b": "sso", "c": "own"}
    assert whole["quota"] == {"pods": 10}
    assert whole["apps"]["app"]["helm"]["values"] == {"seats": 250, "tier": "low"}
    assert whole["sources"] == {"charts": {"helm": {"url": "https://charts.example.com"}}}


def test_defaults_are_the_first_template_with_apps_and_templates_of_their_own() -> None:
    templates = f"{CUSTOMER}\nsmall: {{quota: {{pods: 10, cpu: 1}}, labels: {{a: small}}}}"
    defaults = "{from: small, quota: {pods: 5}, apps: {agent: {helm: {source: charts, chart: agent, version: 1.0.0}}}}"
    whole = tenant(templates, "{from: customer, quota: {cpu: 2}}", defaults)
    assert whole["quota"] == {"pods": 5, "cpu": 2}
    assert (whole["labels"], list(whole["apps"])) == ({"a": "small"}, ["agent", "app"])
    said = problems(text(CUSTOMER, "acme: {from: customer}", "{from: nope}"))
    assert (
        "error[unknown-template]: 'defaults' is from template 'nope', which is not declared\n  at defaults.from\n"
        in said
    )
    assert said.endswith("Found 1 error\n")


MERGED: list[tuple[str, str, str, Any]] = [
    # what, the template, the tenant's own, the tenant's whole entry
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
        {"quota": {"cpu": 1}},
    ),
    (
        "what a template takes from the defaults stays away",
        "{quota: null}",
        "{quota: {cpu: 2}}",
        {"quota": {"cpu": 2}},
    ),
    (
        "where is appended",
        "{overrides: [{when: {clusters: {labels: {tier: hub}}}, role: view}]}",
        "{overrides: [{when: {clusters: {labels: {tier: hub}}}, role: edit}]}",
        {
            "overrides": [
                {"when": {"clusters": {"labels": {"tier": "hub"}}}, "role": "view"},
                {"when": {"clusters": {"labels": {"tier": "hub"}}}, "role": "edit"},
            ]
        },
    ),
]


@table("what, of_template, own, expected", MERGED, ids=lambda row: row[0])
def test_entries_are_merged(what: str, of_template: str, own: str, expected: Any) -> None:
    whole = tenant(f"c: {of_template}", f"{{from: c, {own[1:]}", "{quota: {pods: 3}}")
    assert whole == {"quota": {"pods": 3}, **expected, "from": "c"}, what


def test_overrides_of_an_app_are_appended_and_a_list_of_values_is_replaced_whatever_its_name() -> None:
    override = "{when: {environments: [dev]}, helm: {values: {k: NAME}}}"
    app = f"apps: {{app: {{helm: {{values: {{overrides: [NAME]}}}}, overrides: [{override}]}}}}"
    small = f"{CUSTOMER}\nsmall: {{from: customer, {app.replace('NAME', 'a')}}}"
    merged = fleet(text(small, f"acme: {{from: small, {app.replace('NAME', 'b')}}}")).raw(
        "tenants", "acme", "apps", "app"
    )
    assert merged["helm"]["values"]["overrides"] == ["b"]
    assert [each["helm"]["values"] for each in merged["overrides"]] == [{"k": "a"}, {"k": "b"}]


def test_the_plan_is_that_of_tenants_written_out() -> None:
    templates = f"{CUSTOMER}\nsmall: {{from: customer, quota: {{pods: 10}}}}"
    short = planned(text(templates, "acme: {from: small, apps: {app: {helm: {values: {seats: 250}}}}}"))
    long = planned(
        text(
            CUSTOMER,
            "acme:\n    clusters: {names: [hub]}\n    quota: {pods: 10}\n"
            "    sources: {charts: {helm: {url: https://charts.example.com}}}\n"
            "    apps: {app: {helm: {source: charts, chart: shop, version: 4.2.0, values: {seats: 250, tier: low}}}}",
        )
    )
    assert short.objects == long.objects


def test_tenants_of_the_same_templates_share_what_they_do_not_change() -> None:
    source = fleet(text(CUSTOMER, "acme: {from: customer}\nbeta: {from: [customer], quota: {pods: 1}}")).source.data
    acme, beta = source["tenants"]["acme"], source["tenants"]["beta"]
    assert acme["apps"] is beta["apps"] is source["templates"]["tenants"]["customer"]["apps"]


def test_explain_names_the_template_and_its_line() -> None:
    entry = "{when: {clusters: {labels: {tier: hub}}}, helm: {values: {OVER: 1}}}"
    app = f"apps: {{app: {{helm: {{values: {{KEY: 6}}}}, overrides: [{entry}]}}}}"
    templates = f"{CUSTOMER}\nsmall: {{from: customer, {app.replace('KEY', 'a').replace('OVER', 'b')}}}"
    own = f"acme: {{from: small, {app.replace('KEY', 'seats').replace('OVER', 'c')}}}"
    built = fleet(text(templates, own))
    (placed,) = explained(built, "acme/app").placed
    origins = {value.path[-1]: value.origin for value in placed.values}
    levels = {key: (origin.level, origin.location.line) for key, origin in origins.items() if origin}
    assert (levels["version"], levels["seats"]) == (("template customer", 11), ("app", 14))
    assert (levels["b"], levels["c"]) == (("tier=hub", 12), ("tier=hub", 14))


def test_a_value_is_known_as_the_templates_or_the_tenants() -> None:
    source = fleet(text(CUSTOMER, "acme: {from: customer, apps: {app: {helm: {values: {seats: 6}}}}}")).source
    app = ("tenants", "acme", "apps", "app", "helm")
    assert is_shared(source.origin(("tenants", "acme", "sources", "charts")))
    assert is_shared(source.origin((*app, "version")))
    assert not is_shared(source.origin((*app, "values", "seats")))
    assert not is_shared(source.origin(("tenants", "acme", "from")))


AUTHORS: list[tuple[str, str, str, bool]] = [
    # what, the template's source, the tenant's own, whether it is the platform's
    ("equal for all", "{helm: {url: https://charts.example.com}}", "{}", True),
    ("equal on a cluster", "{helm: {url: 'https://charts.example.com/{cluster}'}}", "{}", True),
    ("the tenant's name", "{helm: {url: 'https://charts.example.com/{tenant}'}}", "{}", False),
    ("credentials", "{helm: {url: https://charts.example.com}, credentials: c}", "{}", False),
    ("the tenant changes it", "{helm: {url: https://charts.example.com}}", "{s: {helm: {interval: 1h}}}", False),
    ("the tenant's alone", "null", "{s: {helm: {url: https://charts.example.com}}}", False),
]


@table("what, of_template, own, expected", AUTHORS, ids=lambda row: row[0])
def test_the_platform_is_the_author_of_a_source_that_is_equal_for_all(
    what: str, of_template: str, own: str, expected: object
) -> None:
    sources = "" if of_template == "null" else f", sources: {{s: {of_template}}}"
    given = f"c: {{credentials: {{c: {{existing: true}}}}{sources}}}"
    source = fleet(text(given, f"acme: {{from: c, sources: {own}}}")).source
    assert is_platforms_source(source, "acme", "s") is expected, what


MANY = "".join(f"t{number}: {{from: customer}}\n" for number in range(150))


def test_what_is_wrong_in_a_template_is_told_once_and_hides_nothing_else() -> None:
    wrong = CUSTOMER.replace("chart: shop,", "chrt: shop,")
    found = problems(text(wrong, f"{MANY}other: {{rolle: view}}"))
    assert found.count("chrt") == 2  # the message and the line
    assert "tenant 't0' has it from template 'customer'" in found
    assert "rolle" in found
    assert found.endswith("Found 2 errors\n")


def test_a_template_is_checked_without_tenants_and_may_be_a_part() -> None:
    part = "part: {apps: {app: {waves: false}}, sources: {s: {git: {url: https://git.example.com/s}}}}"
    assert fleet(text(part, "acme: {}"))
    assert problems(text("part: {apps: {app: {nope: 1}}, state: offboarding}", "acme: {}")) == told(
        "tenants.yaml:11:25: error[unknown-key]: key 'nope' is not known here",
        "  at templates.tenants.part.apps.app.nope",
        "  known: clusters, dependsOn, environments, helm, kustomize, metadata,",
        "    overrides, state, waves",
        "  fix: remove it",
        "tenants.yaml:11:43: error[for-one-entry]: 'state: offboarding' does not stand in template 'part':"
        " it would concern every tenant that is from it",
        "  at templates.tenants.part.state",
        "  fix: write it in each tenant",
        "Found 2 errors",
    )


def test_a_warning_about_a_template_is_one_about_all_of_its_tenants() -> None:
    removes = f"{CUSTOMER}\nsmall: {{from: customer, apps: {{app: {{helm: {{timeout: null}}}}}}}}"
    (warning,) = warnings_of(fleet(text(removes, "a: {from: small}\nb: {from: small}")))
    assert (warning.code, warning.location.line) == ("removes-nothing", 12)
    assert warnings_of(fleet(text(removes, "a: {from: small}\nb: {from: small, helm: {timeout: 5m}}"))) == ()


def test_a_long_chain_of_templatees_is_refused() -> None:
    chain = "".join(f"c{number}: {{from: c{number + 1}}}\n" for number in range(3000)) + "c3000: {}"
    assert "others above it, one through the other" in problems(text(chain, "acme: {from: c0}"))
