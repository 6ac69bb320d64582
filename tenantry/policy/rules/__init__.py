"""All rules, one function each. A rule yields violations; the engine decides whether they stop the run."""

from __future__ import annotations

from tenantry.policy.rule import FrameRule, ObjectRule, StackRule
from tenantry.policy.rules import authors, fields, flux, frames, names, objects, places, reach, required

OBJECT_RULES: tuple[ObjectRule, ...] = (
    objects.objects_use_the_fleets_provider,
    objects.objects_are_whole,
    objects.objects_stay_out_of_the_default_namespace,
    objects.names_are_short_enough,
    fields.objects_carry_the_fleets_labels,
    flux.reconcilers_name_a_service_account,
    flux.references_stay_in_their_namespace,
    flux.kustomizations_say_what_they_remove,
    flux.releases_say_where_they_are,
    objects.secrets_stay_out_of_files,
)
STACK_RULES: tuple[StackRule, ...] = (
    fields.objects_in_tenants_namespaces_carry_the_tenants_label,
    flux.dependencies_lead_to_no_other_tenant,
    places.kubeconfigs_lie_where_no_tenant_has_rights,
    places.kubeconfigs_are_for_flux_alone,
    flux.tenants_have_rights_in_their_namespaces_only,
)
FIELD_RULES: tuple[FrameRule, ...] = (fields.tenants_fill_known_fields,)
"""Rules about frames that look at each object alone, so that the engine can ask before it creates the object."""
FRAME_RULES: tuple[FrameRule, ...] = (
    *FIELD_RULES,
    places.tenants_objects_are_in_their_namespaces,
    places.tenants_namespaces_are_theirs_alone,
    places.tenants_are_where_the_main_file_puts_them,
    names.tenants_name_only_what_is_theirs,
    names.tenants_use_the_kubeconfigs_of_their_clusters,
    frames.tenants_bindings_keep_to_the_frame,
    frames.tenants_namespaces_keep_their_pod_security,
    frames.tenants_limits_are_those_of_the_main_file,
    frames.tenants_labels_are_granted,
    frames.tenants_flux_objects_carry_granted_metadata,
    required.tenants_sources_are_as_required,
    required.tenants_namespaces_say_what_is_required,
    reach.tenants_reach_granted_addresses,
    reach.tenants_intervals_are_long_enough,
    reach.tenants_timeouts_and_retries_have_an_end,
    reach.tenants_use_no_shared_identity,
    authors.tenants_name_only_what_is_shared_with_them,
    authors.tenants_push_to_granted_addresses,
    authors.tenants_submodules_are_granted,
    authors.tenants_alerts_say_whose_they_are,
)
