"""What is hidden of any data, and that changed data always looks changed."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

from tenantry.facts.objects import changed_fields
from tenantry.messages.masking import masked, masked_pair
from tests.drawn import given
from tests.unit.messages.test_masking import PASSWORD

VALUES = st.sampled_from([PASSWORD, "hunter2", "plain", 7, True, None, "a: 1\npassword: hunter2\n", "x://u:hunter2@h"])


KEYS = st.sampled_from(["password", "token", "name", "value", "kind", "data", "secrets", "image", "env"])


DATA = st.recursive(
    VALUES, lambda inner: st.dictionaries(KEYS, inner, max_size=4) | st.lists(inner, max_size=3), max_leaves=10
)


@given(DATA, DATA)
def test_different_data_looks_different_and_equal_data_equal(before: Any, after: Any) -> None:
    one, other = masked_pair(before, after)
    assert (one == other) == (before == after)
    assert masked_pair(before, copy.deepcopy(before)) == (masked(before), masked(before))


def container(**content: Any) -> dict[str, Any]:
    return {"kind": "Deployment", "spec": {"template": {"spec": {"containers": [{"name": "web", **content}]}}}}


LAST = "kubectl.kubernetes.io/last-applied-configuration"
PLACES: dict[str, dict[str, Any]] = {
    "data": {"kind": "Secret", "data": {"a": "@@"}},
    "string-data": {"kind": "Secret", "stringData": {"a": "@@"}},
    "annotation": {"kind": "Secret", "metadata": {"annotations": {LAST: '{"stringData": {"a": "@@"}}'}}},
    "config-map": {"kind": "ConfigMap", "data": {"DB_PASSWORD": "@@"}},
    "environment": container(env=[{"name": "API_TOKEN", "value": "@@"}]),
    "custom": {"kind": "Thing", "spec": {"auth": {"clientSecret": "@@"}}},
}


def manifest(place: str, secret: str) -> dict[str, Any]:
    """An object with a secret in a place."""
    text = json.dumps(PLACES[place]).replace("@@", json.dumps(secret)[1:-1])
    return {"apiVersion": "v1", **json.loads(text)}


secrets = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=("C",)), min_size=6).map(
    lambda text: f"Zq{text}qZ"
)


@given(st.sampled_from(sorted(PLACES)), secrets, secrets)
def test_no_drawn_secret_is_in_a_comparison(place: str, before: str, after: str) -> None:
    changes = list(changed_fields(manifest(place, before), manifest(place, after)))
    assert len(changes) == (before != after)
    assert "Zq" not in repr(changes)
