"""A review of drawn fleets never contains a secret that the fleets contain, whatever else changes between them."""

from __future__ import annotations

from hypothesis import assume, reject
from hypothesis import strategies as st

from tenantry.messages.errors import InvalidFleet
from tests.drawn import given, one_in
from tests.properties.promises import planned, reviewed
from tests.strategies import Data, fleets

_PLACES = (
    {"auth": {"password": "@@"}},
    {"env": [{"name": "DB_PASSWORD", "value": "@@"}]},
    {"args": ["--password", "@@", "--api-token=@@"]},
    {"url": "https://app:@@@db.example.com", "hook": "https://x.example.com/?token=@@"},
    {"secrets": {"a": ["@@"]}},
    {"extra": [{"kind": "Secret", "metadata": {"name": "x"}, "stringData": {"a": "@@"}}]},
    {"config": "a: 1\npassword: @@\n"},
)
_PATCH = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\nstringData:\n  a: @@\n"
_words = st.text("abcdefghij0123456789", min_size=6, max_size=12).map(lambda word: f"Zq{word}")


@one_in(8)
@given(fleets(), fleets(), st.sampled_from(_PLACES), _words, _words, st.booleans())
def test_no_secret_is_in_a_review(
    fleet: Data,
    other: Data,
    place: Data,
    one: str,
    two: str,
    same: bool,  # noqa: FBT001  # drawn
) -> None:
    before = _with_secrets(fleet, place, one)
    after = _with_secrets(fleet if same else other, place, two)
    assume(before["tenants"] or after["tenants"])
    try:
        old, new = planned(before), planned(after)
    except InvalidFleet:
        reject()
    told = [each for each in reviewed(old, new) if each]
    assert "Zq" not in repr(told)
    differs = any(tenant["apps"] for tenant in before["tenants"].values()) and same and one != two
    assert bool(told) or not differs


def _with_secrets(fleet: Data, place: Data, secret: str) -> Data:
    return _filled(
        {**fleet, "tenants": {name: _tenant(each, place) for name, each in fleet["tenants"].items()}}, secret
    )


def _tenant(tenant: Data, place: Data) -> Data:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"password": "@@", "app.ini": "[db]\npassword=@@\n"}}
    apps = {name: _app(each, place) for name, each in tenant["apps"].items()}
    return {**tenant, "apps": apps, "objects": {**tenant.get("objects", {}), "planted": config}}


def _app(app: Data, place: Data) -> Data:
    if "helm" in app:
        return {**app, "helm": {**app["helm"], "values": {**app["helm"].get("values", {}), **place}}}
    patches = [*app["kustomize"].get("patches", []), {"patch": _PATCH}]
    post_build = {"substitute": {"DB_PASSWORD": "@@", "PLANTED": "plain"}}
    return {**app, "kustomize": {**app["kustomize"], "patches": patches, "postBuild": post_build}}


def _filled(data: Data, secret: str) -> Data:
    def filled(value: object) -> object:
        match value:
            case dict():
                return {key: filled(each) for key, each in value.items()}
            case list():
                return [filled(each) for each in value]
            case str():
                return value.replace("@@", secret)
        return value

    found = filled(data)
    assert isinstance(found, dict)
    return found
