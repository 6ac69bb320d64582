"""A stack's settings, read from its files as `pulumi up` reads them from Pulumi."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.guard.claims import Claim
from tenantry.messages.errors import Refused
from tenantry.stacks.file import Reach, Stack, stack_named
from tenantry.stacks.outcome import for_stack
from tests.components.test_config import read


def target(directory: Path, config: str, project: str = "") -> Stack:
    (directory / "Pulumi.dev.yaml").write_text(f"config: {config}\n")
    if project:
        (directory / "Pulumi.yaml").write_text(project)
    return stack_named(directory, "dev")


def refusal(directory: Path, config: str) -> str:
    with pytest.raises(Refused) as refused:
        target(directory, config)
    return str(refused.value).replace(str(directory), "DIR")


def test_without_a_file_nothing_is_said(tmp_path: Path) -> None:
    assert stack_named(tmp_path, "dev") == Stack("dev", "dev")


def test_settings_are_read_as_pulumi_passes_them_on(tmp_path: Path) -> None:
    config = '{tenantry:kubeconfig: hub, tenantry:context: 1, tenantry:maxDeletions: 4, "other:context": x}'
    assert target(tmp_path, config) == Stack("dev", "dev", Reach(tmp_path / "hub", "1"), 4)
    assert target(tmp_path, '{tenantry:context: ""}') == Stack("dev", "dev")
    assert target(tmp_path, "{tenantry:environment: qa}", "name: fleet").claim == Claim("qa", "fleet/dev")


@pytest.mark.parametrize(
    ("project", "context"),
    [
        ("{name: fleet, config: {tenantry:context: a}}", "a"),
        ("{name: fleet, config: {tenantry:context: {value: a}}}", "a"),
        ("{name: tenantry, config: {context: {type: string, default: a}}}", "a"),
        ("{name: fleet, config: {context: {type: string, default: a}}}", None),
        ('{name: tenantry, config: {context: {type: string, default: ""}}}', None),
    ],
)
def test_what_the_project_gives_to_all_stacks_counts(tmp_path: Path, project: str, context: str | None) -> None:
    assert target(tmp_path, "{}", project).reach.context == context
    assert target(tmp_path, "{tenantry:context: own}", project).reach.context == "own"


@pytest.mark.parametrize(
    "settings",
    [
        {"maxDeletions": "many"},
        {"maxDeletions": "-1"},
        {"maxDeletions": "4.5"},
    ],
)
def test_what_up_refuses_is_refused_in_the_same_words(tmp_path: Path, settings: dict[str, str]) -> None:
    with pytest.raises(Refused) as refused:
        read(settings)
    config = "{" + ", ".join(f'"tenantry:{key}": "{value}"' for key, value in settings.items()) + "}"
    assert refusal(tmp_path, config) == for_stack(str(refused.value), "dev")


def test_a_number_that_is_none_is_refused_with_the_command_that_helps(tmp_path: Path) -> None:
    assert refusal(tmp_path, "{tenantry:maxDeletions: 4.5}") == (
        "tenantry:maxDeletions is '4.5', but must be a number or a share such as 10%\n"
        "  fix: pulumi config set --stack dev tenantry:maxDeletions 10, or pulumi config rm --stack dev tenantry:maxDeletions"
    )


def test_what_only_pulumi_can_read_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, "{tenantry:context: {secure: AAABAA}}") == (
        "tenantry:context in DIR/Pulumi.dev.yaml is not plain text\n"
        "  fix: pulumi config set --stack dev --plaintext tenantry:context VALUE"
    )
    assert refusal(tmp_path, "[a]") == (
        "'config' in DIR/Pulumi.dev.yaml is not a mapping\n  fix: correct it; `pulumi config set --stack dev` writes the file"
    )
