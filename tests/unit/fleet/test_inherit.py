"""Environments that extend others: what they take over, and where the author is told what is wrong with it."""

from __future__ import annotations

from tests.table import table
from tests.unit.texts import fleet, one, planned, problems, told


def text(environments: str, rest: str = "") -> str:
    """Environments from line 3, each with a management cluster of its own if it wants; then a tenant on all of them."""
    return (
        "apiVersion: tenantry/v1\nenvironments:\n"
        + "".join(f"  {line}\n" for line in environments.splitlines())
        + "clusters:\n"
        + "".join(f"  hub-{n}: {{environments: [{n}]}}\n" for n in ("dev", "r1", "r2"))
        + "tenants:\n  rocky:\n    clusters: {all: true}\n"
        + "    sources: {s: {git: {url: https://git.example.com/x, ref: {branch: main}}}}\n"
        + "    apps: {web: {kustomize: {source: s"
        + (rest or "}}}")
        + "\n"
    )


CHAIN = """\
r2: {extends: r1, management: hub-r2, variables: {a: "3", c: null}}
r1: {extends: dev, management: hub-r1, variables: {a: "2", d: "2"}}
dev: {management: hub-dev, namespace: "{env}-{tenant}", variables: {a: "1", b: "1", c: "1"}}"""


def test_settings_come_from_the_nearest_environment_that_says_them() -> None:
    environments = fleet(text(CHAIN)).environments
    assert ["{env}-{tenant}"] * 3 == [each.namespace for each in environments.values()]
    assert {
        "dev": {"a": "1", "b": "1", "c": "1"},
        "r1": {"a": "2", "b": "1", "c": "1", "d": "2"},
        "r2": {"a": "3", "b": "1", "d": "2"},
    } == {name: each.variables for name, each in environments.items()}


def test_null_takes_an_inherited_setting_back() -> None:
    chain = CHAIN.replace("extends: r1,", "extends: r1, namespace: null,")
    assert "{tenant}" == fleet(text(chain)).environments["r2"].namespace


def test_overrides_for_what_an_environment_extends_hold_in_it_and_the_last_of_the_list_wins() -> None:
    overrides = (
        ", path: ./own, interval: 1m}, overrides: ["
        "{when: {environments: [dev]}, kustomize: {path: ./dev, timeout: 2m, force: false, interval: 2m}},"
        " {when: {environments: [r2], clusters: {names: [hub-r2]}}, kustomize: {interval: 9m, timeout: 8m}},"
        " {when: {environments: [r1]}, kustomize: {timeout: 3m, force: true}},"
        " {when: {environments: [r2]}, kustomize: {path: ./r2, timeout: 4m}}]}}"
    )
    found = {}
    for name in ("dev", "r1", "r2"):
        spec = one(planned(text(CHAIN, overrides), name), "Kustomization", "web").manifest["spec"]
        found[name] = [spec[key] for key in ("path", "timeout", "force", "interval")]
    assert {
        "dev": ["./dev", "2m", False, "2m"],
        "r1": ["./dev", "3m", True, "2m"],
        "r2": ["./r2", "4m", True, "9m"],
    } == found


def test_clusters_are_not_taken_over() -> None:
    placements = {name: planned(text(CHAIN), name).placements for name in ("dev", "r1", "r2")}
    assert {"dev": ["hub-dev"], "r1": ["hub-r1"], "r2": ["hub-r2"]} == {
        name: [placement.cluster for placement in each] for name, each in placements.items()
    }


def test_what_is_wrong_with_an_inherited_value_is_told_once_where_it_stands() -> None:
    expected = told(
        "tenants.yaml:5:21: error[wrong-type]: expected a string, found the number 5",
        "  at environments.dev.management",
        "  fix: put it in quotes",
        "Found 1 error",
    )
    assert expected == problems(text("r2: {extends: r1}\nr1: {extends: dev}\ndev: {management: 5}"))


def test_an_unknown_cluster_is_told_once_where_it_is_named() -> None:
    said = problems(text("dev: {management: hub-dve}\nr1: {extends: dev}\nr2: {management: hub-r2}"))
    assert said.startswith("tenants.yaml:3:21: error[unknown-cluster]: environment 'dev' names cluster 'hub-dve'")
    assert said.count("unknown-cluster") == 1


def test_a_wrong_template_is_told_where_it_stands() -> None:
    chain = CHAIN.replace("{env}-{tenant}", "{nope}-{tenant}")
    said = {line for line in problems(text(chain)).splitlines() if "error[" in line}
    assert {"tenants.yaml:5:41: error[unknown-placeholder]: placeholder '{nope}' is not known here"} == said


@table(
    ("own", "column", "said"),
    [
        ("namespaec: null", 37, "unknown-key]: key 'namespaec' is not known here"),
        ("variables: null", 48, "wrong-type]: expected a mapping, found nothing"),
        ("variables: 5", 48, "wrong-type]: expected a mapping, found the number 5"),
    ],
)
def test_what_does_not_fit_is_told_in_the_environment_that_says_it(own: str, column: int, said: str) -> None:
    chain = f"r1: {{extends: dev, management: x, {own}}}\ndev: {{management: hub-dev}}\nr2: {{management: hub-r2}}"
    assert problems(text(chain)).startswith(f"tenants.yaml:3:{column}: error[{said}\n")


def test_a_removed_required_key_is_missing() -> None:
    said = problems(text("r1: {extends: dev, management: null}\ndev: {management: hub-dev}\nr2: {extends: dev}"))
    assert said.startswith("tenants.yaml:3:7: error[missing-key]: key 'management' is missing\n  at environments.r1\n")


def test_names_that_lead_nowhere_or_in_circles_are_told_without_what_follows_from_them() -> None:
    environments = "\n".join(
        [
            "dev: {management: hub-dev, extends: null}",
            "r1: {extends: dve}",
            "r2: {extends: r3, namespace: 5}",
            "r3: {extends: r4}",
            "r4: {extends: r3}",
            "r5: {extends: r5}",
            "r6: {extends: 6}",
        ]
    )
    expected = told(
        "tenants.yaml:4:17: error[unknown-environment]: environment 'r1' extends 'dve', which is not declared",
        "  at environments.r1.extends",
        "  declared: dev, r2, r3, r4, r5, r6 (closest: dev)",
        "  fix: write 'dev', or declare it under 'environments:'",
        "tenants.yaml:5:32: error[wrong-type]: expected a string, found the number 5",
        "  at environments.r2.namespace",
        "  fix: put it in quotes",
        "tenants.yaml:6:17: error[environment-cycle]: environments name each other: r3 -> r4 -> r3",
        "  at environments.r3.extends",
        "  fix: remove one 'extends:'",
        "tenants.yaml:8:17: error[environment-cycle]: environment 'r5' names itself",
        "  at environments.r5.extends",
        "  fix: remove one 'extends:'",
        "tenants.yaml:9:17: error[wrong-type]: expected a string, found the number 6",
        "  at environments.r6.extends",
        "  fix: put it in quotes",
        "Found 5 errors",
    )
    assert expected == problems(text(environments))


def test_a_chain_of_more_than_thirty_two_environments_is_refused_at_the_first_that_is_too_long() -> None:
    chain = "".join(f"e{number}: {{extends: e{number - 1}}}\n" for number in range(1, 33)) + "e0: {management: hub-dev}"
    expected = told(
        "tenants.yaml:34:18: error[environments-too-many]:"
        " environment 'e32' has more than 31 others above it, one through the other",
        "  at environments.e32.extends",
        "  fix: name one of them directly",
        "Found 1 error",
    )
    assert expected == problems(text(chain))
