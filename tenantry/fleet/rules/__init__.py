"""Rules about how parts of the file relate to each other: references, and combinations that could not work.

One function per rule, all with the same signature. Each yields findings with paths, never lines. The plan finds problems
that depend on the environment and the cluster, such as names after templating.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.names import names_are_declared
from tenantry.fleet.rules import apps, clusters, references, tenants, values
from tenantry.grants import rules
from tenantry.messages.errors import Problem

Rule: TypeAlias = Callable[[Fleet], Iterator[Problem]]

RULES: tuple[Rule, ...] = (
    names_are_declared,
    clusters.environments_follow_in_no_circle,
    clusters.remote_clusters_have_a_kubeconfig,
    clusters.kubeconfigs_are_not_shared,
    clusters.management_clusters_do_not_leave,
    clusters.kubeconfigs_lie_apart,
    values.variables_do_not_hide_built_in_placeholders,
    values.variables_hold_no_placeholders,
    values.variables_have_one_owner,
    values.variables_agree_with_labels,
    tenants.no_tenant_is_named_like_the_platform,
    tenants.objects_are_of_kinds_for_namespaces,
    tenants.objects_hold_no_values_of_secrets,
    tenants.metadata_leaves_the_fleets_alone,
    tenants.included_files_set_no_metadata,
    tenants.cluster_objects_are_a_tenants_own,
    tenants.rights_on_clusters_reach_no_other_tenant,
    rules.times_of_tenants_are_within_bounds,
    rules.cluster_admin_is_allowed_by_a_word_of_its_own,
    rules.included_files_choose_granted_clusters,
    rules.included_files_give_owners_few_rights,
    rules.included_files_have_a_limited_number_of_parts,
    clusters.placeholders_of_what_selectors_leave_out_are_filled_in,
    clusters.selectors_take_at_least_one_cluster,
    clusters.apps_select_clusters,
    clusters.apps_are_placed,
    apps.kustomize_apps_take_no_helm_repositories,
    rules.included_files_name_what_is_theirs,
    references.substitutions_are_named_as_variables,
    references.values_come_from_declared_keys,
    references.values_of_configs_are_yaml,
    references.addresses_of_providers_hold_no_secret,
    references.alerts_leave_the_fleets_metadata_alone,
    references.alerts_report_what_their_provider_takes,
    apps.addons_have_one_source,
    apps.sources_and_addons_have_other_names,
    apps.templates_remove_nothing,
    apps.overrides_keep_kinds,
    clusters.each_cluster_is_in_one_wave,
    clusters.included_files_keep_to_the_waves,
)

WARNINGS: tuple[Rule, ...] = (
    tenants.states_of_tenants_are_placed,
    apps.overrides_hold_somewhere,
    apps.overrides_of_defaults_outweigh_nobody,
    values.keywords_of_go_templates_keep_their_braces,
    values.values_hold_no_passwords,
    apps.apps_without_a_path_are_alone,
    apps.chains_of_apps_end_in_a_day,
    values.numbers_are_what_comes_out,
    values.variables_are_what_comes_out,
    values.nulls_of_apps_remove_something,
)
"""What works, but probably not as intended. Holds for fleets that keep all other rules."""


def check_rules(fleet: Fleet) -> Iterator[Problem]:
    """The findings of all rules."""
    for rule in RULES:
        yield from rule(fleet)


def check_warnings(fleet: Fleet) -> Iterator[Problem]:
    """The findings of all rules that only warn. The fleet keeps the findings of the other rules."""
    for rule in WARNINGS:
        yield from rule(fleet)
