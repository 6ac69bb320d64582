"""What variables make of values: filled in where the file says so, and checked as if the author had written them."""

from __future__ import annotations

import pytest

from tenantry.messages.errors import AlreadyReported, InvalidPart
from tenantry.plan.plan import plan
from tenantry.plan.sources import SourceSet
from tests.table import table
from tests.unit.texts import fleet, one, planned, problems, rocky

HUB = "clusters: {names: [hub]}"
APP = "web: {kustomize: {source: manifests}}"
DECLARED = (
    f"{HUB}\ncredentials: {{keys: {{keys: [values.yaml]}}}}\nconfigs: {{settings: {{data: {{values.yaml: 'a: 1'}}}}}}"
)


def varied(text: str, variables: str) -> str:
    """The fleet with variables of its environment."""
    return text.replace("management: hub}", f"management: hub, variables: {{{variables}}}}}")


def release(entry: str) -> str:
    return rocky(f"db: {{helm: {{source: charts, chart: db, version: 1.x, valuesFrom: [{entry}]}}}}", DECLARED)


def test_the_kind_of_a_reference_may_be_a_variable() -> None:
    text = varied(release('{kind: "{k}", name: keys}'), "k: Secret")
    assert one(planned(text), "HelmRelease", "db").manifest["spec"]["valuesFrom"] == [
        {"kind": "Secret", "name": "keys"}
    ]
    app = 'web: {kustomize: {source: manifests, postBuild: {substituteFrom: [{kind: "{k}", name: keys}]}}}'
    spec = one(planned(varied(rocky(app, DECLARED), "k: Secret")), "Kustomization", "web").manifest["spec"]
    assert spec["postBuild"]["substituteFrom"] == [{"kind": "Secret", "name": "keys"}]


@table("app", ["helm", "kustomize"])
def test_what_a_filled_reference_names_has_to_be_declared(app: str) -> None:
    entry = '{kind: "{k}", name: settings}'
    kustomize = f"db: {{kustomize: {{source: manifests, postBuild: {{substituteFrom: [{entry}]}}}}}}"
    text = release(entry) if app == "helm" else rocky(kustomize, DECLARED)
    assert "error[unknown-credentials]: " in problems(varied(text, "k: Secret"))
    assert f"  at tenants.rocky.apps.db.{app}." in problems(varied(text, "k: Secret"))


# --- nothing is left out without a word -------------------------------------------------------------------------


def test_giving_up_without_a_finding_is_an_error_of_the_program() -> None:
    with pytest.raises(AssertionError, match="did not say why"):
        InvalidPart([])


def test_a_part_that_is_left_out_without_a_finding_is_an_error_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: SourceSet, name: str) -> None:
        raise AlreadyReported(f"source '{name}'")

    sound = fleet(rocky(APP))
    monkeypatch.setattr(SourceSet, "get", missing)
    with pytest.raises(AssertionError, match="source 'manifests'"):
        plan(sound, "dev")
