"""A program like that of the fleets before clusters shared anything: each cluster has its own sources, under their former names."""

from typing import Any

from components.stack import run
from tenantry.kube.objects import KubeObject
from tenantry.plan import apps, platform, sources


def _own(_fleet: Any, _scope: Any, planned: KubeObject, *_: Any, **__: Any) -> KubeObject:
    """The object as it was planned for its cluster."""
    return planned


for module, name in ((sources, "shared"), (platform, "shared"), (apps, "shared_chart"), (platform, "shared_chart")):
    assert hasattr(module, name)
    setattr(module, name, _own)
run()
