"""Variables in built manifests are replaced as Flux replaces them."""

from __future__ import annotations

import time

import pytest

from tenantry.importing import kustomize
from tenantry.importing.kustomize import substituted
from tenantry.messages.errors import Refused
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


def values(*, always: bool = False, **substitute: str) -> list[dict[str, str]]:
    return [dict(each.manifest["data"]) for each in substituted(BUILT, substitute, "x", always=always)]


def test_values_defaults_and_escapes() -> None:
    assert values(DOMAIN="a.example\n.com") == [
        {"domain": "a.example.com", "port": "8080", "kept": "${HOME}", "plain": "$HOME"},
        {"run": "${DOMAIN}"},
    ]


def test_without_variables_nothing_is_replaced() -> None:
    assert values()[0]["kept"] == "$${HOME}"
    assert values()[0]["port"] == "${PORT:=8080}"


def test_a_variable_without_a_value_is_refused_as_flux_refuses_it() -> None:
    with pytest.raises(Refused, match="variable 'DOMAIN' has no value; Flux refuses it"):
        values(OTHER="x")
    with pytest.raises(Refused, match="variable 'DOMAIN' has no value; Flux refuses it"):
        values(always=True)


@table("use", ["${a:-", "${a=", "${a", "$"])
def test_uses_that_do_not_end_take_no_time(use: str) -> None:
    """Each of them would be followed to the end of the text."""
    text = use * (600_000 // len(use))
    built = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  a: '{text}$$'\n"
    started = time.process_time()
    (found,) = substituted(built, {"b": "c"}, "x")
    assert found.manifest["data"]["a"] == (text.replace("$$", "$") + "$")
    assert time.process_time() - started < 5


def test_what_variables_become_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long value that a short text uses often."""
    monkeypatch.setattr(kustomize, "MOST_BYTES", 2**20)
    built = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web}}\ndata: {{a: '{'${b}' * 1_000}'}}\n"
    assert list(substituted(built, {"b": "c" * 1_000}, "x"))
    with pytest.raises(Refused, match=r"^its variables become more than 1 MiB"):
        list(substituted(built, {"b": "c" * 2_000}, "x"))
