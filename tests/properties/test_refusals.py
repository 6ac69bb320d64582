"""`tenantry diff` and the guard of `tenantry up` agree, whatever changes."""

from __future__ import annotations

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st

from tenantry.cli.app import run
from tenantry.guard.check import limits_of, refusals
from tenantry.guard.reading import held
from tenantry.load import plan_all
from tests.drawn import given
from tests.properties.promises import load, plans
from tests.strategies import Data, fleets, text_of


@given(fleets(), fleets(), st.data())
def test_diff_refuses_what_the_guard_refuses_if_the_cluster_holds_the_first_plan(
    one: Data, other: Data, data: st.DataObject
) -> None:
    for environment in other["environments"].values():
        environment["protected"] = data.draw(st.booleans())
        environment["maxDeletions"] = data.draw(st.sampled_from([0, 1, 2, 3, 9, "20%"]))
    for cluster in one["clusters"].values():
        cluster["state"] = data.draw(st.sampled_from(["active", "paused"]))
    for tenant in one["tenants"].values():
        tenant["state"] = data.draw(st.sampled_from(["active", "paused", "removing", "offboarding"]))
    refused = refused_by_diff(one, other)
    before, fleet = plans(one), load(other)
    after = plan_all(fleet)
    for name in before.keys() & after.keys():
        there = held((each.manifest for each in before[name].objects), name)
        assert refused[name] == any(refusals(after[name], there, limits_of(fleet, name, None)))


def refused_by_diff(before: Data, after: Data) -> dict[str, bool]:
    """Whether each environment is refused, as the command says it."""
    with TemporaryDirectory() as name, redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()):
        directory = Path(name)
        (directory / "before.yaml").write_bytes(text_of(before))
        (directory / "tenants.yaml").write_bytes(text_of(after))
        base = str(directory / "before.yaml")
        run(["--file", str(directory / "tenants.yaml"), "diff", base, "--output", "json"])
    found = json.loads(out.getvalue())
    return {each["environment"]: each["environment"] in found["refusals"] for each in found["environments"]}
