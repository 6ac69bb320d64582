"""What the platform requires of sources and images, refused by the API servers where others change them past the file."""

from __future__ import annotations

from collections.abc import Mapping

from tenantry.grants.requirements import EXACT_VERSION, IMAGES, PINNED, VERIFIED
from tenantry.kube.objects import Manifest
from tenantry.plan.admission_objects import matched, policy


def requirement_policy() -> tuple[Manifest, ...]:
    """What the platform requires of sources, which a tenant's namespace says in annotations that only the platform may write.

    A chart of a Git repository or a bucket is as good as that one. The HelmChart that helm-controller makes of a release has the
    spec that stands in the release.
    """
    of_repository = f"{_CHART}.?sourceRef.?kind.orValue('HelmRepository') == 'HelmRepository'"
    tagged = f"{_REF}.?semver.orValue('') == '' && {_REF}.?tag.orValue('') != ''"
    named = f"{_REF}.?name.orValue('') != '' ? {_REF}.name.startsWith('refs/tags/') : {tagged}"
    git = f"({_REF}.?commit.orValue('') != '' || (variables.pinned == 'tags' && ({named})))"
    oci = f"({_REF}.?digest.orValue('') != '' || (variables.pinned == 'tags' && {tagged}))"
    chart = f"(!variables.hasChart || !({of_repository}) || {_CHART}.?version.orValue('*').matches(r'{EXACT_VERSION}'))"
    signed = "(size(variables.signed) > 0 && variables.signed.all(each, each in variables.accepted))"
    pinned = {"GitRepository": git, "OCIRepository": oci, "HelmChart": chart, "HelmRelease": chart}
    verified = {
        **dict.fromkeys(("GitRepository", "OCIRepository"), signed),
        **dict.fromkeys(("HelmChart", "HelmRelease"), f"(!variables.hasChart || !({of_repository}) || {signed})"),
    }
    return policy(
        "tenantry-requirements",
        [
            matched("source.toolkit.fluxcd.io", _FETCHED, "CREATE", "UPDATE"),
            matched("helm.toolkit.fluxcd.io", ("helmreleases",), "CREATE", "UPDATE"),
        ],
        {"changes": _CHANGES},
        {
            "said": _SAID,
            "pinned": f"variables.said[?'{PINNED}'].orValue('')",
            "accepted": f"variables.said[?'{VERIFIED}'].orValue('').split('\\n')",
            "hasChart": "object.kind == 'HelmChart' || has(object.spec.chart)",
            "ref": "object.spec.?ref.orValue({})",
            "chart": "object.kind == 'HelmChart' ? object.spec : object.spec.?chart.?spec.orValue({})",
            "verify": "(object.kind == 'HelmRelease' ? variables.chart : object.spec).?verify.orValue({})",
            "by": (
                "variables.verify.?provider.orValue('git ' +"
                " (variables.verify.?mode.orValue('HEAD') == 'head' ? 'HEAD' : variables.verify.?mode.orValue('HEAD')))"
            ),
            "identities": "variables.verify.?matchOIDCIdentity.orValue([])",
            "signed": (
                "variables.verify == {} ? []"
                " : variables.verify.?secretRef.hasValue()"
                " ? [variables.by + ' key=' + variables.verify.?secretRef.?name.orValue('')]"
                " : size(variables.identities) == 0 ? [variables.by] : variables.identities.map(each, variables.by +"
                " ' issuer=' + each.?issuer.orValue('') + ' subject=' + each.?subject.orValue(''))"
            ),
        },
        [
            (
                f"variables.pinned == '' || {_by_kind(pinned)}",
                "the platform requires pinned sources: a Git commit, an OCI digest, an exact version of a chart",
            ),
            (
                f"!('{VERIFIED}' in variables.said) || {_by_kind(verified)}",
                "the platform requires a 'verify' that it accepts",
            ),
        ],
    )


_SAID = "namespaceObject.metadata.?annotations.orValue({})"
_CHANGES = "request.operation == 'CREATE' || object.?spec != oldObject.?spec"
_CHART, _REF = "variables.chart", "variables.ref"
_FETCHED = ("buckets", "externalartifacts", "gitrepositories", "helmcharts", "ocirepositories")


def _by_kind(rules: Mapping[str, str]) -> str:
    """One rule for each kind; objects of others are refused."""
    return "(" + " || ".join(f"(object.kind == '{kind}' && {rule})" for kind, rule in rules.items()) + ")"


def image_policy() -> tuple[Manifest, ...]:
    """The images that pods may run, on every cluster."""
    lists = ("containers", "initContainers", "ephemeralContainers")
    accepted = (
        "variables.accepted.exists(it, it.endsWith('*') ? {0}.startsWith(it.substring(0, size(it) - 1)) : {0} == it)"
    )
    checks = (
        f"object.spec.?{each}.orValue([]).all(each, {accepted.format('each.?image.orValue(' + chr(39) * 2 + ')')})"
        for each in lists
    )
    return policy(
        "tenantry-images",
        [matched("", ("pods", "pods/ephemeralcontainers"), "CREATE", "UPDATE")],
        {"changes": _CHANGES},
        {"said": _SAID, "accepted": f"variables.said[?'{IMAGES}'].orValue('').split('\\n')"},
        [
            (
                f"!('{IMAGES}' in variables.said) || ({' && '.join(checks)})",
                "the platform requires images of registries that it accepts",
            )
        ],
    )
