"""Rules about values of Secrets. A policy cannot see whether a value is marked as secret: Pulumi passes plain values."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.policy.resource import Resource, mapping
from tenantry.policy.rule import Violation


def secrets_stay_out_of_files(resource: Resource) -> Iterator[Violation]:
    """A stack that writes files contains no values of Secrets. Many people read these files, and most of them are
    committed to Git.
    """
    if resource.kind != "Secret" or resource.group or not (resource.provider and resource.provider.to_files):
        return
    if mapping(resource.props.get("data")) or mapping(resource.props.get("stringData")):
        fix = "leave it out where the target is a directory, and let it be put on the cluster by other means"
        yield Violation(resource, f"the values of {resource} would be written into a file", fix)
