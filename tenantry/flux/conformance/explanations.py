"""Our text for each rule of the definitions, by its expression.

A test requires an entry for every rule in `tenantry.flux.schemas`, and no others.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """The message for a block that breaks the rule.

    key: the finding points at this key if the author wrote it, otherwise at the block.
    """

    message: str
    key: str = ""
    fix: str = ""
    notes: tuple[str, ...] = ()
    code: str = "bad-combination"


_NO_RETRIES = "retryInterval has no effect unless failures are retried"
_OIDC = "type 'generic-oidc'"
_NEITHER_KUBECONFIG = "kubeConfig needs either 'configMapRef:' or 'secretRef:'; it has neither"
_BOTH_KUBECONFIGS = "kubeConfig needs either 'configMapRef:' or 'secretRef:'; it has both"

EXPLANATIONS = {
    # Bucket
    "self.provider == 'aws' || self.provider == 'generic' || !has(self.sts)": Explanation(
        "sts needs provider 'aws' or 'generic'", "sts", "remove it, or change the provider"
    ),
    "self.provider != 'aws' || !has(self.sts) || self.sts.provider == 'aws'": Explanation(
        "with provider 'aws', sts.provider must be 'aws'", "sts", "write 'provider: aws' in it"
    ),
    "self.provider != 'generic' || !has(self.sts) || self.sts.provider == 'ldap'": Explanation(
        "with provider 'generic', sts.provider must be 'ldap'", "sts", "write 'provider: ldap' in it"
    ),
    "!has(self.sts) || self.sts.provider != 'aws' || !has(self.sts.secretRef)": Explanation(
        "sts of provider 'aws' takes no secretRef", "sts", "remove secretRef from it"
    ),
    "!has(self.sts) || self.sts.provider != 'aws' || !has(self.sts.certSecretRef)": Explanation(
        "sts of provider 'aws' takes no certSecretRef", "sts", "remove certSecretRef from it"
    ),
    "self.provider != 'generic' || !has(self.serviceAccountName)": Explanation(
        "provider 'generic' takes no serviceAccountName", "serviceAccountName", "remove it, or name a cloud's provider"
    ),
    "!has(self.secretRef) || !has(self.serviceAccountName)": Explanation(
        "secretRef and serviceAccountName cannot be combined", "serviceAccountName", "remove one of them"
    ),
    # GitRepository
    (
        "!has(self.serviceAccountName) || (has(self.provider) && (self.provider == 'azure' || self.provider == 'aws'))"
    ): Explanation(
        "serviceAccountName needs provider 'aws' or 'azure'", "serviceAccountName", "remove it, or change the provider"
    ),
    # HelmChart
    "!has(self.verify) || self.sourceRef.kind == 'HelmRepository'": Explanation(
        "only charts of a HelmRepository can be verified", "verify", "remove it"
    ),
    # HelmRelease
    "(has(self.chart) && !has(self.chartRef)) || (!has(self.chart) && has(self.chartRef))": Explanation(
        "a release needs either 'chart:' or 'chartRef:'", "chartRef", code="choose-one"
    ),
    "!has(self.retryInterval) || self.name != 'RemediateOnFailure'": Explanation(
        _NO_RETRIES, "retryInterval", "remove it, or write 'name: RetryOnFailure' beside it"
    ),
    "!has(self.retryInterval) || self.name == 'RetryOnFailure'": Explanation(
        _NO_RETRIES, "retryInterval", "remove it, or write 'name: RetryOnFailure' beside it"
    ),
    # HelmRelease and Kustomization
    "has(self.configMapRef) || has(self.secretRef)": Explanation(_NEITHER_KUBECONFIG, code="choose-one"),
    "!has(self.configMapRef) || !has(self.secretRef)": Explanation(_BOTH_KUBECONFIGS, code="choose-one"),
    # Provider
    (
        "self.type == 'github' || self.type == 'gitlab' || self.type == 'gitea' || self.type == 'bitbucketserver' || "
        "self.type == 'bitbucket' || self.type == 'azuredevops' || !has(self.commitStatusExpr)"
    ): Explanation(
        "commitStatusExpr needs a provider that sets commit statuses",
        "commitStatusExpr",
        "remove it, or change the type",
        ("types: azuredevops, bitbucket, bitbucketserver, gitea, github, gitlab",),
    ),
    # Receiver
    "self.type != 'generic-oidc' || (has(self.oidcProviders) && size(self.oidcProviders) > 0)": Explanation(
        f"{_OIDC} needs at least one entry in oidcProviders", "oidcProviders", "name the issuer to trust"
    ),
    "self.type == 'generic-oidc' || !has(self.oidcProviders) || size(self.oidcProviders) == 0": Explanation(
        f"oidcProviders needs {_OIDC}", "oidcProviders", "remove it, or change the type"
    ),
    "self.type != 'generic-oidc' || !has(self.secretRef)": Explanation(
        f"{_OIDC} takes no secretRef", "secretRef", "remove it"
    ),
    "self.type == 'generic-oidc' || has(self.secretRef)": Explanation(
        "every type but 'generic-oidc' needs a secretRef", fix="add 'secretRef:'"
    ),
}
