"""Secrets, made up, in every place where one might be pasted by mistake."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.hostile.case import FLEET, Case

_HIDDEN = "s7Jq2mXv9LtB4cKd8RwZ1pYn6Hf3GaQe5Uo0"
"""Is part of every secret here."""
_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj" + _HIDDEN

SECRETS = {
    "github": f"ghp_{_HIDDEN}",
    "github-app": f"ghs_{_HIDDEN}",
    "github-fine": f"github_pat_11ABCDEFG0_{_HIDDEN}",
    "gitlab": f"glpat-{_HIDDEN}",
    "slack": f"xoxb-123456789012-{_HIDDEN}",
    "slack-webhook": f"https://hooks.slack.com/services/T00000000/B00000000/{_HIDDEN}",
    "aws": "AKIAS7JQ2MXV9LTB4CKD",
    "jwt": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{_HIDDEN}",
    "private-key": f"-----BEGIN PRIVATE KEY-----\n{_BODY}\n-----END PRIVATE KEY-----\n",
    "ssh-key": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{_BODY}\n-----END OPENSSH PRIVATE KEY-----\n",
    "unended-key": f"-----BEGIN RSA PRIVATE KEY-----\n{_BODY}",
    "base64-key": f"LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo{_HIDDEN}",
    "kubeconfig": f"users:\n- user:\n    client-key-data: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCg{_HIDDEN}\n",
    "age": "AGE-SECRET-KEY-1S7JQ2MXV9LTB4CKD8RWZ1PYN6HF3GAQE5UO0",
    "password-in-url": f"https://rocky:{_HIDDEN}@git.example.com/rocky",
    "database": f"postgres://app:{_HIDDEN}@db.example.com/app",
    "docker": f'{{"auths": {{"r.example.com": {{"auth": "{_HIDDEN}"}}}}}}',
    "pulumi": "pul-0123456789abcdef0123456789abcdef01234567",
    "vault": f"hvs.{_HIDDEN}",
    "api-key": f"sk-proj-{_HIDDEN}",
    "stripe": f"sk_live_{_HIDDEN}",
    "azure": f"DefaultEndpointsProtocol=https;AccountKey={_HIDDEN}==",
}
RANDOM = {
    "password": _HIDDEN,
    "hexadecimal": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "url-safe": "s7Jq-2mXv_9LtB4cKd8RwZ1pYn6Hf3Ga",
    "assignment": "password: correcthorse",
    "bearer": "Bearer s7jq2mxv9ltb",
}
"""No form tells that these are secrets, so where they may stand they are taken; but no message repeats them."""

_WHERE = "'@@'"
_PLACES = {
    "url": ("https://git.example.com/rocky", _WHERE),
    "branch": ("branch: main", f"branch: {_WHERE}"),
    "unknown-key": ("keys: [username, password]", f"keys: [username], passwort: {_WHERE}"),
    "unknown-source-key": ("ref: {branch", f"token: {_WHERE}, ref: {{branch"),
    "name-of-credentials": ("credentials: git}", f"credentials: {_WHERE}}}"),
    "list-of-keys": ("[username, password]", f"[{_WHERE}]"),
    "instead-of-credentials": ("{keys: [username, password]}", _WHERE),
    "tenant": ("  rocky:\n", f"  {_WHERE}:\n"),
    "app": ("      web:", f"      {_WHERE}:"),
    "source": ("source: manifests", f"source: {_WHERE}"),
    "path": ("./web", _WHERE),
    "management": ("management: hub", f"management: {_WHERE}"),
    "version": ("tenantry/v1", _WHERE),
    "top-level-key": ("tenants:\n", f"{_WHERE}: 1\ntenants:\n"),
    "interval": ("source: manifests", f"source: manifests, interval: {_WHERE}"),
    "boolean": ("source: manifests", f"source: manifests, prune: {_WHERE}"),
    "substitution": ("source: manifests", f"source: manifests, postBuild: {{substitute: {{A: {_WHERE}}}}}"),
    "depends-on": ("source: manifests", f"source: manifests, dependsOn: [{_WHERE}]"),
    "label": ("    credentials:\n", f"    labels: {{a: {_WHERE}}}\n    credentials:\n"),
    "annotation": ("    credentials:\n", f"    annotations: {{a: {_WHERE}}}\n    credentials:\n"),
    "include": ("tenants:\n", f"include: [{_WHERE}]\ntenants:\n"),
    "placeholder": ("./web", "'./{@@}'"),
    "tag": ("./web", "!@@ x"),
}


def cases(every: int = 1) -> Iterator[Case]:
    """Every secret in every place; or of these pairs every third, say, so that each secret and each place still has its turn."""
    for row, place in enumerate(_PLACES):
        for column, (kind, secret) in enumerate({**SECRETS, **RANDOM}.items()):
            if (row + column) % every:
                continue
            if place == "tag" and not secret.isalnum():
                continue  # no tag holds it, so it would be read as something else
            certain = kind in SECRETS and place != "tag"
            yield Case(f"secret/{kind}-as-{place}", _with(place, secret).encode(), parts(secret), certain)
    for kind in ("hunter2", "Pa$$w0rd!", "12345678", "correct horse battery"):
        raw = FLEET.replace("credentials: git}", f"credentials: {kind}}}").encode()
        yield Case(f"secret/{kind}-as-name-of-credentials", raw, (kind,))


_NEARBY = {
    "same-line-before": "      web: {kustomize: {source: manifests, path: @@, interval: 5}}\n",
    "same-line-after": "      web: {kustomize: {source: manifest, path: @@}}\n",
    "comment": "      web: {kustomize: {source: manifest}}  # @@\n",
    "unknown-key": "      web: {kustomize: {source: manifests, pin: @@}}\n",
    "two-unknown-keys": "      web: {kustomize: {source: manifests, pin: @@, wrong: 1, interval: 5}}\n",
    "unknown-key-alone": "      web:\n        pin: @@\n        kustomize: {source: manifest}\n",
    "line-above": "      web:\n        helm: {source: manifests, values: {a: @@}}\n        wrong: 1\n",
    "line-below": "      web:\n        wrong: 1\n        kustomize: {source: manifests, path: @@}\n",
    "value-on-the-next-line": "      web:\n        password:\n          @@\n          wrong: [\n",
    "list-below-a-key": "      web:\n        passwords:\n        - a: 1\n          a: 2\n        - {x: @@, x: 2}\n",
    "nested-below-a-key": "      web:\n        token:\n          x:\n            y: @@\n           z: [\n",
    "open-quote": "      web: {kustomize: {source: manifests, path: 'x, interval: @@}}\n",
    "block-that-ends-early": "      web:\n        a: |\n            x\n         @@\n       b: @@\n",
    "before-the-whole": "      web: {pin: @@, kustomize: {source: manifest}}\n",
}
"""Lines of an app with a mistake of another kind, whose line is shown unless a secret is close."""
_GUESSED = {"hunter2": "hunter2", "pin": "48151623"}
"""Secrets that look like words: shown nowhere but where a message quotes what it is about."""
_LEFT_TO_MESSAGES = (
    "same-line-before",
    "same-line-after",
    "line-above",
    "line-below",
    "open-quote",
    "block-that-ends-early",
)


def nearby(every: int = 1) -> Iterator[Case]:
    """Every secret close to a mistake of another kind."""
    app = FLEET.splitlines(keepends=True)[-1]
    for row, (place, lines) in enumerate(_NEARBY.items()):
        guessed = {} if place in _LEFT_TO_MESSAGES else _GUESSED
        for column, (kind, secret) in enumerate({**guessed, **SECRETS, **RANDOM}.items()):
            if kind in _GUESSED or not (row + column) % every:
                written = secret.replace("\n", " ") if place == "comment" else json.dumps(secret)
                text = FLEET.replace(app, lines.replace("@@", written))
                yield Case(f"nearby/{kind}-{place}", text.encode(), parts(secret) or (secret,))
    for cut in range(8):
        pasted = "\n".join(SECRETS["private-key"].splitlines()[: cut + 1])
        text = FLEET.replace(app, f"      web:\n        key:\n{pasted}\n  wrong\n")
        yield Case(f"nearby/pasted-key-{cut}", text.encode(), (_BODY, _HIDDEN))


def _with(place: str, secret: str) -> str:
    old, new = _PLACES[place]
    quoted = json.dumps(secret)
    # Inside of other text, or as a tag, it stands as it is.
    return FLEET.replace(old, new.replace(_WHERE, quoted).replace("@@", quoted[1:-1]), 1)


def parts(secret: str) -> tuple[str, ...]:
    """What must not be seen: the secret's lines, and its part that is as good as random."""
    lines = [line for line in secret.splitlines() if len(line) >= 8 and not line.endswith(":")]
    return (*lines, *([_HIDDEN] if _HIDDEN in secret else ()))
