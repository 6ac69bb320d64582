"""Every rule of the policy pack has a case that keeps it and one that breaks it: tests/policy/cases/<rule>.

`pytest --update-golden` writes expected.txt: all that the rule says about bad.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenantry.policy.main_file import MainFile, read
from tenantry.policy.resource import Provider, Resource
from tenantry.policy.rule import Violation, check_object, reason_of
from tenantry.policy.rules import FRAME_RULES, OBJECT_RULES, STACK_RULES
from tenantry.policy.rules.reach import tenants_timeouts_and_retries_have_an_end
from tenantry.policy.stack import Stack
from tenantry.policy.tenants import Tenants
from tests.policy import cases
from tests.policy.cases import MAIN, RULES, Kind, directory, registrations, type_of
from tests.table import table

ALL = {rule.__name__: rule for rule in (*OBJECT_RULES, *STACK_RULES, *FRAME_RULES)}

each_rule = pytest.mark.parametrize("rule", ALL)


def resources(rule: str, kind: Kind) -> list[Resource]:
    return [
        Resource(
            urn=f"urn:pulumi:dev::tenantry::{type_of(manifest, beside)}::{rule}-{index}",
            type=type_of(manifest, beside),
            props=manifest,
            provider=Provider(beside.get("provider", "management"), beside.get("toFiles", False)),
        )
        for index, (manifest, beside) in enumerate(registrations(rule, kind))
    ]


def main_file(rule: str) -> MainFile | None:
    return read(MAIN) if rule in cases.FRAME_RULES else None


def violations(given: list[Resource], main: MainFile | None = None) -> Iterator[tuple[str, Violation]]:
    """Everything that is wrong, each with the rule that says so."""
    for frame_rule in FRAME_RULES if main else ():
        assert main
        yield from ((frame_rule.__name__, each) for each in frame_rule(Tenants(Stack(given), main)))
    for object_rule in OBJECT_RULES:
        for resource in given:
            yield from ((object_rule.__name__, each) for each in check_object(object_rule, resource))
    for stack_rule in STACK_RULES:
        yield from ((stack_rule.__name__, each) for each in stack_rule(Stack(given)))


def test_every_rule_has_a_case_and_every_case_a_rule() -> None:
    assert sorted(ALL) == sorted((*RULES, *cases.FRAME_RULES))


@each_rule
def test_the_good_case_keeps_all_rules(rule: str) -> None:
    assert [(name, str(each)) for name, each in violations(resources(rule, "good"), main_file(rule))] == []


@each_rule
def test_the_bad_case_is_refused_by_its_rule_and_by_no_other(rule: str, *, update_golden: bool) -> None:
    found = list(violations(resources(rule, "bad"), main_file(rule)))
    told = f"{reason_of(ALL[rule])}\n\n" + "".join(f"{each}\n" for _, each in found)
    expected = directory(rule) / "expected.txt"
    if update_golden:
        expected.write_text(told)
    assert {name for name, _ in found} == {rule}
    assert expected.read_text() == told


@table(("kind", "broken"), [("good", set()), ("bad", set(cases.FRAME_RULES))])
def test_all_cases_about_frames_make_one_program(kind: Kind, broken: set[str]) -> None:
    together = [each for rule in cases.FRAME_RULES for each in resources(rule, kind)]
    assert {name for name, _ in violations(together, read(MAIN))} == broken


def test_no_message_holds_the_value_of_a_secret() -> None:
    told = [str(each) for rule in ALL for _, each in violations(resources(rule, "bad"), main_file(rule))]
    assert [text for text in told if "hush" in text or "clusters: []" in text] == []


@table(("kept", "retries"), [(True, 50.0), (True, -1.0), (True, 20.0), (False, 51.0), (False, -2.0)])
def test_a_number_of_the_engine_is_the_one_of_the_main_file(*, kept: bool, retries: float) -> None:
    """The engine passes 50 as 50.0."""
    actions = {key: {"remediation": {"retries": number}} for key, number in (("install", 50), ("upgrade", -1))}
    main = MainFile(
        {
            "environments": {"dev": {"management": "hub"}},
            "clusters": {"hub": {"environments": ["dev"]}},
            "tenants": {"rocky": {"clusters": {"names": ["hub"]}, "apps": {"web": {"helm": actions}}}},
        }
    )
    labels = {"toolkit.fluxcd.io/tenant": "rocky", "tenantry/environment": "dev", "tenantry/cluster": "hub"}
    props = {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": "web", "namespace": "rocky", "labels": labels},
        "spec": {"install": {"remediation": {"retries": retries}}},
    }
    release = Resource("urn", type_of(props, {}), props, Provider("management"))
    assert kept is not any(tenants_timeouts_and_retries_have_an_end(Tenants(Stack([release]), main)))
