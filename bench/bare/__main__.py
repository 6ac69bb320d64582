"""A Pulumi program that registers the objects of objects.json and does nothing else: no plan, no guard, no components.

Of its order it keeps what it must: a namespace comes before the objects in it. With BARE=tuned its provider has the settings of
Tenantry's.
"""

import json
import os
from pathlib import Path

import pulumi
from pulumi_kubernetes import KubeClientSettingsArgs, Provider, ProviderArgs

tuned = os.environ.get("BARE") == "tuned"
settings = (
    ProviderArgs(
        kubeconfig=os.environ["KUBECONFIG"],
        cluster_identifier="hub",
        kube_client_settings=KubeClientSettingsArgs(qps=500, burst=1000),
        enable_secret_mutable=True,
        enable_config_map_mutable=True,
    )
    if tuned
    else ProviderArgs(kubeconfig=os.environ["KUBECONFIG"])
)
provider = Provider("management", settings)
namespaces: dict[str, pulumi.Resource] = {}
for manifest in json.loads(Path("objects.json").read_text())["objects"]:
    metadata = manifest["metadata"]
    version = manifest["apiVersion"] if "/" in manifest["apiVersion"] else f"core/{manifest['apiVersion']}"
    place = metadata.get("namespace", "")
    resource = pulumi.CustomResource(
        f"kubernetes:{version}:{manifest['kind']}",
        f"{place}/{metadata['name']}",
        manifest,
        pulumi.ResourceOptions(provider=provider, depends_on=[namespaces[place]] if place in namespaces else None),
    )
    if manifest["kind"] == "Namespace":
        namespaces[metadata["name"]] = resource
