"""Which changes a danger belongs to, so that a page marks them and does not tell the danger once more beside them."""

from __future__ import annotations

from collections.abc import Sequence

from tenantry.compare.review.model import Change, Danger, DangerKind, Effect

_KEYS: dict[DangerKind, tuple[str, ...]] = {
    DangerKind.RIGHTS: ("role", "clusterAdmin", "owners", "serviceAccount", "clusterRoles", "chart"),
    DangerKind.NETWORK: ("network",),
    DangerKind.QUOTA: ("quota",),
    DangerKind.LIMITS: ("limits",),
    DangerKind.POD_SECURITY: ("podSecurity",),
    DangerKind.NAMESPACE: ("namespace",),
    DangerKind.KUBECONFIG: ("kubeconfig",),
    DangerKind.ADOPTION: ("adopt",),
}
"""How the settings begin that a danger of this kind comes from."""
_EFFECTS = {DangerKind.DELETION: Effect.REMOVED, DangerKind.RENAME: Effect.RENAMED}


def changes_of(danger: Danger, changes: Sequence[Change]) -> list[int]:
    """The indices of the changes of one tenant, or of the platform, that the danger is about; none if that cannot be told.

    Args: changes: those on clusters of the danger.
    """
    every = range(len(changes))
    named = [at for at in every if (name := changes[at].part.name) and f"'{name}'" in _without_tenants(danger)]
    if named:
        return named
    effect, keys = _EFFECTS.get(danger.kind), _KEYS.get(danger.kind, ())
    if effect or keys:
        return [at for at in every if changes[at].effect is effect or _sets(changes[at], keys)]
    return [*every] if len(changes) == 1 else []


def _without_tenants(danger: Danger) -> str:
    """The sentence without the names of its tenants, which apps can have too."""
    text = danger.text
    for tenant in danger.tenants:
        text = text.replace(f"tenant '{tenant}'", "")
    return text


def _sets(change: Change, keys: tuple[str, ...]) -> bool:
    return any(setting.key.startswith(keys) for setting in change.settings) if keys else False
