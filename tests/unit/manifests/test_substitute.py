"""Variables in built manifests are replaced as Flux replaces them."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tenantry.manifests import documents
from tenantry.manifests.documents import substituted
from tenantry.manifests.model import NotRendered
from tests.table import table

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


@table("use", ["${a:-", "${a=", "${a", "$"])
def test_uses_that_do_not_end_take_no_time(use: str) -> None:
    """Each of them would be followed to the end of the text."""
    text = use * (600_000 // len(use))
    built = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  a: '{text}$$'\n"
    started = time.process_time()
    (found,) = substituted(built, {"substitute": {"b": "c"}}).objects
    assert found["data"]["a"] == (text.replace("$$", "$") + "$")
    assert time.process_time() - started < 5


def test_what_variables_become_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long value that a short text uses often."""
    monkeypatch.setattr(documents, "MOST_BYTES", 2**20)
    built = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web}}\ndata: {{a: '{'${b}' * 1_000}'}}\n"
    assert substituted(built, {"substitute": {"b": "c" * 1_000}}).objects
    with pytest.raises(NotRendered, match=r"^its variables become more than 1 MiB$"):
        substituted(built, {"substitute": {"b": "c" * 2_000}})
