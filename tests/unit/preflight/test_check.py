"""All of a preflight in one run, on clusters in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import httpx2

from tenantry.guard.check import limits_of
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Problem, Refused
from tenantry.preflight import remotes
from tenantry.preflight.check import Check, Report
from tests.table import table
from tests.unit.memory import FLUX, SERVER, Memory
from tests.unit.preflight.clusters import DEPLOYMENTS, MARKER, SECRET, TEXT, Edge, controller, hub
from tests.unit.texts import fleet, planned

POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/tenantry-tenants"
RELEASES = "/apis/helm.toolkit.fluxcd.io/v2/helmreleases"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/rolebindings"
WITHOUT_GIT = [kind for kind in FLUX["/apis/source.toolkit.fluxcd.io/v1"] if kind["kind"] != "GitRepository"]
BOOTSTRAP = "tenantry bootstrap hub --kubeconfig FILE --context NAME"


def report(management: Memory, edge: Edge | None = None, text: str = TEXT, **options: Any) -> Report:
    changed = fleet(text)
    limits = limits_of(changed, "dev", None)
    with management.client() as client, mock.patch.object(remotes, "connect_remote", (edge or Edge()).connect):
        return Check(client, changed, planned(text), limits, **options).report()


def told(management: Memory, edge: Edge | None = None, text: str = TEXT, **options: Any) -> list[Problem]:
    return list(report(management, edge, text, **options).problems)


def codes(management: Memory, edge: Edge | None = None) -> list[tuple[str, str]]:
    return [(str(each.severity), each.code) for each in told(management, edge)]


def test_where_nothing_is_wrong_nothing_is_told_and_nothing_is_changed() -> None:
    management, edge = hub(), Edge()
    assert told(management, edge) == []
    assert report(management, edge).fit
    assert {method for method, _, _ in management.requests} == {"GET"}
    reviews = {path.rpartition("/")[2] for method, path, _ in edge.requests if method != "GET"}
    assert reviews == {"selfsubjectaccessreviews", "selfsubjectreviews"}


def test_everything_that_is_wrong_is_told_in_one_run_errors_first() -> None:
    management = hub()
    del management.objects[MARKER], management.objects[POLICIES], management.objects[SECRET]
    management.objects["/apis/source.toolkit.fluxcd.io/v1"] = {"resources": WITHOUT_GIT}
    management.objects["/api/v1/namespaces"]["items"] = [{"metadata": {"name": "rocky"}}]
    management.objects[DEPLOYMENTS]["items"] = [controller("helm-controller")]
    assert codes(management) == [
        ("error", "unmarked-cluster"),
        ("error", "not-the-fleets"),
        ("error", "unknown-kind"),
        ("error", "no-secret"),
        ("warning", "no-lockdown"),
        ("warning", "no-policy"),
    ]
    assert not report(management).fit


def test_a_kind_of_flux_that_is_not_served_is_told_with_the_line_that_needs_it() -> None:
    management = hub()
    management.objects["/apis/source.toolkit.fluxcd.io/v1"] = {"resources": WITHOUT_GIT}
    (problem,) = told(management)
    assert (problem.code, problem.fix) == ("unknown-kind", "install Flux and its CRDs, or upgrade them")
    assert problem.message.startswith(
        "cluster 'hub' does not serve GitRepository of source.toolkit.fluxcd.io/v1, which GitRepository "
    )


def test_a_deployment_of_a_tenant_with_fluxs_labels_hides_no_controller() -> None:
    management = hub()
    locked = management.objects[DEPLOYMENTS]["items"][0]
    forged = {**locked, "metadata": {"name": "helm-controller", "namespace": "mallory"}}
    management.objects[DEPLOYMENTS]["items"] = [controller("helm-controller"), forged]
    marked = {"metadata": {"name": "mallory", "labels": {"toolkit.fluxcd.io/tenant": "mallory"}}}
    management.objects["/api/v1/namespaces"]["items"].append(marked)
    (problem,) = (each for each in told(management) if each.code == "no-lockdown")
    assert "(Deployment flux-system/helm-controller)" in problem.message
    management.objects[DEPLOYMENTS]["items"] = [forged]
    assert ("warning", "no-controllers") in codes(management)


def test_forged_and_malformed_releases_are_warnings() -> None:
    management = hub()
    labels = {"tenantry/environment": "dev", "tenantry/cluster": "edge", "toolkit.fluxcd.io/tenant": "rocky"}
    kubeconfig = {"kubeConfig": {"secretRef": {"name": "edge-admin-kubeconfig"}}}
    for namespace, spec in (("rocky", {}), ("kamaji", {**kubeconfig, "values": {"objects": [{"kind": "Namespace"}]}})):
        metadata = {"name": "odd", "namespace": namespace, "labels": {**labels, "tenantry/state": "offboarding"}}
        management.objects[RELEASES]["items"].append({"metadata": metadata, "spec": spec})
    assert codes(management) == [("warning", "misplaced"), ("warning", "malformed")]
    assert report(management).fit


def test_of_another_cluster_nothing_else_is_told() -> None:
    management = hub()
    management.objects[MARKER]["data"] = {"cluster": "hub-prod"}
    del management.objects[SECRET]
    (problem,) = told(management)
    assert (problem.code, problem.message) == (
        "other-cluster",
        f"cluster {SERVER} is marked as 'hub-prod', but the management cluster of environment 'dev' is 'hub'",
    )


def test_what_can_not_be_read_is_told_and_hides_nothing_else() -> None:
    management = hub()
    management.refuse("GET", "/api/v1/namespaces", 403, "no")
    management.refuse("GET", DEPLOYMENTS, 403, "no")
    del management.objects[SECRET]
    found = {(each.code, each.message, each.fix) for each in told(management)}
    assert ("not-readable", "cannot read namespaces: HTTP 403", "use credentials that may read namespaces") in found
    assert ("not-readable", "cannot read deployments: HTTP 403", "use credentials that may read deployments") in found
    assert "no-secret" in {code for code, _, _ in found}


def test_kubeconfigs_that_may_not_be_read_are_told_once_and_keep_no_run_from_starting() -> None:
    management = hub()
    management.refuse("GET", SECRET, 403, "no")
    (problem,) = told(management)
    assert (problem.severity, problem.code, problem.message, problem.fix) == (
        "warning",
        "kubeconfig-not-read",
        "the kubeconfig of edge may not be read with these credentials, so nobody has checked whether Flux can use it there",
        "let who may read it check: tenantry preflight --environment dev",
    )
    assert report(management).fit


def test_planned_secrets_that_may_not_be_read_are_told_and_count_as_no_finding() -> None:
    private = TEXT.replace("ref: {branch: main}}}", "ref: {branch: main}}, credentials: token}")
    text = private.replace("    apps:", "    credentials: {token: {keys: [username, password]}}\n    apps:")
    management = hub()
    management.refuse("GET", "/api/v1/secrets", 403, "no")
    for place in ("rocky/secrets/token", "kamaji/secrets/rocky.token"):
        management.refuse("GET", f"/api/v1/namespaces/{place}", 403, "no")
    (problem,) = told(management, text=text)
    assert (problem.severity, problem.code) == ("warning", "secret-not-read")
    assert "Secret kamaji/rocky.token" in problem.message
    assert report(management, text=text).fit


def test_a_policy_that_is_missing_or_of_another_version_is_told() -> None:
    management = hub()
    management.objects[POLICIES] = {
        **management.objects[POLICIES],
        "spec": {**management.objects[POLICIES]["spec"], "validations": []},
    }
    (problem,) = told(management)
    assert (problem.severity, problem.code, problem.message, problem.fix) == (
        "warning",
        "other-policy",
        "ValidatingAdmissionPolicy tenantry-tenants on 'hub' differs from what this version of Tenantry creates",
        BOOTSTRAP,
    )
    del management.objects[POLICIES]
    (problem,) = told(management)
    assert (problem.severity, problem.code, problem.message, problem.fix) == (
        "warning",
        "no-policy",
        "'hub' has no ValidatingAdmissionPolicy tenantry-tenants: a tenant can reach what is not its own",
        BOOTSTRAP,
    )


def test_what_a_server_adds_to_a_policy_is_no_difference() -> None:
    management = hub()
    policy = management.objects[POLICIES]
    spec = {**policy["spec"], "auditAnnotations": [], "paramKind": None}
    management.objects[POLICIES] = {**policy, "spec": spec, "status": {"observedGeneration": 1}}
    assert told(management) == []


def test_adoptions_are_part_of_the_report() -> None:
    management = hub()
    management.objects["/api/v1/namespaces"]["items"] = [{"metadata": {"name": "rocky"}}]
    management.objects[BINDINGS] = {
        "metadata": {},
        "items": [
            {
                "metadata": {"name": "rocky-reconciler", "namespace": "rocky"},
                "roleRef": {"kind": "ClusterRole", "name": "cluster-admin"},
                "subjects": [{"kind": "User", "name": "gotk:rocky:reconciler"}],
            }
        ],
    }
    assert {each.code for each in told(management)} == {"not-the-fleets", "foreign-rights"}
    adopting = TEXT.replace("  rocky:\n", "  rocky:\n    adopt: true\n")
    found = report(management, text=adopting)
    assert found.fit
    ((adoption,), codes) = (found.adoptions, {each.code for each in found.problems})
    assert "foreign-rights" in codes
    assert [str(each.id) for each in adoption.taken] == ["Namespace rocky"]


def test_what_the_api_server_does_not_take_is_an_error_with_its_reason() -> None:
    """Also of an object that is new, in a namespace that exists. A release that keeps its own chart is named as such."""
    management = hub()
    management.objects["/api/v1/namespaces"]["items"] = [{"metadata": {"name": "kamaji"}}]
    kustomizations = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/{}/kustomizations/{}"
    for place in (("rocky", "web"), ("kamaji", "edge-rocky-web")):
        management.refuse("PATCH", kustomizations.format(*place), 422, "spec is wrong")
    (problem,) = told(management)
    assert (problem.code, problem.message) == (
        "not-changeable",
        "the API server refuses Kustomization kamaji/edge-rocky-web: HTTP 422: spec is wrong: `tenantry up` leaves it, and what"
        " belongs to it, as it is",
    )
    assert problem.fix == "correct it in tenants.yaml; where a field cannot change, give the Kustomization another name"
    assert {given["dryRun"] for method, _, given in management.requests if method == "PATCH"} == {"All"}


def test_removals_are_counted_as_the_run_will_count_them() -> None:
    management = hub()
    gone = "".join(f"  t{index}: {{clusters: {{names: [hub]}}, {APPS}}}\n" for index in range(4))
    before = planned(TEXT + gone)
    management.objects["/api/v1/namespaces"]["items"] = [
        dict(each.manifest) for each in before.objects if each.id.kind == "Namespace"
    ]
    (problem,) = told(management)
    assert problem.message.startswith("this run would remove 4 tenants; the limit for 'dev' is 3 (maxDeletions)\n")


def refusing(_: ObjectId) -> bool:
    raise Refused("pulumi is not logged in", "pulumi login")


@table(
    ("in_state", "manager", "codes"),
    [
        (lambda _: False, "kubectl-edit", ["misplaced"]),
        (lambda _: False, "tenantry", ["misplaced"]),
        (lambda _: True, "kubectl-edit", ["removals"]),
        (refusing, "tenantry", ["not-readable"]),
    ],
)
def test_what_a_tenant_makes_in_its_namespace_counts_if_the_state_has_it(
    in_state: Callable[[ObjectId], bool], manager: str, codes: list[str]
) -> None:
    """Where no state can be read, nobody knows what a run would remove."""
    management = hub()
    there = [dict(each.manifest) for each in planned(TEXT).objects]
    management.objects["/api/v1/namespaces"]["items"] = [each for each in there if each["kind"] == "Namespace"]
    web = next(each for each in there if each["kind"] == "Kustomization" and each["metadata"]["namespace"] == "rocky")
    forged = [
        {**web, "metadata": {**web["metadata"], "name": f"more-{number}", "managedFields": [{"manager": manager}]}}
        for number in range(4)
    ]
    management.objects["/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations"]["items"] = forged
    assert sorted(each.code for each in told(management, in_state=in_state)) == codes


APPS = (
    "sources: {m: {git: {url: https://git.example.com/a, ref: {branch: main}}}}, apps: {web: {kustomize: {source: m}}}"
)


def test_a_management_cluster_that_stops_answering_is_told() -> None:
    management = hub()

    def fail(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadTimeout("https://marker.example.com")

    management.refusals["GET", "/api/v1/namespaces"] = fail
    (problem,) = told(management)
    assert (problem.severity, problem.code, problem.message, problem.fix) == (
        "error",
        "not-readable",
        "the management cluster does not answer as one should: ReadTimeout",
        "check that it runs, then run the command again",
    )
