"""Recognizes secrets, and makes quotes from a file safe for messages: on one line, bounded, without secrets.

`kind_of` recognizes only what is certainly a secret, because the file is then refused. `redacted` removes from a message everything
that may be a secret, including long random strings, because a message loses little by it.
Every pattern takes linear time: repetitions are bounded, or begin where no other repetition can begin.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from string import ascii_lowercase, ascii_uppercase, digits

HIDDEN = "(a secret?)"
"""Replaces a possible secret in a message."""

_PRIVATE_KEY = "a private key"
_GITHUB = "a token of GitHub"
_GITLAB = "a token of GitLab"
_SLACK = "a token of Slack"
_LOGIN = "a registry's login"
_URL = "a URL with a password"

_END = r"(?![A-Za-z0-9])"
_CERTAIN: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        _PRIVATE_KEY,
        ("PRIVATE KEY",),
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----)[\s\S])*(?:-----END[^-]{0,80}-----)?",
    ),
    # The same in base64, as in a kubeconfig. `PRIVATE KEY` has three encodings, by its offset in groups of three bytes.
    (
        _PRIVATE_KEY,
        ("LS0tLS1CRUdJTi",),
        r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,40}(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW)[A-Za-z0-9+/=]*",
    ),
    ("a key of age", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-[0-9A-Z-]{20,}"),
    ("a JSON web token", ("eyJ",), r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?"),
    (_GITHUB, ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{20,}"),
    (_GITHUB, ("github_pat_",), r"github_pat_[A-Za-z0-9_]{20,}"),
    (_GITLAB, ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-"), r"gl(?:pat|dt|rt|cbt|ptt)-[\w.-]{16,}"),
    (_SLACK, ("xox", "xapp-"), r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}"),
    ("a webhook of Slack", ("hooks.slack.com/services/",), r"hooks\.slack\.com/services/[A-Za-z0-9/_-]{8,}"),
    ("a webhook of Discord", ("/api/webhooks/",), r"/api/webhooks/[0-9]{8,25}/[\w-]{8,}"),
    ("an access key of AWS", ("AKIA", "ASIA"), rf"(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{{16}}{_END}"),
    ("a token of Google", ("ya29.", "GOCSPX-"), r"(?:ya29\.|GOCSPX-)[\w-]{20,}"),
    ("a key of Azure", ("AccountKey=",), r"AccountKey=[A-Za-z0-9+/=]{20,}"),
    ("a key of Stripe", ("k_live_", "k_test_"), r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    (
        "an API key",
        ("sk-",),
        r"(?<![A-Za-z0-9])sk-(?:proj-|ant-[a-z0-9]{1,10}-)?[A-Za-z0-9_]{20}[\w-]*",
    ),
    ("a token of npm", ("npm_",), rf"npm_[A-Za-z0-9]{{36}}{_END}"),
    ("a token of PyPI", ("pypi-AgE",), r"pypi-AgE[\w-]{20,}"),
    ("a token of Docker", ("dckr_",), r"dckr_[a-z]{1,8}_[\w-]{20,}"),
    ("a token of Hugging Face", ("hf_",), r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}"),
    ("a token of Pulumi", ("pul-",), rf"(?<![A-Za-z0-9])pul-[0-9a-f]{{40}}{_END}"),
    ("a token of Vault", ("hvs.", "hvb.", "hvr."), r"(?<![A-Za-z0-9])hv[sbr]\.[\w-]{20,}"),
    ("a key of SendGrid", ("SG.",), r"(?<![A-Za-z0-9])SG\.[\w-]{16,64}\.[\w-]{16,}"),
    (_LOGIN, ('"auth"',), r'"auth"\s{0,8}:\s{0,8}"[A-Za-z0-9+/=]{8,}"'),
    # Placeholders of other programs are not passwords: `$(PASSWORD)`, `{{ .password }}`, `<password>`, `****`.
    (_URL, ("://",), r"://[^/@\s:]*:[^/@\s:${}<>*%][^/@\s${}<>*]*@"),
)
"""Kinds of secrets: the name in messages, substrings of which each such text contains at least one, and the pattern."""

# Patterns are compiled when a text first needs them: all of them together take as long as reading a small fleet.
_compiled = cache(re.compile)

_TO_A_HOST = r"://[^/@\s:\"']{0,200}:(?![0-9]{1,5}(?:/|$))[^\s\"']{0,400}@"
"""A password before a host, also one with `/` or `@` in it; not the port of a host with an `@` in its path."""
_BESIDE = "|".join(
    (
        # netrc, on one line or on several
        r"(?i:(?<![a-z])(?:machine|login|account)\s{1,20}\S{1,200}\s{1,20}password\s{1,20})",
        # curl --user me:word
        r"(?<!\S)(?:-u|-U|--(?:proxy-)?user)[ =]{1,4}[^\s:]{1,100}:",
        # docker login --username me -p word
        r"(?<!\S)login[^\n]{0,100}?\s-u[^\n]{1,100}?\s-p[ =]{1,4}",
        r"(?i:[?&](?:x-amz-|x-goog-)?(?:sig|signature|code|key|auth|pwd|credential)=|sharedaccesskey=)",
        # htpasswd and shadow
        r"\$(?=(?:apr1|2[abxy]|[156]|y|argon2[a-z]{0,2})\$)",
    )
)
"""What stands before a secret, in formats in which no `=` or `:` tells it from its name."""

_NAMED = r"""(?:name|namespace|key):\s{1,4}(?:[\w.{}-]{1,253}|"[\w.{}-]{1,253}"|'[\w.{}-]{1,253}')\s{0,4}"""
_REFERENCE = r"\s{0,4}:\s{0,4}\{\s{0,4}" + r",\s{0,4}".join([_NAMED] * 3) + r"\}"
"""Which key of which Secret holds a kubeconfig, on one line behind `secret`: names, which are no secrets."""
_TOLD = rf"(?:passw(?:or)?d|passphrase|secret(?!{_REFERENCE})|api[-_]?key)[\"']?\s{{0,4}}[=:]\s{{0,4}}|token[\"']?[=:]"
_NO_SWITCH = r"(?!(?:true|false|null)(?:[\s\"',;&}]|$))"
"""`usePassword: false` switches something, and tells no secret."""
_POSSIBLE = "|".join(
    (
        _TO_A_HOST,
        *(form for _, _, form in _CERTAIN),
        r"://[^/@\s:]*:[^/@\s]*@",
        r"AIza[\w-]{30,}",
        r"(?i:(?<![a-z])(?:bearer|basic)\s{1,4}[a-z0-9+/=._~-]{8,})",
        rf"(?:{_BESIDE})(?P<beside>[^\s\"&]+)",
        rf"(?i:(?:{_TOLD})[\"']?)(?P<told>{_NO_SWITCH}[^\s\"',;&}}]{{3,}})",
    )
)
_CREDENTIAL = "|".join(
    (
        *(form for _, _, form in _CERTAIN),
        r"://[^/@\s:]{0,200}:[^/@\s]{0,200}@",
        r"AIza[\w-]{30,}",
        r"(?i:(?<![a-z])(?:bearer|basic))\s{1,4}(?=[A-Za-z._~-]{0,80}[0-9+/=])[A-Za-z0-9+/=._~-]{8,}",
        r"(?i:(?:passw(?:or)?d|passphrase|api[-_]?key)[\"']?\s{0,4}[=:]\s{0,4}[\"']?"
        r"|(?:secret|token|signature|[?&](?:sig|code|key))[\"']?=[\"']?)(?P<told>[^\s\"',;&}]{3,})",
    )
)
_LONG_WORD = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_=-]{20,}")

_SENSITIVE = re.compile(r"(?i)passw|passphrase|token|secretref|credential|api[-_]?key")


def kind_of(text: str) -> str | None:
    """The kind of secret that a text contains, with its article; None: it contains no known secret."""
    return next(
        (
            kind
            for kind, hints, form in _CERTAIN
            if any(hint in text for hint in hints) and _compiled(form).search(text)
        ),
        None,
    )


def redacted(text: str, hide: Callable[[str], str] = lambda _: HIDDEN) -> str:
    """The text with all possible secrets replaced. Args: hide: what to write for one."""
    certain = _compiled(_POSSIBLE).sub(partial(_hidden, hide=hide), text)
    return _LONG_WORD.sub(lambda match: hide(match[0]) if _is_random(match[0]) else match[0], certain)


def without_credentials(text: str) -> str:
    """A message of another program, such as Flux, without what is certainly a credential.

    Unlike `redacted`, it keeps long random words, which are revisions and digests there, and sentences such as `secret: not found`.
    """
    return _compiled(_CREDENTIAL).sub(partial(_hidden, hide=lambda _: HIDDEN), text)


def is_sensitive(key: str) -> bool:
    """Whether people are likely to write a secret itself under a key of this name, instead of its name."""
    return bool(_SENSITIVE.search(key))


def _hidden(match: re.Match[str], hide: Callable[[str], str]) -> str:
    text = match.group()
    if text.startswith("://"):
        return f"://{hide(text[3:-1])}@"
    groups = match.groupdict()
    start = text.removesuffix(groups.get("told") or groups.get("beside") or text)
    return start + hide(text[len(start) :])


def _is_random(text: str) -> bool:
    """Whether a long word, or a part of it, is random: small letters, capitals and digits alternate often.

    Names of objects are words and single digits between hyphens, without capitals. Names of kinds contain few digits.
    """
    kinds = text.translate(_KINDS)
    starts = {*range(0, len(kinds) - _WINDOW, _STEP), max(0, len(kinds) - _WINDOW)}
    windows = (kinds[start : start + _WINDOW] for start in starts)
    return any(
        ("-" not in window or ("a" in window and "A" in window))
        and window.count("0") >= 2
        and len(_RUNS.findall(window)) >= 7
        for window in windows
    )


_WINDOW, _STEP = 20, 4
_RUNS = re.compile("a+|A+|0+")
_KINDS = str.maketrans(
    dict.fromkeys(ascii_lowercase, "a")
    | dict.fromkeys(ascii_uppercase, "A")
    | dict.fromkeys(digits, "0")
    | dict.fromkeys("+/_=", "-")
)

MAX_TEXT = 4000
"""The most characters of a message, a note or a fix. Only messages that list all known names get close to this."""
MAX_KEY = 400
"""The most characters of one key in the path of a problem. Keys of Kubernetes are shorter."""


def shorten(value: str, limit: int = 80) -> str:
    """A value for a quote in a message: redacted, bounded and on one line."""
    shown = redacted(value[: 4 * limit])
    shown = shown.encode("unicode_escape").decode() if not shown.isprintable() else shown
    return shown if len(shown) <= limit and len(value) <= 4 * limit else f"{shown[:limit]}..."


def presentable(text: str, limit: int = MAX_TEXT) -> str:
    """A message, or a part of one, redacted and bounded because it may quote a file."""
    shown = redacted(text[: 2 * limit])
    return shown if len(shown) <= limit and len(text) <= 2 * limit else f"{shown[:limit]}..."
