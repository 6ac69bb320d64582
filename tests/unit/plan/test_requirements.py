"""What `require` asks of planned sources, charts, images and namespaces."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.grants.requirements import is_pinned, is_signed, required_annotations
from tenantry.load import fleet_of, plan_all
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import format_invalid
from tenantry.model.requirements import Requirements
from tenantry.source.parse import parse
from tests.table import table

REPOSITORY = {"sourceRef": {"kind": "HelmRepository"}}
IDENTITY = {"issuer": "^https://ci$", "subject": "^us$"}
ACCEPTED = ["git HEAD key=keys", "cosign issuer=^https://ci$ subject=^us$"]


@table(
    "kind, spec, pinned, with_tags",
    [
        ("GitRepository", {}, False, False),
        ("GitRepository", {"ref": {"branch": "main"}}, False, False),
        ("GitRepository", {"ref": {"branch": "main", "commit": "a"}}, True, True),
        ("GitRepository", {"ref": {"tag": "v1"}}, False, True),
        ("GitRepository", {"ref": {"tag": "v1", "semver": "1.x"}}, False, False),
        ("GitRepository", {"ref": {"name": "refs/tags/v1", "semver": "1.x"}}, False, True),
        ("GitRepository", {"ref": {"name": "refs/heads/main", "tag": "v1"}}, False, False),
        ("OCIRepository", {"ref": {"digest": "sha256:1"}}, True, True),
        ("OCIRepository", {"ref": {"tag": "1"}}, False, True),
        ("OCIRepository", {"ref": {"tag": "1", "semver": "1.x"}}, False, False),
        ("HelmChart", {**REPOSITORY, "version": "1.2.3"}, True, True),
        ("HelmChart", {**REPOSITORY, "version": "v1.2.3-rc.1+build"}, True, True),
        ("HelmChart", {**REPOSITORY, "version": "1.2"}, False, False),
        ("HelmChart", {**REPOSITORY, "version": ">=1.2.3"}, False, False),
        ("HelmChart", REPOSITORY, False, False),
        ("HelmChart", {"sourceRef": {"kind": "GitRepository"}}, True, True),
        ("HelmRepository", {}, True, True),
        ("Bucket", {}, False, False),
    ],
)
def test_what_cannot_change_is_pinned(kind: str, spec: dict[str, Any], pinned: bool, with_tags: bool) -> None:  # noqa: FBT001
    assert (is_pinned(kind, spec, tags=False), is_pinned(kind, spec, tags=True)) == (pinned, with_tags)


@table(
    "kind, spec, signed",
    [
        ("GitRepository", {}, False),
        ("GitRepository", {"verify": {"secretRef": {"name": "keys"}}}, True),
        ("GitRepository", {"verify": {"mode": "head", "secretRef": {"name": "keys"}}}, True),
        ("GitRepository", {"verify": {"mode": "Tag", "secretRef": {"name": "keys"}}}, False),
        ("GitRepository", {"verify": {"mode": "HEAD", "secretRef": {"name": "own"}}}, False),
        ("OCIRepository", {"verify": {"provider": "cosign", "matchOIDCIdentity": [IDENTITY]}}, True),
        ("OCIRepository", {"verify": {"provider": "cosign"}}, False),
        ("OCIRepository", {"verify": {"provider": "notation", "matchOIDCIdentity": [IDENTITY]}}, False),
        (
            "OCIRepository",
            {"verify": {"provider": "cosign", "matchOIDCIdentity": [IDENTITY, {"issuer": ".*", "subject": ".*"}]}},
            False,
        ),
        # With a key, Flux does not look at identities.
        (
            "OCIRepository",
            {"verify": {"provider": "cosign", "secretRef": {"name": "own"}, "matchOIDCIdentity": [IDENTITY]}},
            False,
        ),
        ("HelmChart", REPOSITORY, False),
        ("HelmChart", {"sourceRef": {"kind": "GitRepository"}}, True),
        ("HelmRepository", {}, True),
        ("Bucket", {"verify": {}}, False),
    ],
)
def test_what_has_no_accepted_signature_is_not_signed(kind: str, spec: dict[str, Any], signed: bool) -> None:  # noqa: FBT001
    assert is_signed(kind, spec, ACCEPTED) == signed


def fleet(required: str, *, source: str = "ref: {branch: main}", more: str = "") -> str:
    return f"""
apiVersion: tenantry/v1
environments: {{dev: {{management: hub}}, prod: {{management: main}}}}
clusters:
  hub: {{environments: [dev]}}
  main: {{environments: [prod]}}
  edge: {{environments: [prod], kubeconfig: {{capi: {{cluster: edge, namespace: capi}}}}}}
platform:
  chart: {{helm: {{url: "https://charts.example.com", version: 0.3.0}}}}
{more}
defaults: {{clusters: {{all: true}}, overrides: {{environments: {{prod: {{require: {required}}}}}}}}}
tenants:
  rocky:
    labels: {{team: rocky}}
    sources: {{m: {{git: {{url: "https://git.example.com/m", {source}}}}}}}
    apps: {{web: {{kustomize: {{source: m}}}}}}
"""


def told(text: str) -> str:
    with pytest.raises(InvalidFleet) as refused:
        plan_all(fleet_of(parse(text.encode(), "tenants.yaml")))
    return format_invalid(refused.value)


def test_a_source_that_is_not_pinned_is_refused_where_it_stands() -> None:
    message = told(fleet("{pinned: true}"))
    assert "error[not-pinned]: the source is not pinned, which 'require.pinned' asks for" in message
    assert "at tenants.rocky.sources.m.git.ref" in message
    assert "fix: set 'commit' in its 'ref'" in message
    assert message.count("error[") == 1


def test_a_required_label_of_namespaces_is_set() -> None:
    assert "namespace 'rocky' has no label 'cost', which 'require.labels' asks for" in told(
        fleet("{labels: [team, cost]}")
    )


def test_the_chart_of_baselines_is_as_the_platform_requires() -> None:
    message = told(fleet("{}", more="  require: {pinned: true, verify: [{provider: cosign}]}"))
    assert "the chart is not verified" in message
    assert "at platform.chart" in message


def test_namespaces_say_what_is_required_on_every_cluster() -> None:
    text = fleet("{pinned: tags, images: ['registry.example.com/*', pause]}", source="ref: {tag: v1}")
    plans = plan_all(fleet_of(parse(text.encode(), "tenants.yaml")))
    found = {}
    for environment, plan in plans.items():
        made = [each.manifest for each in plan.objects]
        made += [each for release in made for each in release.get("spec", {}).get("values", {}).get("objects", ())]
        found[environment] = [
            {
                key: value
                for key, value in each["metadata"].get("annotations", {}).items()
                if key.startswith("tenantry/")
            }
            for each in made
            if each["kind"] == "Namespace"
        ]
    said = {"tenantry/require-pinned": "tags", "tenantry/require-images": "registry.example.com/*\npause"}
    assert found == {"dev": [{}], "prod": [said, said]}


def test_nothing_is_said_of_what_is_not_required() -> None:
    assert required_annotations(Requirements()) == {}
    lifted = Requirements.model_validate({"pinned": False, "labels": ["team"]})
    assert required_annotations(lifted) == {}
