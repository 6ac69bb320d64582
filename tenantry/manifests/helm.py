"""Renders a chart as helm-controller does, with `helm template`: without a cluster, plugins or the network."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from tenantry.manifests import artifact, documents, kustomize
from tenantry.manifests.cage import NOWHERE, Cage
from tenantry.manifests.charts import helm_variables
from tenantry.manifests.model import Inputs, NotFetched, NotRendered, Rendered

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
        objects = _template(copy, spec, inputs.app, programs, cage, upgrade=upgrade)
        if _is_random(copy):
            again = _template(copy, spec, inputs.app, programs, cage, upgrade=upgrade)
            objects = stable(objects, again) if len(objects) == len(again) else objects
    for renderer in spec.get("postRenderers") or ():
        objects = _post_rendered(objects, renderer.get("kustomize") or {}, programs, cage)
    return Rendered(tuple(objects), tuple(_notes(spec)))


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
) -> list[Mapping[str, Any]]:
    if "helm" not in programs:
        raise NotFetched("the command 'helm' is not installed", "install Helm")
    action = spec.get("upgrade" if upgrade else "install") or {}
    crds = action.get("crds", "Skip" if upgrade or action.get("skipCRDs") else "Create") != "Skip"
    name, namespace = app["metadata"]["name"], app["metadata"].get("namespace", "default")
    values = chart.with_name("values.yaml")
    values.write_text(documents.write(spec.get("values") or {}))
    options = [
        f"--namespace={spec.get('targetNamespace', namespace)}",
        f"--values={values.name}",
        "--skip-tests",
        *(["--include-crds"] if crds else []),
        *(["--is-upgrade"] if upgrade else []),
        *(["--no-hooks"] if action.get("disableHooks") else []),
    ]
    command = [*programs["helm"], "template", *options, "--", spec.get("releaseName", name), f"./{chart.name}"]
    try:
        text = cage.run(command, chart.parent, helm_variables(NOWHERE))
    except NotRendered as failed:
        raise NotRendered(f"helm: {_readable(str(failed), chart)}") from None
    return documents.objects_of(documents.read_all(text))


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
