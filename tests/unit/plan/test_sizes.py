"""An object that no API server takes is an error of the file, at its place, whoever wrote it. It would stop everybody's run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.load import load_fleet, plan_all
from tenantry.messages.errors import InvalidFleet

MAIN = """\
apiVersion: tenantry/v1
include: [rocky.yaml]
environments: {dev: {management: hub, variables: {long: "%s"}}}
clusters:
  hub: {environments: [dev]}
  edge: {environments: [dev], kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
defaults:
  clusters: {names: [%s]}
  grants:
    sources: ["https://git.example.com/{tenant}/*"]
    settings: [quota, limits, namespaces, network]
tenants: {rocky: {%s}}
"""
GIT = "sources: {m: {git: {url: https://git.example.com/rocky/m, ref: {branch: main}}%s}}"
WEB = "apps: {web: {kustomize: {source: m}}}"
CONFIG = "apps: {web: {kustomize: {source: m, postBuild: {substituteFrom: [{kind: ConfigMap, name: c}]}}}}"


def problems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: str, *own: str, frame: str = ""
) -> list[tuple[str, str]]:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(MAIN % ("x" * 60_000, cluster, frame))
    Path("rocky.yaml").write_text("tenants:\n  rocky:\n" + "".join(f"    {each}\n" for each in own))
    with pytest.raises(InvalidFleet) as caught:
        plan_all(load_fleet(Path("tenants.yaml")))
    return [(str(each.location), each.code) for each in caught.value.diagnostics]


HUGE = "x" * 300_000


@pytest.mark.parametrize("cluster", ["hub", "edge"])
@pytest.mark.parametrize(
    ("own", "place", "code"),
    [
        ([f"configs: {{c: {{data: {{A: {'x' * 1_100_000}}}}}}}", GIT % "", CONFIG], "rocky.yaml:3:15", "too-large"),
        # Twenty times 60,000 characters, by a placeholder.
        ([f"configs: {{c: {{data: {{A: '{'{long}' * 20}'}}}}}}", GIT % "", CONFIG], "rocky.yaml:3:15", "too-large"),
        (
            [GIT % "", f"apps: {{web: {{kustomize: {{source: m, patches: [{{patch: {'x' * 1_500_000}}}]}}}}}}"],
            "rocky.yaml:4:12",
            "too-large",
        ),
        (["quota: {pods: 500m}", GIT % "", WEB], "rocky.yaml:3:19", "bad-quantity"),
        (["quota: {foo: 1}", GIT % "", WEB], "rocky.yaml:3:13", "bad-resource"),
        (["quota: {requests.cpu: '1e99999999999'}", GIT % "", WEB], "rocky.yaml:3:27", "bad-quantity"),
        (["limits: {default: {cpu: 4}, max: {cpu: 2}}", GIT % "", WEB], "rocky.yaml:3:29", "bad-limits"),
        (
            ["namespaces: {jobs: {limits: {min: {cpu: 4}, max: {cpu: 2}}}}", GIT % "", WEB],
            "rocky.yaml:3:45",
            "bad-limits",
        ),
    ],
    ids=lambda value: None if isinstance(value, list) else value,
)
def test_what_no_api_server_takes_is_an_error_of_the_file(
    own: list[str], place: str, code: str, cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert problems(tmp_path, monkeypatch, cluster, *own) == [(place, code)]


_MADE = f"{{annotations: {{a.example.com/x: {HUGE}}}}}"


@pytest.mark.parametrize("cluster", ["hub", "edge"])
@pytest.mark.parametrize(
    "frame",
    [
        _MADE[1:-1],
        f"namespaces: {{jobs: {_MADE}}}",
        (GIT % f", metadata: {_MADE}").replace("m:", "n:", 1) + ", apps: {n: {kustomize: {source: n}}}",
        (GIT % "").replace("m:", "n:", 1) + f", apps: {{n: {{metadata: {_MADE}, kustomize: {{source: n}}}}}}",
    ],
    ids=["namespace", "extra namespace", "source", "app"],
)
def test_annotations_that_no_api_server_takes_are_an_error_of_the_main_file(
    frame: str, cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((place, code),) = problems(tmp_path, monkeypatch, cluster, GIT % "", WEB, frame=frame)
    assert (place.partition(":")[0], code) == ("tenants.yaml", "too-large")
