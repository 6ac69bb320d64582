"""Which differences are harmless: each rule with a case that it holds for, and a neighbour that can change what runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest

from tenantry.importing.documents import Placed
from tenantry.importing.equivalence import differences
from tenantry.importing.fluxs_own import without_fluxs_own
from tenantry.importing.judgement import RULES, judged
from tenantry.importing.known import Known
from tenantry.importing.model import Installed, Inventory, LeftOver, Read, Reading
from tenantry.importing.proof import alike
from tenantry.kube.objects import KubeObject, Manifest, Owner
from tenantry.plan.plan import Plan

KUSTOMIZE, HELM, SOURCE = "kustomize.toolkit.fluxcd.io/v1", "helm.toolkit.fluxcd.io/v2", "source.toolkit.fluxcd.io/v1"
PRUNED = {"interval": "10m", "prune": True}
CHART = {"chart": {"spec": {"chart": "web", "version": "1.x", "sourceRef": {"kind": "HelmRepository", "name": "old"}}}}
REFERENCE = {"chartRef": {"kind": "HelmChart", "name": "made"}}


def made(kind: str, spec: dict[str, Any], name: str = "it", api: str = "", namespace: str = "flux-system") -> Manifest:
    api = api or {"Kustomization": KUSTOMIZE, "HelmRelease": HELM}.get(kind, SOURCE)
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def git(name: str, **spec: Any) -> Manifest:
    return made("GitRepository", {"interval": "1m", "url": "https://git.example.com/fleet", **spec}, name)


def oci(name: str, **spec: Any) -> Manifest:
    return made("OCIRepository", {"interval": "1m", "url": "oci://ghcr.example.com/web", **spec}, name)


def charts(name: str, **spec: Any) -> Manifest:
    return made("HelmRepository", {"interval": "1m", "url": "https://charts.example.com", **spec}, name)


def chart(**spec: Any) -> Manifest:
    source = {"kind": "HelmRepository", "name": "new"}
    return made("HelmChart", {"chart": "web", "version": "1.x", "interval": "10m", "sourceRef": source, **spec}, "made")


def labelled(**labels: str) -> Manifest:
    mark = {f"pod-security.kubernetes.io/{key}": each for key, each in labels.items()}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rocky", "labels": mark}}


def secret(name: str, *keys: str) -> Manifest:
    metadata = {"name": name, "namespace": "flux-system"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": dict.fromkeys(keys, "")}


def applied(name: str, owner: str) -> Manifest:
    found = made("Kustomization", dict(PRUNED), name)
    marks = {"name": owner, "namespace": "flux-system"}
    return {
        **found,
        "metadata": {**found["metadata"], "labels": {f"kustomize.toolkit.fluxcd.io/{k}": v for k, v in marks.items()}},
    }


class Case(NamedTuple):
    """read, planned: the object. around: what else was read and is planned. assumed: sources that were not read."""

    read: Manifest
    planned: Manifest
    around: tuple[tuple[Manifest, ...], tuple[Manifest, ...]] = ((), ())
    assumed: tuple[Manifest, ...] = ()
    replaced: tuple[str, ...] = ()
    controllers: tuple[tuple[str, str], ...] = (("kustomize-controller", ""), ("helm-controller", ""))

    def judge(self) -> tuple[list[str], list[str]]:
        """The fields that have an effect, and the reasons of those that have none."""
        left = [LeftOver(_read(made("Kustomization", {}, each)), "", "", fate="replaced") for each in self.replaced]
        flux = Installed("dev", "", 2, self.controllers)
        reading = Reading(flux=(flux,), assumed=tuple(map(_read, self.assumed)))
        inventory = Inventory(tuple(map(_read, (self.read, *self.around[0]))), {"dev": "hub"}, reading)
        objects = [KubeObject(each, Owner()) for each in (self.planned, *self.around[1])]
        known = Known(inventory, {"dev": cast(Plan, SimpleNamespace(objects=objects))}, left)
        made_chart = next((each for each in self.around[1] if each["kind"] == "HelmChart"), None)
        both = alike(self.read, self.planned, made_chart)
        changed, harmless = judged("dev", *both, tuple(differences(*both)), known)
        return [".".join(map(str, each.path)) for each in changed], [reason for _, reason in harmless]


def _read(manifest: Manifest) -> Read:
    return Read("dev", manifest, "it.yaml")


def kustomization(read: dict[str, Any], planned: dict[str, Any], **more: Any) -> Case:
    return Case(made("Kustomization", PRUNED | read), made("Kustomization", PRUNED | planned), **more)


def release(read: dict[str, Any], planned: dict[str, Any], **more: Any) -> Case:
    return Case(
        made("HelmRelease", {"interval": "10m"} | read), made("HelmRelease", {"interval": "10m"} | planned), **more
    )


def of_source(name: str) -> dict[str, Any]:
    return {"sourceRef": {"kind": "GitRepository", "name": name}}


def of_registry(name: str) -> dict[str, Any]:
    return {"chartRef": {"kind": "OCIRepository", "name": name}}


def waiting(*names: str) -> dict[str, Any]:
    return {"dependsOn": [{"name": each} for each in names]}


def of_chart(*planned: Manifest, read: Manifest | None = None) -> Case:
    return release(CHART, REFERENCE, around=((read or charts("old"),), planned))


def acting(name: str | None) -> dict[str, Any]:
    return {"serviceAccountName": name} if name else {}


def copy(path: str, planned: str, source: Manifest | None = None) -> Case:
    """A Kustomization of an artifact that is directory deploy of a source, and one of the source."""
    artifacts = [{"name": "web", "copy": [{"from": "@fleet/deploy/**", "to": "@artifact/"}]}]
    sources = [{"alias": "fleet", "kind": "GitRepository", "name": "old"}]
    generator = made("ArtifactGenerator", {"sources": sources, "artifacts": artifacts}, "copies")
    reference = {"sourceRef": {"kind": "ExternalArtifact", "name": "web"}}
    around = ((source or git("old"), generator), (git("new"),))
    return kustomization({"path": path} | reference, {"path": planned} | of_source("new"), around=around)


STRATEGY = {"strategy": {"name": "RemediateOnFailure"}}
RENAMED = {"chartNameChangeStrategy": "InPlaceUpdate"}
SAME = ((git("old"),), (git("new"),))
LOCKED = (("kustomize-controller", "deployer"),)
INSTALLED: dict[str, Any] = {"targetNamespace": "rocky"}
CREATING: dict[str, Any] = {"install": {"createNamespace": True}}
ELSEWHERE = {"kubeConfig": {"secretRef": {"name": "a"}}}
KEYED = {"kubeConfig": {"secretRef": {"name": "a", "key": "value"}}}

ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "rocky", "namespace": "clusters"}}
CASES: dict[str, tuple[Case, tuple[Case, ...]]] = {
    "version": (
        Case(
            made("GitRepository", {"url": "a"}, api="source.toolkit.fluxcd.io/v1beta2"),
            made("GitRepository", {"url": "a"}),
        ),
        (Case(made("GitRepository", {"url": "a"}, api="old.example.com/v1"), made("GitRepository", {"url": "a"})),),
    ),
    "waits": (
        kustomization({}, {"deletionPolicy": "WaitForTermination"}),
        (
            # Without pruning, nothing was deleted so far.
            kustomization({"prune": False}, {"prune": False, "deletionPolicy": "WaitForTermination"}),
            kustomization({"deletionPolicy": "Orphan"}, {"deletionPolicy": "WaitForTermination"}),
            kustomization({"deletionPolicy": "WaitForTermination"}, {"deletionPolicy": "Orphan"}),
            kustomization({"prune": False}, {}),
        ),
    ),
    "source": (
        kustomization(of_source("old"), of_source("new"), around=((git("old", interval="5m"),), (git("new"),))),
        (
            kustomization(
                of_source("old"), of_source("new"), around=((git("old"),), (git("new", ref={"branch": "x"}),))
            ),
            kustomization(
                of_source("old"), of_source("new"), around=((git("old", secretRef={"name": "key"}),), (git("new"),))
            ),
            kustomization(of_source("old"), of_source("new"), around=((git("old", suspend=True),), (git("new"),))),
            kustomization(of_source("old"), of_source("new"), around=((), (git("new"),))),
            kustomization(
                {"sourceRef": of_source("new")["sourceRef"] | {"namespace": "other"}}, of_source("new"), around=SAME
            ),
            # What a Git remote tells of a source is not what Flux has.
            kustomization(of_source("old"), of_source("new"), around=((), (git("new"),)), assumed=(git("old"),)),
        ),
    ),
    "copy": (
        copy("./web", "./deploy/web"),
        (
            copy("./web", "./other/web"),
            copy("./web", "./deploy/web", source=git("old", ref={"branch": "x"})),
            kustomization(
                {"path": "./web"} | of_source("old"), {"path": "./deploy/web"} | of_source("new"), around=SAME
            ),
        ),
    ),
    "source of a chart": (
        of_chart(charts("new"), chart()),
        (
            of_chart(charts("new", url="https://other.example.com"), chart()),
            of_chart(charts("new", insecure=True), chart()),
        ),
    ),
    "chart in a registry": (
        release(of_registry("old"), of_registry("new"), around=((oci("old"),), (oci("new"),))),
        (release(of_registry("old"), of_registry("new"), around=((oci("old", ref={"tag": "1"}),), (oci("new"),))),),
    ),
    "chart": (
        of_chart(charts("new"), chart()),
        (
            of_chart(charts("new"), chart(version="2.x")),
            of_chart(charts("new"), chart(valuesFiles=["a.yaml"])),
            of_chart(),
        ),
    ),
    "drift": (
        release({}, {"driftDetection": {"mode": "disabled"}}),
        (
            release({}, {"driftDetection": {"mode": "enabled"}}),
            release({"driftDetection": {"mode": "warn"}}, {"driftDetection": {"mode": "disabled"}}),
        ),
    ),
    "strategy of install": (
        release({}, {"install": STRATEGY}),
        (release({}, {"install": {"strategy": {"name": "RetryOnFailure"}}}),),
    ),
    "strategy of upgrade": (
        release({}, {"upgrade": STRATEGY}),
        (release({}, {"upgrade": STRATEGY | {"crds": "Skip"}}),),
    ),
    "name of a chart": (
        release({}, {"upgrade": RENAMED}),
        (
            release({"upgrade": {"chartNameChangeStrategy": "Reinstall"}}, {"upgrade": RENAMED}),
            release(
                CHART,
                REFERENCE | {"upgrade": RENAMED},
                around=((charts("old"),), (charts("new"), chart(chart="other"))),
            ),
        ),
    ),
    "order": (
        kustomization(
            waiting("tools"),
            waiting("one", "two"),
            around=((applied("one", "tools"), applied("two", "tools")), ()),
            replaced=("tools",),
        ),
        (
            kustomization(waiting("tools"), waiting("one"), around=((applied("one", "tools"),), ())),
            kustomization(
                waiting("tools"), waiting("one"), around=((applied("one", "other"),), ()), replaced=("tools",)
            ),
            kustomization(waiting("tools"), {}, replaced=("tools",)),
        ),
    ),
    "account": (
        kustomization(acting(None), acting("kustomize-controller")),
        (
            kustomization(acting(None), acting("kustomize-controller"), controllers=()),
            kustomization(acting(None), acting("helm-controller")),
            kustomization(acting(None), acting("tenantry-platform")),
            kustomization(acting("other"), acting("kustomize-controller")),
            kustomization(
                {"kubeConfig": {"secretRef": {"name": "a"}}},
                {"kubeConfig": {"secretRef": {"name": "a"}}} | acting("kustomize-controller"),
            ),
            Case(
                made("HelmRelease", {"interval": "1m"}, namespace="rocky"),
                made("HelmRelease", {"interval": "1m"} | acting("helm-controller"), namespace="rocky"),
            ),
        ),
    ),
    "default account": (
        kustomization(acting(None), acting("deployer"), controllers=LOCKED),
        (
            kustomization(acting(None), acting("other"), controllers=LOCKED),
            kustomization(acting("other"), acting("deployer"), controllers=LOCKED),
            kustomization(acting(None), acting("kustomize-controller"), controllers=LOCKED),
            # The other controller may have no such flag.
            release(acting(None), acting("deployer"), controllers=LOCKED),
        ),
    ),
    "missing CRDs": (
        release({}, {"upgrade": {"crds": "Create"}}),
        (
            release({}, {"upgrade": {"crds": "Skip"}}),
            release({}, {"upgrade": {"crds": "CreateReplace"}}),
            release({"upgrade": {"crds": "Skip"}}, {"upgrade": {"crds": "Create"}}),
        ),
    ),
    "key of a kubeconfig": (
        kustomization(ELSEWHERE, KEYED, around=((secret("a", "value"),), ())),
        (
            kustomization(ELSEWHERE, KEYED),
            kustomization(ELSEWHERE, KEYED, around=((secret("a", "value.yaml"),), ())),
            kustomization(ELSEWHERE, KEYED, around=((secret("b", "value"),), ())),
            kustomization(KEYED, ELSEWHERE, around=((secret("a", "value"),), ())),
        ),
    ),
    "namespace of a release": (
        release(INSTALLED, INSTALLED | CREATING, around=((labelled(),), ())),
        (
            release(INSTALLED, INSTALLED | CREATING),
            release({"targetNamespace": "kube-other"}, {"targetNamespace": "kube-other"} | CREATING),
            release(INSTALLED | CREATING, INSTALLED, around=((labelled(),), ())),
            release(ELSEWHERE | INSTALLED, ELSEWHERE | INSTALLED | CREATING, around=((labelled(),), ())),
        ),
    ),
    "pods": (
        Case(labelled(), labelled(enforce="privileged")),
        (
            Case(labelled(), labelled(enforce="baseline")),
            Case(labelled(enforce="restricted"), labelled(enforce="privileged")),
        ),
    ),
    "token of an account": (
        Case(ACCOUNT, ACCOUNT | {"automountServiceAccountToken": False}),
        (
            Case(ACCOUNT, ACCOUNT | {"automountServiceAccountToken": True}),
            Case(ACCOUNT | {"automountServiceAccountToken": True}, ACCOUNT | {"automountServiceAccountToken": False}),
        ),
    ),
}
REASONS = {rule.name: rule.reason for rule in RULES}


def test_every_rule_has_its_cases() -> None:
    assert list(CASES) == [rule.name for rule in RULES]


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_holds_for_its_case_and_not_for_its_neighbours(rule: str) -> None:
    good, neighbours = CASES[rule]
    changed, reasons = good.judge()
    assert (changed, REASONS[rule] in reasons) == ([], True)
    for number, neighbour in enumerate(neighbours):
        assert neighbour.judge()[0], number


@pytest.mark.parametrize("namespace", ["kube-system", "default", "flux-system"])
def test_a_namespace_that_is_always_there_need_not_be_read(namespace: str) -> None:
    target = {"targetNamespace": namespace}
    assert release(target, target | CREATING).judge()[0] == []


NEVER = {
    "targetNamespace": kustomization({}, {"targetNamespace": "rocky"}),
    "releaseName": release({}, {"releaseName": "other"}),
    "storageNamespace": release({}, {"storageNamespace": "other"}),
    "prune": kustomization({}, {"prune": False}),
    "timeout": kustomization({}, {"timeout": "1m"}),
    "force": kustomization({}, {"force": True}),
    "path": kustomization({"path": "./a"}, {"path": "./b"}),
    "patches": kustomization({}, {"patches": [{"patch": "a: b"}]}),
    "kubeConfig": kustomization({}, {"kubeConfig": {"secretRef": {"name": "a"}}}),
    "values": release({"values": {"a": 1}}, {"values": {"a": 2}}),
    "crds": release({}, {"install": {"crds": "CreateReplace"}}),
}


@pytest.mark.parametrize("field", NEVER)
def test_what_can_change_what_runs_is_never_harmless(field: str) -> None:
    changed, reasons = NEVER[field].judge()
    assert (len(changed), reasons) == (1, [])


def deployment(name: str, account: str, *arguments: str) -> Placed:
    pod = {"serviceAccountName": account, "containers": [{"name": "manager", "args": list(arguments)}]}
    metadata = {"name": name, "namespace": "flux-system", "labels": {"app.kubernetes.io/part-of": "flux"}}
    return Placed(
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"template": {"spec": pod}}}, "x"
    )


@pytest.mark.parametrize(
    ("arguments", "account"),
    [
        (("--watch-all-namespaces=true",), ""),
        (("--default-service-account=deployer", "--watch-all-namespaces"), "deployer"),
        (("--default-service-account", "deployer"), "deployer"),
        (("--default-service-account=one", "--default-service-account=two"), "two"),
        (("--default-service-account=$(ACCOUNT)",), None),
        (("--default-service-account",), None),
    ],
)
def test_a_controller_acts_as_itself_or_as_the_account_of_its_flag(arguments: list[str], account: str | None) -> None:
    objects = [
        deployment("helm-controller", "helm-controller", *arguments),
        deployment("source-controller", "other"),
    ]
    left, flux = without_fluxs_own("dev", objects)
    assert left == []
    assert flux == Installed("dev", "", 2, () if account is None else (("helm-controller", account),))
