"""Namespaces that add-ons own."""

from __future__ import annotations

from dataclasses import replace

from tenantry.guard.check import RunLimits, refusals
from tenantry.guard.reading import held, held_by
from tenantry.plan.plan import Plan
from tests.table import table
from tests.unit.texts import FRAME, explained, fleet, one, planned, problems

CERTS = """\
platform:
  chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}
  addons:
    certs:
      clusters: {all: true}
      source: {helm: {url: https://charts.example.com}}
      helm: {chart: certs, version: 1.0.0, targetNamespace: certs}
      namespaces:
        certs: {labels: {a.com/b: c}, annotations: {a.com/d: e}, podSecurity: restricted}
        "issuers-{env}": {}
    rules:
      clusters: {all: true}
      source: {git: {url: https://git.example.com/p, ref: {tag: v1}}}
      kustomize: {}
      namespaces: {rules: {}}
"""
TEXT = "".join(line for line in FRAME.splitlines(keepends=True) if not line.startswith("platform:")) + CERTS


def test_on_the_management_cluster_pulumi_creates_them_before_the_add_on() -> None:
    plan = planned(TEXT)
    certs, issuers = one(plan, "Namespace", "certs"), one(plan, "Namespace", "issuers-dev")
    metadata = certs.manifest["metadata"]
    assert metadata["labels"].items() >= {
        ("a.com/b", "c"),
        ("pod-security.kubernetes.io/enforce", "restricted"),
        ("tenantry/environment", "dev"),
        ("tenantry/app", "certs"),
    }
    assert metadata["annotations"]["a.com/d"] == "e"
    release = one(plan, "HelmRelease", "certs")
    assert {certs.id, issuers.id} <= set(release.depends_on)
    assert "createNamespace" not in release.manifest["spec"]["install"]
    assert one(plan, "Namespace", "rules").id in one(plan, "Kustomization", "rules").depends_on


def test_on_a_remote_a_release_installs_them_before_the_add_on() -> None:
    plan = planned(TEXT)
    made = one(plan, "HelmRelease", "edge-certs-namespaces")
    assert [each["metadata"]["name"] for each in made.manifest["spec"]["values"]["objects"]] == ["certs", "issuers-dev"]
    assert made.manifest["spec"]["install"]["disableTakeOwnership"]
    release = one(plan, "HelmRelease", "edge-certs")
    assert release.manifest["spec"]["dependsOn"] == [{"name": "edge-certs-namespaces"}]
    assert made.id in release.depends_on
    rules = one(plan, "HelmRelease", "edge-rules-namespaces")
    assert rules.id in one(plan, "Kustomization", "edge-rules").depends_on
    assert (made.awaited, rules.awaited) == (False, True)


def test_an_add_on_takes_over_what_is_there_only_if_it_says_so() -> None:
    plan = planned(TEXT.replace("      namespaces:\n", "      adopt: true\n      namespaces:\n"))
    assert "disableTakeOwnership" not in one(plan, "HelmRelease", "edge-certs-namespaces").manifest["spec"]["install"]
    there = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "certs"}}
    now = held([there], "dev")
    assert (
        list(refusals(plan, now, RunLimits(protected=False, deletions=3, adopting_addons=frozenset({"certs"})))) == []
    )
    (problem,) = refusals(plan, now, RunLimits(protected=False, deletions=3))
    assert "Namespace certs exists already on 'hub'" in problem.message
    assert problem.fix.startswith("set 'adopt: true' on the add-on; or ")


def guarded(before: Plan, after: Plan, *, protected: bool = False) -> list[str]:
    return [each.message for each in refusals(after, held_by(before), RunLimits(protected=protected, deletions=0))]


def test_a_namespace_that_leaves_the_file_meets_the_guard() -> None:
    after = planned(TEXT.replace('        "issuers-{env}": {}\n', ""))
    assert guarded(planned(TEXT), after) == []
    (message,) = guarded(planned(TEXT), after, protected=True)
    assert "namespace 'issuers-dev' of an add-on on edge, which stays there with its data" in message
    assert guarded(planned(TEXT), planned(TEXT)) == []
    leaving = TEXT.replace("    rules:\n", "    rules:\n      state: offboarding\n")
    assert guarded(planned(leaving), planned(TEXT.partition("    rules:")[0]), protected=True) == []


TENANT = """\
tenants:
  NAME:
    sources: {m: {git: {url: https://git.example.com/r, ref: {branch: main}}}}
    clusters: {names: [hub]}
    apps: {w: {kustomize: {source: m}}}
"""


@table("name", ["certs", "issuers-dev"])
def test_they_are_reserved_for_the_add_on(name: str) -> None:
    found = problems(TEXT + TENANT.replace("NAME", name))
    assert f"error[reserved-namespace]: namespace '{name}' of tenant '{name}' is reserved" in found


INSIDE = """\
{objects: {
          ca: {apiVersion: v1, kind: ConfigMap, metadata: {name: "{app}-ca"}, data: {at: "{cluster} {namespace}"}},
          admin: {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding,
            roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin},
            subjects: [{kind: ServiceAccount, name: x, namespace: kamaji}]}}}"""


def test_objects_are_in_a_namespace_before_the_add_on() -> None:
    text = TEXT.replace("namespaces: {rules: {}}", f"namespaces:\n        rules: {INSIDE}")
    plan = planned(text)
    ca, namespace = one(plan, "ConfigMap", "rules-ca"), one(plan, "Namespace", "rules")
    assert (ca.id.namespace, ca.manifest["data"]) == ("rules", {"at": "hub rules"})
    assert ca.depends_on == (namespace.id,)
    assert {ca.id, one(plan, "RoleBinding", "admin").id} <= set(one(plan, "Kustomization", "rules").depends_on)
    assert plan.origins[ca.id] == ("platform", "addons", "rules", "namespaces", "rules", "objects", "ca")
    installed = one(plan, "HelmRelease", "edge-rules-namespaces").manifest["spec"]["values"]["objects"]
    assert [each["metadata"]["name"] for each in installed] == ["rules", "admin", "rules-ca"]
    assert installed[2]["data"] == {"at": "edge rules"}
    (placed,) = explained(fleet(text), "platform/rules", "edge", plan.environment).placed
    (value,) = (each for each in placed.values if each.path[-2:] == ("data", "at"))
    assert value.path[:4] == ("namespaces", "rules", "objects", "ca")


def test_an_add_on_takes_over_objects_in_its_namespaces_too() -> None:
    plan = planned(TEXT.replace("namespaces: {rules: {}}", f"adopt: true\n      namespaces:\n        rules: {INSIDE}"))
    now = held([one(plan, "ConfigMap", "rules-ca").manifest], "qa")
    (problem,) = refusals(plan, now, RunLimits(protected=False, deletions=3))
    assert "ConfigMap rules/rules-ca exists already on 'hub'" in problem.message
    assert problem.fix.startswith("set 'adopt: true' on the add-on; or ")
    adopting = RunLimits(protected=False, deletions=3, adopting_addons=frozenset({"rules"}))
    assert list(refusals(plan, now, adopting)) == []


def test_an_add_on_takes_over_its_release_its_chart_and_its_source_too_but_no_other_add_ons() -> None:
    plan = planned(TEXT)
    own = [one(plan, "HelmRelease", "certs"), one(plan, "Kustomization", "rules")]
    home = own[0].id.namespace
    used = [each for each in plan.objects if each.id.namespace == home and each.id.kind.startswith("Helm")]
    assert {each.id.kind for each in used} == {"HelmRelease", "HelmChart", "HelmRepository"}
    now = replace(held([], "dev"), strangers=frozenset(each.id for each in (*own, *used)))
    limits = RunLimits(protected=False, deletions=3, adopting_addons=frozenset({"certs"}))
    (problem,) = refusals(plan, now, limits)
    assert f"{own[1].id} exists already on 'hub'" in problem.message
    assert problem.fix.startswith("set 'adopt: true' on the add-on; or ")


CONFIG = "apiVersion: v1, kind: ConfigMap"


@table(
    ("objects", "message"),
    [
        (f"a: {{{CONFIG}}}, b: {{{CONFIG}, metadata: {{name: a}}}}", "error[duplicate-name]: ConfigMap rules/a would"),
        (f"a: {{{CONFIG}, metadata: {{name: kube-root-ca.crt}}}}", "error[kubernetes-own]: ConfigMap"),
        (f"a: {{{CONFIG}, data: {{x: '{{tenant}}'}}}}", "error[unknown-placeholder]: "),
        (f"a: {{{CONFIG}, metadata: {{namespace: x}}}}", "error[owned-key]: "),
        (f"a: {{{CONFIG}, metadata: {{labels: {{tenantry/x: y}}}}}}", "error[owned-label]: "),
    ],
)
def test_objects_that_cannot_be_there_are_told_once(objects: str, message: str) -> None:
    found = problems(TEXT.replace("namespaces: {rules: {}}", f"namespaces: {{rules: {{objects: {{{objects}}}}}}}"))
    assert message in found.splitlines()[0]
    assert "  at platform.addons.rules.namespaces.rules.objects" in found
    assert found.endswith("Found 1 error\n")
