"""The CronJob that renews tokens has the right to its Secrets alone."""

from __future__ import annotations

from tenantry.kube.objects import object_id
from tenantry.model import SecretKey
from tenantry.plan.registration import RENEW, renewal

SECRETS = [
    SecretKey(name="west", namespace="clusters", key="value"),
    SecretKey(name="edge", namespace="clusters", key="kubeconfig"),
    SecretKey(name="far", namespace="bought", key="value"),
]


def test_the_job_reads_and_changes_its_own_secrets_only() -> None:
    account, *rights, cronjob = renewal("tenantry-system", SECRETS, "registry.example.com/kubectl:1", 7200, "0 3 * * *")
    assert str(object_id(account)) == "ServiceAccount tenantry-system/tenantry-renewal"
    roles = {each["metadata"]["namespace"]: each["rules"] for each in rights if each["kind"] == "Role"}
    rule = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "patch"]}
    assert roles == {
        "bought": [rule | {"resourceNames": ["far"]}],
        "clusters": [rule | {"resourceNames": ["edge", "west"]}],
    }
    bound = [each["subjects"] for each in rights if each["kind"] == "RoleBinding"]
    assert bound == [[{"kind": "ServiceAccount", "name": "tenantry-renewal", "namespace": "tenantry-system"}]] * 2
    (container,) = cronjob["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["clusters/west/value", "clusters/edge/kubeconfig", "bought/far/value"]
    assert {"name": "DURATION", "value": "7200s"} in container["env"]
    assert container["image"] == "registry.example.com/kubectl:1"


def test_no_token_is_an_argument_of_a_program() -> None:
    builtins = ("printf", "while", "case", "*)", "*'")
    with_token = [line.strip() for line in RENEW.splitlines() if "$token" in line]
    assert with_token
    assert all(line.startswith(builtins) for line in with_token)
