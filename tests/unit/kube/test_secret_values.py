from __future__ import annotations

import base64
import json

from components.secrets import data_of, missing, values_of
from tenantry.kube.objects import KubeObject, Owner, SecretValues

GIT = SecretValues(("credentials", "rocky", "git"), ("password", "username"))
PULL = SecretValues(("platformCredentials", "pull"), ("password", "username"), "ghcr.io")


def secret(values: SecretValues | None, name: str = "git") -> KubeObject:
    manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "rocky"}}
    return KubeObject(manifest, Owner("rocky", "hub"), secret=values)


def test_values_become_data_in_base64() -> None:
    assert data_of(GIT, {"username": "rocky", "password": "geheim"}) == {
        "password": base64.b64encode(b"geheim").decode(),
        "username": base64.b64encode(b"rocky").decode(),
    }


def test_a_registrys_login_becomes_what_its_clients_read() -> None:
    data = data_of(PULL, {"username": "rocky", "password": "geheim"})
    assert json.loads(base64.b64decode(data[".dockerconfigjson"])) == {
        "auths": {
            "ghcr.io": {
                "username": "rocky",
                "password": "geheim",
                "auth": base64.b64encode(b"rocky:geheim").decode(),
            }
        }
    }


def test_every_value_that_is_missing_is_named_once() -> None:
    objects = [secret(GIT), secret(GIT, "edge.rocky.git"), secret(PULL, "pull"), secret(None, "other")]
    config = {"credentials": {"rocky": {"git": {"username": "rocky", "password": ""}}}}
    assert missing(objects, config) == [
        ("credentials", "rocky", "git", "password"),
        ("platformCredentials", "pull", "password"),
        ("platformCredentials", "pull", "username"),
    ]


def test_only_the_keys_that_were_declared_are_taken() -> None:
    config = {"credentials": {"rocky": {"git": {"username": "rocky", "password": "x", "token": "y"}}}}
    assert values_of(GIT, config) == {"username": "rocky", "password": "x"}


def test_a_config_of_another_shape_holds_nothing() -> None:
    assert [values_of(GIT, config) for config in ({"credentials": "x"}, {"credentials": {"rocky": ["git"]}}, {})] == [
        {},
        {},
        {},
    ]
