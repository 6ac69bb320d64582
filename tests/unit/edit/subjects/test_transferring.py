"""Apps that are given to another tenant by command: with their namespace, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.cli.app import run
from tests.unit.guard.test_handed_over import AFTER, BEFORE, FLEET, MOVY, NOVA, SHOP

Capture = pytest.CaptureFixture[str]
NEW = "  nova: {}\n"


def transferred(tmp_path: Path, text: str, *arguments: str) -> tuple[int, str]:
    file = tmp_path / "tenants.yaml"
    file.write_text(text)
    code = run(["transfer", "app", *arguments, "--file", str(file)])
    return code, file.read_text()


def test_the_namespace_goes_along_and_what_the_app_needs_comes(tmp_path: Path, capsys: Capture) -> None:
    code, text = transferred(tmp_path, BEFORE + NEW, "movy/shop", "nova")
    assert code == 0
    assert "nothing is installed again" in capsys.readouterr().out
    nova = text.partition("  nova:")[2]
    for line in (
        "shop: {formerly: [{tenant: movy, apps: [shop]}]}",
        "adopt: true",
        "charts: {helm:",
        "storageNamespace: shop",
    ):
        assert line in nova
    assert "shop" not in text.partition("  movy:")[2].partition("  nova:")[0]


def test_it_comes_back_and_the_list_has_both(tmp_path: Path, capsys: Capture) -> None:
    code, text = transferred(tmp_path, AFTER, "nova/shop", "movy")
    assert code == 0
    capsys.readouterr()
    assert "shop: {formerly: [{tenant: movy, apps: [shop]}, {tenant: nova}]}" in text


def test_a_tenant_that_was_renamed_is_listed_with_its_names(tmp_path: Path, capsys: Capture) -> None:
    text = (BEFORE + NEW).replace("  movy:\n", "  vega:\n    formerly: [movy]\n")
    code, text = transferred(tmp_path, text, "vega/shop", "nova")
    assert code == 0
    capsys.readouterr()
    assert "[{tenant: movy, apps: [shop]}, {tenant: vega}]" in text


def test_all_apps_of_the_namespace_go_along_where_they_are(tmp_path: Path, capsys: Capture) -> None:
    more = SHOP.replace("shop: {%s", "cart: {").replace("chart: shop", "chart: cart") + f", {SHOP % ''}"
    text = (
        FLEET
        + MOVY % ("shop: {state: removing}", f", {more}")
        + "  nova: {clusters: {all: true}, namespaces: {shop: {}}}\n"
    )
    code, text = transferred(tmp_path, text, "movy/shop", "nova")
    out = capsys.readouterr()
    assert (code, out.err) == (0, "")
    assert "app 'cart' goes with it" in out.out
    nova = text.partition("  nova:")[2]
    assert 'movy-shop: {name: "{namespace}-shop", formerly: [{tenant: movy, apps: [cart, shop]}]}' in nova
    assert nova.count("targetNamespace: movy-shop, storageNamespace: movy-shop") == 2
    assert nova.count("clusters: {names: [edge]}") == 2
    assert "removing" not in text


REFUSED = {
    "main": (BEFORE + NEW, ("movy/web", "nova"), "is in the main namespace of tenant 'movy'"),
    "itself": (BEFORE, ("movy/shop", "movy"), "is of tenant 'movy' already"),
    "taken": (BEFORE + NOVA % ("", SHOP % ""), ("movy/shop", "nova"), "exists already"),
    "records": (
        BEFORE.replace(", storageNamespace: shop", "") + NEW,
        ("movy/shop", "nova"),
        "only an app that was installed with 'storageNamespace: shop'",
    ),
    "used": (
        BEFORE.replace("version: 1.x}}, shop", "version: 1.x}, dependsOn: [shop]}, shop") + NEW,
        ("movy/shop", "nova"),
        "is in use",
    ),
    "hub": (
        BEFORE.replace("{names: [edge]}", "{all: true}") + NEW,
        ("movy/shop", "nova"),
        "on management cluster 'hub'",
    ),
    "overridden": (
        (BEFORE + NEW).replace(
            "storageNamespace: shop}",
            "storageNamespace: shop}, overrides: {clusters: {edge: {helm: {targetNamespace: movy}}}}",
        ),
        ("movy/shop", "nova"),
        "puts the app into another namespace somewhere",
    ),
    "unknown": (BEFORE, ("movy/shop", "none"), "there is no tenant 'none'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_kept_is_refused(case: str, tmp_path: Path, capsys: Capture) -> None:
    text, arguments, words = REFUSED[case]
    code, after = transferred(tmp_path, text, *arguments)
    assert (code, after) == (2, text)
    assert words in capsys.readouterr().err
