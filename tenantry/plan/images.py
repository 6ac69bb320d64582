"""Image automation of one app: a repository and a policy per image, and what writes chosen tags into the app's source.

An automation pushes commits, so it is there once per environment: on the first management cluster that the app is on or has a
cluster of; if it is on that cluster itself, with it there, else with that of its clusters whose name is the first of the alphabet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import clusters_of_app
from tenantry.fleet.resolve import resolved
from tenantry.kube.names import join
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Found, Path, Problem
from tenantry.messages.placeholders import Variables
from tenantry.model import App, ImageAutomation, ImageSource, ImageUpdate
from tenantry.plan.objects.scope import TENANT_LABEL, Scope
from tenantry.plan.objects.sources import reference

API = "image.toolkit.fluxcd.io/v1"

_FIXED = ("commit", "name", "tag", "semver")
"""Parts of a Git reference that name a commit and not a branch; Flux looks at each of them before it looks at `branch`."""


_COMMIT_TEMPLATE = ("update", "git", "commit", "messageTemplate")
"""Has braces of Go's templates; what it needs of the file's placeholders comes as `messageTemplateValues`."""


@dataclass(frozen=True, slots=True)
class PlannedImage:
    """An image of an app whose tags are followed, and the policy that chooses one of them."""

    name: str
    image: str
    policy: ObjectId

    @property
    def marker(self) -> str:
        """The comment that marks a line of a manifest as the place of this image and its chosen tag."""
        return json.dumps({"$imagepolicy": f"{self.policy.namespace}:{self.policy.name}"})


def automation_of(fleet: Fleet, scope: Scope, at: tuple[str, ...], variables: Variables) -> ImageAutomation | None:
    """The image automation of the app at a path, if it is for this scope to have.

    Raises: Found: a placeholder is unknown, or what it stands for does not fit.
    """
    declared = _declared(fleet, at).imageAutomation
    if declared is None or scope.environment not in (declared.environments or fleet.environments):
        return None
    if _first_cluster(fleet, scope.environment, at) != scope.cluster:
        return None
    return resolved(fleet, (*at, "imageAutomation"), ImageAutomation, variables, literal=_COMMIT_TEMPLATE)


def _first_cluster(fleet: Fleet, environment: str, at: tuple[str, ...]) -> str:
    """Where an app's automation is: not in the order of the clusters in the file, so that reordering them moves no objects."""
    hub = fleet.environments[environment].management
    return min(clusters_of_app(fleet, environment, at), key=lambda cluster: (cluster != hub, cluster))


def planned_images(scope: Scope, app: str, automation: ImageAutomation) -> tuple[PlannedImage, ...]:
    """What the markers in manifests have to say of each image."""
    ids = {name: ObjectId(API, "ImagePolicy", scope.home, scope.name(join(app, name))) for name in automation.images}
    return tuple(PlannedImage(name, automation.images[name].repository.image, id) for name, id in ids.items())


def image_objects(
    scope: Scope, app: str, automation: ImageAutomation, source: KubeObject, at: Path
) -> Iterator[tuple[KubeObject, Path]]:
    """All objects of an app's automation, each with the place of its block; at: the place of the automation.

    Raises: Found: the app's source is none that Flux could push to.
    """
    for name, image in automation.images.items():
        place = (*at, "images", name)
        repository = _repository(scope, app, name, image)
        yield repository, (*place, "repository")
        yield _policy(scope, app, name, image, repository.id), (*place, "policy")
    if automation.update:
        policies = (each.policy for each in planned_images(scope, app, automation))
        yield _update(scope, app, automation.update, source, tuple(policies), (*at, "update")), (*at, "update")


def _declared(fleet: Fleet, at: tuple[str, ...]) -> App:
    """The app or add-on at a path."""
    if at[0] == "platform":
        return fleet.document.platform.addons[at[-1]]
    return fleet.document.tenants[at[1]].apps[at[-1]]


def _policies_of(scope: Scope, app: str) -> dict[str, Any]:
    """The namespace of a kubeconfig also holds the policies of other tenants, environments and clusters."""
    labels = {"matchLabels": scope.labels(app)}
    if scope.tenant:
        return labels
    return {**labels, "matchExpressions": [{"key": TENANT_LABEL, "operator": "DoesNotExist"}]}


def _check_branch(app: str, git: dict[str, Any], ref: dict[str, Any], at: Path) -> None:
    """Flux commits on top of what it checks out, and pushes to a branch of another name or, at a branch's tip, to that."""
    checkout = mapping_at(git, "checkout", "ref") if "checkout" in git else ref
    branch, push = checkout.get("branch"), mapping_at(git, "push").get("branch")
    fixed = next((key for key in _FIXED if checkout.get(key)), None)
    if (push and push != branch) or (branch and not fixed):
        return
    start = f"{fixed} '{checkout[fixed]}'" if fixed else "no branch"
    message = f"updates of the images of app '{app}' start from {start}, and no branch to push to is set"
    fix = "set 'git.push.branch', or set 'git.checkout.ref' to the branch to change"
    raise Found([Problem((*at, "git"), "no-branch", message, fix=fix, at_key=True)])


def _repository(scope: Scope, app: str, name: str, image: ImageSource) -> KubeObject:
    spec = image.repository.model_dump(exclude_none=True)
    if image.credentials:
        spec["secretRef"] = {"name": image.credentials}
    key = join(app, name)
    return scope.object(API, "ImageRepository", key, {"spec": spec}, app=app, depends_on=scope.made_home)


def _policy(scope: Scope, app: str, name: str, image: ImageSource, repository: ObjectId) -> KubeObject:
    spec = {**image.policy.model_dump(exclude_none=True), "imageRepositoryRef": {"name": repository.name}}
    return scope.object(API, "ImagePolicy", join(app, name), {"spec": spec}, app=app, depends_on=(repository,))


def _update(
    scope: Scope, app: str, update: ImageUpdate, source: KubeObject, policies: tuple[ObjectId, ...], at: Path
) -> KubeObject:
    if source.id.kind != "GitRepository":
        message = f"the source of app '{app}' is not a Git repository, so image updates cannot be written to it"
        fix = "use a 'git:' source, or remove 'update' to keep only the image policies"
        raise Found([Problem(at, "wrong-source", message, fix=fix, at_key=True)])
    spec = update.model_dump(exclude_none=True)
    _check_branch(app, spec["git"], source.manifest["spec"]["ref"], at)
    spec |= {"sourceRef": reference(source.id), "policySelector": _policies_of(scope, app)}
    depends_on = (source.id, *policies)
    return scope.object(API, "ImageUpdateAutomation", app, {"spec": spec}, app=app, depends_on=depends_on)
