"""The canonical form of a file: `tenantry fmt`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.edit.canonical import canonical, comments_in
from tenantry.edit.document import same
from tenantry.messages.errors import Refused
from tenantry.source.parse import parse
from tests.table import table

ROOT = Path(__file__).resolve().parents[3]
FILE = Path("tenants.yaml")
FLEETS = [
    ROOT / "tenants.yaml",
    *sorted(ROOT.glob("examples/*/tenants.yaml")),
    *sorted(ROOT.glob("examples/*/*.d/*.yaml")),
]

BEFORE = """\
# yaml-language-server: $schema=tenants.schema.json
# The fleet.

tenants:
    # Deploys from Git.
    rocky:   # the first


        apps:
            # comes first
            web:
                dependsOn:
                - db # before it
                # - cache
                -   "cache"
                kustomize: { source: 'manifests',path: "./{env}" , postBuild: {substitute: {A: "1", B: 'it''s'}} }

            db:
              kustomize: {source: manifests,
                          # the manifests
                          path: ./db}
            # worker: {}
        quota: {"requests.cpu": "8"}
        role: >-
            edit

    movy:
        labels: {note: |-2}
# what runs where
environments: {dev: {management: "hub"}}
apiVersion: "tenantry/v1"
"""
AFTER = """\
# yaml-language-server: $schema=tenants.schema.json
# The fleet.

apiVersion: tenantry/v1

# what runs where
environments: {dev: {management: hub}}

tenants:
  # Deploys from Git.
  rocky:   # the first
    role: >-
      edit
    quota: {requests.cpu: "8"}

    apps:
      # comes first
      web:
        kustomize: {source: manifests, path: "./{env}", postBuild: {substitute: {A: "1", B: it's}}}
        dependsOn:
          - db  # before it
          # - cache
          - cache

      db:
        kustomize: {source: manifests,
                    # the manifests
                    path: ./db}
      # worker: {}

  movy:
    labels: {note: "|-2"}
"""


def formatted(text: str) -> str:
    return canonical(text.encode(), FILE).decode()


def test_a_file_gets_its_canonical_form() -> None:
    before = BEFORE.replace("|-2}", '"|-2"}')
    for text in (before, before.replace("\n", "\r\n"), f"\ufeff{before}", before.rstrip()):
        assert formatted(text) == AFTER
    assert formatted(AFTER) == AFTER


@table("file", FLEETS, ids=lambda file: str(file.relative_to(ROOT)))
def test_fleets_keep_their_meaning_and_their_comments(file: Path) -> None:
    raw = file.read_bytes()
    once = canonical(raw, file)
    assert canonical(once, file) == once
    assert same(parse(once, "after").data, parse(raw, "before").data)
    assert comments_in(once.decode()) == comments_in(raw.decode())


def test_what_refers_to_other_parts_stays_as_it_is() -> None:
    text = "---\na:   &x {c:  1}\nb:  *x # again\nd: &y\n   e: 1\nf: !!str  5\n"
    assert formatted(text) == "---\na: &x {c:  1}\nb: *x  # again\n\nd: &y\n  e: 1\n\nf: !!str  5\n"


def test_a_text_at_an_open_end_gets_no_line_break() -> None:
    assert formatted("a: |\n b") == "a: |-\n  b\n"


def test_brackets_over_several_lines_are_indented_below_their_key() -> None:
    assert formatted("a:\n- {\n  m: 1,\n }\n") == "a:\n  - {\n     m: 1,\n    }\n"
    assert formatted("a:\n  - {\n     m: 1,\n    }\n") == "a:\n  - {\n     m: 1,\n    }\n"


@table(
    ("text", "why"),
    [
        ("? a\n: 1\n", "tenants.yaml:1:1: this cannot be formatted: its key is written with '? '"),
        ("--- {a: 1}\n", ""),
    ],
)
def test_what_has_no_canonical_form_is_refused(text: str, why: str) -> None:
    if not why:
        assert formatted(text) == text
        return
    with pytest.raises(Refused) as refused:
        formatted(text)
    assert refused.value.message == why
