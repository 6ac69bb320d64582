"""All rules, one function each. A rule yields violations; the engine decides whether they stop the run."""

from __future__ import annotations

from policy.rule import ObjectRule, StackRule
from policy.rules import flux, kubeconfigs, labels, objects, rights, secrets

OBJECT_RULES: tuple[ObjectRule, ...] = (
    objects.objects_use_the_fleets_provider,
    objects.objects_are_whole,
    objects.objects_stay_out_of_the_default_namespace,
    objects.names_are_short_enough,
    labels.objects_carry_the_fleets_labels,
    flux.reconcilers_name_a_service_account,
    flux.references_stay_in_their_namespace,
    flux.kustomizations_say_what_they_remove,
    flux.releases_say_where_they_are,
    secrets.secrets_stay_out_of_files,
)
STACK_RULES: tuple[StackRule, ...] = (
    labels.objects_in_tenants_namespaces_carry_the_tenants_label,
    flux.dependencies_lead_to_no_other_tenant,
    kubeconfigs.kubeconfigs_lie_where_no_tenant_has_rights,
    kubeconfigs.kubeconfigs_are_for_flux_alone,
    rights.tenants_have_rights_in_their_namespaces_only,
)
