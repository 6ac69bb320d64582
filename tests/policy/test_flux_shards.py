"""The policy pack and the shards of Flux's controllers."""

from __future__ import annotations

import yaml

from tenantry.load import plan_all
from tenantry.policy.main_file import MainFile
from tests.hostile.confinement import escapes_of
from tests.unit.texts import fleet, rocky

TEXT = rocky("web: {kustomize: {source: manifests}}").replace("dev: {", "dev: {fluxShards: [a, b], ", 1)


def test_a_tenant_is_in_one_of_the_shards_that_its_environment_lists() -> None:
    plans = list(plan_all(fleet(TEXT)).values())
    assert escapes_of(plans, MainFile(yaml.safe_load(TEXT))) == []
    (escape, *_) = escapes_of(plans, MainFile(yaml.safe_load(TEXT.replace("[a, b]", "[c]"))))
    assert "has label 'sharding.fluxcd.io/key', which is not granted to it" in escape
