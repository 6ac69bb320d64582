"""The objects in a tenant's or an add-on's namespaces in the words of the file, whether Pulumi or a release creates them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from tenantry.compare.review.naming import own_annotations, own_labels
from tenantry.compare.review.words import Path, Words, nothing
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path as FilePath

_POD_SECURITY = "pod-security.kubernetes.io/"
_RIGHTS = ("RoleBinding", "ClusterRole", "ClusterRoleBinding")

_TOLD = frozenset(
    {
        *("chartRef", "install", "interval", "kubeConfig", "releaseName", "serviceAccountName", "suspend", "timeout"),
        *("upgrade", "values"),
    }
)
"""Fields of a baseline's release that have words, or are told of the cluster or the platform."""

ACCOUNT = "RoleBinding of the service account"
"""Its subjects are the users that Flux impersonates."""

ISOLATION = "NetworkPolicy tenantry-isolated"
"""Its rules name the tenant's other namespaces, if there are any."""


class Where(NamedTuple):
    """The tenant whose objects they are, and its main namespace; "" for those of add-ons.

    cluster, written: of the plan, which knows where the file has an object as it is.
    """

    tenant: str
    main: str
    cluster: str
    written: Mapping[tuple[str, ObjectId], FilePath]


def installed(release: KubeObject) -> list[Manifest]:
    """The objects that a release of the chart of baselines installs."""
    objects: list[Manifest] = mapping_at(release.manifest, "spec", "values").get("objects", [])
    return objects


def changed_manifests(before: Iterable[Manifest], after: Iterable[Manifest]) -> tuple[list[Manifest], list[Manifest]]:
    """The manifests of each side that the other side lacks, or has with another content."""
    old, new = ({object_id(each): each for each in side} for side in (before, after))
    differ = {id for id in old.keys() & new.keys() if repr(old[id]) == repr(new[id])}
    return [each for id, each in old.items() if id not in differ], [
        each for id, each in new.items() if id not in differ
    ]


def adopts(release: KubeObject) -> bool:
    """Whether a release that installs objects takes over those that exist already."""
    return "disableTakeOwnership" not in release.manifest["spec"]["install"]


def release_words(release: KubeObject, after: Iterable[ObjectId]) -> Words:
    """What a release of a baseline says itself, without the objects that it installs, and the platform's chart that does it.

    after: what its tenant waits for, which is told in the words of `dependsOn`.
    """
    spec = mapping_at(release.manifest, "spec")
    strategy = mapping_at(spec, "install", "strategy")
    settings: dict[Path, Any] = {
        ("interval",): spec["interval"],
        ("timeout",): spec["timeout"],
        ("retryInterval",): strategy.get("retryInterval"),
        ("adopt",): adopts(release),
    }
    rest = {key: value for key, value in spec.items() if key not in _TOLD}
    told = {id.name for id in after}
    if others := [each for each in rest.pop("dependsOn", ()) if each["name"] not in told]:
        rest["dependsOn"] = others
    return Words(settings, {"HelmRelease baseline": {"spec": rest}})


def manifest_words(manifests: Iterable[Manifest], where: Where) -> Words:
    """The settings of manifests, and what is left of them."""
    found = nothing()
    for each in manifests:
        settings, name, rest = _one(each, where)
        for path, value in settings:
            _put(found.settings, path, value)
        if rest:
            found.rest[name] = rest
    return found


def _put(settings: dict[Path, Any], path: Path, value: Any) -> None:
    """A person can have several roles, and manifests of several kinds one name."""
    there = settings.get(path)
    if there is None or there == value:
        settings[path] = value
    elif isinstance(there, str) and isinstance(value, str):
        settings[path] = f"{there}, {value}"
    else:
        settings[*path[:-1], f"{path[-1]} ({value.get('kind') if isinstance(value, dict) else value})"] = value


def _one(manifest: Manifest, where: Where) -> tuple[list[tuple[Path, Any]], str, dict[str, Any]]:
    """Settings, what the rest is called, and the rest."""
    id = object_id(manifest)
    if id.kind == "Namespace":
        return list(_namespace(manifest)), "Namespace", {}
    if id.kind in _RIGHTS and (told := _rights(manifest, id, where)):
        return told
    if id.kind == "ServiceAccount":
        return list(_account(manifest, id, where)), "ServiceAccount", {}
    name = id.name.removeprefix("tenantry-")
    if id.name == "tenantry" and id.kind == "ResourceQuota":
        return [(("quota", key), value) for key, value in manifest["spec"]["hard"].items()], "", {}
    if id.name == "tenantry" and id.kind == "LimitRange":
        limits = manifest["spec"]["limits"][0]
        return [(("limits", key), value) for key, value in limits.items() if key != "type"], "", {}
    if id.kind == "NetworkPolicy" and name != id.name and where.tenant:
        if name == "isolated":
            return [(("network", "base"), "isolated")], ISOLATION, {"spec": manifest["spec"]}
        return [(("network", "policies", name), manifest["spec"])], "", {}
    key = str(where.written.get((where.cluster, id), (id.name,))[-1])
    return [(("objects" if id.namespace else "clusterObjects", key), _declared(manifest, key))], "", {}


def _declared(manifest: Manifest, key: str) -> dict[str, Any]:
    """A manifest of the author's, without what the plan adds. key: what the file calls it, and its name unless it has another."""
    name = manifest["metadata"]["name"]
    metadata = {
        "name": name if name != key else "",
        "labels": own_labels(manifest),
        "annotations": own_annotations(manifest),
    }
    kept = {key: value for key, value in metadata.items() if value}
    return {
        **{key: value for key, value in manifest.items() if key != "metadata"},
        **({"metadata": kept} if kept else {}),
    }


def _namespace(manifest: Manifest) -> Iterator[tuple[Path, Any]]:
    yield ("namespace",), manifest["metadata"]["name"]
    for key, value in own_labels(manifest).items():
        if key.startswith(_POD_SECURITY):
            mode = key.removeprefix(_POD_SECURITY)
            yield ("podSecurity", "version" if mode.endswith("-version") else mode), value
        else:
            yield ("labels", key), value
    for key, value in own_annotations(manifest).items():
        yield ("annotations", key), value


def _rights(
    manifest: Manifest, id: ObjectId, where: Where
) -> tuple[list[tuple[Path, Any]], str, dict[str, Any]] | None:
    """Role bindings contain their role in their name, so a changed role is another object with the same meaning."""
    role = mapping_at(manifest, "roleRef").get("name", "")
    subjects = manifest.get("subjects", [])
    if id.name == f"{where.tenant}-reconciler-{role}":
        return [(("role",), role)], ACCOUNT, {"subjects": [_person(each) for each in subjects]}
    if id.name == f"{where.tenant}-owners-{role}":
        return [(("owners", _person(each)), role) for each in subjects], "", {}
    first, _, key = id.name.removeprefix("tenantry.").partition(".")
    if not id.name.startswith("tenantry.") or not key:
        return None
    if id.kind == "RoleBinding":
        people = [_person(each) for each in subjects]
        return [(("roleBindings", first, "role"), role), (("roleBindings", first, "subjects"), people)], "", {}
    if id.kind == "ClusterRole":
        return [(("clusterRoles", key, "rules"), manifest["rules"])], "", {}
    if role == id.name:
        return [], f"{id.kind} {key}", {"subjects": subjects}
    return [(("clusterRoles", key, "role"), role)], f"{id.kind} {key}", {"subjects": subjects}


def _person(subject: dict[str, Any]) -> str:
    """Such as `group devs`."""
    if subject["kind"] == "ServiceAccount":
        return f"serviceAccount {subject['namespace']}/{subject['name']}"
    return f"{subject['kind'].lower()} {subject['name']}"


def _account(manifest: Manifest, id: ObjectId, where: Where) -> Iterator[tuple[Path, Any]]:
    if id.namespace != where.main:
        yield ("serviceAccount",), True
    elif id.name != where.tenant:
        yield ("serviceAccount", "name"), id.name
    for key, value in own_annotations(manifest).items():
        yield ("serviceAccount", "annotations", key), value
    if secrets := manifest.get("imagePullSecrets"):
        yield ("serviceAccount", "imagePullSecrets"), [each["name"] for each in secrets]
