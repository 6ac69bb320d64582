"""Which of Flux's controllers run without the flags of its lockdown."""

from __future__ import annotations

from typing import Any

from tenantry.messages.errors import Problem
from tenantry.preflight.fitness import check_lockdown
from tests.table import table

LOCKED = ("--no-cross-namespace-refs=true", "--default-service-account=default")
GATE = "--feature-gates=ObjectLevelWorkloadIdentity=true"
OWN = (GATE, "--default-service-account=default")
KUBECONFIGS = (GATE, "--default-kubeconfig-service-account=default")
DECRYPTION = "--default-decryption-service-account=default"
VERSIONS = {"helm-controller": "v1.6.4"} | dict.fromkeys(
    ("image-reflector-controller", "image-automation-controller"), "v1.2.4"
)
"""Of Flux 2.9; the other controllers have 1.9."""


def deployment(name: str, *arguments: str, image: str = "", **container: Any) -> dict[str, Any]:
    containers = [
        {
            "name": "manager",
            "image": image or f"ghcr.io/fluxcd/{name}:{VERSIONS.get(name, 'v1.9.5')}",
            "args": arguments,
            **container,
        }
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


GATED = (*OWN, *LOCKED, *KUBECONFIGS, DECRYPTION, "--no-remote-bases=true")
UNGATED = tuple(each for each in GATED if each != GATE)


@table(
    ("name", "version", "is_gated"),
    [
        ("source-controller", "v1.9.6", True),
        ("source-controller", "v1.10.0", False),
        ("source-controller", "v1.10.1@sha256:0a", False),
        ("kustomize-controller", "v1.10.1", False),
        ("helm-controller", "v1.6.4", True),
        ("helm-controller", "v1.7.0", False),
        ("notification-controller", "v1.10.0", False),
        ("image-reflector-controller", "v1.3.0", False),
        ("image-automation-controller", "v1.2.9", True),
        ("source-controller", "v2.0.0", False),
        ("source-controller", "v1.10.0-rc.1", False),
    ],
)
def test_the_gate_is_asked_for_where_the_controllers_version_knows_it(
    name: str, version: str, *, is_gated: bool
) -> None:
    """From Flux 2.10 on the gate is retired, and a controller stops on a gate that it does not know."""
    there = deployment(name, *UNGATED, image=f"registry.example.com:5000/fluxcd/{name}:{version}")
    found = told(there, shared_identity=False)
    assert ["ObjectLevelWorkloadIdentity" in each.message + each.fix for each in found] == [True] * is_gated
    there = deployment(name, *GATED, image=f"ghcr.io/fluxcd/{name}:{version}")
    assert told(there, shared_identity=False) == []
