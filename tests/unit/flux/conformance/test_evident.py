from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tenantry.flux.conformance.cel import _compiled, holds
from tenantry.flux.conformance.evident import is_evident
from tenantry.flux.conformance.explanations import EXPLANATIONS

CHOICES: dict[str, tuple[Any, ...]] = {
    "provider": ("aws", "generic", "azure"),
    "type": ("github", "generic-oidc", "slack"),
    "name": ("RetryOnFailure", "RemediateOnFailure"),
    "digestReflectionPolicy": ("Always", "Never"),
    "sts": ({"provider": "aws"}, {"provider": "ldap", "secretRef": {}}),
    "oidcProviders": ([], [{}]),
    "sourceRef": ({"kind": "HelmRepository"}, {"kind": "GitRepository"}),
}


def values(rule: str) -> list[dict[str, Any]]:
    """Mappings with every combination of the keys that a rule speaks of, present and absent."""
    keys = sorted(
        {part.partition("self.")[2].split(".")[0].split(" ")[0].rstrip(")") for part in rule.split("(")} - {""}
    )
    keys = sorted({*keys, *(key for key in CHOICES if f"self.{key}" in rule)})
    options = [[None, *CHOICES.get(key, ("x",))] for key in keys]
    return [
        {key: value for key, value in zip(keys, each, strict=True) if value is not None} for each in product(*options)
    ]


@pytest.mark.parametrize("rule", EXPLANATIONS)
def test_what_is_evident_is_what_the_engine_says(rule: str) -> None:
    evident = [value for value in values(rule) if is_evident(rule, value)]
    wrong = [value for value in evident if _compiled(rule).eval(data={"self": value}).value() is not True]
    assert wrong == []
    assert evident


@pytest.mark.parametrize(
    "rule",
    [
        "(has(self.a) || has(self.b)) && has(self.c)",
        "has(self.a) ? has(self.b) : has(self.c) || has(self.a)",
        "!(has(self.c) || has(self.a))",
        "(has(self.a)) && (has(self.c))",
        "has(self.a.c) && has(self.a) || has(self.c)",
        "self.a != 'x' && has(self.c)",
        "self.c != 'x'",
    ],
)
def test_the_structure_of_a_rule_is_not_mistaken(rule: str) -> None:
    assert not is_evident(rule, {"a": "y", "b": "y"})
    assert not holds(rule, {"a": "y"}, {"type": "object"})
