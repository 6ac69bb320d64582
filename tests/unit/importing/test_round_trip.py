"""A fleet's own objects, read back: the plan of the imported file has no difference."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from tenantry.importing.documents import Document
from tenantry.importing.drafting import drafted
from tenantry.importing.follow import Repository
from tenantry.importing.proof import Report, report_of
from tenantry.importing.reading import objects_below
from tenantry.importing.resources import Reading, inventory
from tenantry.importing.text import text_of
from tenantry.load import load_fleet, plan_all
from tenantry.render import write_directory

pytestmark = pytest.mark.usefixtures("plans_once")

ROOT = Path(__file__).parents[3]
FLEETS = (
    ".",  # the fleet of the repository itself
    *("examples/flux2-multi-tenancy", "examples/hubs", "examples/kamaji", "examples/minimal", "examples/multi-cluster"),
    *("examples/teams", "tests/golden/addon-namespaces", "tests/golden/addons", "tests/golden/alerts"),
    *("tests/golden/templates", "tests/golden/identities", "tests/golden/includes", "tests/golden/kubeconfigs"),
    *("tests/golden/namespaces", "tests/golden/overrides", "tests/golden/receivers", "tests/golden/sources"),
)


def below(directory: Path, root: Path) -> list[Document]:
    """The objects of a rendered directory, in which nothing is to be built."""

    def unexpected(*what: object) -> NoReturn:
        raise AssertionError(what)

    return list(objects_below(directory, Repository(root.resolve(), relative=False), unexpected, unexpected))


def read_back(fleet: Path, directory: Path) -> Report:
    """Import what a fleet renders."""
    plans = plan_all(load_fleet(fleet / "tenants.yaml"))
    for name, each in plans.items():
        write_directory(each, directory / name)
    found = {name: Reading(below(directory / name, directory)) for name in plans}
    read = inventory(found, {name: each.management for name, each in plans.items()})
    draft = drafted(read)
    return report_of(read, draft, text_of(draft.data, (), draft.decisions), "tenants.yaml")


WITHOUT_OVERRIDES = {"tests/golden/sources": {"ConfigMap kamaji/edge.rocky.settings", "ConfigMap rocky/settings"}}
"""What differs between environments where the file has no overrides, by fleet: ConfigMaps, which stay with what makes them."""


@pytest.mark.parametrize("fleet", FLEETS)
def test_a_fleet_is_read_back_without_a_difference(fleet: str, tmp_path: Path) -> None:
    report = read_back(ROOT / fleet, tmp_path)
    different = {str(each.id): each.changed for each in report.objects if each.outcome != "equal"}
    assert different == dict.fromkeys(WITHOUT_OVERRIDES.get(fleet, ()), ())
    assert report.counts["added"] == 0


def test_the_shards_of_fluxs_controllers_are_read_back(tmp_path: Path) -> None:
    text = (ROOT / "tenants.yaml").read_text()
    sharded = text.replace("  edge-1:\n", "  edge-1:\n    shard: b\n").replace(
        "  us-east-1:\n", "  us-east-1:\n    shard: us\n"
    )
    (tmp_path / "tenants.yaml").write_text(sharded)
    (dev, prod) = plan_all(load_fleet(tmp_path / "tenants.yaml")).values()
    found: dict[str, dict[str, str | None]] = {}
    for each in (dev, prod):
        write_directory(each, tmp_path / each.environment)
        read = below(tmp_path / each.environment, tmp_path)
        draft = drafted(inventory({each.environment: Reading(read)}, {each.environment: each.management}))
        entries = {**draft.data["clusters"], **draft.data["tenants"]}
        found[each.environment] = {name: entry["shard"] for name, entry in entries.items() if "shard" in entry}
        assert draft.decisions == {}
    assert found == {"dev": {"edge-1": "b"}, "prod": {"us-east-1": "us"}}
