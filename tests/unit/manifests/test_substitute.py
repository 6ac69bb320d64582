"""Variables in built manifests are replaced as Flux replaces them."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.manifests.model import NotRendered
from tenantry.manifests.substitute import substituted

BUILT = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {domain: "${DOMAIN}", port: "${PORT:=8080}", kept: "$${HOME}", plain: $HOME}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: script
  annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}
data: {run: "${DOMAIN}"}
"""


def values(**post_build: Any) -> list[dict[str, str]]:
    return [dict(each["data"]) for each in substituted(BUILT, post_build).objects]


def test_values_defaults_and_escapes() -> None:
    assert values(substitute={"DOMAIN": "a.example\n.com"}) == [
        {"domain": "a.example.com", "port": "8080", "kept": "${HOME}", "plain": "$HOME"},
        {"run": "${DOMAIN}"},
    ]


def test_without_variables_nothing_is_replaced() -> None:
    assert values()[0]["kept"] == "$${HOME}"
    assert values(substitute={}, substituteStrategy="WithVariables")[0]["port"] == "${PORT:=8080}"


def test_values_of_the_cluster_are_unknown_and_stay_visible() -> None:
    rendered = substituted(BUILT, {"substituteFrom": [{"kind": "Secret", "name": "settings"}]})
    assert rendered.objects[0]["data"] == {
        "domain": "${DOMAIN}",
        "port": "${PORT:=8080}",
        "kept": "${HOME}",
        "plain": "$HOME",
    }
    assert rendered.notes == ("values of Secret 'settings' are unknown here: what it sets is shown as ${NAME}",)


def test_a_variable_without_a_value_is_refused_as_flux_refuses_it() -> None:
    with pytest.raises(NotRendered, match="variable 'DOMAIN' has no value; Flux refuses it"):
        values(substitute={"OTHER": "x"})
