"""Rules about labels and annotations of Flux objects."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.grants.grants import filled_tenants, grant_at, is_filled
from tenantry.kube.names import OWNED_ANNOTATIONS
from tenantry.messages.errors import Finding, Path
from tenantry.messages.text import listed
from tenantry.model.flux import FluxMetadata

_SHARD = "sharding.fluxcd.io/key"


def metadata_leaves_the_fleets_alone(fleet: Fleet) -> Iterator[Finding]:
    for at, metadata in _metadata(fleet):
        for kind, key in _keys(metadata):
            if key.startswith(OWNED_ANNOTATIONS) or key.partition("/")[0].endswith("fluxcd.io"):
                fix = "set 'shard:' of the cluster or the tenant instead" if key == _SHARD else "remove it"
                message = f"{kind[:-1]} '{key}' of Flux objects is reserved for Tenantry, Flux and their tools"
                yield Finding((*at, kind, key), f"owned-{kind[:-1]}", message, fix=fix, at_key=True)


def included_files_set_granted_metadata(fleet: Fleet) -> Iterator[Finding]:
    grants = dict(filled_tenants(fleet))
    for at, metadata in _metadata(fleet):
        if at[0] != "tenants" or (given := grants.get(str(at[1]))) is None:
            continue
        for kind, key in _keys(metadata):
            granted = (given.labels if kind == "labels" else given.annotations) or []
            if is_filled(fleet, (*at, kind, key)) and f"{key.partition('/')[0]}/" not in granted:
                yield _not_granted(fleet, str(at[1]), kind, key, (*at, kind, key), granted)


def _not_granted(fleet: Fleet, tenant: str, kind: str, key: str, at: Path, granted: list[str]) -> Finding:
    where = fleet.source.line_of(grant_at(fleet, tenant, kind))
    notes = (f"granted: {listed(granted) or 'none'} ({where})",)
    message = f"{kind[:-1]} '{key}' is not granted to tenant '{tenant}'"
    fix = f"remove it, or ask the platform team to add its prefix to 'grants.{kind}' of the tenant"
    return Finding(at, "not-granted", message, notes, fix, at_key=True)


def _metadata(fleet: Fleet) -> Iterator[tuple[Path, FluxMetadata]]:
    """Wherever the file says something of the metadata of Flux objects."""
    for app_at, _, _, app in walk.apps(fleet):
        levels = (
            ((*app_at,), app.metadata),
            *((path, each.metadata) for path, each in walk.overrides(app.overrides, app_at)),
        )
        yield from (((*path, "metadata"), metadata) for path, metadata in levels if metadata)
    for source_at, source in walk.sources(fleet):
        if source.metadata:
            yield (*source_at, "metadata"), source.metadata


def _keys(metadata: FluxMetadata) -> Iterator[tuple[str, str]]:
    yield from (("labels", key) for key in metadata.labels or {})
    yield from (("annotations", key) for key in metadata.annotations or {})
