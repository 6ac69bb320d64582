"""Which of Flux's controllers run without the flags of its lockdown."""

from __future__ import annotations

from typing import Any

from tenantry.messages.problems import Problem
from tenantry.preflight.lockdown import check_lockdown

LOCKED = ("--no-cross-namespace-refs=true", "--default-service-account=default")
GATE = "--feature-gates=ObjectLevelWorkloadIdentity=true"
OWN = (GATE, "--default-service-account=default")
KUBECONFIGS = (GATE, "--default-kubeconfig-service-account=default")
DECRYPTION = "--default-decryption-service-account=default"


def deployment(name: str, *arguments: str, image: str = "", **container: Any) -> dict[str, Any]:
    containers = [
        {"name": "manager", "image": image or f"ghcr.io/fluxcd/{name}:v1.9.5", "args": arguments, **container}
    ]
    metadata = {"name": name, "namespace": "flux-system"}
    return {"metadata": metadata, "spec": {"template": {"spec": {"containers": containers}}}}


def told(*deployments: dict[str, Any], shared_identity: bool = True) -> list[Problem]:
    return list(check_lockdown(deployments, shared_identity=shared_identity))


def messages(*deployments: dict[str, Any]) -> list[str]:
    return [each.message.partition(" runs without ")[2].partition(": ")[0] for each in told(*deployments)]


def test_controllers_that_are_locked_down_are_no_news() -> None:
    assert (
        told(
            deployment("source-controller"),
            deployment("kustomize-controller", *LOCKED, "--no-remote-bases=true"),
            deployment("helm-controller", *LOCKED),
            deployment("notification-controller", LOCKED[0]),
            deployment("image-reflector-controller", LOCKED[0]),
            deployment("image-automation-controller", LOCKED[0]),
        )
        == []
    )


def test_flags_that_keep_the_controllers_identity_apart_are_asked_for_unless_the_file_shares_it() -> None:
    locked = [
        deployment("source-controller", *OWN),
        deployment("kustomize-controller", *LOCKED, "--no-remote-bases=true", *KUBECONFIGS, DECRYPTION),
        deployment("helm-controller", *LOCKED, *KUBECONFIGS),
        *(
            deployment(f"{each}-controller", LOCKED[0], *OWN)
            for each in ("notification", "image-reflector", "image-automation")
        ),
    ]
    assert told(*locked, shared_identity=False) == []
    (problem,) = told(deployment("helm-controller", *LOCKED), shared_identity=False)
    assert problem.message.startswith(
        "helm-controller (Deployment flux-system/helm-controller) runs without"
        " --feature-gates=ObjectLevelWorkloadIdentity=true, --default-kubeconfig-service-account=default: "
    )


def test_a_feature_gate_is_found_among_others() -> None:
    gates = ("--feature-gates=A=false,ObjectLevelWorkloadIdentity=true", "--feature-gates", "B=true")
    assert told(deployment("source-controller", *gates, OWN[1]), shared_identity=False) == []
    off = deployment("source-controller", "--feature-gates=ObjectLevelWorkloadIdentity=false", OWN[1])
    assert len(told(off, shared_identity=False)) == 1


def test_missing_flags_are_told_with_the_patch_that_sets_them() -> None:
    (problem,) = told(deployment("kustomize-controller", "--no-cross-namespace-refs"))
    assert (problem.severity, problem.code) == ("warning", "no-lockdown")
    assert problem.message == (
        "kustomize-controller (Deployment flux-system/kustomize-controller) runs without --default-service-account=default,"
        " --no-remote-bases=true: a tenant's own Flux objects may reach beyond its namespaces"
    )
    assert problem.fix == (
        "add to the kustomization.yaml that installs Flux\n"
        "    patches:\n"
        "      - target: {kind: Deployment, name: kustomize-controller}\n"
        "        patch: |\n"
        "          - {op: add, path: /spec/template/spec/containers/0/args/-, value: --default-service-account=default}\n"
        "          - {op: add, path: /spec/template/spec/containers/0/args/-, value: --no-remote-bases=true}"
    )


def test_a_flag_is_read_in_every_form_that_the_controllers_take() -> None:
    assert (
        messages(deployment("helm-controller", "--no-cross-namespace-refs", "--default-service-account", "any")) == []
    )
    assert messages(deployment("notification-controller", "-no-cross-namespace-refs=1")) == []
    assert messages(deployment("notification-controller", command=["/manager", LOCKED[0]])) == []
    off = deployment("notification-controller", LOCKED[0], "--no-cross-namespace-refs=false")
    assert messages(off) == ["--no-cross-namespace-refs=true"]
    empty = deployment("helm-controller", LOCKED[0], "--default-service-account=")
    assert messages(empty) == ["--default-service-account=default"]


def test_a_shard_is_known_by_its_image_and_a_mirrored_image_by_its_name() -> None:
    shard = deployment(
        "kustomize-shard-1", *LOCKED, image="registry.example.com:5000/flux/kustomize-controller@sha256:0a"
    )
    assert messages(shard) == ["--no-remote-bases=true"]
    assert messages(deployment("helm-controller", LOCKED[0], image="mirror/flux:1")) == [
        "--default-service-account=default"
    ]


def test_a_controller_that_is_not_the_first_container_is_patched_in_its_place() -> None:
    made = deployment("notification-controller")
    made["spec"]["template"]["spec"]["containers"].insert(0, {"name": "proxy", "image": "proxy:1", "args": [LOCKED[0]]})
    (problem,) = told(made)
    assert "path: /spec/template/spec/containers/1/args/-" in problem.fix


def test_where_no_controller_is_found_that_is_told() -> None:
    (problem,) = told(deployment("web", image="nginx:1"))
    assert (problem.severity, problem.code, problem.message, problem.fix) == (
        "warning",
        "no-controllers",
        "found no Deployment of a Flux controller, so the multi-tenancy lockdown was not checked",
        "if the controllers run elsewhere, give them the flags of Flux's multi-tenancy lockdown",
    )
