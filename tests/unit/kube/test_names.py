"""Names, and what Kubernetes and Helm allow."""

from __future__ import annotations

from collections.abc import Callable

from tenantry.kube import names
from tests.table import table

_FORM = "starting and ending with a letter or digit"
RULES: list[tuple[Callable[[str], str | None], list[str], list[str], str]] = [
    (
        names.dns_label_problem,
        ["a", "0", "a-b", "a--b", "edge-1", "a" * 63],
        ["", "-a", "a-", "A", "a_b", "a.b", "a b", "é", "a\n", "{tenant}"],
        f"must be lower-case letters, digits and '-', {_FORM}",
    ),
    (names.dns_label_problem, [], ["a" * 64], "has 64 characters, at most 63 are allowed"),
    (
        names.object_name_problem,
        ["a", "a.b", "edge-1.kubeconfig", "1.2.3", "a" * 253, f"{'a' * 126}.{'b' * 126}"],
        ["", ".", "a.", ".a", "a..b", "a.-b", "a-.b", "A.b", "a_b", "a b", "é", "a\n", "a/b"],
        f"must be lower-case letters, digits, '-' and '.', {_FORM}",
    ),
    (names.object_name_problem, [], ["a" * 254], "has 254 characters, at most 253 are allowed"),
    (
        names.role_name_problem,
        ["admin", "system:aggregate-to-edit", "Team A", "a.b_c", "..."],
        [".", "..", "a/b", "/", "../../x", "50%"],
        "must be the name of a ClusterRole, which holds no '/' and no '%'",
    ),
    (
        names.label_key_problem,
        ["a", "app", "example.com/app", "a/b.c_d-E", "a" * 63, f"{'a' * 253}/b", "a.b-c.d/e"],
        ["", "/a", "a/", "a/b/c", "-a", "a b", "a" * 64, f"{'a' * 254}/b", "A/b", "a\n", "a..b/c", "a.-b/c", "a./c"],
        "is not a valid label key ([prefix/]name)",
    ),
    (
        names.label_value_problem,
        ["", "a", "A.b_c-D", "a" * 63],
        ["-a", "a-", "a b", "a/b", "a" * 64, "a\n"],
        "is not a valid label value (letters, digits, '-', '_', '.', at most 63)",
    ),
    (
        names.quota_name_problem,
        ["pods", "requests.cpu", "count/deployments.apps", "requests.nvidia.com/gpu"],
        ["foo", "requests.foo", "services.x", "limits.storage", "a..b/c", "pods/", "", "hugepages-"],
        "is not a resource that a quota can limit, such as 'pods' or 'requests.cpu'",
    ),
    (
        names.limit_name_problem,
        ["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu"],
        ["pods", "foo", "requests.cpu", "a..b/c"],
        "is not a resource of containers, such as 'cpu' or 'memory'",
    ),
]


@table("problem, name", [(problem, name) for problem, allowed, _, _ in RULES for name in allowed])
def test_names_that_kubernetes_takes_are_taken(problem: Callable[[str], str | None], name: str) -> None:
    assert problem(name) is None


@table("problem, name, message", [(problem, name, why) for problem, _, refused, why in RULES for name in refused])
def test_other_names_are_refused_with_their_form(problem: Callable[[str], str | None], name: str, message: str) -> None:
    assert problem(name) == message


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
