"""Rules about what a tenant makes Flux's controllers do: where they connect, as whom, how often, and for how long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from tenantry.policy.addresses import is_below, of_bucket, of_event_hub, of_image
from tenantry.policy.resource import Resource, as_text, entries, mapping
from tenantry.policy.rule import Violation
from tenantry.policy.tenants import APP, Tenants
from tenantry.policy.written import seconds

_CLOUDS = ("aws", "azure", "gcp")
_CLOUD_ALERTS = ("azuredevops", "azureeventhub", "googlepubsub")
_WITH_FILES = ("googlepubsub",)
"""Types of alerts whose credentials can name files of the controller."""
CONTENT = ("patches", "postBuild", "postRenderers", "values")
"""Fields with keys of others."""


def tenants_reach_granted_addresses(tenants: Tenants) -> Iterator[Violation]:
    """Sources, images, alerts and receivers of a tenant have addresses that the main file names or grants. Controllers
    connect to them from inside the platform, and send them what they were told to send.
    """
    for resource, place in tenants.placed:
        for field, address, written in _addresses(resource):
            variables = place.variables(str(resource.labels.get(APP, "")))
            granted = place.frame.granted_addresses(of_alert=resource.kind == "Provider", variables=place.variables())
            if written in place.frame.written_addresses(variables) or is_below(address, granted):
                continue
            # The address may hold a password.
            what = f"{resource} of tenant '{place.tenant}' has an address in {field} that is not granted to it"
            yield Violation(resource, what, "choose another, or add it to 'grants:' of the tenant")


def tenants_intervals_are_long_enough(tenants: Tenants) -> Iterator[Violation]:
    """Nothing of a tenant happens more often than the main file allows, by default every 30 seconds. Controllers serve all
    tenants, one after the other.
    """
    for resource, place in tenants.placed:
        for path, value in _times(resource.spec, "spec") if resource.by is None else ():
            too_short = value not in place.frame.written_times and seconds(value) < seconds(place.frame.shortest)
            if too_short and not place.is_written(value, place.frame.written_times):
                what = f"{resource} of tenant '{place.tenant}' has '{value}' in {path}"
                yield Violation(resource, what, f"set it to {place.frame.shortest} or more")


def tenants_use_no_shared_identity(tenants: Tenants) -> Iterator[Violation]:
    """No object of a tenant makes a controller use its own cloud identity or keys, which all tenants would share, unless the
    main file sets `platform.sharedIdentity`.
    """
    for resource, place in tenants.placed if not tenants.file.identity_is_shared else ():
        if not resource.group.endswith(".toolkit.fluxcd.io") or tenants.is_baseline(resource):
            continue
        for path, what in _borrowed(resource.spec, "spec"):
            told = f"{resource} of tenant '{place.tenant}' {what} in {path}"
            yield Violation(resource, told, "name credentials of the tenant")
        if resource.kind == "Provider" and (problem := _problem_of_type(resource.spec)):
            told = f"{resource} of tenant '{place.tenant}' {problem}"
            yield Violation(resource, told, "name credentials of the tenant, or choose another type")


def _problem_of_type(spec: Mapping[str, Any]) -> str:
    """What is wrong with the type of an alert's provider, in words; "" if it is right."""
    kind = spec.get("type")
    if kind in _WITH_FILES:
        return f"has the type '{kind}', whose credentials can name files of the controller"
    if kind in _CLOUD_ALERTS and not mapping(spec.get("secretRef")).get("name"):
        return f"has no credentials for '{kind}'"
    return ""


def _addresses(resource: Resource) -> Iterator[tuple[str, str, str]]:
    """Each address that a controller connects to: its field, as an address, and as an author writes it."""
    spec = resource.spec
    match resource.kind:
        case "GitRepository" | "OCIRepository" | "HelmRepository":
            yield "spec.url", str(spec.get("url")), str(spec.get("url"))
        case "Bucket":
            endpoint, bucket = str(spec.get("endpoint")), str(spec.get("bucketName"))
            there = "storage.googleapis.com" if spec.get("provider") == "gcp" else endpoint
            yield "spec.endpoint", of_bucket(there, bucket), f"{endpoint}/{bucket}"
            if sts := mapping(spec.get("sts")).get("endpoint"):
                yield "spec.sts.endpoint", str(sts), str(sts)
        case "ImageRepository":
            yield "spec.image", of_image(str(spec.get("image"))), str(spec.get("image"))
        case "Receiver":
            for issuer in entries(spec.get("oidcProviders")):
                yield "spec.oidcProviders", str(issuer.get("issuerURL")), str(issuer.get("issuerURL"))
        case "Provider":
            yield from _addresses_of_provider(spec)


def _addresses_of_provider(spec: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The same of an alert's provider: a list for NATS, and names in place of an address for services of clouds."""
    address, channel = str(spec.get("address") or ""), str(spec.get("channel") or "")
    match spec.get("type"):
        case "azureeventhub" if channel:
            yield "spec.channel", of_event_hub(channel, address), f"{channel}/{address}"
        case "googlepubsub" if address:
            yield "spec.address", f"pubsub://{address}/{channel}", f"{channel}/{address}"
        case "bitbucket" if address:
            yield "spec.address", f"https://bitbucket.org/{urlsplit(address).path.lstrip('/')}", address
        case "nats" if address:
            yield from (("spec.address", each, address) for each in address.split(","))
        case _ if address:
            yield "spec.address", address, address
    if spec.get("proxy"):
        yield "spec.proxy", str(spec["proxy"]), str(spec["proxy"])


def _borrowed(value: Mapping[str, Any], at: str) -> Iterator[tuple[str, str]]:
    """Where a spec asks for an identity without bringing one."""
    for key, inner in value.items():
        if key in CONTENT:
            continue
        if key == "provider" and inner in _CLOUDS:
            yield f"{at}.provider", f"uses the identity for '{inner}'"
        if key == "decryption" and not mapping(mapping(inner).get("secretRef")).get("name"):
            yield f"{at}.decryption", "uses the keys of all tenants"
        for each in [inner] if isinstance(inner, Mapping) else entries(inner):
            yield from _borrowed(each, f"{at}.{key}")


def _times(value: Mapping[str, Any], at: str) -> Iterator[tuple[str, str]]:
    for key, inner in value.items():
        if key in ("interval", "retryInterval") and isinstance(inner, str):
            yield f"{at}.{key}", inner
        elif key not in CONTENT:
            for each in [inner] if isinstance(inner, Mapping) else entries(inner):
                yield from _times(each, f"{at}.{key}")


_LIMITS = {"timeout": "timeout", "interval": "interval", "retryInterval": "interval"}
_NUMBERS = {"retries": ("retries", 0), "maxHistory": ("history", 1)}
"""Field of Flux -> the key of its limit, and the lowest number that is not without end."""


def tenants_timeouts_and_retries_have_an_end(tenants: Tenants) -> Iterator[Violation]:
    """Nothing of a tenant takes longer, or is tried more often, than the main file says or grants: by default an hour, a day
    between two attempts, 20 retries, 20 revisions. A controller has few workers, and this would hold one of them.
    """
    for resource, place in tenants.placed:
        for path, key, value in _values(resource.spec, "spec") if resource.by is None else ():
            given = place.frame.written_limits
            most = "" if as_text(value) in given else _exceeded(key, value, place.frame.limits)
            if most and not place.is_written(as_text(value), given):
                what = f"{resource} of tenant '{place.tenant}' has '{value}' in {path}"
                yield Violation(resource, what, f"set it to {most} or less, or raise 'grants.limits' in the main file")


def _exceeded(key: str, value: Any, limits: Mapping[str, str]) -> str:
    """The limit that a value exceeds; "" if it does not."""
    if key in _LIMITS and isinstance(value, str):
        most = limits[_LIMITS[key]]
        return most if seconds(value) > seconds(most) else ""
    if key in _NUMBERS and isinstance(value, int | float):
        limit, least = _NUMBERS[key]
        return "" if least <= value <= int(limits[limit]) else limits[limit]
    return ""


def _values(value: Mapping[str, Any], at: str) -> Iterator[tuple[str, str, Any]]:
    for key, inner in value.items():
        if key in CONTENT:
            continue
        if isinstance(inner, str | int | float):
            yield f"{at}.{key}", key, inner
        for each in [inner] if isinstance(inner, Mapping) else entries(inner):
            yield from _values(each, f"{at}.{key}")
