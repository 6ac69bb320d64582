"""A planned object as a Pulumi resource. The components choose its parent; the plan decides its content."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import pulumi

from tenantry.kube.objects import KubeObject, ObjectId


class Object(pulumi.CustomResource):
    """A Kubernetes object of any kind, registered with its manifest unchanged.

    The provider accepts a manifest for every kind, under a type token made of apiVersion and kind. So one class serves all
    kinds: the generated classes are slow to import, and the one for custom resources drops all fields but `spec`.
    """

    def __init__(self, planned: KubeObject, opts: pulumi.ResourceOptions) -> None:
        super().__init__(type_token(planned.id), planned.logical_name, planned.manifest, opts)


_SECRETS = pulumi.ResourceOptions(replace_on_changes=["type"], delete_before_replace=True)
"""The API server lets no Secret change its type, so one of another type takes its place."""

Registered: TypeAlias = dict[ObjectId, Object]
"""The objects that have been registered so far, which is what a later one may depend on."""


def register(objects: Iterable[KubeObject], parent: pulumi.Resource, registered: Registered) -> None:
    """Register objects below a component, in the order of the plan, and add them to `registered`.

    Dependencies go from object to object. A dependency on a component would mean everything below it, and would grow
    with the fleet.
    """
    for planned in objects:
        depends_on = [registered[dependency] for dependency in planned.depends_on]
        opts = pulumi.ResourceOptions(
            parent=parent,
            depends_on=depends_on,
            protect=planned.protect or None,
            custom_timeouts=_patience(planned.ready_within),
        )
        if planned.secret:
            opts = pulumi.ResourceOptions.merge(opts, _SECRETS)
        registered[planned.id] = Object(planned, opts)


def _patience(seconds: int | None) -> pulumi.CustomTimeouts | None:
    """How long to wait for an object that is created or changed. Deletion keeps the provider's own timeout, which an
    annotation would shorten too.
    """
    return pulumi.CustomTimeouts(create=f"{seconds}s", update=f"{seconds}s") if seconds else None


def type_token(identity: ObjectId) -> str:
    """`kubernetes:<group>/<version>:<Kind>`. Pulumi calls Kubernetes' unnamed group `core`."""
    api_version = identity.api_version if "/" in identity.api_version else f"core/{identity.api_version}"
    return f"kubernetes:{api_version}:{identity.kind}"
