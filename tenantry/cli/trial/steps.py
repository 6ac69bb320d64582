"""The steps of `tenantry try`: what each one explains, and the command that a user would type."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """words: the command line after `tenantry`; code: its exit code; edits: whether the file is edited before it."""

    title: str
    text: str
    words: tuple[str, ...]
    code: int = 0
    edits: bool = False


BEFORE = "before.yaml"
PAGE = "change.html"

EDITS = (
    ("version: 1.x", "version: 2.x"),
    ("us-east-1: {helm: {values: {replicas: 4}}}", "us-east-1: {helm: {values: {replicas: 6}}}"),
    ("clusters: {names: [hub-dev, hub-prod]}", "clusters: {names: [hub-prod]}"),
)
"""Texts of tenants.yaml, and what takes their place."""

STEPS = (
    Step(
        "Check the file",
        "tenants.yaml declares environments, clusters, tenants and their apps. This\n"
        "checks every key and reference, and plans all environments.",
        ("validate",),
    ),
    Step(
        "See what runs where",
        "Apps select clusters by name or label, so no list of placements is written.",
        ("list", "placements"),
    ),
    Step(
        "Render the objects",
        "These are the Flux and Kubernetes objects that `tenantry up` applies, one file\n"
        "for each. You can read, grep and commit them.",
        ("render", "--directory", "rendered"),
    ),
    Step(
        "Ask where a setting comes from",
        "Each value of an app names the line that sets it, after all overrides.",
        ("explain", "movy", "web", "--environment", "prod", "--cluster", "us-east-1"),
    ),
    Step(
        "Change the file and see what the change does",
        "Three lines of tenants.yaml are edited now. A review starts with what would be\n"
        f"deleted, then lists each change with its clusters. {PAGE} shows the same\n"
        "as a page to filter and click through. Exit code 1 means differences.",
        ("diff", BEFORE, "--also", f"html={PAGE}"),
        code=1,
        edits=True,
    ),
)

NEXT = """\
Everything is in {directory}
Edit tenants.yaml there and run the commands again. `tenantry COMMAND --help` has
more examples.

Next:
  tenantry init my-fleet    start a project of your own
  tenantry --help           all commands, with a first session
"""
