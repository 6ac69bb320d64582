"""The gate of an environment, as the file says it."""

from __future__ import annotations

from tenantry.rollout.waves import After, after_of
from tests.table import table
from tests.unit.texts import FRAME, fleet, problems, told

TEXT = FRAME.replace("clusters:", '  prod: {management: hub, namespace: "prod-{tenant}", after: dev}\nclusters:', 1)
TEXT = TEXT.replace("[dev], labels: {tier: hub}", "[dev, prod], labels: {tier: hub}")


@table(
    ("written", "expected", "words"),
    [
        ("dev", After("dev"), "changes of apps wait until dev runs them and is ready"),
        ("{environment: dev}", After("dev"), "changes of apps wait until dev runs them and is ready"),
        (
            "{environment: dev, soak: 90m}",
            After("dev", "90m"),
            "changes of apps wait until dev runs them and has been ready for 90m",
        ),
    ],
)
def test_a_name_and_a_mapping_are_a_gate_and_an_order(written: str, expected: After, words: str) -> None:
    read = fleet(TEXT.replace("after: dev", f"after: {written}"))
    found = after_of(read, "prod")
    assert (found, read.in_order(), after_of(read, "dev")) == (expected, ["dev", "prod"], None)
    assert expected.format_gate() == words


def test_an_environment_does_not_inherit_the_gate_of_the_one_that_it_extends() -> None:
    text = TEXT.replace("after: dev", "after: {environment: dev}").replace(
        "\nclusters:", '\n  us: {extends: prod, namespace: "us-{tenant}", after: prod}\nclusters:', 1
    )
    assert after_of(fleet(text), "us") == After("prod")


@table(
    ("written", "lines"),
    [
        (
            "{soak: 1}",
            (
                "tenants.yaml:4:62: error[missing-key]: key 'environment' is missing",
                "  at environments.prod.after",
                "  fix: add 'environment:'",
                "tenants.yaml:4:69: error[wrong-type]: expected a string, found the number 1",
                "  at environments.prod.after.soak",
                "  fix: add a unit, such as '1s' or '1m'",
                "Found 2 errors",
            ),
        ),
        (
            "[dev]",
            (
                "tenants.yaml:4:62: error[wrong-type]: expected the name of an environment or a mapping, found a list",
                "  at environments.prod.after",
                "  fix: write a name, as in 'after: dev'",
                "Found 1 error",
            ),
        ),
        (
            "{environment: dve}",
            (
                "tenants.yaml:4:76: error[unknown-environment]: environment 'prod' names environment 'dve', which is not"
                " declared",
                "  at environments.prod.after.environment",
                "  declared: dev, prod (closest: dev)",
                "  fix: write 'dev', or declare it under 'environments:'",
                "Found 1 error",
            ),
        ),
    ],
)
def test_a_misshapen_gate_is_one_problem_each(written: str, lines: tuple[str, ...]) -> None:
    assert problems(TEXT.replace("after: dev", f"after: {written}")) == told(*lines)
