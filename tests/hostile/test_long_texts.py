"""Very long texts take no long time, and what is printed of them is bounded."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tenantry.messages.inert import MOST_CHARACTERS, code
from tenantry.messages.masking import masked_pair
from tenantry.messages.redact import kind_of, redacted, without_credentials
from tests.floor import floor
from tests.markdown import alive
from tests.unit.cli.test_diff_hides import hostile, outputs
from tests.unit.messages.test_inert import in_every_place


@pytest.mark.parametrize(
    "text",
    [
        "password: " * 100_000,
        "a: &a [*a, *a]\npassword: x",
        "password=" + "x" * 1_000_000,
        "[" * 100_000 + "password",
        "--token " * 100_000,
        "'" * 500_000 + "password",
        "a:\n" + " b: {password: c}\n" * 30_000,
        "password: x\n" * 50_000,
        "".join(f"- {{name: password, value: a{number}}}\n" for number in range(3_000)),
    ],
    ids=lambda text: repr(text[:20]),
)
def test_a_long_text_takes_linear_time(text: str) -> None:
    start = time.process_time()
    masked_pair({"a": text}, {"a": f"{text}."})
    assert time.process_time() - start < 60 * floor()


_LONG = (
    *("a", "A1b2", "-_", "://", "://::", "eyJabcdefgh", "eyJ.eyJ", "LS0tLS1CRUdJTi", "ghp_", "SG.", "basic ", "token:"),
    *("-----BEGIN ", "-----BEGIN PRIVATE KEY-----", '"auth"', "password="),
)


@pytest.mark.parametrize("part", _LONG)
def test_no_text_of_a_hundred_kilobytes_takes_long(part: str) -> None:
    text = part * (100_000 // len(part))
    start = time.process_time()
    kind_of(text)
    redacted(text)
    without_credentials(text)
    assert time.process_time() - start < 6 * floor()


@pytest.mark.parametrize("character", ["x", "`"])
def test_a_long_hostile_text_stays_text(character: str) -> None:
    for document in in_every_place(character * 1_000_000):
        assert not alive(document), document[:300]
    # A character that cannot be printed takes ten.
    assert len(code(character * 1_000_000)) < 3 * MOST_CHARACTERS + 10


def test_a_very_long_line_is_shortened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for form in ("text", "markdown"):
        assert len(outputs(hostile(["x"]), hostile(["y " * 50_000]), form, capsys)) < 70_000
