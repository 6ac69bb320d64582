"""What holds in one environment and on one cluster only: the overrides of settings in the main file, read anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tenantry.policy.main_file import MainFile
from tenantry.policy.resource import entries, mapping


def overrides_on(
    file: MainFile, owners: Sequence[Mapping[str, Any]], environment: str, cluster: str
) -> Iterator[Mapping[str, Any]]:
    """The overrides that hold there, the strongest last. owners: `defaults` and the tenant, whose own come later."""
    given = [mapping(each.get("overrides")) for each in owners]
    for name in file.lineage(environment):
        yield from (mapping(mapping(each.get("environments")).get(name)) for each in given)
    own = mapping(mapping(file.clusters.get(cluster)).get("labels"))
    for entry in (entry for each in given for entry in entries(each.get("where"))):
        labels = mapping(entry.get("labels"))
        if labels and all(own.get(key) == value for key, value in labels.items()):
            yield {key: value for key, value in entry.items() if key != "labels"}
    yield from (mapping(mapping(each.get("clusters")).get(cluster)) for each in given)
