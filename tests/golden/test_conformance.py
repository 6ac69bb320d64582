"""Every object of Flux in every golden fleet would be taken by an API server."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tenantry.flux.conformance import check_spec
from tenantry.flux.schemas import kinds, schema_of
from tests.table import table

pytestmark = pytest.mark.usefixtures("plans_once")

HERE = Path(__file__).parent
KINDS = {kind.lower() for kind in kinds()}
FILES = [path for path in sorted(HERE.glob("*/expected/**/*.yaml")) if path.name.partition("-")[0] in KINDS]
FLEETS = sorted({path.relative_to(HERE).parts[0] for path in FILES})


@table("fleet", FLEETS)
def test_objects_conform_to_their_definitions(fleet: str) -> None:
    for path in (path for path in FILES if path.is_relative_to(HERE / fleet)):
        (manifest,) = yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader)
        assert manifest["apiVersion"] == schema_of(manifest["kind"]).api_version, path
        assert list(check_spec(manifest["kind"], manifest["spec"], ())) == [], path


def test_there_is_something_to_check() -> None:
    checked = {path.name.partition("-")[0] for path in FILES}
    assert {"gitrepository", "helmrelease", "helmrepository", "kustomization"} <= checked
