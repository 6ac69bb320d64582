"""Environments that extend others: what they take over, and where the author is told what is wrong with it."""

from __future__ import annotations

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


def test_an_unknown_cluster_is_told_once_where_it_is_named() -> None:
    said = problems(text("dev: {management: hub-dve}\nr1: {extends: dev}\nr2: {management: hub-r2}"))
    assert said.startswith("tenants.yaml:3:21: error[unknown-cluster]: environment 'dev' names cluster 'hub-dve'")
    assert said.count("unknown-cluster") == 1


def test_a_removed_required_key_is_missing() -> None:
    said = problems(text("r1: {extends: dev, management: null}\ndev: {management: hub-dev}\nr2: {extends: dev}"))
    assert said.startswith("tenants.yaml:3:7: error[missing-key]: key 'management' is missing\n  at environments.r1\n")


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
