"""Files for one environment: what they become, where their values stand, what is refused, and how commands edit them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tenantry.cli.app import run
from tenantry.edit.editor import Editor
from tenantry.edit.paths import parse_path
from tenantry.fleet.included_schema import overlay_schema
from tenantry.fleet.overlays import OWNERS, in_overlay
from tenantry.load import load_fleet, plan_all, plan_one
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.messages.text import format_invalid
from tenantry.model import Document
from tests.table import table
from tests.unit.every_key.keys import of_model

MAIN = """\
apiVersion: tenantry/v1
include:
  - {environment: prod, files: "prod.d/*.yaml"}
  - teams/blue.yaml
environments:
  dev: {management: hub-dev}
  prod: {management: hub, after: dev}
clusters:
  hub-dev: {environments: [dev]}
  hub: {environments: [prod]}
defaults: {clusters: {names: [hub-dev, hub]}, quota: {pods: 5}, grants: {sources: ["*"]}}
platform:
  addons:
    dns:
      clusters: {all: true}
      source: {git: {url: "https://git.example.com/dns", ref: {tag: v2}}}
      kustomize: {path: ./}
tenantClasses:
  small:
    sources: {charts: {helm: {url: "https://charts.example.com"}}}
    apps: {shop: {helm: {source: charts, chart: shop, version: 2.0.0}}}
tenants:
  acme: {class: small}
  blue: {}
"""
TEAM = """\
tenants:
  blue:
    sources: {s: {git: {url: "https://git.example.com/x", ref: {branch: main}}}}
    apps: {web: {kustomize: {source: s, path: ./}}}
"""
ALL = """\
environments: {prod: {protected: true}}
defaults: {quota: {pods: 50}}
tenantClasses:
  small: {quota: {pods: 100, services: 3}, apps: {shop: {helm: {version: 1.0.0}}}}
tenants:
  acme:
    quota: {pods: 200}
    apps: {shop: {helm: {values: {replicas: 3}}}}
platform: {addons: {dns: {kustomize: {path: ./prod}, source: {git: {ref: {tag: v1}}}}}}
"""
BLUE = """\
tenants:
  blue:
    sources: {s: {git: {ref: {tag: v1}}}}
    apps: {web: {kustomize: {path: ./prod}}}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(main: str = MAIN, team: str = TEAM, **overlays: str) -> Path:
    """The main file, a team's, and `prod.d/NAME.yaml` for each name."""
    for name, text in {"teams/blue": team, **{f"prod.d/{name}": text for name, text in overlays.items()}}.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(f"{name}.yaml").write_text(text)
    Path("tenants.yaml").write_text(main)
    return Path("tenants.yaml")


def problems(main: str = MAIN, team: str = TEAM, **overlays: str) -> str:
    for file in Path("prod.d").glob("*"):
        file.unlink()
    with pytest.raises(InvalidFleet) as caught:
        plan_all(load_fleet(write(main, team, **overlays)))
    return format_invalid(caught.value)


def _over(said: str) -> str:
    return f"overrides: {{environments: {{prod: {said}}}}}"


def test_what_an_overlay_says_is_an_override_for_its_environment_and_keeps_its_place() -> None:
    fleet = load_fleet(write(all=ALL, blue=BLUE))

    def place(path: str) -> tuple[Any, str]:
        at = parse_path(path)
        return fleet.source.value(at), str(fleet.source.locate(at))

    over = "overrides.environments.prod"
    assert place("environments.prod.protected") == (True, "prod.d/all.yaml:1:34")
    assert place(f"defaults.{over}.quota.pods") == (50, "prod.d/all.yaml:2:26")
    assert place(f"tenants.acme.{over}.quota.pods") == (200, "prod.d/all.yaml:7:19")
    assert place(f"tenants.acme.{over}.quota.services") == (3, "prod.d/all.yaml:4:40"), "of its class"
    assert place(f"tenants.acme.apps.shop.{over}.helm.version") == ("1.0.0", "prod.d/all.yaml:4:74")
    assert place(f"tenants.acme.apps.shop.{over}.helm.values.replicas") == (3, "prod.d/all.yaml:8:45")
    assert place(f"platform.addons.dns.{over}.kustomize.path") == ("./prod", "prod.d/all.yaml:9:45")
    assert place(f"platform.addons.dns.source.{over}.git.ref.tag") == ("v1", "prod.d/all.yaml:9:80")
    assert place(f"tenants.blue.sources.s.{over}.git.ref.tag") == ("v1", "prod.d/blue.yaml:3:36")
    assert place(f"tenants.blue.apps.web.{over}.kustomize.path") == ("./prod", "prod.d/blue.yaml:4:36")
    assert place("tenants.blue.apps.web.kustomize.path") == ("./", "teams/blue.yaml:4:47")

    by_hand = MAIN.replace('  - {environment: prod, files: "prod.d/*.yaml"}\n', "")
    for owner, said in (
        ("quota: {pods: 5}", f"{_over('{quota: {pods: 50}}')}, quota: {{pods: 5}}"),
        ("after: dev", "after: dev, protected: true"),
        ("      kustomize: {path: ./}", f"      kustomize: {{path: ./}}\n      {_over('{kustomize: {path: ./prod}}')}"),
        ("ref: {tag: v2}}", f"ref: {{tag: v2}}}}, {_over('{git: {ref: {tag: v1}}}')}"),
        ("acme: {class: small}", f"acme: {{class: small, {_over('{quota: {pods: 200, services: 3}}')}}}"),
        ("version: 2.0.0}}", f"version: 2.0.0}}, {_over('{helm: {version: 1.0.0, values: {replicas: 3}}}')}}}"),
    ):
        assert owner in by_hand
        by_hand = by_hand.replace(owner, said)
    team = TEAM.replace("ref: {branch: main}}", f"ref: {{branch: main}}}}, {_over('{git: {ref: {tag: v1}}}')}")
    team = team.replace("path: ./}}", f"path: ./}}, {_over('{kustomize: {path: ./prod}}')}}}")
    same = plan_one(load_fleet(write(by_hand, team)), "prod")
    assert [each.manifest for each in plan_one(fleet, "prod").objects] == [each.manifest for each in same.objects]


def test_what_has_overrides_in_the_model_is_what_an_overlay_can_speak_of() -> None:
    paths = {path for _, path in of_model(Document)}
    found = {
        tuple(None if part == "*" else part for part in path[: path.index("overrides")])
        for path in paths
        if "overrides" in path
    }
    assert found <= set(OWNERS)
    assert set(OWNERS) - found <= {("platform", "sources", None)}


_ONE = "tenants.blue.apps.web"
_KEYS = "it can have kustomize, helm, dependsOn, metadata"


@table(
    "text, begins, holds",
    [
        (
            "clusters: {x: {}}",
            "1:1: error[not-for-overlay]: 'clusters' cannot stand in a file for",
            "move it to tenants.yaml",
        ),
        ("apiVersion: tenantry/v1", "1:1: error[not-for-overlay]: 'apiVersion' cannot", "fix: remove it"),
        (
            "platform: {credentials: {x: {}}}",
            "1:12: error[not-for-overlay]: 'platform.credentials' cannot",
            "fix: move it",
        ),
        (
            "environments: {dev: {}}",
            "1:16: error[foreign-environment]: this file speaks of environment 'prod' alone",
            "move it",
        ),
        (
            "environments: {prod: {after: dev}}",
            "1:23: error[set-twice]: 'after' is set in two files",
            "first: tenants.yaml:7:27",
        ),
        ("environments: {prod: {protectd: true}}", "1:23: error[unknown-key]: key 'protectd'", "write 'protected'"),
        (
            "tenants: {acm: {}}",
            "1:11: error[unknown-tenant]: there is no tenant 'acm'",
            "fix: write 'acme', or remove it",
        ),
        ("tenantClasses: {smalls: {}}", "1:17: error[unknown-class]: there is no class 'smalls'", "fix: write 'small'"),
        (
            "tenants: {blue: {apps: {x: {}}}}",
            "1:25: error[unknown-app]: there is no app 'x' of tenant 'blue'",
            "declared: web",
        ),
        ("tenants: {blue: {sources: {x: {}}}}", "1:28: error[unknown-source]: there is no source 'x'", "declared: s"),
        ("platform: {addons: {x: {}}}", "1:21: error[unknown-add-on]: there is no add-on 'x'", "declared: dns"),
        (
            "tenants: {acme: {state: paused}}",
            "1:18: error[not-for-overlay]: 'state' of 'tenants.acme' is the same",
            "fix: move it",
        ),
        (
            "tenants: {blue: {apps: {web: {state: paused}}}}",
            f"1:31: error[not-for-overlay]: 'state' of '{_ONE}'",
            _KEYS,
        ),
        (
            "tenants: {acme: {overrides: {}}}",
            "1:18: error[not-for-overlay]: what stands in this file is",
            "without 'overrides'",
        ),
        ("tenants: {acme: {quuta: {}}}", "1:18: error[unknown-key]: key 'quuta'", "write 'quota'"),
        ("tenants: {blue: {quota: {podz: 1}}}", "1:26: error[bad-resource]", "write 'pods'"),
        ("tenants: []", "1:1: error[wrong-type]: expected a mapping, found a list", ""),
        ("environments: {prod: 5}", "1:16: error[wrong-type]: expected a mapping", ""),
        ("defaults: 5", "1:1: error[wrong-type]: expected a mapping", ""),
        ("tenants: {a: b: c}", "1:15: error[syntax]", ""),
    ],
)
def test_what_an_overlay_may_not_say(text: str, begins: str, holds: str) -> None:
    said = problems(all=text)
    assert said.startswith(f"prod.d/all.yaml:{begins}")
    assert holds in said
    assert said.endswith("Found 1 error")


def test_no_value_is_set_in_two_overlays() -> None:
    said = problems(a="tenants: {acme: {quota: {pods: 1}}}", b="tenants: {acme: {quota: {pods: 2, services: 1}}}")
    assert said.startswith("prod.d/b.yaml:1:26: error[set-twice]: 'pods' is set in two files")
    assert "first: prod.d/a.yaml:1:26" in said
    assert said.endswith("Found 1 error")


_PROD = "overrides: {environments: {prod: {}}}"


@table(
    "old, new, holds",
    [
        ("quota: {pods: 5}", _PROD, "move what it says to 'defaults' in prod.d/a.yaml"),
        ("small:\n", f"small:\n    {_PROD}\n", "move what it says to 'tenantClasses.small' in prod.d/a.yaml"),
        ("{class: small}", f"{{class: small, {_PROD}}}", "move what it says to 'tenants.acme' in prod.d/a.yaml"),
        ("v2}}", f"v2}}}}, {_PROD}", "move what it says to 'platform.addons.dns.source' in prod.d/a.yaml"),
        ("path: ./}}", f"path: ./}}, {_PROD}}}", "teams/blue.yaml:4:79: error[not-in-overlay]"),
        ("path: ./}}", f"path: ./}}, {_PROD}}}", "fix: remove it, and ask the owners of prod.d/a.yaml to write"),
        ("after: dev", "protected: true", "fix: move it to 'environments.prod' in prod.d/a.yaml"),
    ],
)
def test_no_other_file_speaks_of_an_environment_with_an_overlay(old: str, new: str, holds: str) -> None:
    said = problems(MAIN.replace(old, new), TEAM.replace(old, new), a="tenants: {}")
    assert holds in said
    assert said.endswith("Found 1 error")


def test_what_relates_an_environment_to_others_stays_in_the_main_file() -> None:
    assert load_fleet(write(MAIN.replace("after: dev", "extends: dev"), a="tenants: {}"))


@table(
    "old, new, first",
    [
        ("environment: prod", "environment: prd", "[unknown-environment]: there is no environment 'prd'"),
        (', files: "prod.d/*.yaml"', "", "[bad-include]: 'files:' is missing"),
        ("environment: prod", "tenants: x/*.yaml", "[bad-include]: 'environment:' is missing"),
        ("prod.d", "nope.d", "[includes-nothing]: no file matches 'nope.d/*.yaml'"),
    ],
)
def test_an_entry_of_include_names_an_environment_and_its_files(old: str, new: str, first: str) -> None:
    assert first in problems(MAIN.replace(old, new), a="tenants: {}")


def test_a_broken_overlay_does_not_tell_what_its_environment_lacks() -> None:
    said = problems(MAIN.replace("{management: hub, after: dev}", "{}"), a="tenants: {")
    assert said.endswith("Found 1 error"), said


def edited(*edits: tuple[Any, ...], **overlays: str) -> dict[str, str]:
    """The texts of the files that edits change. Args: edits: a method of the editor, a path, and its other arguments."""
    editor = Editor.open(write(**(overlays or {"all": ALL, "blue": BLUE})))
    for method, path, *rest in edits:
        getattr(editor, method)(parse_path(path), *rest)
    load_fleet(Path("tenants.yaml"), editor.read)
    return {str(file): after.decode() for file, (_, after) in editor.changes().items()}


OVER = "overrides.environments.prod"


def _in_all(old: str, new: str) -> dict[str, str]:
    return {"prod.d/all.yaml": ALL.replace(old, new)}


_OF_SHOP = f"tenants.acme.apps.shop.{OVER}"
_OF_DNS = f"platform.addons.dns.{OVER}"


@table(
    "edit, changed",
    [
        (("set", f"{_OF_SHOP}.helm.version", "1.1.0"), _in_all("{replicas: 3}", "{replicas: 3}, version: 1.1.0")),
        (("set", f"tenants.blue.sources.s.{OVER}.git.ref.tag", "v9"), {"prod.d/blue.yaml": BLUE.replace("v1", "v9")}),
        (
            ("set", f"tenants.blue.{OVER}.quota.pods", 7),
            {"prod.d/blue.yaml": BLUE.replace("blue:\n", "blue:\n    quota: {pods: 7}\n")},
        ),
        (("set", "environments.prod.protected", False), _in_all("true", "false")),
        (("set", "environments.prod.maxDeletions", 5), _in_all("true", "true, maxDeletions: 5")),
        (("set", "environments.prod.management", "hub"), {}),
        (
            ("set", "environments.dev.protected", True),
            {"tenants.yaml": MAIN.replace("hub-dev}\n", "hub-dev, protected: true}\n", 1)},
        ),
        (("unset", f"{_OF_DNS}.kustomize.path"), _in_all("kustomize: {path: ./prod}, ", "")),
        (("unset", f"tenants.acme.{OVER}.quota"), _in_all("    quota: {pods: 200}\n", "")),
    ],
)
def test_edits_go_to_the_overlay_that_speaks_of_the_subject(edit: tuple[Any, ...], changed: dict[str, str]) -> None:
    assert edited(edit) == changed


def test_an_edit_of_all_that_differs_of_a_tenant_does_not_reach_its_apps() -> None:
    with pytest.raises(Refused, match=r"'tenants\.acme' in prod\.d/all\.yaml also says what differs of its apps"):
        edited(("unset", f"tenants.acme.{OVER}"))


def test_an_app_goes_from_overlays_too() -> None:
    write(all=ALL, blue=BLUE)
    assert run(["remove", "app", "blue/web"]) == 0
    load_fleet(Path("tenants.yaml"))
    assert "web" not in Path("prod.d/blue.yaml").read_text()


@table(
    "text, fits",
    [
        (ALL, True),
        (BLUE, True),
        ("clusters: {}", False),
        ("tenants: {acme: {clusters: {all: true}}}", False),
        ("environments: {prod: {protected: true}, dev: {}}", False),
    ],
)
def test_the_schema_takes_what_an_overlay_takes(text: str, *, fits: bool) -> None:
    assert Draft202012Validator(overlay_schema()).is_valid(yaml.safe_load(text)) is fits


@table(
    "path, place",
    [
        (f"tenants.a.apps.b.{OVER}.helm.version", ("prod", ("tenants", "a", "apps", "b", "helm", "version"))),
        ("environments.prod.variables.x", ("prod", ("environments", "prod", "variables", "x"))),
        (f"tenants.a.apps.b.helm.values.{OVER}.x", None),
        ("tenants.a.overrides.clusters.prod.quota", None),
        ("tenants.a.quota.pods", None),
    ],
)
def test_which_paths_have_a_place_in_an_overlay(path: str, place: object) -> None:
    assert in_overlay(parse_path(path)) == place
