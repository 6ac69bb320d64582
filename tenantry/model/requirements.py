"""The shape of what sources, images and namespaces have to be like, which the platform team requires of tenants and add-ons."""

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from tenantry.messages.redact import shorten
from tenantry.model.scalars import CredentialsName, LabelKey, Text, refusal
from tenantry.model.strict import Model, OneOf


class Identity(Model):
    """Who signed without a key. Both are regular expressions, as in Flux's `matchOIDCIdentity`."""

    issuer: Text
    """The issuer of the identity, such as `^https://token.actions.githubusercontent.com$`."""
    subject: Text
    """The identity, such as `^https://github.com/example/.*$`."""


class KeysName(Model):
    name: CredentialsName
    """The declared credentials that hold the public keys."""


class Signature(OneOf):
    """A way of signing that is accepted, written as Flux's `verify`."""

    one_of = ("provider", "mode")

    provider: Literal["cosign", "notation"] | None = None
    """Who checks OCI artifacts and charts."""
    mode: Literal["HEAD", "Tag", "TagAndHEAD"] | None = None
    """Which Git objects are signed. With `secretRef`."""
    matchOIDCIdentity: list[Identity] = []
    """Identities that may have signed without a key; a source may name some of these and no others."""
    secretRef: KeysName | None = None
    """The credentials with the public keys. Who may write that Secret decides whose signature counts."""


def _is_pattern(value: str) -> str:
    name, _, rest = value.partition("*")
    if rest or ("*" in value and not name.endswith("/")) or not name or any(each.isspace() for each in value):
        raise refusal(
            "bad-value",
            f"'{shorten(value)}' is not a pattern for images",
            fix="write an image, or a registry or repository with '/*' at its end: registry.example.com/*",
        )
    return value


ImagePattern = Annotated[Text, AfterValidator(_is_pattern)]
"""An image as a pod names it, or a prefix of such names that ends with `/*`."""


class Requirements(Model):
    """What is required. `tenantry validate` checks it in the plan, and the API servers check what tenants make themselves."""

    pinned: bool | Literal["tags"] | None = None
    """`true`: sources name a Git commit or an OCI digest, and charts of Helm repositories an exact version. `tags`: a tag will do,
    too. Buckets name neither."""
    verify: Annotated[list[Signature], Field(min_length=1)] | None = None
    """Sources and charts have a `verify` that is one of these. Buckets, and charts of Helm repositories without
    `type: oci` cannot have one."""
    images: Annotated[list[ImagePattern], Field(min_length=1)] | None = None
    """The images that pods in the tenant's namespaces may run, such as `registry.example.com/*`. The names are compared as the
    pods have them."""
    labels: Annotated[list[LabelKey], Field(min_length=1)] | None = None
    """Labels that namespaces must have, set with `labels`."""

    @cached_property
    def signatures(self) -> list[str]:
        """The accepted signatures as `signature_words` says them, without repetition. Each planned source asks for them."""
        blocks = (each.model_dump(exclude_none=True) for each in self.verify or ())
        return list(dict.fromkeys(word for block in blocks for word in signature_words(block)))


NOTHING_REQUIRED = Requirements()


def signature_words(verify: dict[str, Any]) -> list[str]:
    """A text for each signature that a `verify` of Flux takes: one for the key, else one for each identity. Those of an admission
    policy are the same (`tenantry.plan.required`).

    Source: fluxcd.io, OCIRepository and GitRepository, "Verification": with a `secretRef`, identities are not looked at.
    """
    mode = str(verify.get("mode") or "HEAD")
    by = str(verify["provider"]) if "provider" in verify else f"git {'HEAD' if mode == 'head' else mode}"
    if keys := verify.get("secretRef"):
        return [f"{by} key={keys.get('name')}"]
    identities = verify.get("matchOIDCIdentity") or ()
    return [f"{by} issuer={each.get('issuer')} subject={each.get('subject')}" for each in identities] or [by]
