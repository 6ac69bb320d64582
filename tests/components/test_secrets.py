"""Values of Secrets come from the stack's secret config, and from nowhere else."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pulumi
import pytest
from pulumi.runtime import rpc

from components.fleet import Fleet
from components.secrets import SecretConfig, missing_values, orphaned_values, read_secrets, with_secrets
from tenantry.kube.objects import Owner, SecretValues
from tenantry.messages.errors import Refused
from tests.components.plans import NAMESPACE, ON_HUB, PLAN, key, planned, unchecked
from tests.components.recording import Recording, record

VALUES = SecretValues(("credentials", "rocky", "git"), ("age.agekey", "password"))
SECRET = replace(planned("v1", "Secret", "rocky/sops", ON_HUB, NAMESPACE, type="Opaque"), secret=VALUES)
READER = planned("source.toolkit.fluxcd.io/v1", "GitRepository", "rocky/manifests", ON_HUB, NAMESPACE, SECRET, spec={})
WITH_SECRET = replace(PLAN, objects=(*PLAN.objects, SECRET, READER))
GIVEN = {"rocky": {"git": {"age.agekey": "geheim", "password": "hunter2"}}}


def read(text: str, *, secret: bool) -> SecretConfig:
    """What a program reads from a stack whose config holds the text."""
    found: list[SecretConfig] = []

    def program() -> None:
        if secret:
            pulumi.runtime.set_all_config({"tenantry:credentials": text}, ["tenantry:credentials"])
        found.append(read_secrets())

    record(program, config={"tenantry:credentials": text})
    return found[0]


def build(secrets: SecretConfig) -> Recording:
    def program() -> None:
        Fleet("dev", run=unchecked(with_secrets(WITH_SECRET, secrets)))

    return record(program)


def test_a_secret_gets_its_values_in_base64_and_marked_as_secret_for_the_engine() -> None:
    recording = build(read(json.dumps(GIVEN), secret=True))
    (made,) = (each for each in recording.objects if each.key == key(SECRET.id))
    assert made.inputs["data"][rpc._special_sig_key] == rpc._special_secret_sig
    assert made.inputs["data"]["value"] == {
        "age.agekey": base64.b64encode(b"geheim").decode(),
        "password": base64.b64encode(b"hunter2").decode(),
    }


def test_a_secret_of_another_type_takes_the_place_of_the_one_there_was() -> None:
    recording = build(SecretConfig({"credentials": GIVEN}))
    replaced = {each.key.name: each.replaced_for for each in recording.objects if each.replaced_for}
    assert replaced == {"rocky/sops": ("type",)}


def test_missing_values_of_a_tenant_are_named_with_the_commands_that_set_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi, "get_stack", lambda: "dev")
    assert missing_values(WITH_SECRET, SecretConfig({})) == {
        SECRET.id: "2 values missing in the stack's secret config: pulumi config set --stack dev --secret --path"
        " 'tenantry:credentials.rocky.git[\"age.agekey\"]', and pulumi config set --stack dev --secret --path"
        " 'tenantry:credentials.rocky.git.password'"
    }
    assert missing_values(WITH_SECRET, SecretConfig({"credentials": GIVEN})) == {}


def test_missing_values_of_the_platform_end_the_run() -> None:
    platforms = replace(
        WITH_SECRET, objects=tuple(replace(each, owner=Owner("", "hub")) for each in WITH_SECRET.objects)
    )
    with pytest.raises(Refused) as refused:
        missing_values(platforms, SecretConfig({}))
    assert str(refused.value) == (
        "2 values missing in the stack's secret config\n"
        "  fix: pulumi config set --secret --path 'tenantry:credentials.rocky.git[\"age.agekey\"]'\n"
        "       pulumi config set --secret --path 'tenantry:credentials.rocky.git.password'"
    )


def test_values_in_plain_text_are_refused_without_repeating_them() -> None:
    with pytest.raises(Refused) as refused:
        read(json.dumps(GIVEN), secret=False)
    assert str(refused.value) == (
        "the stack's config holds tenantry:credentials as plain text, which anyone who reads the stack's file could see\n"
        "  fix: replace the values, then set them with pulumi config set --secret --path 'tenantry:credentials.NAME...'"
    )


def test_what_is_no_mapping_is_refused_without_repeating_it() -> None:
    with pytest.raises(Refused) as refused:
        read("hunter2", secret=True)
    assert str(refused.value) == (
        "the stack's config holds under tenantry:credentials something other than a mapping of names\n"
        "  fix: pulumi config rm tenantry:credentials, then set single values with --secret --path"
    )


def test_what_is_read_is_never_shown() -> None:
    assert "hunter2" not in repr(SecretConfig({"credentials": GIVEN}))


def test_values_of_tenants_that_are_gone_are_told_before_another_tenant_gets_them() -> None:
    secrets = SecretConfig({"credentials": {**GIVEN, "movy": {"git": {"password": "hunter2"}}}})
    assert orphaned_values(WITH_SECRET, secrets) == [
        "the stack's secret config still has credentials of tenant 'movy', which the environment does not have: a new tenant"
        " with this name could use them\n  fix: pulumi config rm --path 'tenantry:credentials.movy'"
    ]
    assert orphaned_values(WITH_SECRET, SecretConfig({"credentials": GIVEN})) == []
    assert orphaned_values(WITH_SECRET, SecretConfig({})) == []
