"""What the model itself derives."""

from __future__ import annotations

from tenantry.model import Kubeconfig, SecretKey
from tests.table import table


@table(
    ("given", "expected"),
    [
        ({"kamaji": {"controlPlane": "a", "namespace": "n"}}, ("a-admin-kubeconfig", "n", "admin.conf")),
        (
            {"kamaji": {"controlPlane": "a", "namespace": "n", "key": "admin.svc"}},
            ("a-admin-kubeconfig", "n", "admin.svc"),
        ),
        ({"capi": {"cluster": "a", "namespace": "n"}}, ("a-kubeconfig", "n", "value")),
        ({"vcluster": {"name": "a", "namespace": "n"}}, ("vc-a", "n", "config")),
        ({"secret": {"name": "a", "namespace": "n", "key": "k"}}, ("a", "n", "k")),
        ({"secret": {"name": "a.b.example.com", "namespace": "n", "key": "k"}}, ("a.b.example.com", "n", "k")),
        (
            {"kamaji": {"controlPlane": "a" * 63, "namespace": "n"}},
            (f"{'a' * 63}-admin-kubeconfig", "n", "admin.conf"),
        ),
        ({"capi": {"cluster": "a" * 63, "namespace": "n"}}, (f"{'a' * 63}-kubeconfig", "n", "value")),
        ({"vcluster": {"name": "a" * 63, "namespace": "n"}}, (f"vc-{'a' * 63}", "n", "config")),
    ],
)
def test_every_kind_of_kubeconfig_is_a_secret_and_a_key_by_its_writer_s_contract(
    given: dict[str, object], expected: tuple[str, str, str]
) -> None:
    name, namespace, key = expected
    assert SecretKey(name=name, namespace=namespace, key=key) == Kubeconfig.model_validate(given).resolved
