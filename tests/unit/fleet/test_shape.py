"""Data against the model: what the author is told when the two do not fit."""

from __future__ import annotations

import re

from tenantry.fleet.shape import check_shape
from tenantry.source.parse import parse
from tests.table import table
from tests.unit.texts import FRAME, problems, rocky, told

TENANT = FRAME + "tenants:\n  rocky:\n"
APP = "web: {{kustomize: {{source: manifests, {}}}}}"


def test_an_unknown_key_is_refused_with_the_closest_known_one() -> None:
    expected = told(
        "tenants.yaml:10:5: error[unknown-key]: key 'rol' is not known here",
        "  at tenants.rocky.rol",
        "  fix: write 'role'",
        "Found 1 error",
    )
    assert expected == problems(TENANT + "    rol: x\n")


def test_an_unknown_key_that_resembles_none_is_to_be_removed() -> None:
    expected = told(
        "tenants.yaml:10:14: error[unknown-key]: key 'zzz' is not known here",
        "  at tenants.rocky.limits.zzz",
        "  known: default, defaultRequest, max, min",
        "  fix: remove it",
        "Found 1 error",
    )
    assert expected == problems(TENANT + "    limits: {zzz: {}}\n")


@table("key", ["[key]", "function-after"])
def test_a_key_that_looks_like_a_mark_of_pydantic_is_an_unknown_key(key: str) -> None:
    expected = told(
        f"tenants.yaml:8:1: error[unknown-key]: key '{key}' is not known here",
        f"  at {key}",
        "  known: apiVersion, clusters, defaults, environments, include, platform,",
        "    templates, tenants",
        f"  fix: {FIXES.get(key, 'remove it')}",
        "Found 1 error",
    )
    assert expected == problems(FRAME + f"'{key}': 1\n")


FIXES = dict.fromkeys(("chartRef", "sourceRef"), "write 'source: NAME'") | {"dependsOn": "remove it"}


@table(
    ("kind", "key", "reason"),
    [
        ("kustomize", "sourceRef", "the fleet sets it from 'source'"),
        ("kustomize", "kubeConfig", "the fleet sets it for each cluster the app is placed on"),
        (
            "kustomize",
            "serviceAccountName",
            "the fleet sets it: apps run as their tenant's service account, add-ons as the platform's",
        ),
        ("helm", "chartRef", "the fleet sets it from 'source', 'chart' and 'version'"),
        ("helm", "sourceRef", "the fleet sets it from 'source'"),
        ("helm", "kubeConfig", "the fleet sets it for each cluster the app is placed on"),
        (
            "helm",
            "serviceAccountName",
            "the fleet sets it: apps run as their tenant's service account, add-ons as the platform's",
        ),
    ],
)
def test_a_key_that_the_fleet_owns_is_refused_with_the_reason(kind: str, key: str, reason: str) -> None:
    expected = told(
        f"tenants.yaml:15:{16 + len(kind)}: error[owned-key]: key '{key}' cannot be set: {reason}",
        f"  at tenants.rocky.apps.web.{kind}.{key}",
        f"  fix: {FIXES.get(key, 'remove it')}",
        "Found 1 error",
    )
    assert expected == problems(rocky(f"web: {{{kind}: {{{key}: x}}}}"))


@table("role", ["a/b", "../../../outside", "100%"])
def test_a_role_that_would_be_a_path_is_refused_because_files_and_bindings_are_named_by_it(role: str) -> None:
    expected = told(
        f"tenants.yaml:10:11: error[bad-role]: role '{role}' must be the name of a ClusterRole,"
        " which holds no '/' and no '%'",
        "  at tenants.rocky.role",
        "Found 1 error",
    )
    assert expected == problems(TENANT + f"    role: {role}\n")


@table("name", ["Edge.example.com", "a..b", "edge_1"])
def test_a_kubeconfig_secret_whose_name_no_secret_has_is_refused(name: str) -> None:
    secret = f"{{secret: {{name: {name}, namespace: n, key: k}}}}"
    expected = told(
        f"tenants.yaml:6:81: error[bad-name]: name '{name}' must be lower-case letters, digits, '-' and '.',"
        " starting and ending with a letter or digit",
        "  at clusters.edge.kubeconfig.secret.name",
        "Found 1 error",
    )
    assert expected == problems(FRAME.replace("{kamaji: {controlPlane: edge, namespace: kamaji}}", secret))


def test_an_owned_key_is_refused_in_an_override_too() -> None:
    text = rocky(
        "web: {kustomize: {source: manifests}, overrides: [{when: {clusters: {names: [hub]}}, kustomize: {kubeConfig: {}}}]}"
    )
    assert "error[owned-key]: key 'kubeConfig' cannot be set" in problems(text)


@table(
    ("text", "column", "path", "message"),
    [
        ("role: 5", 11, "role", "wrong-type]: expected a string, found the number 5\n  at {}\n  fix: put it in quotes"),
        ("role: true", 11, "role", "wrong-type]: expected a string, found true\n  at {}\n  fix: put it in quotes"),
        ("role: ''", 11, "role", "empty]: an empty string is not allowed here\n  at {}"),
        (
            "interval: {}",
            15,
            "interval",
            "wrong-type]: expected a string, found a mapping\n  at {}\n  fix: write one text, such as a name",
        ),
        (
            "role: {tenant}",
            11,
            "role",
            'wrong-type]: expected a string, found a mapping\n  at {}\n  fix: put a placeholder in quotes: "{{tenant}}"',
        ),
        (
            "sources: [a]",
            14,
            "sources",
            "wrong-type]: expected a mapping, found a list\n  at {}\n  fix: write a mapping, such as {{NAME: ...}}",
        ),
        (
            "namespaces: [jobs, tests]",
            17,
            "namespaces",
            "wrong-type]: expected a mapping, found a list\n  at {}\n  fix: write a mapping, such as {{NAME: ...}}",
        ),
        (
            "sources:",
            13,
            "sources",
            "wrong-type]: expected a mapping, found nothing\n  at {}\n  fix: remove the key, or give it a value",
        ),
        (
            "apps: x",
            11,
            "apps",
            "wrong-type]: expected a mapping, found a string\n  at {}\n  fix: write a mapping, such as {{NAME: ...}}",
        ),
        (
            "network: closed",
            14,
            "network",
            "bad-value]: 'closed' is not a valid network setting\n  at {}\n  fix: write isolated, strict or open",
        ),
        (
            "clusters: {all: false}",
            21,
            "clusters.all",
            "bad-value]: false is not allowed here\n  at {}\n  allowed: true\n  fix: write true, or remove the key",
        ),
        (
            "clusters: {labels: {}}",
            24,
            "clusters.labels",
            "empty]: at least one entry is needed\n  at {}\n  fix: add an entry, or remove the key if it is optional",
        ),
        (
            "clusters: {}",
            15,
            "clusters",
            "choose-one]: 'clusters:' needs exactly one of 'names:', 'labels:' or 'all:'; it has none\n  at {}\n"
            "  fix: add one of them",
        ),
        (
            "clusters: {all: true, names: []}",
            27,
            "clusters.names",
            "choose-one]: 'clusters:' needs exactly one of 'names:', 'labels:' or 'all:'; it has 'names:' and 'all:'\n  at {}\n"
            "  fix: keep one of them",
        ),
        (
            "quota: {'a b': 1}",
            13,
            "quota.a b",
            "bad-resource]: resource 'a b' is not a resource that a quota can limit, such as 'pods' or 'requests.cpu'\n  at {}\n"
            "  fix: write a resource such as 'pods', 'requests.cpu' or 'limits.memory'",
        ),
        (
            "quota: {pods: many}",
            19,
            "quota.pods",
            "bad-quantity]: 'many' is not a valid quantity\n  at {}\n  fix: write it as '4', '500m' or '8Gi'",
        ),
        ("labels: {-: x}", 14, "labels.-", "bad-label]: label '-' is not a valid label key ([prefix/]name)\n  at {}"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_at_its_place(text: str, column: int, path: str, message: str) -> None:
    expected = f"tenants.yaml:10:{column}: error[{message.format(f'tenants.rocky.{path}')}\nFound 1 error\n"
    assert expected == problems(f"{TENANT}    {text}\n")


@table(
    ("field", "column", "message"),
    [
        (
            "prune: 'no'",
            51,
            "wrong-type]: expected true or false, found a string\n  at {}.prune\n  fix: write true or false, without quotes",
        ),
        (
            "deletionPolicy: delete",
            60,
            "bad-value]: 'delete' is not allowed here\n"
            "  at {}.deletionPolicy\n"
            "  allowed: MirrorPrune, Delete, WaitForTermination, Orphan\n"
            "  fix: write 'Delete'",
        ),
        (
            "path: ../x",
            50,
            "bad-path]: path '../x' leaves the source\n  at {}.path\n  fix: write a path from the source's root, such as './web'",
        ),
        ("images: [{}]", 53, "missing-key]: key 'name' is missing\n  at {}.images[0]\n  fix: add 'name:'"),
        (
            "postBuild: {substitute: {A-B: x}}",
            69,
            "bad-value]: 'A-B' does not match ^[_A-Za-z][_A-Za-z0-9]*$\n  at {}.postBuild.substitute.A-B",
        ),
        (
            "postBuild: {substitute: {VERSION: 1.10}}",
            78,
            "wrong-type]: expected a string, found the number 1.1\n"
            "  at {}.postBuild.substitute.VERSION\n"
            "  fix: put it in quotes: without them 1.10 is read as 1.1",
        ),
    ],
)
def test_a_field_of_an_app_that_does_not_fit_is_refused_at_its_place(field: str, column: int, message: str) -> None:
    expected = f"tenants.yaml:15:{column}: error[{message.format('tenants.rocky.apps.web.kustomize')}\nFound 1 error\n"
    assert expected == problems(rocky(APP.format(field)))


def test_mistakes_of_several_entries_are_named_in_one_run_and_the_rest_is_checked() -> None:
    apps = """
        both: {kustomize: {source: manifests}, helm: {}}
        none: {}
        Bad_Name: {kustomize: {}}
        lost: {kustomize: {source: nope}}
        lame: {kustomize: {source: broken}, dependsOn: [both]}
    """
    text = rocky(apps).replace("      charts:", "      broken: {git: {url: x}}\n      charts:")
    expected = told(
        "tenants.yaml:12:21: error[missing-key]: key 'ref' is missing",
        "  at tenants.rocky.sources.broken.git",
        "  fix: add 'ref: {branch: main}'",
        "tenants.yaml:16:46: error[choose-one]: app 'both' needs either 'kustomize:' or 'helm:'; it has both",
        "  at tenants.rocky.apps.both.helm",
        "  fix: keep one of them",
        "tenants.yaml:17:13: error[choose-one]: app 'none' needs either 'kustomize:' or 'helm:'; it has neither",
        "  at tenants.rocky.apps.none",
        "  fix: add one of them",
        "tenants.yaml:18:7: error[bad-name]: name 'Bad_Name' must be lower-case letters, digits and '-', starting and ending"
        " with a letter or digit",
        "  at tenants.rocky.apps.Bad_Name",
        "  fix: write a name such as 'team-1'",
        "tenants.yaml:19:34: error[unknown-source]: app 'lost' of tenant 'rocky' names source 'nope', which is"
        " not declared",
        "  at tenants.rocky.apps.lost.kustomize.source",
        "  declared: broken, charts, manifests",
        "  fix: declare it under 'tenants.rocky.sources:', or correct the name",
        "Found 5 errors",
    )
    assert expected == problems(text)


def test_a_broken_tenant_does_not_hide_mistakes_of_another() -> None:
    text = FRAME + "tenants:\n  a: {rol: x}\n  b: {clusters: {names: [nope]}}\n"
    shown = problems(text)
    assert ("at tenants.a.rol" in shown, "at tenants.b.clusters.names[0]" in shown) == (True, True)


def test_a_broken_setting_of_a_tenant_does_not_hide_mistakes_of_its_apps() -> None:
    text = rocky(
        """\
web: {kustomize: {source: manifests, path: "./{nope}"}, dependsOn: [db]}
cache: {clusters: {names: [nope]}, helm: {source: charts, chart: c}}
""",
        "rol: admin\nquota: {pods: lots}\npodSecurity: strict\nclusters: {names: [hub]}",
    )
    assert [
        "rol",
        "quota.pods",
        "podSecurity",
        "apps.web.kustomize.path",
        "apps.web.dependsOn[0]",
        "apps.cache.clusters.names[0]",
    ] == re.findall(r"^  at tenants\.rocky\.(.*)$", problems(text), re.MULTILINE)


@table(
    ("key", "fix"),
    [("clusters", "with keys such as names, labels, all, exclude"), ("namespaces", "such as {NAME: ...}")],
)
def test_a_tenant_without_what_its_apps_refer_to_is_told_of_that_alone(key: str, fix: str) -> None:
    text = problems(rocky("web: {kustomize: {source: manifests, targetNamespace: jobs}}", f"{key}: []"))
    assert text == told(
        f"tenants.yaml:13:{7 + len(key)}: error[wrong-type]: expected a mapping, found a list",
        f"  at tenants.rocky.{key}",
        f"  fix: write a mapping, {fix}",
        "Found 1 error",
    )


def test_a_frame_that_does_not_fit_is_reported_with_everything_else_that_does_not() -> None:
    text = "environments: {}\nclusters: []\ntenants:\n  a:\n    apps: {web: {helm: {sourceRef: x}}}\n"
    assert problems(text) == told(
        "tenants.yaml:1:1: error[missing-key]: key 'apiVersion' is missing",
        "  fix: add 'apiVersion: tenantry/v1'",
        "tenants.yaml:1:15: error[empty]: at least one entry is needed",
        "  at environments",
        "  fix: add an entry, or remove the key if it is optional",
        "tenants.yaml:2:11: error[wrong-type]: expected a mapping, found a list",
        "  at clusters",
        "  fix: write a mapping, such as {NAME: ...}",
        "tenants.yaml:5:25: error[owned-key]: key 'sourceRef' cannot be set: the fleet sets it from 'source'",
        "  at tenants.a.apps.web.helm.sourceRef",
        "  fix: write 'source: NAME'",
        "Found 4 errors",
    )


def test_entries_left_out_are_named_so_that_references_to_them_are_not_called_unknown() -> None:
    text = rocky("web: {kustomize: {source: manifests}, helm: {}}\nworker: {kustomize: {source: manifests}}")
    checked = check_shape(parse(text.encode(), "t").data)
    assert checked.document is not None
    assert (frozenset({("tenants", "rocky", "apps", "web")}), {"worker"}) == (
        checked.left_out,
        set(checked.document.tenants["rocky"].apps),
    )


def test_the_given_data_is_not_changed_by_leaving_entries_out() -> None:
    data = parse(rocky("web: {}").encode(), "t").data
    check_shape(data)
    assert data["tenants"]["rocky"]["apps"] == {"web": {}}


def test_null_removes_an_inherited_entry_wherever_maps_merge() -> None:
    text = FRAME + (
        "defaults: {quota: {pods: 1}}\n"
        "tenants: {rocky: {quota: {pods: null}, limits: {default: {cpu: null}}, labels: {a: null}}}\n"
    )
    assert check_shape(parse(text.encode(), "t").data).findings == ()
