"""Names, and what Kubernetes and Helm allow."""

from __future__ import annotations

from tenantry.kube import names
from tests.table import table

FORM = "must be lower-case letters, digits and '-', starting and ending with a letter or digit"


@table("name", ["a", "0", "a-b", "a--b", "edge-1", "a" * 63])
def test_dns_labels_are_names(name: str) -> None:
    assert names.dns_label_problem(name) is None


@table("name", ["", "-a", "a-", "A", "a_b", "a.b", "a b", "é", "a\n", "{tenant}"])
def test_what_is_no_dns_label_is_no_name(name: str) -> None:
    assert names.dns_label_problem(name) == FORM


def test_a_name_of_64_characters_is_too_long() -> None:
    assert names.dns_label_problem("a" * 64) == "has 64 characters, at most 63 are allowed"


@table("name", ["a", "a.b", "edge-1.kubeconfig", "1.2.3", "a" * 253, f"{'a' * 126}.{'b' * 126}"])
def test_objects_that_others_make_are_named_by_dns_subdomains(name: str) -> None:
    assert names.object_name_problem(name) is None


@table("name", ["", ".", "a.", ".a", "a..b", "a.-b", "a-.b", "A.b", "a_b", "a b", "é", "a\n", "a/b"])
def test_what_is_no_dns_subdomain_is_no_object_s_name(name: str) -> None:
    form = "must be lower-case letters, digits, '-' and '.', starting and ending with a letter or digit"
    assert form == names.object_name_problem(name)


def test_an_object_s_name_of_254_characters_is_too_long() -> None:
    assert names.object_name_problem("a" * 254) == "has 254 characters, at most 253 are allowed"


@table("name", ["admin", "system:aggregate-to-edit", "Team A", "a.b_c", "..."])
def test_roles_are_named_as_kubernetes_allows_it(name: str) -> None:
    assert names.role_name_problem(name) is None


@table("name", [".", "..", "a/b", "/", "../../x", "50%"])
def test_what_is_more_than_one_segment_of_a_path_is_no_role(name: str) -> None:
    assert names.role_name_problem(name) == "must be the name of a ClusterRole, which holds no '/' and no '%'"


@table("key", ["a", "app", "example.com/app", "a/b.c_d-E", "a" * 63, f"{'a' * 253}/b", "a.b-c.d/e"])
def test_label_keys_may_have_a_prefix(key: str) -> None:
    assert names.label_key_problem(key) is None


@table(
    "key", ["", "/a", "a/", "a/b/c", "-a", "a b", "a" * 64, f"{'a' * 254}/b", "A/b", "a\n", "a..b/c", "a.-b/c", "a./c"]
)
def test_what_is_no_label_key_is_refused(key: str) -> None:
    assert names.label_key_problem(key) == "is not a valid label key ([prefix/]name)"


@table("value", ["", "a", "A.b_c-D", "a" * 63])
def test_label_values_may_be_empty(value: str) -> None:
    assert names.label_value_problem(value) is None


@table("value", ["-a", "a-", "a b", "a/b", "a" * 64, "a\n"])
def test_what_is_no_label_value_is_refused(value: str) -> None:
    assert names.label_value_problem(value) == "is not a valid label value (letters, digits, '-', '_', '.', at most 63)"


@table("name", ["pods", "requests.cpu", "count/deployments.apps", "requests.nvidia.com/gpu"])
def test_resources_may_be_qualified(name: str) -> None:
    assert names.quota_name_problem(name) is None


@table("name", ["foo", "requests.foo", "services.x", "limits.storage", "a..b/c", "pods/", "", "hugepages-"])
def test_a_quota_is_for_what_kubernetes_knows(name: str) -> None:
    assert (
        names.quota_name_problem(name) == "is not a resource that a quota can limit, such as 'pods' or 'requests.cpu'"
    )


@table("name", ["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu"])
def test_containers_have_resources(name: str) -> None:
    assert names.limit_name_problem(name) is None


@table("name", ["pods", "foo", "requests.cpu", "a..b/c"])
def test_containers_have_no_others(name: str) -> None:
    assert names.limit_name_problem(name) == "is not a resource of containers, such as 'cpu' or 'memory'"


@table("name", ["default", "flux-system", "kube-system", "kube-public", "kube-"])
def test_namespaces_of_kubernetes_and_flux_are_reserved(name: str) -> None:
    assert names.is_reserved_namespace(name)


@table("name", ["kube", "kubeflow", "default-x", "flux", "rocky"])
def test_other_namespaces_are_not_reserved(name: str) -> None:
    assert not names.is_reserved_namespace(name)


def test_names_are_joined_by_dashes() -> None:
    assert names.join("edge-1", "rocky", "web") == "edge-1-rocky-web"


def test_a_digest_does_not_depend_on_the_order_of_keys_and_changes_with_any_value() -> None:
    digests = [
        names.digest(each)
        for each in ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, {"a": 1, "b": [3]}, {"a": "1", "b": [2]})
    ]
    assert digests == ["0855bfc2", "0855bfc2", "387841a2", "5989b171"]


@table(
    ("text", "expected"), [("Kube Prometheus_Stack", "kube-prometheus-stack"), ("./a//b", "a-b"), ("é", ""), ("a", "a")]
)
def test_a_slug_is_a_part_of_a_name(text: str, expected: str) -> None:
    assert names.slug(text) == expected
