"""Alerts and receivers: what is reported to whom, and the webhooks that make Flux fetch sources at once."""

from typing import Annotated

from pydantic import Field

from tenantry.model.flux import FluxBlock
from tenantry.model.scalars import CredentialsName, OwnAppName, SourceName

COMMIT_STATUS = frozenset({"azuredevops", "bitbucket", "bitbucketserver", "gitea", "github", "gitlab"})
"""Types of providers that set the status of a commit: they report Kustomizations alone, as a release knows no commit."""


class Provider(FluxBlock):
    """Where notifications go: a chat, a Git host, or a system that collects events."""

    flux_kind = "Provider"
    required = ("type",)
    owned = {
        "secretRef": "the fleet sets it from 'credentials' beside the provider",
        "serviceAccountName": "Flux would use the rights of any service account beside the clusters' keys",
    }

    @property
    def type(self) -> str:
        """One of Flux's types, such as `slack`."""
        return str(self.flux["type"])


class Alert(FluxBlock):
    """Which events are sent, and to whom. By default, all events."""

    flux_kind = "Alert"
    owned = {
        "eventSources": "the fleet sets it from 'apps'",
        "providerRef": "the fleet sets it: the provider stands under 'provider'",
    }

    provider: Provider
    """Where the alert is sent. Takes every key of Flux's Provider, except those for Secrets and identities."""
    credentials: CredentialsName | None = None
    """The declared credentials that the provider uses. Their keys are Flux's, such as `token`, `address` and `headers`."""
    apps: Annotated[list[OwnAppName], Field(min_length=1)] | None = None
    """Limits the alert to these apps (for the platform's alerts: add-ons). Default: all apps and their sources."""


class Receiver(FluxBlock):
    """A webhook for a Git host or a registry. A call that Flux accepts makes it fetch the sources at once."""

    flux_kind = "Receiver"
    required = ("type",)
    owned = {
        "resources": "the fleet sets it from 'sources'",
        "secretRef": "the fleet sets it from 'credentials'",
    }

    sources: Annotated[list[SourceName], Field(min_length=1)] | None = None
    """Limits the receiver to these sources. Default: all sources that are used on the cluster."""
    credentials: CredentialsName | None = None
    """The declared credentials with the key `token`, which the sender has too; type `gcr` also needs `email` and `audience`."""

    @property
    def type(self) -> str:
        """One of Flux's types, such as `github`."""
        return str(self.flux["type"])
