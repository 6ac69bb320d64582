from __future__ import annotations

import pytest

from tenantry.cluster.apply_bootstrap import Outcome, apply
from tenantry.messages.errors import Refused
from tenantry.plan.bootstrap import bootstrap
from tests.table import table
from tests.unit.memory import ADMISSION, Memory
from tests.unit.texts import FRAME, fleet

# Without the management cluster's policy: what is asked here is the same for every kind.
MANIFESTS = bootstrap(fleet(FRAME), "dev", "hub")[:4]
NAMESPACE = "/api/v1/namespaces/tenantry-system"
ACCOUNT = "/api/v1/namespaces/tenantry-system/serviceaccounts/tenantry-platform"
MARKER = "/api/v1/namespaces/tenantry-system/configmaps/tenantry"
BINDING = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/tenantry-platform-tenantry-system"


def outcomes(memory: Memory) -> list[Outcome]:
    with memory.client() as client:
        return [outcome for _, outcome in apply(client, MANIFESTS)]


def refusal(memory: Memory) -> tuple[str, str]:
    with pytest.raises(Refused) as refused:
        outcomes(memory)
    return refused.value.message, refused.value.fix


def test_what_is_not_there_is_created_as_it_is_planned() -> None:
    memory = Memory()
    assert [Outcome.CREATED] * 4 == outcomes(memory)
    assert [NAMESPACE, ACCOUNT, BINDING, MARKER] == list(memory.objects)
    assert MANIFESTS[2]["roleRef"] == memory.objects[BINDING]["roleRef"]
    assert MANIFESTS[2]["subjects"] == memory.objects[BINDING]["subjects"]


def test_fields_of_others_are_not_taken_over() -> None:
    memory = Memory()
    outcomes(memory)
    applied = [sent for method, _, sent in memory.requests if method == "PATCH" and "dryRun" not in sent]
    assert [("tenantry", False)] * 4 == [
        (each["fieldManager"], each.get("force", "false") == "true") for each in applied
    ]


def test_applying_again_changes_nothing() -> None:
    memory = Memory()
    outcomes(memory)
    assert [Outcome.UNCHANGED] * 4 == outcomes(memory)


def test_what_others_added_is_no_change_and_what_is_amiss_is_one() -> None:
    memory = Memory()
    outcomes(memory)
    memory.objects[NAMESPACE]["metadata"]["labels"]["team"] = "ops"
    memory.objects[BINDING]["subjects"] = []
    assert [Outcome.UNCHANGED, Outcome.UNCHANGED, Outcome.CHANGED, Outcome.UNCHANGED] == outcomes(memory)


def test_an_object_that_one_may_not_apply_is_named_and_nothing_is_applied() -> None:
    memory = Memory()
    memory.refuse("PATCH", BINDING, 403, 'User "dev" cannot\n patch resource "clusterrolebindings"')
    assert refusal(memory) == (
        "cannot change ClusterRoleBinding tenantry-platform-tenantry-system: HTTP 403",
        "use credentials that may 'patch' clusterrolebindings.rbac.authorization.k8s.io",
    )
    assert list(memory.objects) == []


ALL = bootstrap(fleet(FRAME), "dev", "hub")


@table("kind", ["validatingadmissionpolicies", "validatingadmissionpolicybindings"])
def test_a_cluster_without_admission_policies_is_told_before_any_right_is_granted(kind: str) -> None:
    """On Kubernetes below 1.30."""
    memory = Memory()
    memory.refuse(
        "PATCH", f"{ADMISSION}/{kind}/tenantry-labels", 404, "the server could not find the requested resource"
    )
    with memory.client() as client, pytest.raises(Refused) as refused:
        list(apply(client, ALL))
    assert ", without which tenants could leave their namespaces" in refused.value.message
    assert refused.value.fix == "upgrade the cluster to Kubernetes 1.30 or later, then run the command again"
    assert not [path for method, path, sent in memory.requests if method == "PATCH" and "dryRun" not in sent]


def test_a_policy_that_the_cluster_does_not_take_is_told_before_any_right_is_granted() -> None:
    memory = Memory()
    path = f"{ADMISSION}/validatingadmissionpolicies/tenantry-labels"
    memory.refuse("PATCH", path, 422, "spec.validations[0].expression: Invalid value")
    with memory.client() as client, pytest.raises(Refused, match=r"tenantry-labels: HTTP 422: spec.validations\[0\]"):
        list(apply(client, ALL))
    assert not [path for method, path, sent in memory.requests if method == "PATCH" and "dryRun" not in sent]


def test_a_cluster_that_is_marked_as_another_one_is_left_alone() -> None:
    memory = Memory()
    memory.objects[MARKER] = {"metadata": {"name": "tenantry"}, "data": {"cluster": "west"}}
    with pytest.raises(Refused) as refused:
        outcomes(memory)
    assert (
        refused.value.message == "this cluster is marked as 'west', not as 'hub' (ConfigMap tenantry-system/tenantry)"
    )
    assert refused.value.fix == (
        "name the kubeconfig of 'hub' with --kubeconfig and --context; if 'west' was renamed in the file: kubectl patch configmap"
        """ tenantry --namespace tenantry-system --type merge --patch '{"data": {"cluster": "hub"}}'"""
    )
    assert list(memory.objects) == [MARKER]


def test_a_field_that_another_manages_is_left_to_the_administrator() -> None:
    memory = Memory()
    memory.refuse("PATCH", NAMESPACE, 409, 'Apply failed with 1 conflict: conflict with "helm": .metadata.labels')
    message, fix = refusal(memory)
    assert message.endswith('conflict with "helm": .metadata.labels')
    assert fix == (
        "if kubectl applied them: tenantry bootstrap NAME | kubectl apply -f -; otherwise remove these fields from the"
        " other manager's configuration, or rename the platform's objects"
    )
