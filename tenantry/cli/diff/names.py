"""A difference as names, for programs that read lines."""

from __future__ import annotations

from tenantry.compare.diff import Diff


def as_names(diff: Diff) -> list[str]:
    """`+ dev Kustomization rocky/web`: a line for each object."""
    return [
        *(f"- {diff.environment} {each.id}" for each in diff.removed.objects),
        *(f"+ {diff.environment} {each.id}" for each in diff.added.objects),
        *(f"~ {diff.environment} {each.id}" for each in diff.changed),
    ]
