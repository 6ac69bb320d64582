"""What a controller really connects to, where that is not what an included file seems to say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.fleet.authored import CHAT, Data, at, granted, problems, together


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def codes(said: Data, main: Data | None = None) -> list[str]:
    return [each.code for each in problems(said, main)]


SHARED: Data = at("platform.sharedIdentity", value=True)


@pytest.mark.parametrize(
    ("provider", "granted_", "allowed"),
    [
        ("gcp", "s3://s3.example.com/*", False),
        ("gcp", "s3://storage.googleapis.com/b", True),
        ("gcp", "s3://storage.googleapis.com/other", False),
        ("{cloud}", "s3://s3.example.com/*", False),
        ("aws", "s3://s3.example.com/*", True),
        ("azure", "s3://s3.example.com/*", True),
        ("generic", "s3://s3.example.com/*", True),
    ],
)
def test_a_bucket_at_google_is_there_whatever_its_endpoint_says(provider: str, granted_: str, *, allowed: bool) -> None:
    addresses = ["https://git.example.com/rocky/*", "oci://registry.example.com/rocky/*", granted_]
    main = together(SHARED, granted(sources=addresses), at("environments.dev.variables.cloud", "gcp"))
    assert codes(at("sources.s.bucket.provider", provider), main) == ([] if allowed else ["not-granted"])


def test_a_bucket_at_google_needs_the_platforms_word_for_its_identity_too() -> None:
    addresses = granted(sources=["*"])
    assert codes(at("sources.s", {"bucket": {"provider": "gcp"}, "credentials": "mine"}), addresses) == [
        "shared-identity"
    ]


@pytest.mark.parametrize(
    ("type_", "address", "allowed"),
    [
        ("bitbucket", "https://hooks.example.com/movy/x", False),
        ("bitbucket", "https://bitbucket.org/rocky/x", True),
        ("bitbucket", "ssh://git@hooks.example.com/movy/x", False),
        ("bitbucketserver", "https://hooks.example.com/scm/rocky/x", True),
        ("github", "https://bitbucket.org/movy/x", False),
    ],
)
def test_bitbuckets_cloud_is_told_whatever_host_an_alert_names(type_: str, address: str, *, allowed: bool) -> None:
    alert: Data = {"provider": {"type": type_, "address": address}, "credentials": "mine"}
    main = granted(alerts=["https://hooks.example.com/*", "https://bitbucket.org/rocky/*"])
    assert codes(at("alerts.chat", alert), main) == ([] if allowed else ["not-granted"])


@pytest.mark.parametrize(
    "chart", ["../../x", "..", "a/../../x", "/x", "x:1.0", "x@sha256:a", "a//b", "https://evil", "a b", "{up}"]
)
def test_a_chart_of_a_repository_is_a_name(chart: str) -> None:
    main = at("environments.dev.variables.up", "../x")
    # One for each cluster on which a template makes it so.
    assert set(codes(at("apps.cache.helm.chart", chart), main)) == {"bad-chart"}


@pytest.mark.parametrize(
    "component",
    [
        "https://github.com/x/y?ref=main",
        "github.com/x/y",
        "GitHub.com/x/y",
        "git@github.com:x/y",
        "github.com:x/y",
        "git::https://git.example.com/x",
        "ssh://git@git.example.com/x",
        "file:///etc",
        "git.example.com/x.git",
        "example.org/x",
        "a?ref=main",
        "a%2fb",
        "a\\b",
        "{host}/x",
        "./../..",
    ],
)
def test_a_component_is_a_directory_of_the_source(component: str) -> None:
    main = at("environments.dev.variables.host", "github.com/x")
    assert codes(at("apps.web.kustomize", {"path": "./a", "components": [component]}), main) == ["bad-path"]


def test_other_charts_and_components_are_as_before() -> None:
    good = at(
        "apps.web.kustomize",
        {"path": "./a", "components": ["../b", "./v1.2/c", "v1.2/c", "conf.d/c", "c/d.e", "tls", "../{tenant}/", "."]},
    )
    for chart in ("c", "team/c", "c.d_e-1"):
        assert codes(together(good, at("apps.cache.helm.chart", chart))) == []


@pytest.mark.parametrize(
    "key",
    ["tenant", "environment", "cluster", "Tenant", " tenant ", "CLUSTER", "\uff34enant", "tena\u200bnt", "ten ant"],
)
def test_messages_keep_the_fleets_keys(key: str) -> None:
    alert: Data = {"provider": CHAT, "credentials": "deploy", "eventMetadata": {key: "other", "team": "a"}}
    assert codes({}, at("tenants.rocky.alerts.chat", alert)) == ["owned-key"]
    of_team = {**alert, "credentials": "mine"}
    assert codes(at("alerts.chat", of_team)) == ["hidden-character" if "\u200b" in key else "owned-key"]


@pytest.mark.parametrize("key", ["fromPath", "toPath"])
@pytest.mark.parametrize("path", ["/etc", "..", "../x", "a/../../x", "{up}/x"])
def test_what_a_source_includes_stays_in_both_sources(key: str, path: str) -> None:
    other: Data = {"git": {"url": "https://git.example.com/rocky/other", "ref": {"branch": "main"}}}
    said = together(
        at("sources.other", other), at("sources.m.git.include", [{"repository": {"name": "other"}, key: path}])
    )
    assert set(codes(said, at("environments.dev.variables.up", ".."))) == {"bad-path"}
    assert codes(together(said, at("sources.m.git.include", [{"repository": {"name": "other"}, key: "./a"}]))) == []
