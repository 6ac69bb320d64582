"""Commands of Pulumi in a text, for one stack."""

from __future__ import annotations

from tenantry.stacks.outcome import for_stack
from tests.table import table


@table(
    ("text", "expected"),
    [
        (
            "pulumi config set a:b 1, or pulumi config rm a:b",
            "pulumi config set --stack dev a:b 1, or pulumi config rm --stack dev a:b",
        ),
        ("run `pulumi config set --path 'a:b[0]' x`; or", "run `pulumi config set --stack dev --path 'a:b[0]' x`; or"),
        ("pulumi config set --secret --path a:b", "pulumi config set --stack dev --secret --path a:b"),
        ("pulumi config set a:b FILE --stack first, a file", "pulumi config set a:b FILE --stack first, a file"),
        (
            "pulumi config set a:b x --stack NAME; pulumi config rm c",
            "pulumi config set a:b x --stack NAME; pulumi config rm --stack dev c",
        ),
        (
            "correct it; `pulumi config set` writes the file",
            "correct it; `pulumi config set --stack dev` writes the file",
        ),
        ("tenantry up --environment dev", "tenantry up --environment dev"),
    ],
)
def test_a_command_names_its_stack(text: str, expected: str) -> None:
    assert for_stack(text, "dev") == expected


def test_a_name_is_quoted() -> None:
    assert for_stack("pulumi config rm a:b", "my dev") == "pulumi config rm --stack 'my dev' a:b"
