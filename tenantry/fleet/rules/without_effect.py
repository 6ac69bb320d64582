"""Rules about what is written and has no effect: entries never used, overrides of absent apps, settings that Flux ignores."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tenantry.fleet import walk
from tenantry.fleet.blocks import shared_blocks
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import merge, origin
from tenantry.fleet.placement import distinct_layers
from tenantry.fleet.rules.references import names_of_attachments
from tenantry.grants.grants import is_filled
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.placeholders import all_names_in
from tenantry.messages.problems import doubtful
from tenantry.messages.text import listed


def sources_are_used(fleet: Fleet) -> Iterator[Problem]:
    platform = fleet.document.platform
    owners: list[tuple[tuple[str, ...], Iterable[str], Iterable[str]]] = [
        (("tenants", name, "apps"), tenant.apps, tenant.sources) for name, tenant in fleet.document.tenants.items()
    ]
    for at, apps, sources in (*owners, (("platform", "addons"), platform.addons, platform.sources)):
        used = {block.get("source") for app in apps for _, block in walk.blocks(fleet, (*at, app))}
        used |= _included(fleet, at[:-1])
        whose = f"no app of tenant '{at[1]}'" if at[0] == "tenants" else "no add-on"
        for name in sources:
            if name not in used:
                yield _unused((*at[:-1], "sources", name), "source", f"{whose} names it")


def credentials_and_configs_are_used(fleet: Fleet) -> Iterator[Problem]:
    used = {(*owner, group, name) for owner, group, name in names_of_attachments(fleet)}
    owners = (("platform",), *(("tenants", tenant) for tenant in fleet.document.tenants))
    for owner in owners:
        whose = f"tenant '{owner[1]}'" if owner[1:] else "the platform"
        for group, what in (("credentials", "credentials"), ("configs", "config")):
            for name in fleet.raw(*owner, group):
                if (*owner, group, name) not in used:
                    yield _unused(
                        (*owner, group, name), what, f"nothing of {whose} names {'them' if what == group else 'it'}"
                    )


def states_of_tenants_are_placed(fleet: Fleet) -> Iterator[Problem]:
    """A tenant without apps is placed to be off-boarded, on the clusters of its own selector, and for nothing else."""
    for name, tenant in fleet.document.tenants.items():
        message, at = (
            f"'state: {tenant.state}' of tenant '{name}' has no effect: it has no apps",
            ("tenants", name, "state"),
        )
        if tenant.state == "removing" and not tenant.apps:
            fix = "remove the tenant: namespaces that it had stay with their data"
            yield doubtful(at, "no-effect", message, fix=fix)
        elif tenant.state == "offboarding" and not (tenant.apps or tenant.clusters):
            fix = "write on which 'clusters' its namespaces go with their data"
            yield doubtful(at, "no-effect", f"{message} and no 'clusters'", fix=fix)


def environments_have_clusters(fleet: Fleet) -> Iterator[Problem]:
    """One that others extend can be their template; clusters in pieces of the file may be found later."""
    if any(include.files for include in fleet.document.include):
        return
    extended = {environment.extends for environment in fleet.document.environments.values()}
    for name in fleet.environments:
        if name not in extended and not clusters_of(fleet, name):
            why, fix = "no cluster belongs to it", f"write 'environments: [{name}]' in a cluster, or remove it"
            yield _unused(("environments", name), "environment", why, fix)


def variables_are_used(fleet: Fleet) -> Iterator[Problem]:
    """Each name once. Without tenants, or where teams have files of their own, a variable is there for what is to come."""
    if _teams_have_files(fleet) or not fleet.document.tenants:
        return
    used = set(all_names_in(fleet.source.unmerged))
    reported: set[str] = set()
    for holder in walk.variable_holders(fleet):
        for variable in fleet.raw(*holder, "variables"):
            if variable not in used and variable not in reported:
                reported.add(variable)
                path = (*holder, "variables", variable)
                yield _unused(path, "variable", f"no placeholder '{{{variable}}}' stands in the file")


def alerts_have_something_to_report(fleet: Fleet) -> Iterator[Problem]:
    for at, _ in walk.alerts(fleet):
        if at[0] == "platform":
            why, fix = "there is no add-on and no remote cluster", "declare an add-on, or remove it"
            reports = bool(fleet.document.platform.addons) or any(
                cluster.kubeconfig for cluster in fleet.clusters.values()
            )
        else:
            why, fix = f"tenant '{at[1]}' has no app", "declare an app, or remove it"
            reports = bool(fleet.document.tenants[at[1]].apps)
        if not reports and not may_be_filled(fleet, at):
            yield _unused(at, "alert", why, fix)


def may_be_filled(fleet: Fleet, at: tuple[str, ...]) -> bool:
    """Whether the main file declares something for a team that may add to it in a file of its own, and has not yet."""
    return at[0] == "tenants" and _teams_have_files(fleet) and not is_filled(fleet, at)


def _teams_have_files(fleet: Fleet) -> bool:
    return any(include.tenants for include in fleet.document.include)


def _included(fleet: Fleet, owner: tuple[str, ...]) -> set[object]:
    """The sources that others of their owner include."""
    return {
        mapping_at(entry, "repository").get("name")
        for source in fleet.raw(*owner, "sources").values()
        for entry in mapping_at(source, "git").get("include") or ()
    }


def _unused(path: Path, what: str, why: str, fix: str = "") -> Problem:
    verb = "are" if what == "credentials" else "is"
    return doubtful(
        path,
        "unused",
        f"{what} '{path[-1]}' {verb} declared, but never used: {why}",
        fix=fix or ("use it, or remove it" if verb == "is" else "use them, or remove them"),
        at_key=True,
    )


_RETRIES = "RetryOnFailure"


def remediations_are_not_ignored(fleet: Fleet) -> Iterator[Problem]:
    for action in ("install", "upgrade"):
        at = ("helm", action, "remediation")

        def ignored(app: dict[str, Any], action: str = action) -> bool:
            written = mapping_at(app, "helm", action)
            return "remediation" in written and mapping_at(written, "strategy").get("name") == _RETRIES

        for path in _where(fleet, ("helm", action, "strategy"), at, ignored):
            yield doubtful(
                path,
                "ignored-by-flux",
                f"Flux ignores 'remediation' of an {action} whose strategy is '{_RETRIES}'",
                fix="remove it ('null' in an override), or write 'strategy: {name: RemediateOnFailure}'",
                at_key=True,
            )


def health_checks_are_not_ignored(fleet: Fleet) -> Iterator[Problem]:
    at = ("kustomize", "healthChecks")

    def ignored(app: dict[str, Any]) -> bool:
        block = mapping_at(app, "kustomize")
        return bool(block.get("healthChecks")) and block.get("wait") is True

    for path in _where(fleet, ("kustomize", "wait"), at, ignored):
        yield doubtful(
            path,
            "ignored-by-flux",
            "Flux ignores 'healthChecks' where 'wait' is true: it waits for everything that is applied, and for nothing else",
            fix="remove it ('null' in an override), or write 'wait: false'",
            at_key=True,
        )


def drift_that_is_ignored_is_looked_for(fleet: Fleet) -> Iterator[Problem]:
    def ignored(app: dict[str, Any]) -> bool:
        drift = mapping_at(app, "helm", "driftDetection")
        return bool(drift.get("ignore")) and drift.get("mode") == "disabled"

    for path in _where(fleet, ("helm", "driftDetection", "mode"), ("helm", "driftDetection", "ignore"), ignored):
        message = "Flux ignores 'ignore' of 'driftDetection' where its mode is 'disabled': it looks for no drift"
        fix = "remove it ('null' in an override), or write 'mode: enabled' or 'mode: warn'"
        yield doubtful(path, "ignored-by-flux", message, fix=fix, at_key=True)


_VARIABLE = re.compile(r"(?<!\$)\$\{([_A-Za-z]\w*)\}")
_LEFT_ALONE = "kustomize.toolkit.fluxcd.io/substitute"
"""The label or annotation of objects in which Flux substitutes nothing."""


def variables_of_patches_are_set(fleet: Fleet) -> Iterator[Problem]:
    """Flux substitutes variables in what its own patches add, too, and fails where one is not set and has no default."""
    unset: dict[str, None] = {}

    def ignored(app: dict[str, Any]) -> bool:
        after = mapping_at(app, "kustomize", "postBuild")
        text = "\n".join(str(mapping_at(entry, "patch") or entry) for entry in mappings_in(value_at(app, _PATCHES)))
        missing = {name: None for name in _VARIABLE.findall(text) if name not in mapping_at(after, "substitute")}
        unset.update(missing)
        substitutes = bool(after.get("substitute")) or after.get("substituteStrategy") == "Always"
        return bool(missing) and substitutes and "substituteFrom" not in after and _LEFT_ALONE not in text

    for path in _where(fleet, _PATCHES, _PATCHES, ignored):
        message = f"'postBuild' does not set what the patches name ({listed(unset)}), and Flux fails then"
        fix = "set it in 'substitute:', or write '${NAME:=DEFAULT}', or '$${NAME}' for a text that stays"
        yield doubtful(path, "unset-variable", message, fix=fix, at_key=True)
        unset.clear()


_PATCHES = ("kustomize", "patches")
_OF_ROLLBACKS = (("helm", "rollback"), ("helm", "upgrade", "remediation", "strategy"))


def rollbacks_are_asked_for(fleet: Fleet) -> Iterator[Problem]:
    """Helm's rollback is what remediation does, which needs retries or `remediateLastFailure`."""
    for at in _OF_ROLLBACKS:

        def ignored(app: dict[str, Any], at: tuple[str, ...] = at) -> bool:
            upgrade = mapping_at(app, "helm", "upgrade")
            remediation = mapping_at(upgrade, "remediation")
            asked = remediation.get("retries") or remediation.get("remediateLastFailure")
            is_reported = "remediation" in upgrade and mapping_at(upgrade, "strategy").get("name") == _RETRIES
            return at[-1] in mapping_at(app, *at[:-1]) and not (asked or is_reported)

        for path in _where(fleet, at, at, ignored):
            message = f"Flux ignores '{at[-1]}': it remedies a failed upgrade where 'retries' or 'remediateLastFailure' says so"
            fix = "write 'upgrade: {remediation: {retries: 3}}' in 'helm:', or remove it"
            yield doubtful(path, "ignored-by-flux", message, fix=fix, at_key=True)


def _where(
    fleet: Fleet, cause: tuple[str, ...], at: tuple[str, ...], ignored: Callable[[dict[str, Any]], bool]
) -> Iterator[Path]:
    """Where the value at a path of an app stands that is ignored on any of its clusters; `cause`: the path of what does that."""
    of_all = any(_sets(fleet, path, cause) for path, _, _ in shared_blocks(fleet.source.data))
    for app, _, _, _ in walk.apps(fleet):
        if not (of_all or any(_sets(fleet, path, cause) for path, _ in walk.blocks(fleet, app))):
            continue
        layers_of_app = distinct_layers(fleet, app)
        yield from dict.fromkeys(origin(layers, at) for layers in layers_of_app if ignored(merge(layers)))


def _sets(fleet: Fleet, block: Path, path: tuple[str, ...]) -> bool:
    """Whether the block says something at a path of the app."""
    return block[-1] == path[0] and path[-1] in fleet.raw(*block, *path[1:-1])
