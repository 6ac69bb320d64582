"""Renders a chart as helm-controller does, with `helm template`: without a cluster, plugins or the network."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from tenantry.manifests import artifact, documents, kustomize
from tenantry.manifests.cage import NOWHERE, Cage
from tenantry.manifests.model import Inputs, NotFetched, NotRendered, Rendered
from tenantry.manifests.registries import helm_variables

_RANDOM = re.compile(
    rb"\b(?:rand(?:AlphaNum|Alpha|Numeric|Ascii|Bytes|Int)|genPrivateKey|genCA\w*|genSelfSignedCert\w*|genSignedCert\w*"
    rb"|uuidv4|htpasswd|bcrypt|encryptAES|now|shuffle)\b"
)
"""Functions of templates that give another result in every rendering. Without a cluster, `lookup` finds no earlier one."""
RANDOM = "(new in every rendering)"


def render(
    chart: Path, root: Path, inputs: Inputs, programs: Mapping[str, tuple[str, ...]], cage: Cage, *, upgrade: bool
) -> Rendered:
    """The objects of a release. Args: root: the source that the chart is in; upgrade: whether the release exists before.

    Raises: NotRendered: helm refuses the chart or the values; NotFetched: a program is missing.
    """
    spec = inputs.app["spec"]
    if not (chart / "Chart.yaml").is_file():
        raise NotRendered("the source contains no chart there: Chart.yaml is missing")
    with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
        copy = Path(temporary, "chart")
        copy.mkdir()
        artifact.linked(chart, copy)
        _write_values(copy, root if root != chart else copy, (inputs.chart or {}).get("spec", {}))
        crds, objects = _template(copy, spec, inputs.app, programs, cage, upgrade=upgrade)
        if _is_random(copy):
            _, again = _template(copy, spec, inputs.app, programs, cage, upgrade=upgrade)
            objects = stable(objects, again) if len(objects) == len(again) else objects
    for renderer in spec.get("postRenderers") or ():
        objects = _post_rendered(objects, renderer.get("kustomize") or {}, programs, cage)
    return Rendered(tuple(objects), tuple(_notes(spec)), tuple(crds))


def applied_crds(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, crds: Sequence[Sequence[Mapping[str, Any]]]
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """The CRDs of a release on the cluster, before a change and after it. Nothing removes a CRD.

    before, after: the specs of the release; None: it does not exist. crds: those of the chart before and after.
    Source: fluxcd/helm-controller, internal/action/crds.go: without a policy, CRDs are created and not replaced.
    """
    there = {} if before is None else _by_name(crds[0])
    if before is not None and {_crds_policy(before, action) for action in ("install", "upgrade")} == {"Skip"}:
        there = {}
    brought = {} if after is None else _by_name(crds[1])
    policy = "Skip" if after is None else _crds_policy(after, "install" if before is None else "upgrade")
    then = {"Skip": there, "Create": {**brought, **there}, "CreateReplace": {**there, **brought}}[policy]
    return list(there.values()), list(then.values())


def _crds_policy(spec: Mapping[str, Any], action: str) -> str:
    return str((spec.get(action) or {}).get("crds", "Create"))


def _by_name(crds: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {each["metadata"]["name"]: each for each in crds if each["kind"] == "CustomResourceDefinition"}


def stable(one: Any, other: Any) -> Any:
    """The value that both renderings have in common, with a text in place of what differs."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return {key: stable(value, other[key]) for key, value in one.items()}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [stable(*pair) for pair in zip(one, other, strict=True)]
    return one if one == other else RANDOM


def _template(
    chart: Path,
    spec: Mapping[str, Any],
    app: Mapping[str, Any],
    programs: Mapping[str, tuple[str, ...]],
    cage: Cage,
    *,
    upgrade: bool,
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """The objects of the chart's directories `crds`, and those of its templates."""
    if "helm" not in programs:
        raise NotFetched("the command 'helm' is not installed", "install Helm")
    action = spec.get("upgrade" if upgrade else "install") or {}
    name, namespace = app["metadata"]["name"], app["metadata"].get("namespace", "default")
    values = chart.with_name("values.yaml")
    values.write_text(documents.write(spec.get("values") or {}))
    options = [
        f"--namespace={spec.get('targetNamespace', namespace)}",
        f"--values={values.name}",
        "--skip-tests",
        "--include-crds",
        *(["--is-upgrade"] if upgrade else []),
        *(["--no-hooks"] if action.get("disableHooks") else []),
    ]
    command = [*programs["helm"], "template", *options, "--", spec.get("releaseName", name), f"./{chart.name}"]
    try:
        text = cage.run(command, chart.parent, helm_variables(NOWHERE))
    except NotRendered as failed:
        raise NotRendered(f"helm: {_readable(str(failed), chart)}") from None
    begin = _FIRST_TEMPLATE.search(text)
    end = (begin.start() if begin else len(text)) if _CRDS_FIRST.match(text) else 0
    crds, templates = text[:end], text[end:]
    return documents.objects_of(documents.read_all(crds)), documents.objects_of(documents.read_all(templates))


_CRDS_FIRST = re.compile(rb"\s*---\n# Source: (?![^\n]*/templates/)[^\n]*/crds/")
_FIRST_TEMPLATE = re.compile(rb"^---\n# Source: [^\n]*/templates/", re.MULTILINE)
"""helm writes the CRDs of the directories `crds` first, if there are any, and this is where they end."""


def _write_values(chart: Path, root: Path, spec: Mapping[str, Any]) -> None:
    """Merge `valuesFiles` into the chart's own values, as source-controller does when it packages the chart."""
    names = spec.get("valuesFiles") or ()
    if not names:
        return
    merged: dict[str, Any] = {}
    for name in names:
        path = PurePosixPath(name)
        file = root / path
        if path.is_absolute() or ".." in path.parts:
            raise NotRendered(f"values file '{name}' leaves the source")
        if not file.is_file():
            if spec.get("ignoreMissingValuesFiles"):
                continue
            raise NotRendered(f"the source has no values file '{name}'")
        content = documents.read_file(file)
        merged = _merged(merged, content if isinstance(content, dict) else {})
    target = chart / "values.yaml"
    target.unlink(missing_ok=True)  # it is a hard link into the cache
    target.write_text(documents.write(merged))


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    both = {
        key: _merged(below[key], value)
        for key, value in above.items()
        if isinstance(value, dict) and isinstance(below.get(key), dict)
    }
    return {**below, **above, **both}


def _is_random(chart: Path) -> bool:
    """Whether a template may give another result each time. Packed charts within it are not searched, so they may."""
    files = (*chart.rglob("templates/**/*"), *chart.rglob("charts/*.tgz"))
    return any(file.suffix == ".tgz" or (file.is_file() and _RANDOM.search(file.read_bytes())) for file in files)


def _post_rendered(
    objects: list[Mapping[str, Any]], patches: Mapping[str, Any], programs: Mapping[str, tuple[str, ...]], cage: Cage
) -> list[Mapping[str, Any]]:
    if "kustomize" not in programs:
        raise NotFetched("the command 'kustomize' is not installed; the release has postRenderers", "install kustomize")
    if not objects:
        return objects
    kept = {key: patches[key] for key in ("patches", "images") if patches.get(key)}
    with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
        directory = Path(temporary, "release")
        directory.mkdir()
        (directory / "all.yaml").write_text(documents.write_all(objects))
        (directory / "kustomization.yaml").write_text(documents.write({"resources": ["all.yaml"], **kept}))
        return documents.objects_of(
            documents.read_all(kustomize.built(directory, directory, programs["kustomize"], cage))
        )


def _notes(spec: Mapping[str, Any]) -> list[str]:
    return [f"values of {each['kind']} '{each['name']}' are unknown here" for each in spec.get("valuesFrom") or ()]


def _readable(said: str, chart: Path) -> str:
    """Helm's message without temporary paths and the advice for its own command line."""
    lines = [line for line in said.splitlines() if line.strip() and "--debug" not in line]
    text = "\n".join(lines)
    for path in (str(chart.resolve()), str(chart), f"./{chart.name}"):
        text = text.replace(f"{path}/", "").replace(path, "the chart")
    return text
