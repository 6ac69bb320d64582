"""Files that a fleet has in common with Tenantry's own repository, byte for byte: pipelines and the policy pack.

A wheel has copies of them beside this module, which hatch_build.py puts there. An editable installation reads the repository's
own. This module imports nothing of Tenantry, because hatch_build.py runs it.
"""

from __future__ import annotations

from pathlib import Path

ALWAYS = ("policy/PulumiPolicy.yaml", "policy/__main__.py")
SCRIPTS = (".ci/environments", ".ci/review")
FORGES = {
    "github": {
        ".ci/comment": ".ci/comment",
        ".ci/last-success": ".ci/last-success",
        ".github/workflows/deploy.yml": ".github/workflows/deploy.yml",
        ".github/workflows/review.yml": ".github/workflows/review.yml",
        "action.yml": "action.yml",
    },
    "gitlab": {
        ".ci/comment": ".ci/comment",
        ".ci/gitlab/deploy.yml": "templates/deploy/template.yml",
        ".ci/gitlab/review.yml": "templates/review/template.yml",
    },
    "none": {},
}
"""Where a fleet has the file, and where Tenantry's repository has it."""
ALL = sorted({*ALWAYS, *SCRIPTS, *(source for files in FORGES.values() for source in files.values())})
PLACE = "tenantry/scaffold/shared_files"
"""The directory for the copies in a wheel."""

_COPIES = Path(__file__).with_name("shared_files")
_OWN = Path(__file__).resolve().parents[2]


def shared(forge: str) -> dict[str, str]:
    """The texts of the files, by their path in a fleet."""
    root = _COPIES if _COPIES.is_dir() else _OWN
    paths = {**{path: path for path in (*ALWAYS, *SCRIPTS)}, **FORGES[forge]}
    return {path: (root / source).read_text(encoding="utf-8") for path, source in paths.items()}
