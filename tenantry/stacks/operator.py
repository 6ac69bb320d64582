"""The objects that have Pulumi's Kubernetes operator run the stacks of a project: a Stack for each, and its service account.

The operator checks the fleet's repository out in a pod for each Stack, its workspace, and runs `pulumi up` there. Values of Secrets
never appear: the objects name Secrets, which the operator's cluster has to hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tenantry.kube.names import digest, slug
from tenantry.stacks.file import NAMESPACE, Stack

Manifest = dict[str, Any]

BACKEND_URL, PASSPHRASE, TOKEN = "PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_ACCESS_TOKEN"
"""Environment variables of Pulumi, and the keys of the Secret that holds their values."""
KUBECONFIG_KEY = "value"
"""The key of a Secret with a kubeconfig, as in those that Flux reads."""
_MOUNT = "/etc/tenantry/kubeconfig"
_LONGEST = 42
"""For the name of a Stack. The operator adds `-workspace`, and Kubernetes a hash of 10 digits for a label of 63 characters."""


@dataclass(frozen=True, slots=True)
class Repository:
    """Where the operator finds the fleet. branch or commit: which revision. directory: of Pulumi.yaml, seen from the top.

    secret: names the Secret with what Git asks for; "": it asks for nothing.
    """

    url: str
    branch: str = ""
    commit: str = ""
    directory: str = ""
    secret: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How the operator runs the stacks.

    project: the name in Pulumi.yaml. backend: the address of the state; "": the Secret has it. secret: holds PULUMI_BACKEND_URL and
    the passphrase, or PULUMI_ACCESS_TOKEN. secrets_provider: a key service in place of the passphrase.
    kubeconfig_secret: the name of the Secret with the kubeconfig, where `{environment}` stands for the environment's name.
    variables: environment variables of the workspaces, such as credentials' locations or tuned settings.
    environment_secrets: Secrets whose keys all become environment variables. after: the environment that comes before each one.
    """

    project: str
    repository: Repository
    namespace: str
    service_account: str
    secret: str
    kubeconfig_secret: str
    organization: str = "organization"
    backend: str = ""
    secrets_provider: str = ""
    image: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    environment_secrets: tuple[str, ...] = ()
    after: Mapping[str, str | None] = field(default_factory=dict)


def is_cloud(backend: str) -> bool:
    """Whether the state is in Pulumi Cloud, or a service of the same kind."""
    return urlsplit(backend).scheme in ("http", "https")


def objects(stacks: Sequence[Stack], delivery: Delivery) -> list[Manifest]:
    """The service account of the workspaces and a Stack for each stack that runs on a cluster, in an order that can be applied."""
    run = [stack for stack in stacks if not stack.target.files]
    return [*_account(delivery), *(_stack(each, run, delivery) for each in run)] if run else []


def object_name(project: str, stack: str) -> str:
    """The name of a stack's Stack object. A hash replaces what does not fit into the name of an object."""
    name = f"{project}-{stack}"
    if slug(name) == name and len(name) <= _LONGEST:
        return name
    return f"{slug(name)[: _LONGEST - 9].strip('-')}-{digest({'project': project, 'stack': stack})}"


def _account(delivery: Delivery) -> Iterator[Manifest]:
    """The workspaces' identity. Its only right is to have the tokens of those that connect to a workspace reviewed."""
    name, namespace = delivery.service_account, delivery.namespace
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}
    yield {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"{namespace}:{name}:auth-delegator"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "system:auth-delegator",
        },
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }


def _stack(stack: Stack, run: Sequence[Stack], delivery: Delivery) -> Manifest:
    spec: Manifest = {
        "stack": f"{delivery.organization}/{delivery.project}/{stack.name}",
        **_source(delivery.repository),
        **({"backend": delivery.backend} if delivery.backend else {}),
        **({"secretsProvider": delivery.secrets_provider} if delivery.secrets_provider else {}),
        "serviceAccountName": delivery.service_account,
        "envRefs": _variables(delivery),
        "config": {f"{NAMESPACE}:kubeconfig": f"{_MOUNT}/{KUBECONFIG_KEY}"},
    }
    if before := _prerequisites(stack, run, delivery):
        spec["prerequisites"] = [{"name": object_name(delivery.project, each.name)} for each in before]
    return {
        "apiVersion": "pulumi.com/v1",
        "kind": "Stack",
        "metadata": {
            "name": object_name(delivery.project, stack.name),
            "namespace": delivery.namespace,
            "labels": {"tenantry/environment": stack.environment},
        },
        "spec": spec | _LIFE | {"workspaceTemplate": {"spec": _workspace(stack, delivery)}},
    }


_LIFE: Manifest = {
    # Whoever deletes a Stack object stops the operator, and does not remove an environment.
    "destroyOnFinalize": False,
    # A wrong address of the state would otherwise begin an empty stack for objects that exist.
    "useLocalStackOnly": True,
    # `pulumi up` can be run again at any time.
    "retryOnUpdateConflict": True,
    "retryMaxBackoffDurationSeconds": 900,
    "resyncFrequencySeconds": 60,
}


def _source(repository: Repository) -> Manifest:
    source: Manifest = {"projectRepo": repository.url, "shallow": True}
    if repository.commit:
        source["commit"] = repository.commit
    else:
        source["branch"] = repository.branch
    if repository.directory:
        source["repoDir"] = repository.directory
    if repository.secret:
        source["gitAuth"] = _git_access(repository)
    return source


def _git_access(repository: Repository) -> Manifest:
    if urlsplit(repository.url).scheme in ("http", "https"):
        return {"accessToken": _from_secret(repository.secret, "accessToken")}
    return {"sshAuth": {"sshPrivateKey": _from_secret(repository.secret, "sshPrivateKey")}}


def _variables(delivery: Delivery) -> Manifest:
    """In alphabetical order, as the operator passes them."""
    secret: list[str] = [] if delivery.backend else [BACKEND_URL]
    if is_cloud(delivery.backend):
        secret.append(TOKEN)
    elif not delivery.secrets_provider:
        secret.append(PASSPHRASE)
    literal = {name: {"type": "Literal", "literal": {"value": value}} for name, value in delivery.variables.items()}
    return dict(sorted((literal | {key: _from_secret(delivery.secret, key) for key in secret}).items()))


def _from_secret(name: str, key: str) -> Manifest:
    return {"type": "Secret", "secret": {"name": name, "key": key}}


def _prerequisites(stack: Stack, run: Sequence[Stack], delivery: Delivery) -> list[Stack]:
    """The stacks that must have succeeded: those of the environment before."""
    return [each for each in run if each.environment == delivery.after.get(stack.environment)]


def _workspace(stack: Stack, delivery: Delivery) -> Manifest:
    """The pod: its image, and the kubeconfig as a file, because the program needs one."""
    secret = delivery.kubeconfig_secret.replace("{environment}", stack.environment)
    mount = {"name": "kubeconfig", "mountPath": _MOUNT, "readOnly": True}
    return {
        **({"image": delivery.image} if delivery.image else {}),
        "securityProfile": "restricted",
        **(
            {"envFrom": [{"secretRef": {"name": each}} for each in delivery.environment_secrets]}
            if delivery.environment_secrets
            else {}
        ),
        "podTemplate": {
            "spec": {
                "containers": [{"name": "pulumi", "volumeMounts": [mount]}],
                "volumes": [{"name": "kubeconfig", "secret": {"secretName": secret}}],
            }
        },
    }
