"""Rules about how parts of the file relate to each other: references, and combinations that could not work.

One function per rule, all with the same signature. Each yields findings with paths, never lines. The plan finds problems
that depend on the environment and the cluster, such as names after templating.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.rules import (
    apps,
    becomes,
    clusters,
    environments,
    notifications,
    objects,
    overrides,
    references,
    tenants,
    together,
    values,
    variables,
    waves,
)
from tenantry.grants import rules
from tenantry.messages.errors import Problem

Rule: TypeAlias = Callable[[Fleet], Iterator[Problem]]

RULES: tuple[Rule, ...] = (
    clusters.environments_name_declared_clusters,
    clusters.environments_follow_declared_ones,
    clusters.clusters_name_declared_environments,
    clusters.remote_clusters_have_a_kubeconfig,
    clusters.kubeconfigs_are_not_shared,
    clusters.management_clusters_do_not_leave,
    clusters.kubeconfigs_lie_apart,
    variables.variables_do_not_hide_built_in_placeholders,
    variables.variables_hold_no_placeholders,
    variables.variables_have_one_owner,
    variables.variables_agree_with_labels,
    tenants.no_tenant_is_named_like_the_platform,
    tenants.metadata_of_tenants_leaves_the_fleets_alone,
    objects.objects_are_of_kinds_for_namespaces,
    objects.objects_hold_no_values_of_secrets,
    objects.metadata_leaves_the_fleets_alone,
    objects.included_files_set_no_metadata,
    objects.cluster_objects_are_a_tenants_own,
    tenants.rights_on_clusters_reach_no_other_tenant,
    rules.grants_name_declared_environments,
    rules.intervals_pass_the_clusters_admission_policy,
    rules.cluster_admin_is_allowed_by_a_word_of_its_own,
    rules.included_files_choose_granted_clusters,
    rules.apps_of_included_files_are_placed,
    rules.included_files_give_owners_few_rights,
    rules.included_files_keep_to_their_limits,
    rules.included_files_have_a_limited_number_of_parts,
    tenants.selectors_name_declared_clusters,
    tenants.placeholders_of_what_selectors_leave_out_are_filled_in,
    tenants.selectors_take_at_least_one_cluster,
    tenants.apps_select_clusters,
    environments.lists_name_declared_environments,
    environments.environments_name_declared_tenants,
    environments.environments_name_tenants_that_are_in_them,
    environments.included_files_name_environments_of_their_tenants,
    environments.apps_are_in_an_environment_of_their_clusters,
    apps.apps_name_declared_sources,
    apps.kustomize_apps_take_no_helm_repositories,
    rules.included_files_name_what_is_theirs,
    references.references_name_what_is_declared,
    references.sources_include_declared_git_sources,
    references.tenants_do_not_borrow_the_controllers_identity,
    references.substitutions_are_named_as_variables,
    references.values_come_from_declared_keys,
    references.values_of_configs_are_yaml,
    values.addresses_are_read_alike_by_all_programs,
    values.revisions_can_exist,
    notifications.alerts_name_declared_apps,
    notifications.addresses_of_providers_hold_no_secret,
    notifications.alerts_leave_the_fleets_metadata_alone,
    notifications.providers_have_what_their_type_needs,
    notifications.alerts_report_what_their_provider_takes,
    apps.addons_have_one_source,
    apps.sources_and_addons_have_other_names,
    apps.dependencies_are_declared_apps,
    apps.dependencies_on_addons_are_declared,
    notifications.receivers_name_declared_sources,
    notifications.receivers_have_what_their_type_needs,
    apps.tenants_depend_on_declared_addons,
    apps.overrides_name_what_is_declared,
    overrides.templates_remove_nothing,
    apps.overrides_name_declared_apps_and_sources,
    overrides.overrides_of_templates_have_no_state,
    apps.overrides_keep_kinds,
    waves.waves_name_declared_clusters,
    waves.waves_name_clusters_of_their_environment,
    waves.waves_take_clusters,
    waves.waves_do_not_overlap,
    waves.waves_take_every_cluster,
    waves.included_files_keep_to_the_waves,
)

WARNINGS: tuple[Rule, ...] = (
    tenants.states_of_tenants_are_placed,
    rules.grants_are_for_tenants_with_an_included_file,
    overrides.overrides_hold_somewhere,
    overrides.overrides_of_defaults_outweigh_nobody,
    values.keywords_of_go_templates_keep_their_braces,
    apps.charts_of_repositories_have_plain_names,
    values.values_hold_no_passwords,
    together.settings_of_apps_go_together,
    together.apps_without_a_path_are_alone,
    together.chains_of_apps_end_in_a_day,
    becomes.numbers_are_what_comes_out,
    becomes.variables_are_what_comes_out,
    becomes.nulls_of_apps_remove_something,
    becomes.empty_settings_are_meant,
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
