"""Every reference has an author: an included file names its own entries, never those of the main file.

Each attack is refused by what is planned, too: the rules about what is written are switched off for that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tenantry.fleet import rules
from tenantry.fleet.names import OF_THE_FILE, names_in
from tenantry.flux import references as of_flux
from tenantry.flux.schemas import kinds, schema_of
from tenantry.grants.frames import filled
from tenantry.grants.rules import included_files_name_what_is_theirs
from tenantry.kube.objects import SecretValues
from tenantry.load import load_fleet, plan_all
from tenantry.messages.data import ABSENT, value_at
from tenantry.messages.errors import NotConfined
from tenantry.model import (
    Alert,
    App,
    AppOverride,
    Document,
    FluxBlock,
    HelmPatch,
    KustomizePatch,
    Model,
    PlacedSettings,
    PlatformOverride,
    Receiver,
    Source,
    Tenant,
    TenantOverride,
)
from tenantry.model.document import ObjectsChart
from tenantry.model.scalars import Refers
from tenantry.model.strict import declared_type
from tenantry.source.include import read_all
from tests.unit.fleet.authored import (
    CHAT,
    MAIN,
    OWN,
    Data,
    at,
    granted,
    problems,
    together,
    write,
)

pytestmark = pytest.mark.usefixtures("plans_once")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def over(app: str, when: Data, path: str, value: Any) -> Data:
    """An override of an app with a value at a path."""
    return at(f"apps.{app}.overrides", [{"when": when, **at(path, value)}])


def of_source(when: Data, path: str, value: Any) -> Data:
    """An override of the tenant that changes a source."""
    return at("overrides", [{"when": when, "sources": at(path, value)}])


PLATFORMS = "platforms-entry"
BY_NAME = {"name": "deploy"}
# Where a name stands that is not the file's to use, by the code that the author is told.
ATTACKS: dict[str, tuple[str, Data]] = {
    "substituteFrom": (
        PLATFORMS,
        at("apps.web.kustomize.postBuild.substituteFrom", [{"kind": "Secret", "name": "deploy"}]),
    ),
    "substituteFrom of a Secret that is there": (
        PLATFORMS,
        at("apps.web.kustomize.postBuild.substituteFrom", [{"kind": "Secret", "name": "there", "optional": True}]),
    ),
    "substituteFrom in an override": (
        PLATFORMS,
        over(
            "web",
            {"clusters": {"names": ["edge"]}},
            "kustomize.postBuild.substituteFrom",
            [{"kind": "Secret", "name": "deploy"}],
        ),
    ),
    "valuesFrom": (
        PLATFORMS,
        at("apps.cache.helm.valuesFrom", [{"kind": "Secret", "name": "deploy", "valuesKey": "token"}]),
    ),
    "valuesFrom in an override": (
        PLATFORMS,
        over(
            "cache",
            {"environments": ["dev"]},
            "helm.valuesFrom",
            [{"kind": "Secret", "name": "deploy", "valuesKey": "token"}],
        ),
    ),
    "decryption": (
        PLATFORMS,
        at("apps.web.kustomize.decryption", {"provider": "sops", "secretRef": BY_NAME}),
    ),
    "verify of a chart": (
        PLATFORMS,
        at("apps.cache.helm.verify", {"provider": "cosign", "secretRef": BY_NAME}),
    ),
    "credentials of a source": (PLATFORMS, at("sources.m.credentials", "deploy")),
    "credentials of a source in an override": (
        PLATFORMS,
        of_source({"environments": ["dev"]}, "m.credentials", "deploy"),
    ),
    "certificates of a source in an override": (
        PLATFORMS,
        of_source({"clusters": {"names": ["edge"]}}, "o.oci.certSecretRef", BY_NAME),
    ),
    "credentials of a bucket": (PLATFORMS, at("sources.s.credentials", "deploy")),
    "proxy of a source": (PLATFORMS, at("sources.m.git.proxySecretRef", BY_NAME)),
    "verify of a source": (PLATFORMS, at("sources.m.git.verify", {"mode": "HEAD", "secretRef": BY_NAME})),
    "certificate of a source": (PLATFORMS, at("sources.o.oci.certSecretRef", BY_NAME)),
    "trusted root of a source": (
        PLATFORMS,
        at("sources.o.oci.verify", {"provider": "cosign", "trustedRootSecretRef": BY_NAME}),
    ),
    "sts of a bucket": (
        PLATFORMS,
        at(
            "sources.s.bucket.sts",
            {"provider": "ldap", "endpoint": "https://git.example.com/rocky/sts", "secretRef": BY_NAME},
        ),
    ),
    "credentials of an alert": (PLATFORMS, at("alerts.chat", {"provider": CHAT, "credentials": "deploy"})),
    "proxy of an alert": (
        PLATFORMS,
        at("alerts.chat", {"provider": {**CHAT, "proxySecretRef": BY_NAME}, "credentials": "mine"}),
    ),
    "certificate of an alert": (
        PLATFORMS,
        at("alerts.chat", {"provider": {**CHAT, "certSecretRef": BY_NAME}, "credentials": "mine"}),
    ),
    "token of a receiver": (PLATFORMS, at("receivers.hook", {"type": "github", "credentials": "there"})),
    "source of an app": (PLATFORMS, at("apps.web.kustomize.source", "base")),
    "source in an override": (
        PLATFORMS,
        over("web", {"clusters": {"names": ["edge"]}}, "kustomize.source", "open"),
    ),
    "source of a release": (
        PLATFORMS,
        at("apps.cache.helm.source", "charts"),
    ),
    "source that a source includes": (
        PLATFORMS,
        at("sources.m.git.include", [{"repository": {"name": "base"}}]),
    ),
    "source of a receiver": (
        PLATFORMS,
        at("receivers.hook", {"type": "github", "credentials": "mine", "sources": ["base"]}),
    ),
    "config": (
        PLATFORMS,
        at("apps.web.kustomize.postBuild.substituteFrom", [{"kind": "ConfigMap", "name": "base"}]),
    ),
    "config of values": (
        PLATFORMS,
        at("apps.cache.helm.valuesFrom", [{"kind": "ConfigMap", "name": "base", "valuesKey": "A", "targetPath": "a"}]),
    ),
    "app": (PLATFORMS, at("apps.web.dependsOn", ["base"])),
    "app in an override": (PLATFORMS, over("web", {"environments": ["dev"]}, "dependsOn", ["base"])),
    "app of an alert": (
        PLATFORMS,
        at("alerts.chat", {"provider": CHAT, "credentials": "mine", "apps": ["base"]}),
    ),
}
each_attack = pytest.mark.parametrize("attack", ATTACKS)
OF_THE_PLAN = {
    "source of an app": "names 'base' of the main file",
    "source in an override": "names 'open' of the main file",
    "source of a release": "names 'charts' of the main file",
    "source of a receiver": "names 'base' of the main file",
    "app": "names 'base' of the main file",
    "app in an override": "names 'base' of the main file",
    "app of an alert": "tells of apps of the main file",
}
"""What only the check of plans sees, if the rule for written names is missing: no placeholder stands for such a name."""


def test_the_fleet_is_sound_without_an_attack() -> None:
    assert problems({}) == []


@each_attack
def test_a_name_of_the_main_file_is_refused_where_it_is_written(attack: str) -> None:
    code, said = ATTACKS[attack]
    found = problems(said)
    assert {each.code for each in found if each.code in (PLATFORMS,)} == {code}
    assert all(each.location.file == "rocky.yaml" for each in found)


@each_attack
def test_it_is_refused_in_what_is_planned(attack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = (each for each in rules.RULES if each is not included_files_name_what_is_theirs)
    monkeypatch.setattr(rules, "RULES", tuple(kept))
    code, said = ATTACKS[attack]
    if attack in OF_THE_PLAN:
        with pytest.raises(NotConfined, match=OF_THE_PLAN[attack]):
            problems(said)
    else:
        assert code in {each.code for each in problems(said)}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("apps.base.kustomize.path", "./mine"),
        ("apps.base.dependsOn", []),
        ("sources.base.git.ref.branch", "mine"),
        ("role", "admin"),
        ("quota.pods", 1000),
        ("labels", {"a.com/b": "c"}),
        ("state", "offboarding"),
    ],
)
def test_an_override_changes_nothing_of_the_main_file(path: str, value: Any) -> None:
    """It is reported, and not taken over."""
    said = at("overrides", [{"when": {"clusters": {"names": ["hub"]}}, **at(path, value)}])
    (problem,) = problems(said)
    assert (problem.code, problem.location.file) == ("platforms-setting", "rocky.yaml")
    assert path.startswith(".".join(map(str, problem.path[4:])))
    (override,) = filled(read_all(write(said))).data["tenants"]["rocky"]["overrides"]
    assert value_at(override, problem.path[4:], ABSENT) is ABSENT


@pytest.mark.parametrize(
    ("said", "code", "path"),
    [
        ([{"when": {"environments": ["dev"]}, "aps": {}}], "unknown-key", (0, "aps")),
        ([{"apps": {"web": {"kustomize": {"path": "./x"}}}}], "missing-key", (0,)),
        ({"environments": {"dev": {"quota": {"pods": 1}}}}, "wrong-type", ()),
        ([{"when": {"environments": ["dev"]}, "apps": {"wbe": {}}}], "unknown-app", (0, "apps", "wbe")),
    ],
)
def test_a_mistake_in_an_override_is_one_problem_of_the_file(said: Any, code: str, path: tuple[str | int, ...]) -> None:
    (problem,) = problems(at("overrides", said))
    assert (problem.code, problem.path, problem.location.file) == (
        code,
        ("tenants", "rocky", "overrides", *path),
        "rocky.yaml",
    )


def test_a_placeholder_for_the_kind_of_a_reference_hides_no_name() -> None:
    for kind, name in (("{secret}", "deploy"), ("{config}", "base")):
        (problem,) = problems(at("apps.cache.helm.valuesFrom", [{"kind": kind, "name": name}]))
        assert (problem.code, problem.path[:6]) == (
            PLATFORMS,
            ("tenants", "rocky", "apps", "cache", "helm", "valuesFrom"),
        )


FIX = "declare one in this file, or, if that one is the tenant's own, ask the platform team to move it here"


def test_what_the_author_is_told() -> None:
    (problem,) = problems(at("sources.m.credentials", "deploy"))
    assert problem.message == (
        "'deploy' under 'credentials' of tenant 'rocky' belongs to the platform's file, and its included file may not name it"
    )
    assert problem.fix == FIX
    (problem,) = problems(at("apps.web.kustomize.source", "base"))
    assert problem.message == (
        "'base' under 'sources' of tenant 'rocky' belongs to the platform's file, and its included file may not name it"
    )
    assert problem.fix == FIX


def test_what_the_main_file_writes_may_name_everything() -> None:
    """Also what the included file declares: that is the platform's choice."""
    app: Data = {"kustomize": {"source": "m", "postBuild": {"substituteFrom": [{"kind": "Secret", "name": "mine"}]}}}
    assert not problems({}, at("tenants.rocky.apps.more", app))


def objects(said: Data, main: Data, kind: str) -> dict[str, Data]:
    """The specs of a kind on the management cluster, by name."""
    (plan,) = plan_all(load_fleet(write(said, main))).values()
    there = (each for each in plan.objects if each.id.kind == kind and each.id.namespace == "rocky")
    return {each.id.name: each.manifest["spec"] for each in there}


def test_values_belong_to_a_name_whoever_declares_it() -> None:
    """What the main file drops and a team declares is filled with the value that the stack still has."""
    use = at("sources.m.credentials", "shared")
    keys = at("credentials.shared", {"keys": ["username", "password", "token"]})

    def values(said: Data, main: Data | None = None) -> set[SecretValues]:
        plans = plan_all(load_fleet(write(said, main)))
        found = {each.secret for plan in plans.values() for each in plan.objects if each.secret}
        return {each for each in found if each.path[-1] == "shared"}

    by_team = values(together(use, keys))
    by_main = values({}, at("tenants.rocky", together(keys, at("sources.base.credentials", "shared"))))
    assert by_team == by_main != set()


def test_an_alert_that_names_no_apps_tells_of_those_of_the_file() -> None:
    said = at("alerts.chat", {"provider": CHAT, "credentials": "mine"})
    told = objects(said, {}, "Alert")["chat"]["eventSources"]
    apps = {each["matchLabels"]["tenantry/app"] for each in told if each["name"] == "*"}
    assert apps == {"web", "cache", "blob", "oci"}
    assert {each["name"] for each in told if each["name"] != "*"} == {"m", "o", "s", "h"}
    # A source that no app uses is not planned: the name could be that of another tenant's object.
    assert {each["matchLabels"]["toolkit.fluxcd.io/tenant"] for each in told} == {"rocky"}


def test_a_receiver_that_names_no_sources_fetches_those_of_the_file() -> None:
    said = at("receivers.hook", {"type": "github", "credentials": "mine"})
    fetched = objects(said, {}, "Receiver")["hook"]["resources"]
    assert {each["name"] for each in fetched if each["kind"] != "HelmChart"} == {"m", "o", "s"}


ADVANCED: dict[str, Data] = {
    "sources.m.git.recurseSubmodules": at("sources.m.git.recurseSubmodules", True),  # noqa: FBT003 # a value of the file
    "sources.m.git.proxySecretRef": at("sources.m.git.proxySecretRef", {"name": "mine"}),
    "sources.n.git.ref.name": {
        "sources": {"n": {"git": {"url": "https://git.example.com/rocky/n", "ref": {"name": "refs/pull/7/head"}}}},
        "apps": {"n": {"kustomize": {"source": "n"}}},
    },
    "sources.s.bucket.sts": at(
        "sources.s.bucket.sts", {"provider": "ldap", "endpoint": "https://git.example.com/rocky/sts"}
    ),
    "apps.web.kustomize.healthCheckExprs": at(
        "apps.web.kustomize.healthCheckExprs", [{"apiVersion": "v1", "kind": "ConfigMap", "current": "true"}]
    ),
    "receivers.hook.resourceFilter": at(
        "receivers.hook", {"type": "github", "credentials": "mine", "resourceFilter": "true"}
    ),
}


@pytest.mark.parametrize("field", ADVANCED)
def test_a_field_that_reaches_further_needs_a_grant(field: str) -> None:
    found = problems(ADVANCED[field])
    assert {each.code for each in found} == {"not-granted"}
    assert ".".join(map(str, found[0].path)).startswith(f"tenants.rocky.{field}")
    assert not problems(ADVANCED[field], granted(settings=["advanced"]))


def test_the_main_file_sets_them_without_one() -> None:
    assert not problems({}, at("tenants.rocky.sources.open.git.recurseSubmodules", True))  # noqa: FBT003 # the same


# --- nothing is forgotten -------------------------------------------------------------------------------------------


CREDENTIALS: list[tuple[type[Model], str]] = [
    (Alert, "credentials"),
    (Receiver, "credentials"),
    (Source, "credentials"),
    (ObjectsChart, "credentials"),
]
"""The fields that name credentials."""


OF_APPS = [
    (TenantOverride, "apps"),
    (PlatformOverride, "addons"),
    (App, "dependsOn"),
    (AppOverride, "dependsOn"),
    (PlacedSettings, "dependsOn"),
    (Alert, "apps"),
]
OF_SOURCES = [
    (TenantOverride, "sources"),
    (PlatformOverride, "sources"),
    (Receiver, "sources"),
    (KustomizePatch, "source"),
    (HelmPatch, "source"),
]
"""The fields that name apps and add-ons, and those that name sources. Overrides of the platform are never in an included file."""


def test_every_field_of_the_model_with_a_name_of_the_tenants_is_marked() -> None:
    from tests.unit.shapes import fields_of, reachable

    marked = {
        declared: group
        for model in reachable(Document)
        for declared in fields_of(model)
        if (group := _mark(declared_type(model.model_fields[declared[1]]))) not in ("", *OF_THE_FILE)
    }
    groups = {"apps": OF_APPS, "sources": OF_SOURCES, "credentials": CREDENTIALS}
    assert marked == {declared: group for group, fields in groups.items() for declared in fields}


def _mark(annotation: Any) -> str:
    """The mark of a type or of the entries of a list; not of the fields of a model."""
    inner = (each.group if isinstance(each, Refers) else _mark(each) for each in getattr(annotation, "__args__", ()))
    own = (each.group for each in getattr(annotation, "__metadata__", ()) if isinstance(each, Refers))
    return next((each for each in (*own, *inner) if each), "")


NO_REFERENCES = {
    "GitRepository": "ref.name",
    "HelmChart": "sourceRef.name",
    "HelmRelease": "driftDetection.ignore[].target.name install.strategy.name"
    " postRenderers[].kustomize.images[].name postRenderers[].kustomize.patches[].target.name test.filters[].name"
    " upgrade.strategy.name waitStrategy.name",
    "Kustomization": "healthChecks[].name ignore[].target.name images[].name patches[].target.name",
    "Receiver": "oidcProviders[].variables[].name",
}
"""Fields of Flux's kinds that are called `name` and that name no Secret, ConfigMap or source: an author may write them."""


def test_every_field_of_flux_with_a_name_is_looked_at_or_is_the_fleets_own() -> None:
    models = [model for model in _blocks() if model.flux_kind in kinds()]
    found: dict[str, set[str]] = {}
    for model in models:
        for kind in (model.flux_kind, *model.parts):
            for path in _named(schema_of(kind).spec):
                first, _, _ = path.partition(".")
                if first.removesuffix("[]") in (*model.owned, "chart") and kind == model.flux_kind:
                    continue
                if not list(of_flux.references(kind, _spec(path))) and not list(
                    of_flux.included_sources(kind, _spec(path))
                ):
                    found.setdefault(kind, set()).add(path)
    assert found == {kind: set(paths.split()) for kind, paths in NO_REFERENCES.items()}


def _blocks() -> list[type[FluxBlock]]:
    from tests.unit.shapes import reachable

    return [model for model in reachable(Tenant) if issubclass(model, FluxBlock)]


def _named(schema: Data, path: str = "") -> list[str]:
    """The paths of all texts called `name`."""
    found = [f"{path}name"] if schema.get("properties", {}).get("name", {}).get("type") == "string" else []
    for key, part in schema.get("properties", {}).items():
        found += _named(part, f"{path}{key}.")
        if isinstance(items := part.get("items"), dict):
            found += _named(items, f"{path}{key}[].")
    return found


def _spec(path: str) -> Data:
    """A spec with a name there."""
    value: Any = "x"
    for part in reversed(path.split(".")):
        kind = {"kind": "Secret"} if isinstance(value, str) else {}
        value = {part.removesuffix("[]"): [value] if part.endswith("[]") else value, **kind}
    return dict(value)


def test_names_are_found_wherever_the_model_puts_them() -> None:
    data = together(MAIN["tenants"]["rocky"], OWN, *(said for _, said in ATTACKS.values()))
    groups = {name.group for name in names_in(Tenant, data)}
    assert groups - {*OF_THE_FILE} == {"apps", "configs", "credentials", "sources"}
