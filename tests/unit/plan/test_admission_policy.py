"""The policies as they are installed. What they refuse is asked of real API servers, in tests/faults."""

from __future__ import annotations

from typing import Any

from tenantry.grants.rules import duration_paths
from tenantry.plan.bootstrap import management_policies, remote_policies
from tests.unit.texts import planned, rocky


def policies(platform: str = "ops", *, shared_identity: bool = False) -> dict[str, dict[str, Any]]:
    made = management_policies([platform], shared_identity=shared_identity)
    return {each["metadata"]["name"]: each["spec"] for each in made if each["kind"] == "ValidatingAdmissionPolicy"}


def said(name: str, **settings: Any) -> list[str]:
    return [each["message"] for each in policies(**settings)[name]["validations"]]


def test_every_policy_has_a_binding_that_denies() -> None:
    made = management_policies(["ops"], shared_identity=False)
    for policy, binding in zip(made[::2], made[1::2], strict=True):
        assert policy["metadata"] == binding["metadata"]
        assert (policy["kind"], binding["kind"]) == ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
        assert binding["spec"] == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny"]}


def test_policies_hold_in_the_fleets_namespaces_alone() -> None:
    """Other tenants of the same hub keep their kubeconfigs and cloud providers."""
    for name, spec in policies().items():
        assert spec["failurePolicy"] == "Fail"
        selector = spec["matchConstraints"]["namespaceSelector"]
        if name == "tenantry-namespaces":
            # A selector looks at a Namespace's labels after the change, and a condition can look at those before it.
            assert (selector, "oldObject" in spec["matchConditions"][0]["expression"]) == ({}, True)
        else:
            assert selector == {
                "matchExpressions": [{"key": "tenantry/environment", "operator": "Exists"}],
                "matchLabels": {"toolkit.fluxcd.io/role": "tenant"},
            }
        assert spec["matchConstraints"]["objectSelector"] == {}


def test_the_labels_by_which_a_namespace_is_the_fleets_are_what_every_baseline_gives_it() -> None:
    text = rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}\nnamespaces: {jobs: {}}")
    made = [each.manifest for each in planned(text).objects]
    made += [each for release in made for each in release.get("spec", {}).get("values", {}).get("objects", ())]
    namespaces = [each["metadata"]["labels"] for each in made if each["kind"] == "Namespace"]
    assert len(namespaces) == 4
    assert all(each["toolkit.fluxcd.io/role"] == "tenant" and "tenantry/environment" in each for each in namespaces)


def test_the_fleets_keys_are_refused_on_every_kind_at_creation_and_at_change() -> None:
    spec = policies()["tenantry-labels"]
    (rule,) = spec["matchConstraints"]["resourceRules"]
    assert (rule["apiGroups"], rule["resources"], rule["operations"]) == (["*"], ["*/*"], ["CREATE", "UPDATE"])
    assert said("tenantry-labels") == ["labels and annotations that begin with 'tenantry/' are the platform's to set"]


def test_an_object_that_is_being_deleted_is_excused_only_while_its_spec_stays() -> None:
    for spec in policies().values():
        assert "deletionTimestamp" not in str(spec)
    (condition,) = policies()["tenantry-tenants"]["matchConditions"]
    changed = "request.operation == 'CREATE' || object.?spec != oldObject.?spec"
    only_fluxs = policies()["tenantry-tenants"]["validations"][7]["expression"].removeprefix("variables.everywhere || ")
    assert "finalizers.fluxcd.io" in only_fluxs
    assert condition["expression"] == f"{changed} || !({only_fluxs})"


def test_a_remote_has_the_policies_for_what_a_baseline_makes() -> None:
    assert [each["metadata"]["name"] for each in remote_policies()[::2]] == [
        "tenantry-baselines",
        "tenantry-namespaces",
        "tenantry-labels",
    ]
    assert management_policies(["ops"], shared_identity=False)[-6:] == remote_policies()


def test_the_platforms_namespace_is_where_apps_may_wait_for_addons() -> None:
    assert said("tenantry-tenants")[0] == "a tenant's dependsOn names its own namespace, or without a readyExpr 'ops'"
    assert "each.namespace == 'ops' && !has(each.readyExpr)" in str(policies()["tenantry-tenants"]["validations"][0])


def test_every_duration_of_flux_is_one_that_its_controllers_can_read() -> None:
    """A CRD takes `9999999h`. One object with it stops a controller from listing any object of that kind, of all tenants."""
    (rule,) = (each for each in policies()["tenantry-tenants"]["validations"] if "8784h" in each["message"])
    for path in duration_paths():
        assert (
            f"duration(object.spec.?{path.replace('.', '.?')}.orValue('1s')) <= duration('8784h')" in rule["expression"]
        )
        assert "*" not in path, "CEL needs a loop for a list"
    assert {"interval", "timeout", "install.timeout", "upgrade.strategy.retryInterval"} <= {*duration_paths()}


def test_where_the_file_shares_the_controllers_identity_the_policy_does_too() -> None:
    cloud = "the cloud identity of Flux's controllers is not the tenants' to use"
    assert len([each for each in said("tenantry-tenants") if each.startswith(cloud)]) == 3
    assert not [each for each in said("tenantry-tenants", shared_identity=True) if each.startswith(cloud)]
