"""Rows of CSV files as tenants and clusters: what they become, where their values stand, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tenantry.explain import explain_tenant
from tenantry.fleet.fleet import Fleet
from tenantry.load import load_fleet, plan_all
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import format_invalid
from tenantry.policy.main_file import read
from tenantry.source.rows import Allowance
from tests.hostile.confinement import escapes_of
from tests.table import table

MAIN = """\
apiVersion: tenantry/v1
include:
  - {tenants: customers.csv, each: {class: ["{plan}", "{extra}"], state: "{state}"}}
  - {clusters: stores.csv, each: {group: "{ring}", labels: {region: "{region}", cell: "{cell}"}}}
environments: {prod: {management: hub}}
clusterGroups:
  store:
    environments: [prod]
    kubeconfig: {secret: {name: "{cluster}-kubeconfig", namespace: clusters, key: value}}
    variables: {size: 1}
clusters: {hub: {environments: [prod]}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 1.0.0}}}
tenantClasses:
  customer:
    variables: {seats: 5, trial: false, ratio: 0.5}
    clusters: {labels: {cell: "{cell}"}}
    sources: {charts: {helm: {url: "https://charts.example.com"}}}
    apps: {app: {helm: {source: charts, chart: shop, version: 4.2.0, values: {seats: "{seats}", size: "{size}"}}}}
  small: {class: customer, quota: {pods: 10}}
  sso: {quota: {pods: 20}}
tenants:
  acme: {variables: {seats: 250}, labels: {tier: gold}}
"""
CUSTOMERS = """\
name,plan,extra,state,seats,cell
acme,small,sso,,7,a
beta,small,,,9,b
gamma,small,,paused,,a
"""
STORES = "name,ring,region,cell,size\r\ns1,store,eu,a,3\r\ns2,store,us,b,\r\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def load(main: str = MAIN, customers: str | bytes = CUSTOMERS, stores: str = STORES) -> Fleet:
    Path("tenants.yaml").write_text(main)
    Path("customers.csv").write_bytes(customers if isinstance(customers, bytes) else customers.encode())
    Path("stores.csv").write_text(stores, newline="")
    return load_fleet(Path("tenants.yaml"))


def told(customers: str | bytes = CUSTOMERS, main: str = MAIN, stores: str = STORES) -> str:
    with pytest.raises(InvalidFleet) as caught:
        plan_all(load(main, customers, stores))
    return format_invalid(caught.value)


def values(fleet: Fleet) -> dict[str, Any]:
    objects = plan_all(fleet)["prod"].objects
    releases = [each for each in objects if each.id.kind == "HelmRelease" and "baseline" not in each.id.name]
    return {each.id.name: each.manifest["spec"]["values"] for each in releases}


def test_a_row_is_a_tenant_with_its_classes_variables_and_state() -> None:
    fleet = load()
    tenants = fleet.document.tenants
    assert {name: (each.class_, each.state) for name, each in tenants.items()} == {
        "acme": (["small", "sso"], "active"),
        "beta": (["small"], "active"),
        "gamma": (["small"], "paused"),
    }
    assert values(fleet) == {
        "s1-acme-app": {"seats": 250, "size": 3},
        "s2-beta-app": {"seats": 9, "size": 1},
        "s1-gamma-app": {"seats": 5, "size": 3},
    }


def test_yaml_comes_over_the_row_of_the_same_name_key_by_key() -> None:
    acme = load().document.tenants["acme"]
    assert acme.labels == {"tier": "gold"}
    assert acme.variables == {"seats": 250, "cell": "a", "trial": False, "ratio": 0.5}


def test_the_second_opinion_reads_the_same_rows() -> None:
    fleet = load()
    assert escapes_of(plan_all(fleet).values(), read(Path("tenants.yaml"))) == []


def test_explain_names_the_row_and_the_column() -> None:
    fleet = load()
    found = {each.path: each.origin for each in explain_tenant(fleet, plan_all(fleet)["prod"], "beta").settings}
    seats = found["variables", "seats"]
    assert seats is not None
    assert (str(seats.location), seats.level) == ("customers.csv:3:14", "row 3, column seats")


def test_a_mark_of_the_order_of_bytes_empty_lines_and_quotes_are_read() -> None:
    fleet = load(customers=b'\xef\xbb\xbfname,plan,extra,state,seats,cell\r\n\r\nacme,"small",,,"1",a\r\n\r\n')
    assert set(fleet.document.tenants) == {"acme"}


@table(
    ("cell", "column", "expected"),
    [
        ("007", "seats", 7),
        ("-3", "seats", -3),
        ("1.5", "seats", 1.5),
        ("TRUE", "trial", True),
        ("false", "trial", False),
        ("3", "note", "3"),
        ("=1+1", "note", "=1+1"),
        ("a,b", "note", "a,b"),
        ("a\nb", "note", "a\nb"),
        ('say ""x""', "note", 'say "x"'),
    ],
)
def test_a_cell_has_the_type_of_its_variables_default_else_it_is_text(cell: str, column: str, expected: object) -> None:
    fleet = load(customers=f'name,plan,extra,state,cell,{column}\nacme,small,,,a,\nbeta,small,,,b,"{cell}"\n')
    found = (fleet.document.tenants["beta"].variables or {})[column]
    assert (found, type(found)) == (expected, type(expected))


HEADER = "name,plan,extra,state,seats,cell\n"


@table(
    ("customers", "place", "message"),
    [
        ("", "1:1", "error[empty-file]"),
        ("plan,name\n", "1:1", "the first column is 'plan', not 'name'"),
        ("name;plan\na;b\n", "1:1", "the columns are separated by semicolons"),
        ("name\tplan\n", "1:1", "the columns are separated by tabs"),
        ("name,plan,plan\n", "1:6", "column 'plan' is there twice"),
        ("name,Seats per plan\n", "1:6", "is not a valid name of a column"),
        (
            f"name,{','.join(f'c{number}' for number in range(500))}\n",
            "1:1",
            "error[too-large]: there are 501 columns, and a table has at most 500",
        ),
        (f"{HEADER}a,small\n", "2:1", "row 2 has 2 cells, and the header has 6"),
        (f"{HEADER}a,small,,,,a,b\n", "2:1", "row 2 has 7 cells"),
        (f"{HEADER}a,small,,,,a\na,small,,,,a\n", "3:1", "'a' is in row 3 and in row 2"),
        (f"{HEADER},small,,,,a\n", "2:1", "row 2 has no name"),
        (f'{HEADER}a,"small,,,,a\n', "2:1", "error[bad-csv]"),
        (f'{HEADER}a,"small"x,,,,a\n', "2:1", "error[bad-csv]"),
        (f"{HEADER}a,small,,,many,a\n", "2:11", "column 'seats' of row 2 is not a number"),
        (f"{HEADER}a,small,,,{'9' * 40},a\n", "2:11", "column 'seats' of row 2 is not a number"),
        (f'{HEADER}"a",small,"x,""y",,many,a\n', "2:20", "column 'seats' of row 2 is not a number"),
        (f"{HEADER}A,small,,,,a\n", "2:1", "error[bad-name]"),
        (f"{HEADER}a,tiny,,,,a\n", "2:3", "error[unknown-class]"),
        (f"{HEADER}a,small,,gone,,a\n", "2:10", "error[bad-value]"),
        (f"{HEADER}a,small,,,,z\n", "", "error[selects-nothing]"),
        (f"{HEADER}a,sm\x00all,,,,a\n", "2:1", "error[bad-character]"),
        (f"{HEADER}a,sm\u2028all,,,,a\n", "2:1", "error[bad-character]"),
        (HEADER.encode("utf-16"), "1:1", "error[not-utf-8]"),
        (f"{HEADER}a,\xe9,,,,a\n".encode("latin-1"), "2:3", "error[not-utf-8]"),
        (
            f"{HEADER}a,{'x' * 200_000},,,,a\n",
            "2:1",
            "error[too-large]: a cell of this row has more than 131072 characters",
        ),
        (f"{HEADER}a,small,,{{env}},,a\n", "2:10", "column 'state' of row 2 holds braces"),
        (f"{HEADER}a,small,x}},,,a\n", "2:9", "column 'extra' of row 2 holds braces"),
    ],
)
def test_what_is_wrong_with_a_table_is_told_at_its_cell(customers: str | bytes, place: str, message: str) -> None:
    main = MAIN.split("tenants:\n  acme")[0]
    found = told(customers, main)
    line = next(each for each in found.splitlines() if message in each)
    assert not place or line.startswith(f"customers.csv:{place}: error"), found


@table(
    ("each", "message"),
    [
        ('{class: "{plann}"}', "tenants.yaml:3:44: error[unknown-column]: customers.csv has no column 'plann'"),
        ("{quotas: {pods: 1}}", "tenants.yaml:3:37: error[unknown-key]: key 'quotas' is not known here"),
        ('{labels: {a: "x-{extra}"}}', "customers.csv:3:12: error[empty-cell]"),
        ("[]", "tenants.yaml:3:36: error[wrong-type]"),
    ],
)
def test_what_is_wrong_with_each_is_told_once_in_the_main_file(each: str, message: str) -> None:
    found = told(main=MAIN.replace('{class: ["{plan}", "{extra}"], state: "{state}"}', each))
    assert found.count(message.partition(": ")[2]) == (2 if "empty-cell" in message else 1), found
    assert message in found


@table(
    ("entry", "message"),
    [
        ("{tenants: customers.csv, of: [a]}", "'of' is for files of teams"),
        ("{tenants: customers.csv, class: small}", "'class' is for files of teams"),
        ("{tenants: tenants.d/*.yaml, each: {}}", "'each' is the entry of a row, but these are no CSV files"),
        ("{tenants: ../customers.csv}", "leaves the directory"),
        ("{tenants: none.csv}", "no file matches 'none.csv'"),
    ],
)
def test_an_entry_of_include_is_for_rows_or_for_files_of_teams(entry: str, message: str) -> None:
    lines = MAIN.splitlines(keepends=True)
    assert message in told(main="".join([*lines[:2], f"  - {entry}\n", *lines[3:]]))


def test_a_cell_in_a_longer_text_is_filled_in_once() -> None:
    main = MAIN.replace('state: "{state}"}', 'state: "{state}", labels: {note: "is-{note}"}}')
    assert "column 'note' of row 2 holds braces" in told("name,plan,extra,state,note\na,small,,,{env}\n", main)


def test_few_cells_cannot_become_any_number_of_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Allowance.__init__, "__defaults__", (1_000, 1_000_000))
    each = f'annotations: {{a: "{"{note}" * 50}"}}'
    main = MAIN.replace('state: "{state}"}', f'state: "{{state}}", {each}}}')
    found = told(f"name,plan,extra,state,note\na,small,,,{'x' * 30}\n", main)
    assert "tenants.yaml:3:36: error[too-large]: the rows of all files become more than" in found
    monkeypatch.setattr(Allowance.__init__, "__defaults__", (1_000_000, 10))
    assert "error[too-large]: the rows of all files become more than" in told()


def test_an_included_file_cannot_bring_rows_and_a_row_is_in_one_file() -> None:
    twice = MAIN.replace("include:\n", "include:\n  - {tenants: more.csv}\n")
    Path("more.csv").write_text("name\nbeta\n")
    assert "'beta' is a row of two files" in told(main=twice)


def test_a_cluster_of_a_row_and_of_an_included_file_is_declared_twice() -> None:
    Path("more.yaml").write_text("clusters: {s1: {environments: [prod]}}\n")
    main = MAIN.replace("include:\n", "include:\n  - {clusters: more.yaml}\n")
    assert "cluster 's1' is declared twice" in told(main=main)


def test_a_new_tenant_of_a_team_cannot_take_the_name_of_a_row() -> None:
    Path("team.yaml").write_text("tenants: {beta: {}}\n")
    main = MAIN.replace("include:\n", 'include:\n  - {tenants: team.yaml, of: ["b*"], class: small}\n')
    assert "tenant 'beta' is in customers.csv already" in told(main=main)


def test_a_row_is_a_cluster_of_several_groups() -> None:
    main = MAIN.replace('group: "{ring}"', 'group: [store, "{second}"]').replace(
        "clusters: {hub:", "  far: {variables: {size: 9}, labels: {tier: far}}\nclusters: {hub:"
    )
    stores = "name,ring,region,cell,size,second\r\ns1,,eu,a,3,far\r\ns2,,us,b,,far\r\ns3,,us,b,,\r\n"
    fleet = load(main=main.replace("{size: 1}", "{size: 1, ring: none}"), stores=stores)
    found = {name: (each.group, each.variables["size"]) for name, each in fleet.clusters.items() if each.group}
    assert found == {"s1": (["store", "far"], 3), "s2": (["store", "far"], 9), "s3": (["store"], 1)}
    assert fleet.clusters["s1"].labels == {"tier": "far", "region": "eu", "cell": "a"}
