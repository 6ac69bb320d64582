"""What the attacker writes into its own file to leave the frame that the main file gives it.

Some settings are granted (`arena.FRAME`).
"""

from __future__ import annotations

from dataclasses import replace

from tests.faults.arena import TENANT
from tests.faults.declarations import GIT, Declaration, app, release, source_block, tenant, with_setting

_PLATFORMS = "belongs to the platform's file"


def _setting(key: str, value: str) -> Declaration:
    return Declaration(
        f"sets-{key.lower()}",
        f"`{key}: {value}`",
        with_setting(f"{key}: {value}"),
        f"'{key}' of tenant '{TENANT}' {_PLATFORMS}",
    )


def _address(name: str, url: str, why: str = "") -> Declaration:
    """A source at an address. why: what is wrong with the address itself; "": it is only not granted."""
    return Declaration(
        f"address-{name}",
        f"a Git repository at `{url.replace('{', '').replace('}', '')}`",
        tenant(
            f'    sources: {{m: {{git: {{url: "{url}", ref: {{branch: main}}}}}}}}\n'
            "    apps: {web: {kustomize: {source: m}}}\n"
        ),
        f"the address {why}" if why else f"the address of this GitRepository is not granted to tenant '{TENANT}'",
    )


def _borrows(name: str, tried: str, text: str, refusal: str) -> Declaration:
    return Declaration(f"borrows-{name}", tried, text, refusal)


def _alert(block: str, name: str = TENANT) -> str:
    body = f"    alerts: {{ops: {{provider: {{{block}}}}}}}\n"
    return with_setting("credentials: {key: {keys: [token]}}", name) + body


def _entry(body: str) -> str:
    return with_setting(f"namespaces: {{jobs: {{{body}}}}}")


def _overridden(block: str, changes: str) -> str:
    """An app with an override of its own."""
    override = f"{{when: {{environments: [dev]}}, kustomize: {{{changes}}}}}"
    web = f"{{kustomize: {{source: manifests, {block}}}, overrides: [{override}]}}"
    return tenant(f"{GIT}    apps: {{web: {web}}}\n")


def _overrides(name: str, changes: str, refusal: str) -> Declaration:
    """What differs of the tenant on a cluster."""
    override = f"{{when: {{clusters: {{names: [edge-1]}}}}, {changes}}}"
    return Declaration(
        f"overrides-{name}", f"an override with `{changes}`", with_setting(f"overrides: [{override}]"), refusal
    )


_CLOUD = "uses the cloud identity of Flux's controllers"
_SHORT = "is not from 30s to 24h"
_LONG = f"is not from 1s to 1h, the bounds of tenant '{TENANT}'"

INCLUDED = (
    # What the platform decides.
    _setting("adopt", "true"),
    _setting("role", "cluster-admin"),
    _setting("clusterAdmin", "true"),
    _setting("grants", "{sources: ['*']}"),
    _setting("podSecurity", "privileged"),
    _setting("quota", "{pods: 10000}"),
    _setting("limits", "{max: {cpu: 64}}"),
    _setting("network", "open"),
    _setting("state", "offboarding"),
    _setting("interval", "1ms"),
    _setting("retryInterval", "0s"),
    _setting("timeout", "100h"),
    _setting("labels", "{admission.gatekeeper.sh/ignore: 'yes'}"),
    _setting("annotations", "{iam.amazonaws.com/permitted: .*}"),
    *(
        _overrides(key.partition(":")[0].lower(), key, f"'{key.partition(':')[0]}' of tenant '{TENANT}' {_PLATFORMS}")
        for key in ("role: cluster-admin", "podSecurity: privileged", "network: open", "state: offboarding")
    ),
    _overrides("adopt", "adopt: true", "key 'adopt' is not known here"),
    _overrides(
        "interval",
        "kustomize: {interval: 1ms}",
        "interval '1ms' is not from 30s to 24h, the bounds of tenant 'mallory'",
    ),
    _overrides(
        "address",
        "sources: {manifests: {git: {url: 'https://git.example.org/mallory/m'}}}",
        f"the address of this GitRepository is not granted to tenant '{TENANT}'",
    ),
    Declaration(
        "owner-admin",
        "`admin` for a person, where `view` and `edit` are allowed",
        with_setting("owners: [{user: me, role: admin}]"),
        f"role 'admin' is not for owners in the file of tenant '{TENANT}'",
    ),
    Declaration(
        "owner-cluster-admin",
        "`cluster-admin` for a person",
        with_setting("owners: [{user: me, role: cluster-admin}]"),
        f"role 'cluster-admin' is not for owners in the file of tenant '{TENANT}'",
    ),
    Declaration(
        "namespace-privileged",
        "a second namespace without pod security",
        _entry("podSecurity: privileged"),
        f"'podSecurity' of tenant '{TENANT}' {_PLATFORMS}",
    ),
    Declaration(
        "namespace-label",
        "a second namespace with a label for admission",
        _entry("labels: {admission.gatekeeper.sh/ignore: x}"),
        f"'labels' of tenant '{TENANT}' {_PLATFORMS}",
    ),
    Declaration(
        "namespace-quota",
        "a second namespace with a quota of its own",
        _entry("quota: {pods: 10000}"),
        f"'quota' of tenant '{TENANT}' {_PLATFORMS}",
    ),
    Declaration(
        "namespace-state",
        "a second namespace that may be removed at once",
        _entry("state: offboarding"),
        f"'state' of tenant '{TENANT}' {_PLATFORMS}",
    ),
    # Where it runs.
    Declaration(
        "cluster-prod",
        "an app on a management cluster that is not granted",
        with_setting("clusters: {names: [hub-dev]}").replace("web: {", "web: {clusters: {names: [hub-prod]}, "),
        "selects cluster 'hub-prod', which is not granted to it",
    ),
    Declaration(
        "tenant-cluster-prod",
        "all its apps there",
        with_setting("clusters: {names: [hub-prod]}"),
        "selects cluster 'hub-prod', which is not granted to it",
    ),
    # Whose identity it uses.
    _borrows(
        "nulled",
        "decryption whose `secretRef` an override sets to `null`",
        _overridden("decryption: {provider: sops, secretRef: {name: age}}", "decryption: {secretRef: null}").replace(
            "    apps:", "    credentials: {age: {keys: [age.agekey]}}\n    apps:"
        ),
        "decryption without 'secretRef'",
    ),
    _borrows(
        "alert",
        "an alert of type `googlepubsub` without credentials",
        _alert("type: googlepubsub, channel: topic, address: project"),
        f"'googlepubsub' without credentials {_CLOUD}",
    ),
    # What it reaches.
    _address("foreign", "https://git.example.org/mallory/m"),
    _address("neighbour", "{git}/rocky/manifests.git"),
    _address("dots", "{git}/mallory/../rocky/manifests.git", "has dots or a space for a directory in its path"),
    _address("encoded-dots", "{git}/mallory/%2e%2e/rocky/manifests.git", "has an encoded character in its path"),
    _address("backslash", "{git}/mallory/..\\\\rocky/manifests.git", "contains '\\' in its path"),
    _address("parameters", "{git}/mallory/..;/rocky/manifests.git", "contains ';' in its path"),
    _address(
        "fullwidth-dots", "{git}/mallory/\uff0e\uff0e/rocky/manifests.git", "contains the character U+FF0E in its path"
    ),
    replace(_address("no-width", "{git}/mallory\u200b/manifests.git"), refusal="character U+200B cannot be seen"),
    _address("prefix", "{git}/mallory-2/manifests.git"),
    _address("user", "http://sandbox.test@git.example.org/git/mallory/m", "has a user with other characters"),
    _address("port", "http://sandbox.test:8931/git/mallory/m"),
    _address("scheme", "ssh://sandbox.test/git/mallory/m"),
    _address("metadata", "http://169.254.169.254/git/mallory/m"),
    _address("api-server", "https://kubernetes.default.svc/git/mallory/m"),
    _address("query", "{git}/mallory/m?x=y", "has a query"),
    Declaration(
        "address-oci",
        "an OCI repository anywhere",
        tenant(
            "    sources: {m: {oci: {url: oci://registry.example.org/m, ref: {tag: v1}}}}\n"
            "    apps: {web: {kustomize: {source: m}}}\n"
        ),
        f"the address of this OCIRepository is not granted to tenant '{TENANT}'",
    ),
    Declaration(
        "address-bucket",
        "a bucket anywhere",
        tenant(
            "    sources: {m: {bucket: {endpoint: minio.example.org, bucketName: m}}}\n"
            "    apps: {web: {kustomize: {source: m}}}\n"
        ),
        f"the address of this Bucket is not granted to tenant '{TENANT}'",
    ),
    Declaration(
        "address-alert",
        "an alert to any address inside the cluster",
        _alert('type: generic, address: "http://source-controller.flux-system.svc/"'),
        f"the address of this Provider is not granted to tenant '{TENANT}'",
    ),
    Declaration(
        "address-list",
        "an alert to a list of servers of NATS, of which one is not granted",
        _alert('type: nats, channel: x, address: "nats://sandbox.test,nats://evil.example.org"'),
        f"the address of this Provider is not granted to tenant '{TENANT}'",
    ),
    # How long, and how often.
    Declaration("timeout-app", "`timeout: 8700h` of an app", app("timeout: 8700h"), f"timeout '8700h' {_LONG}"),
    Declaration("timeout-source", "`timeout: 90m` of a source", source_block("timeout: 90m"), f"timeout '90m' {_LONG}"),
    Declaration(
        "timeout-test",
        "`timeout: 100h` of a release's test",
        release("test: {timeout: 100h}"),
        f"timeout '100h' {_LONG}",
    ),
    Declaration(
        "retries",
        "retries of a release without end",
        release("install: {remediation: {retries: -1}}"),
        "retries '-1' is not from 0 to 20",
    ),
    Declaration("interval-app", "`interval: 1ms` of an app", app("interval: 1ms"), f"interval '1ms' {_SHORT}"),
    Declaration("retry-app", "`retryInterval: 0s` of an app", app("retryInterval: 0s"), f"retryInterval '0s' {_SHORT}"),
    Declaration("interval-release", "`interval: 1s` of a release", release("interval: 1s"), f"interval '1s' {_SHORT}"),
    Declaration(
        "retry-release",
        "`retryInterval: 1ms` of a release's strategy",
        release("install: {strategy: {name: RetryOnFailure, retryInterval: 1ms}}"),
        f"retryInterval '1ms' {_SHORT}",
    ),
    Declaration(
        "interval-source", "`interval: 1ms` of a source", source_block("interval: 1ms"), f"interval '1ms' {_SHORT}"
    ),
    Declaration(
        "interval-override",
        "`interval: 1ms` in an override",
        _overridden("path: ./bait", "interval: 1ms"),
        f"interval '1ms' {_SHORT}",
    ),
    # What is not there any more.
    Declaration(
        "null-apps",
        "`apps: null`, to remove those of the main file",
        "tenants:\n  mallory: {apps: null}\n",
        "'apps' has no value",
    ),
    Declaration("null-tenant", "itself as `null`", "tenants:\n  mallory: null\n", "expected a mapping"),
)
