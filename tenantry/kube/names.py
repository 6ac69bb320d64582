"""Names of the objects in a plan, and the rules that Kubernetes, Flux and Helm set for them.

Names are joined from stable keys only, so that adding a tenant never renames another's objects. The end of a name that is too
long becomes a hash of the whole name, and the plan refuses two of one name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping

MAX_LABEL = 63
"""For Kustomizations and HelmReleases: Flux copies their names into label values of all objects that they apply."""
MAX_OBJECT = 253
"""Kubernetes' own limit, for kinds whose names are not copied into labels."""
MAX_SOURCE = 230
"""For sources and charts. Kubernetes allows more, but names of rendered files contain kind and name, in 255 characters."""
MAX_RELEASE = 53
"""Helm's limit for the name of a release."""

PLATFORM = "platform"
"""The name of the platform team on the command line, in place of a tenant's."""
ADDON_PREFIX = f"{PLATFORM}/"
"""The prefix of add-ons in `dependsOn` of a tenant's app. Names of apps cannot contain a slash."""

DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
LABEL_VALUE = r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
KEY_PREFIX = r"(?=[^/]{1,253}/)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*/"
"""The part of a key before its name: a DNS subdomain. The expression is valid in JSON Schema too, like the others."""
_KEY_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
LABEL_KEY = rf"(?:{KEY_PREFIX})?{_KEY_NAME}"
_COMPUTE = "cpu|memory|ephemeral-storage|hugepages-[0-9A-Za-z.]{1,20}"
LIMIT_NAME = rf"(?:{KEY_PREFIX}{_KEY_NAME}|{_COMPUTE})"
"""A resource of containers. Kubernetes knows those without a `/` by name."""
QUOTA_NAME = (
    rf"(?:{KEY_PREFIX}{_KEY_NAME}|(?:requests\.|limits\.)?(?:{_COMPUTE})|requests\.storage|pods|services(?:\.loadbalancers|\.nodeports)?"
    r"|replicationcontrollers|configmaps|persistentvolumeclaims|resourcequotas|secrets)"
)
"""A resource that a quota limits. Source: k8s.io/kubernetes `pkg/apis/core/helper`, `standardQuotaResources`."""

_DNS_LABEL = re.compile(DNS_LABEL)
_LABEL_VALUE = re.compile(LABEL_VALUE)
_RESERVED = frozenset({"default", "flux-system"})
OWNED_LABELS = (
    "toolkit.fluxcd.io/",
    "tenantry/",
    "kustomize.toolkit.fluxcd.io/",
    "helm.toolkit.fluxcd.io/",
    "app.kubernetes.io/managed-by",
    "kubernetes.io/metadata.name",
    "helm.sh/",
    "meta.helm.sh/",
    "pod-security.kubernetes.io/",
)
"""Prefixes of labels that Tenantry, Flux, Helm and Kubernetes set, or that decide what pods may do."""
OWNED_ANNOTATIONS = (
    *OWNED_LABELS,
    "kubectl.kubernetes.io/",
    "pulumi.com/",
    "reconcile.fluxcd.io/",
)
"""Besides the labels', those by which the tools that apply a namespace keep their books."""


def dns_label_problem(name: str) -> str | None:
    """Why `name` is not a DNS-1123 label (RFC 1123, section 2.1), or None."""
    if not _DNS_LABEL.fullmatch(name):
        return "must be lower-case letters, digits and '-', starting and ending with a letter or digit"
    if len(name) > MAX_LABEL:
        return f"has {len(name)} characters, at most {MAX_LABEL} are allowed"
    return None


def object_name_problem(name: str) -> str | None:
    """Why `name` is not a DNS-1123 subdomain, as most names of objects must be, or None."""
    if len(name) > MAX_OBJECT:
        return f"has {len(name)} characters, at most {MAX_OBJECT} are allowed"
    if all(_DNS_LABEL.fullmatch(part) for part in name.split(".")):
        return None
    return "must be lower-case letters, digits, '-' and '.', starting and ending with a letter or digit"


def role_name_problem(name: str) -> str | None:
    """Why `name` cannot be the name of a role, or None. Kubernetes requires only that it is one segment of a URL path."""
    if name in (".", "..") or "/" in name or "%" in name:
        return "must be the name of a ClusterRole, which holds no '/' and no '%'"
    return None


def _form(pattern: str, problem: str) -> Callable[[str], str | None]:
    """Why a text has not the form of a pattern, or None."""
    compiled = re.compile(pattern)
    return lambda text: None if compiled.fullmatch(text) else problem


label_key_problem = _form(LABEL_KEY, "is not a valid label key ([prefix/]name)")
quota_name_problem = _form(QUOTA_NAME, "is not a resource that a quota can limit, such as 'pods' or 'requests.cpu'")
limit_name_problem = _form(LIMIT_NAME, "is not a resource of containers, such as 'cpu' or 'memory'")


def label_value_problem(value: str) -> str | None:
    """Why `value` cannot be the value of a Kubernetes label, or None."""
    if len(value) <= MAX_LABEL and _LABEL_VALUE.fullmatch(value):
        return None
    return f"is not a valid label value (letters, digits, '-', '_', '.', at most {MAX_LABEL})"


def is_reserved_namespace(name: str) -> bool:
    """Whether a namespace belongs to Kubernetes or Flux. A tenant in it would take over objects that are not the fleet's."""
    return name in _RESERVED or name.startswith("kube-")


def addon_named(dependency: str) -> str | None:
    """The name of the add-on in an entry of `dependsOn`; None: the entry does not have the prefix."""
    return dependency.removeprefix(ADDON_PREFIX) if dependency.startswith(ADDON_PREFIX) else None


def app_name(tenant: str, app: str) -> str:
    """What users call an app: `rocky/web`, or `platform/dns` for an add-on, which has the tenant ""."""
    return f"{tenant or PLATFORM}/{app}"


def join(*parts: str) -> str:
    """The name of an object, made of its keys: ("edge-1", "rocky", "web") -> edge-1-rocky-web."""
    return "-".join(parts)


def shortened(name: str, limit: int) -> str:
    """The name if it is short enough; otherwise its beginning, and eight digits of a hash of all of it."""
    if len(name) <= limit:
        return name
    hashed = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: limit - len(hashed) - 1].rstrip('-.')}-{hashed}"


def digest(content: Mapping[str, object]) -> str:
    """Eight hexadecimal digits for a mapping of plain data. The order of its keys does not matter."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def slug(text: str) -> str:
    """`text` as a part of a DNS-1123 name. Two texts can give the same part, so join it with a `digest`."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
