"""`tenantry promote` and `update` of the apps of a class: the class is edited, for all of its tenants."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from tenantry.cli.edit import promote as promote_command
from tenantry.cli.edit import update
from tests.table import table
from tests.unit.cli.test_cli import Capture, tenantry

pytestmark = pytest.mark.usefixtures("plans_once")

FLEET = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub-dev, variables: {shop: 1.1.0}}
  prod: {management: hub, variables: {shop: 1.0.0}}
clusters:
  hub-dev: {environments: [dev]}
  hub: {environments: [prod]}
tenantClasses:
  customer:
    clusters: {all: true}
    sources:
      charts: {helm: {url: https://charts.example.com}}
      git: {git: {url: https://git.example.com/a, ref: {tag: v1}}, overrides: {environments: {dev: {git: {ref: {tag: v2}}}}}}
    apps:
      app: # the shop
        helm: {source: charts, chart: app, version: 4.2.0, values: {seats: 5}}
        overrides:
          environments:
            dev: {helm: {version: 4.3.0, values: {seats: 7}}}
      docs: {kustomize: {source: git}}
      shop: {helm: {source: charts, chart: shop, version: "{shop}", values: {owner: "{tenant}"}}}
  small: {class: customer}
tenants:
  demo: {class: small, environments: [dev]}
  acme: {class: customer, environments: [prod]}
  bolt: {class: small, environments: [prod]}
"""
CROW = "  crow: {class: small, environments: [prod], apps: {app: {helm: {version: 4.1.0}}}}\n"
FOLDED = FLEET.replace("version: 4.2.0", "version: 4.3.0").replace(
    "dev: {helm: {version: 4.3.0, values", "dev: {helm: {values"
)


@pytest.fixture(autouse=True)
def _fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(FLEET)


def promote(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    return tenantry(capsys, "promote", *arguments, "--from", "dev", "--to", "prod")


def written() -> str:
    return Path("tenants.yaml").read_text()


def test_a_class_is_edited_once_although_no_tenant_is_in_both_environments(capsys: Capture) -> None:
    code, out, _ = promote(capsys, "class:customer/app")
    assert (code, written()) == (0, FOLDED)
    assert out.startswith(
        "tenants.yaml: class:customer/app: set helm.version in prod to 4.3.0\n"
        "tenants.yaml: class:customer/app: moved helm.version from the overrides for dev, prod to the app itself\n"
    )
    assert "~ class customer, for 2 tenants (acme, bolt)" in out
    assert promote(capsys, "class:customer/app")[1].startswith("nothing to promote: prod has the versions")


def test_a_class_that_has_the_app_from_another_one_gets_an_override(capsys: Capture) -> None:
    code, out, _ = promote(capsys, "class:small/app")
    small = "small: {class: customer, apps: {app: {overrides: {environments: {prod: {helm: {version: 4.3.0}}}}}}}"
    assert (code, written()) == (0, FLEET.replace("small: {class: customer}", small))
    assert "~ tenant bolt" in out
    assert "acme" not in out


def test_all_apps_of_a_class_with_its_sources_and_variables(capsys: Capture) -> None:
    code, out, _ = promote(capsys, "class:customer")
    assert code == 0
    assert "source class:customer/git: moved git.ref from the overrides for dev, prod to the source itself" in out
    assert "class:customer/shop: set variable shop of prod to 1.1.0" in out
    assert ("prod: {management: hub, variables: {shop: 1.1.0}}" in written(), "ref: {tag: v1}" in written()) == (
        True,
        False,
    )


@table(
    ("subject", "told"),
    [
        ("class:nope/app", "there is no class 'nope'"),
        ("class:small/ap", "there is no app 'ap' of class 'small'"),
        # The source is that of all customers.
        (
            "class:small/docs",
            "source 'git' of class 'customer' is used by acme/docs too, whose ref would change with it",
        ),
        ("class:small/shop", "helm.version follows from variable 'shop', which is used elsewhere too: tenants.acme"),
    ],
)
def test_what_would_change_others_too_is_refused(capsys: Capture, subject: str, told: str) -> None:
    code, _, err = promote(capsys, subject)
    assert (code, told in err, written()) == (2, True, FLEET), err


def test_a_tenant_keeps_what_it_sets_itself(capsys: Capture) -> None:
    """An override of the class would come over a tenant's own value without one."""
    Path("tenants.yaml").write_text(FLEET + CROW)
    code, _, err = promote(capsys, "class:customer/app")
    assert (code, written()) == (2, FLEET + CROW)
    assert (
        "helm.version of class:customer/app would change for tenant 'crow' too, which sets it itself (tenants.yaml:27:"
        in err
    )
    command = err.partition("tenantry set ")[2].split()
    assert command == ["tenants.crow.apps.app.overrides.environments.prod.helm.version", "4.1.0"]
    assert tenantry(capsys, "set", *command)[0] == 0
    code, out, _ = promote(capsys, "class:customer/app")
    assert code == 0
    assert "class:customer/app: tenant crow sets helm.version itself, so it stays as it is" in out
    assert "~ class customer, for 2 tenants (acme, bolt)" in out


def test_evidence_is_asked_of_the_tenants_in_the_first_environment(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def evidence_of(_: Any, __: Any, apps: Collection[Any]) -> tuple[()]:
        asked.extend(f"{each.full_name} on {each.cluster}" for each in apps)
        return ()

    class Connected:
        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(promote_command, "connect_management", lambda *_, **__: Connected())
    monkeypatch.setattr(promote_command, "evidence_of", evidence_of)
    assert promote(capsys, "class:customer/app", "--evidence", "--dry-run")[0] == 0
    assert asked == ["demo/app on hub-dev"]


def test_update_takes_the_apps_of_a_class(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask_all(questions: Collection[Any], *_: Any) -> Any:
        assert {each.chart for each in questions} == {"app"}
        return {each: frozenset({"4.2.0", "4.3.0", "4.4.0"}) for each in questions}

    monkeypatch.setattr(update, "ask_all", ask_all)
    code, out, _ = tenantry(capsys, "update", "class:small/app", "-e", "prod")
    assert code == 0
    assert "version: 4.4.0, values: {seats: 5}" in written(), out
