"""What Flux, kustomize and Kubernetes parse only when they run is parsed before: a text is accepted, or has a message and a fix."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.flux.expressions import MOST_CHARACTERS
from tenantry.flux.texts import text_problems
from tests.table import table

CHECK = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "rocky"}


def found(kind: str, spec: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The code, the message and the fix of each problem."""
    return [(each.code, each.message, each.fix) for each in text_problems(kind, spec, ())]


@table(
    ("component", "message"),
    [
        ("../b", ""),
        ("./tls/v1.2", ""),
        ("../../b", "component '../../b' leaves the source"),
        ("/b", "component '/b' leaves the source"),
        ("github.com/org/repo", "component 'github.com/org/repo' could be the address of a repository"),
        ("git@host:repo", "component 'git@host:repo' could be the address of a repository"),
    ],
)
def test_a_component_stays_in_the_source(component: str, message: str) -> None:
    problems = found("Kustomization", {"path": "./a", "components": [component]})
    assert [(code, text) for code, text, _ in problems] == ([("bad-path", message)] if message else [])


@table(
    ("text", "message"),
    [
        *((text, "") for text in ("my-", "-v1.2", "system:", "${color}-")),
        *((text, f"no name of an object can have '{text}' in it") for text in ("My-", "my_", "a b")),
    ],
)
def test_an_affix_of_names_leaves_names(text: str, message: str) -> None:
    for key in ("namePrefix", "nameSuffix"):
        expected = [("bad-name", message, "write small letters, digits and '-'")] if message else []
        assert found("Kustomization", {key: text}) == expected


def health(text: str) -> list[tuple[str, str, str]]:
    entry = {"apiVersion": "example.com/v1", "kind": "Widget", "current": text}
    return found("HelmRelease", {"healthCheckExprs": [entry]})


@table(
    "text",
    [
        "status.phase == 'Ready'",
        "status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')",
        "status.observedGeneration == metadata.generation && has(status.conditions)",
        "status.ready",
        "data.ready == 'true'",
        "health.ready == true",  # a definition may have other fields at the top
        "1 == 1.0 || status.n > 2.5",
        "sets.contains(status.zones, ['a', 'b'])",
        "status.?phase.orValue('x') in ['Ready', 'Bound']",
        "status.url.matches('^https://[a-z]+$')",
        "status.names.map(n, n.replace('-', '_')).join(',').size() > 2",
    ],
)
def test_expressions_that_flux_takes(text: str) -> None:
    assert health(text) == []


EXAMPLE = "status.phase == 'Ready'"
YIELDS = "the expression has to yield true or false, and yields a value of type"


@table(
    ("text", "message", "fix"),
    [
        (
            "status.phase = 'Ready'",
            "this is no CEL expression: token recognition error at: '= ' (column 14)",
            f"write it as in {EXAMPLE}",
        ),
        (
            "status.a and status.b",
            "this is no CEL expression: mismatched input 'and' (column 10)",
            f"write it as in {EXAMPLE}",
        ),
        ("status.a &&", "this is no CEL expression: it ends too early (column 12)", f"write it as in {EXAMPLE}"),
        ("", "this is no CEL expression: it ends too early (column 1)", f"write it as in {EXAMPLE}"),
        ("statu.phase == 'x'", "'statu' is not known in this expression (column 6)", f"write it as in {EXAMPLE}"),
        (
            "self.status.ready",
            "'self' is not known in this expression (column 12)",
            f"write it as in {EXAMPLE}",
        ),
        (
            "sort(status.a) == 1",
            "'sort' is not known in this expression (column 5)",
            f"write it as in {EXAMPLE}",
        ),
        ("'Ready'", f"{YIELDS} string", f"compare it with something, as in {EXAMPLE}"),
        ("1 + 1", f"{YIELDS} int", f"compare it with something, as in {EXAMPLE}"),
        (
            "true || " * MOST_CHARACTERS + "true",
            "the expression has 16,004 characters, and at most 2,000 are taken",
            "shorten it",
        ),
        (
            "status.a.all(a, status.a.all(b, status.a.all(c, status.a.all(d, true))))",
            "more than 3 loops are nested in this expression, and Flux evaluates it without a limit",
            "write it with fewer of all, exists, exists_one, filter, map",
        ),
        (
            "status.a" + ".map(x, x + x + x + x + x)" * 6 + ".size() > 0",
            "this expression can make a value 15,625 times as long, and Flux evaluates it without a limit of memory",
            "use fewer of map, replace, join, format, at most 1,000 times in all",
        ),
        (
            f"status.a.replace('a', '{'b' * 40}').replace('b', '{'c' * 40}') == ''",
            "this expression can make a value 1,681 times as long, and Flux evaluates it without a limit of memory",
            "use fewer of map, replace, join, format, at most 1,000 times in all",
        ),
    ],
)
def test_expressions_that_flux_cannot_evaluate(text: str, message: str, fix: str) -> None:
    assert health(text) == [("bad-expression", message, fix)]


@table(
    ("kind", "spec", "message"),
    [
        (
            "Provider",
            {"commitStatusExpr": "'a/' + event.involvedObject.name + alert.metadata.name + provider.metadata.name"},
            "",
        ),
        ("Provider", {"commitStatusExpr": "string(event.reason)"}, ""),
        (
            "Provider",
            {"commitStatusExpr": "event.reason"},
            "the expression has to yield a text, and yields what may be anything",
        ),
        ("Provider", {"commitStatusExpr": "status.x"}, "'status' is not known in this expression (column 7)"),
        ("Receiver", {"type": "gitlab", "resourceFilter": "req.name == res.metadata.name"}, ""),
        (
            "Receiver",
            {"type": "gitlab", "resourceFilter": "claims.sub == 'a'"},
            "'claims' is not known in this expression (column 7)",
        ),
        ("Receiver", {"type": "generic-oidc", "resourceFilter": "claims.sub == 'a'"}, ""),
        (
            "Receiver",
            {"type": "gitlab", "resourceFilter": "req.ok"},
            "the expression has to yield true or false, and yields what may be anything",
        ),
        ("Receiver", {"oidcProviders": [{"variables": [{"expression": "claims.sub"}]}]}, ""),
        (
            "Receiver",
            {"oidcProviders": [{"validations": [{"expression": "vars.sub"}]}]},
            "the expression has to yield true or false, and yields what may be anything",
        ),
    ],
)
def test_each_expression_has_the_variables_and_the_type_that_its_controller_declares(
    kind: str, spec: dict[str, Any], message: str
) -> None:
    assert [each for _, each, _ in found(kind, spec)] == ([message] if message else [])


@table(
    "text",
    [".*", "waiting.*socket", "a{2}", "a{{b", "{x}", r"\pL+", "(?i)error", "(?P<name>x)", "[[:alpha:]]", "web|api"],
)
def test_regular_expressions_of_go(text: str) -> None:
    assert found("Alert", {"inclusionList": [text], "exclusionList": [text]}) == []


RE2 = (
    "Flux takes RE2, without look-around and back references; '.*' is any text, and '\\' stands before a plain bracket"
)


@table(
    ("text", "why"),
    [
        ("(?!x)", "invalid perl operator: (?!"),
        ("(?<=x)y", "invalid perl operator: (?<="),
        (r"(a)\1", r"invalid escape sequence: \1"),
        ("[a", "missing ]: [a"),
        ("a(", "missing ): a("),
        ("a++", "bad repetition operator: ++"),
        (r"x\C", "it does not compile"),
        ("*.web", "no argument for repetition operator: *"),
    ],
)
def test_regular_expressions_of_other_languages(text: str, why: str) -> None:
    expected = ("bad-pattern", f"'{text}' is no regular expression of Go: {why}", RE2)
    assert found("Alert", {"exclusionList": [text]}) == [expected]
    for kind, spec in (
        ("OCIRepository", {"ref": {"semverFilter": text}}),
        ("OCIRepository", {"verify": {"matchOIDCIdentity": [{"issuer": text}]}}),
        ("HelmChart", {"verify": {"matchOIDCIdentity": [{"subject": text}]}}),
        ("Kustomization", {"patches": [{"target": {"name": text}}]}),
        ("HelmRelease", {"driftDetection": {"ignore": [{"target": {"namespace": text}}]}}),
    ):
        assert found(kind, spec) == [expected]


POINTER = "write it as in '/spec/ports/0/port', with '~1' for '/' in a key and '~0' for '~'"


def ignoring(path: str) -> list[tuple[str, str, str]]:
    problems = found("HelmRelease", {"driftDetection": {"ignore": [{"paths": [path]}]}})
    assert problems == found("Kustomization", {"ignore": [{"paths": [path]}]})
    return problems


@table(
    "path",
    [
        "",
        "/spec/replicas",
        "/metadata/annotations/example.com~1key",
        "/spec/containers/0/image",
        "/data/a~0b",
        "/metadata/labels",
    ],
)
def test_json_pointers(path: str) -> None:
    assert ignoring(path) == []


@table(
    ("path", "message"),
    [
        ("spec/replicas", "is no JSON pointer"),
        (".spec.replicas", "is no JSON pointer"),
        ("$.spec.ports[0].port", "is no JSON pointer"),
        ("/data/a~b", "is no JSON pointer"),
        ("/spec/ports/*/port", "leads nowhere: a JSON pointer has no wildcards"),
        ("/spec/ports[1]/port", "leads nowhere: a JSON pointer has no brackets"),
        ("/metadata/annotations/example.com/key", "leads nowhere: a '/' in a key is '~1'"),
    ],
)
def test_what_is_no_json_pointer(path: str, message: str) -> None:
    assert ignoring(path) == [("bad-pointer", f"'{path}' {message}", POINTER)]


def selecting(text: str) -> list[tuple[str, str, str]]:
    problems = found("HelmRelease", {"driftDetection": {"ignore": [{"target": {"labelSelector": text}}]}})
    assert problems == found("Kustomization", {"patches": [{"target": {"annotationSelector": text}}]})
    return problems


@table(
    "text",
    [
        "",
        "tier=web",
        "a==b,c!=d",
        "env in (dev, test),tier notin (x),!old,here",
        "example.com/tier = web",
        "n > 3",
        "a=",
    ],
)
def test_label_selectors(text: str) -> None:
    assert selecting(text) == []


KUBECTL = "write it as for kubectl, such as 'tier=web,env in (dev,test),!old'"


@table(
    ("text", "message", "fix"),
    [
        ("tier: web", "'tier: web' is no label selector", KUBECTL),
        ("tier=web;env=dev", "'tier=web;env=dev' is no label selector", KUBECTL),
        ("tier in web", "'tier in web' is no label selector", KUBECTL),
        ("tier=web,", "'tier=web,' is no label selector", KUBECTL),
        (
            "a/b=c/d",
            "'c/d' in a selector is not a valid label value (letters, digits, '-', '_', '.', at most 63)",
            KUBECTL,
        ),
        ("-a=b", "'-a' in a selector is not a valid label key ([prefix/]name)", KUBECTL),
    ],
)
def test_what_is_no_label_selector(text: str, message: str, fix: str) -> None:
    assert selecting(text) == [("bad-selector", message, fix)]


MERGE = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n"
WEB = {"kind": "Deployment", "name": "web"}


def patching(text: str, target: dict[str, str] | None = None) -> list[tuple[str, str]]:
    entry: dict[str, Any] = {"patch": text, **({"target": target} if target else {})}
    problems = found("Kustomization", {"patches": [entry]})
    assert problems == found("HelmRelease", {"postRenderers": [{"kustomize": {"patches": [entry]}}]})
    assert {code for code, _, _ in problems} <= {"bad-patch"}
    return [(message, fix) for _, message, fix in problems]


@table(
    ("text", "target"),
    [
        (MERGE, None),
        (MERGE, WEB),
        (f"{MERGE}---\n{MERGE}", None),
        (MERGE.replace("spec: {replicas: 2}", "$patch: delete"), None),
        ("[{op: replace, path: /spec/replicas, value: 2}, {op: remove, path: /a/-}]", WEB),
        ('[{"op": "move", "from": "/a", "path": "/b"}, {"op": "test", "path": "/c", "value": null}]', WEB),
    ],
)
def test_patches_that_kustomize_takes(text: str, target: dict[str, str] | None) -> None:
    assert patching(text, target) == []


@table(
    ("text", "target", "message", "fix"),
    [
        (
            "a: b: c",
            None,
            "the patch is no YAML (its line 1): mapping values are not allowed in this context",
            "correct the text, which is a file of its own",
        ),
        ("", None, "the patch is empty", "write a patch, or remove the entry"),
        (
            "replicas",
            None,
            "the patch is neither a mapping nor a list of operations",
            "write the fields of an object, or a list such as [{op: replace, path: /spec/replicas, value: 2}]",
        ),
        (
            "[{op: remove, path: /a}]",
            None,
            "a list of operations names no object, and this patch has no 'target:'",
            "write 'target:' beside it, such as {kind: Deployment, name: NAME}",
        ),
        ("{op: remove, path: /a}", WEB, "the patch is a single operation, and no list of them", "begin it with '- '"),
        (
            "[{op: set, path: /a, value: 1}]",
            WEB,
            "operation 1 of the patch has the unknown op 'set'",
            "write one of add, replace, test, remove, move, copy",
        ),
        (
            "[{path: /a}]",
            WEB,
            "operation 1 of the patch has no 'op'",
            "write one of add, replace, test, remove, move, copy",
        ),
        (
            "[{op: remove}]",
            WEB,
            "operation 1 of the patch has no 'path'",
            "add 'path:'",
        ),
        ("[{op: add, path: /a}]", WEB, "operation 1 of the patch has no 'value'", "add 'value:'"),
        ("[{op: copy, path: /a}]", WEB, "operation 1 of the patch has no 'from'", "add 'from:'"),
        (
            "[remove]",
            WEB,
            "operation 1 of the patch is no mapping",
            "write {op: replace, path: /spec/replicas, value: 2}",
        ),
        (
            "[{op: remove, path: spec/replicas}]",
            WEB,
            "operation 1 of the patch: 'spec/replicas' is no JSON pointer",
            POINTER,
        ),
        (
            "spec: {replicas: 2}",
            None,
            "the patch has no apiVersion, kind, metadata.name: kustomize finds the object by them",
            "add apiVersion, kind and metadata.name of the object, or a 'target:'",
        ),
        (
            "{kind: Deployment, spec: {replicas: 2}}",
            WEB,
            "the patch has no metadata.name: kustomize wants them with a target, too",
            "add apiVersion, kind and metadata.name of the object (any name)",
        ),
    ],
)
def test_patches_that_kustomize_refuses(text: str, target: dict[str, str] | None, message: str, fix: str) -> None:
    assert patching(text, target) == [(message, fix)]


@table(
    ("image", "message", "fix"),
    [
        ({"newTag": "1.2", "newName": "host:5000/web"}, "", ""),
        ({"newTag": "${TAG}", "digest": "${DIGEST}"}, "", ""),
        ({"digest": f"sha256:{'0' * 64}"}, "", ""),
        ({"newTag": "a b"}, "'a b' is no tag of an image", "write letters, digits, '_', '.' and '-'"),
        ({"digest": "sha256:abc"}, "'sha256:abc' is no digest", "write 'sha256:' and the 64 digits of the image"),
        (
            {"newName": "host:5000/web:1.2"},
            "'host:5000/web:1.2' has a tag or a digest of its own, and the image would get two",
            "write 'newName: host:5000/web', and 'newTag:' beside it",
        ),
    ],
)
def test_images(image: dict[str, str], message: str, fix: str) -> None:
    images = [{"name": "web", **image}]
    problems = found("Kustomization", {"images": images})
    assert problems == ([("bad-image", message, fix)] if message else [])
    assert problems == found("HelmRelease", {"postRenderers": [{"kustomize": {"images": images}}]})


@table(
    ("changes", "message", "fix"),
    [
        ({}, "", ""),
        ({"apiVersion": ""}, "", ""),
        ({"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "namespace": ""}, "", ""),
        ({"apiVersion": "networking.k8s.io/v1beta1", "kind": "IPAddress", "namespace": ""}, "", ""),
        ({"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler"}, "", ""),
        ({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "name": "system:x"}, "", ""),
        ({"kind": "deployments.apps"}, "'deployments.apps' is no kind, and matches no object", "write 'Deployment'"),
        ({"kind": "statefulsets"}, "'statefulsets' is no kind, and matches no object", "write 'StatefulSet'"),
        (
            {"apiVersion": "cert-manager.io/v1", "kind": "certificates"},
            "'certificates' is no kind, and matches no object",
            "write it as in a manifest, such as 'Deployment', and the group in 'apiVersion'",
        ),
        ({"kind": "Deployments"}, "Kubernetes has no kind 'Deployments' in apps/v1", "write 'Deployment'"),
        ({"apiVersion": "apps"}, "'apps' is no group and version", "write 'apps/v1'"),
        ({"apiVersion": "v1"}, "Kubernetes has no Deployment in v1", "write 'apps/v1'"),
        ({"apiVersion": "apps/v1beta1"}, "Kubernetes has no Deployment in apps/v1beta1", "write 'apps/v1'"),
        ({"kind": "Pod"}, "Kubernetes has no Pod in apps/v1", "write 'v1'"),
        (
            {"apiVersion": "networking.k8s.io/v1", "kind": "Ingres"},
            "Kubernetes has no kind 'Ingres' in networking.k8s.io/v1",
            "write 'Ingress'",
        ),
        (
            {"apiVersion": "helm.toolkit.fluxcd.io/v2beta1", "kind": "HelmRelease"},
            "Flux 2.9 has no HelmRelease in helm.toolkit.fluxcd.io/v2beta1",
            "write 'helm.toolkit.fluxcd.io/v2'",
        ),
        (
            {"name": "*"},
            "'*' is no name of an object: a health check has no patterns",
            "name one object, or write 'wait: true' instead, which waits for all that is applied",
        ),
        (
            {"namespace": ""},
            "Deployment 'web' of this health check has no namespace, and Flux takes none from 'targetNamespace'",
            "add 'namespace: rocky'",
        ),
    ],
)
def test_health_checks(changes: dict[str, str], message: str, fix: str) -> None:
    check = {key: value for key, value in {**CHECK, **changes}.items() if value}
    spec = {"healthChecks": [check], "targetNamespace": "rocky", "wait": False}
    assert [each[1:] for each in found("Kustomization", spec)] == ([(message, fix)] if message else [])
    assert found("Kustomization", {**spec, "wait": True}) == []  # Flux does not look at them


@table(
    ("target", "message", "fix"),
    [
        ({"kind": "Deployment|StatefulSet"}, "", ""),
        ({"kind": ".*WebhookConfiguration"}, "", ""),
        ({"kind": "Certificate", "group": "cert-manager.io"}, "", ""),
        ({"kind": "Deployment", "group": "apps", "version": "v1"}, "", ""),
        ({"kind": "Deployment", "group": ".*"}, "", ""),
        ({"kind": "Deployment", "group": ""}, "", ""),
        ({"kind": "Role", "group": "iam.aws.crossplane.io"}, "", ""),
        ({"kind": "Service", "group": "serving.knative.dev", "version": "v1"}, "", ""),
        ({"kind": "Bucket", "version": "v1beta1"}, "", ""),
        ({"kind": "deployment"}, "'deployment' is no kind, and matches no object", "write 'Deployment'"),
        (
            {"kind": "sts"},
            "'sts' is no kind, and matches no object",
            "write it as in a manifest, such as 'Deployment', and the group in 'apiVersion'",
        ),
        (
            {"kind": "Deployment|statefulsets"},
            "'statefulsets' is no kind, and matches no object",
            "write 'StatefulSet'",
        ),
        (
            {"kind": "Deployment", "group": "apps/v1"},
            "'apps/v1' is no group of an object",
            "write 'group: apps' and 'version: v1'",
        ),
        (
            {"kind": "Deployment", "group": "extensions"},
            "group 'extensions' has no kind 'Deployment'",
            "write 'group: apps'",
        ),
        (
            {"kind": "Bucket", "group": "source.toolkit.fluxcd.io", "version": "v1beta2"},
            "no cluster serves Bucket in version 'v1beta2'",
            "write 'version: v1'",
        ),
        ({"kind": "Service", "group": "core"}, "group 'core' has no kind 'Service'", "remove 'group'"),
        (
            {"kind": "CronJob", "version": "v1beta1"},
            "no cluster serves CronJob in version 'v1beta1'",
            "write 'version: v1'",
        ),
    ],
)
def test_targets(target: dict[str, str], message: str, fix: str) -> None:
    problems = found("Kustomization", {"patches": [{"target": target}]})
    assert problems == found("HelmRelease", {"driftDetection": {"ignore": [{"target": target}]}})
    assert [each[1:] for each in problems] == ([(message, fix)] if message else [])


def test_an_expression_for_health_is_of_a_kind_that_a_cluster_can_have() -> None:
    old = {"apiVersion": "helm.toolkit.fluxcd.io/v2beta2", "kind": "HelmRelease", "current": "status.ready"}
    (problem,) = text_problems("Kustomization", {"healthCheckExprs": [old]}, ("spec",))
    assert problem.path == ("spec", "healthCheckExprs", 0, "apiVersion")
    assert (
        found("Kustomization", {"healthCheckExprs": [{"apiVersion": "example.com/v1", "current": "status.ready"}]})
        == []
    )


@pytest.mark.parametrize(
    "text", ["[" * 50_000, "{a: " * 50_000, "- " * 60_000, "".join(f"{' ' * n}a:\n" for n in range(900))]
)
def test_a_patch_that_is_nested_without_end_is_refused(text: str) -> None:
    assert patching(text) == [("the patch is nested deeper than 100 levels", "write it with fewer levels")]


def test_an_expression_that_is_nested_without_end_is_refused() -> None:
    assert [code for code, _, _ in health("(" * 900 + "true" + ")" * 900)] == ["bad-expression"]
