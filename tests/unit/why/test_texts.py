"""What Flux, Helm and Kubernetes say, in one line."""

from __future__ import annotations

from tenantry.why import texts
from tests.table import table

USER = 'User "system:serviceaccount:kamaji:rocky" cannot create resource "clusterroles" in API group "rbac.authorization.k8s.io"'
POLICY = "ValidatingAdmissionPolicy 'no-latest' with binding 'all' denied request: write a tag"


@table(
    ("message", "kind", "text"),
    [
        (
            'Error creating: pods "a" is forbidden: exceeded quota: tenantry, requested: pods=1,requests.cpu=1, used: pods=2,'
            "requests.cpu=7, limited: pods=2,requests.cpu=7500m",
            texts.QUOTA,
            "quota 'tenantry' is used up: pods 2 of 2, 1 more wanted, requests.cpu 7 of 7500m, 1 more wanted",
        ),
        (
            'Deployment/rocky/web dry-run failed: pods "a" is forbidden: exceeded quota: tenantry, requested: pods=1, used:'
            " pods=20, limited: pods=20:, retrying",
            texts.QUOTA,
            "quota 'tenantry' is used up: pods 20 of 20, 1 more wanted",
        ),
        (
            'pods "a" is forbidden: failed quota: tenantry: must specify limits.cpu for: web',
            texts.QUOTA,
            "quota 'tenantry' wants that containers specify limits.cpu",
        ),
        (
            'pods "a" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi',
            texts.LIMIT,
            "a LimitRange refuses it: maximum memory usage per Container is 1Gi, but limit is 2Gi",
        ),
        (
            'ClusterRole/x dry-run failed (Forbidden): clusterroles "x" is forbidden: '
            + USER
            + " at the cluster scope",
            texts.RIGHT,
            "account 'rocky' has no right to create clusterroles.rbac.authorization.k8s.io outside of namespaces",
        ),
        (
            'pods is forbidden: User "system:serviceaccount:rocky:rocky" cannot list resource "pods" in API group ""'
            ' in the namespace "x"',
            texts.RIGHT,
            "account 'rocky' has no right to list pods in namespace x",
        ),
        (
            f"Deployment/rocky/web dry-run failed: {POLICY}",
            texts.ADMISSION,
            "policy 'no-latest' refuses it: write a tag",
        ),
        (
            'admission webhook "image.example.com" denied the request: not signed',
            texts.ADMISSION,
            "admission webhook 'image.example.com' refuses it: not signed",
        ),
        (
            'pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true',
            texts.ADMISSION,
            "the namespace's pod security 'restricted:latest' refuses it: runAsNonRoot != true",
        ),
        (
            "kustomization path not found: stat /tmp/x: no such file",
            texts.PATH,
            "the path does not exist in the source",
        ),
        (
            "ConfigMap/rocky/web dry-run failed: failed to get server groups: dial tcp: connect: connection refused",
            texts.CONNECTION,
            "connection refused",
        ),
        (
            'Service/rocky/web dry-run failed (Invalid): Service "web" is invalid: spec.ports: Required value',
            texts.INVALID,
            'the API server refuses Service/rocky/web: Service "web" is invalid: spec.ports: Required value',
        ),
        ("path './shop' does not exist in the source", texts.PATH, "the path does not exist in the source"),
        ("what it applied was not ready within 5m; Flux tries again", texts.HEALTH, ""),
        ("Reconciliation in progress", texts.HEALTH, ""),
        ("client rate limiter Wait returned an error: rate: Wait(n=1) would exceed context deadline", texts.HEALTH, ""),
        ("Running 'upgrade' action with timeout of 5m0s", texts.HEALTH, ""),
        (
            "health check failed after 30s: timeout waiting for: [Deployment/rocky/web status: 'InProgress']",
            texts.HEALTH,
            "",
        ),
    ],
)
def test_a_message_is_recognized(message: str, kind: str, text: str) -> None:
    assert texts.recognized(message) == (kind, text)


def test_another_message_is_not() -> None:
    assert texts.recognized("Applied revision: main@sha1:1") is None
