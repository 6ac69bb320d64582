"""Data against the model: what the author is told when the two do not fit."""

from __future__ import annotations

from tenantry.fleet.shape import check_shape
from tenantry.source.parse import parse
from tests.table import table
from tests.unit.texts import FRAME, problems, rocky, told

TENANT = FRAME + "tenants:\n  rocky:\n"


@table("role", ["a/b", "../../../outside", "100%"])
def test_a_role_that_would_be_a_path_is_refused_because_files_and_bindings_are_named_by_it(role: str) -> None:
    expected = told(
        f"tenants.yaml:10:11: error[bad-role]: role '{role}' must be the name of a ClusterRole,"
        " which holds no '/' and no '%'",
        "  at tenants.rocky.role",
        "Found 1 error",
    )
    assert expected == problems(TENANT + f"    role: {role}\n")


def test_a_broken_tenant_does_not_hide_mistakes_of_another() -> None:
    text = FRAME + "tenants:\n  a: {rol: x}\n  b: {clusters: {names: [nope]}}\n"
    shown = problems(text)
    assert ("at tenants.a.rol" in shown, "at tenants.b.clusters.names[0]" in shown) == (True, True)


def test_entries_left_out_are_named_so_that_references_to_them_are_not_called_unknown() -> None:
    text = rocky("web: {kustomize: {source: manifests}, helm: {}}\nworker: {kustomize: {source: manifests}}")
    checked = check_shape(parse(text.encode(), "t").data)
    assert checked.document is not None
    assert (frozenset({("tenants", "rocky", "apps", "web")}), {"worker"}) == (
        checked.left_out,
        set(checked.document.tenants["rocky"].apps),
    )


def test_the_given_data_is_not_changed_by_leaving_entries_out() -> None:
    data = parse(rocky("web: {}").encode(), "t").data
    check_shape(data)
    assert data["tenants"]["rocky"]["apps"] == {"web": {}}


def test_null_removes_an_inherited_entry_wherever_maps_merge() -> None:
    text = FRAME + (
        "defaults: {quota: {pods: 1}}\n"
        "tenants: {rocky: {quota: {pods: null}, limits: {default: {cpu: null}}, labels: {a: null}}}\n"
    )
    assert check_shape(parse(text.encode(), "t").data).findings == ()
