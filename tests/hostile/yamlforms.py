"""Mistakes that appear before the content is interpreted: encodings, traps of YAML, wrong shapes of the whole file."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from tests.hostile.case import FLEET, FRAME, Case


def cases() -> Iterator[Case]:
    yield from (Case(f"encoding/{name}", raw) for name, raw in _ENCODINGS.items())
    for name, value in _VALUES.items():
        yield Case(f"value/{name}", f"{FRAME}platform: {value}\n".encode())
    for name, text in _TEXTS.items():
        yield Case(f"text/{name}", text.encode("utf-8", "surrogatepass"))
    for name, character in _CHARACTERS.items():
        for place, text in _PLACES.items():
            yield Case(f"character/{name}-in-{place}", text.replace("#", character).encode())
    yield from _indented()
    yield from _cut()


_ENCODINGS = {
    "utf-16-with-mark": FLEET.encode("utf-16"),
    "utf-16-little": FLEET.encode("utf-16-le"),
    "utf-16-big": FLEET.encode("utf-16-be"),
    "utf-32": FLEET.encode("utf-32"),
    "latin-1": FLEET.replace("rocky", "röcky").encode("latin-1"),
    "two-marks": codecs.BOM_UTF8 * 2 + FRAME.replace("hub", "häb").encode() + b"x: 1\n",
    "mark-inside": FRAME.encode() + codecs.BOM_UTF8 + b"x: 1\n",
    "lone-surrogate": FRAME.encode() + b"x: \xed\xa0\x80\n",
    "overlong": FRAME.encode() + b"x: \xc0\xaf\n",
    "cut-character": FRAME.encode() + "é".encode()[:1],
    "beyond-unicode": FRAME.encode() + b"x: \xf4\x90\x80\x80\n",
    "nul": FRAME.encode() + b"x: \x00\n",
    "only-nuls": b"\x00" * 100,
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
    "elf": b"\x7fELF\x02\x01\x01\x00",
    "every-byte": bytes(range(256)),
    "empty": b"",
    "only-a-mark": codecs.BOM_UTF8,
    "only-newlines": b"\n" * 50,
}

_VALUES = {
    "python-object": "!!python/object/apply:os.system ['exit 1']",
    "python-name": "!!python/name:os.system",
    "python-module": "!!python/module:os",
    "binary": "!!binary aGVsbG8=",
    "timestamp-tag": "!!timestamp 2001-01-01",
    "timestamp": "2001-12-14t21:59:43.10-05:00",
    "set": "!!set {a, b}",
    "ordered": "!!omap [a: 1]",
    "include-tag": "!include /etc/passwd",
    "env-tag": "!ENV ${HOME}",
    "vault-tag": "!vault x",
    "long-tag": f"!{'t' * 5000} x",
    "local-tag-on-mapping": "!x {namespace: a}",
    "null": "null",
    "tilde": "~",
    "infinity": ".inf",
    "not-a-number": ".nan",
    "huge-integer": "9" * 5000,
    "huge-exponent": "1e999999999",
    "hexadecimal": f"0x{'f' * 5000}",
    "octal": "0644",
    "sexagesimal": "12:30:45",
    "norway": "no",
    "list": "[1, 2, 3]",
    "string": "text",
    "block-of-text": "|\n  namespace: a",
    "alias-to-nothing": "*nothing",
    "anchor-alone": "&a",
    "alias-to-itself": "&a [*a]",
    "alias-to-itself-as-key": "&a {*a : 1}",
    "alias-to-itself-far-below": "&a {x: {y: {z: [*a]}}}",
    "merge-key": "{<<: {namespace: a}}",
    "merge-of-list": "{<<: [{a: 1}, {b: 2}]}",
    "merge-of-itself": "&a {<<: *a}",
    "key-of-mapping": "{? {a: 1} : b}",
    "key-of-list": "{? [a] : b}",
    "null-key": "{~: 1}",
    "boolean-key": "{true: 1}",
    "empty-key": "{'': 1}",
    "number-key": "{1: 1}",
    "key-twice": "{namespace: a, namespace: b}",
    "key-twice-as-escape": '{namespace: a, "n\\x61mespace": b}',
    "unclosed-flow": "{namespace: a",
    "unclosed-quote": "'a",
    "closed-twice": "{}}",
    "two-values": "a b: c: d",
    "reserved-character": "@a",
    "percent": "%a",
    "escape-of-surrogate": '{namespace: "\\ud800"}',
    "escape-of-a-pair": '{namespace: "\\ud83d\\ude00"}',
    "escape-beyond-unicode": '{namespace: "\\U00110000"}',
    "escape-of-nul": '{namespace: "\\0"}',
    "escape-of-terminal": '{namespace: "\\x1b[2J"}',
    "escape-of-bell": '{"\\a": 1}',
    "deep-flow": "[" * 10_000,
    "deep-flow-closed": "[" * 5000 + "]" * 5000,
    "deep-mappings": "{a: " * 10_000,
    "deep-mappings-closed": "{a: " * 200 + "1" + "}" * 200,
    "deep-block": "\n  " + "- " * 10_000 + "a",
    "deep-quotes": "'" * 10_001,
    "deep-questions": "? " * 10_000,
    "long-key": f"{{{'k' * 1000}: 1}}",
    "very-long-key": f"{{? {'k' * 100_000} : 1}}",
    "long-text": f"'{'v' * 100_000}'",
    "many-unknown-keys": "{" + ", ".join(f"k{number}: 1" for number in range(3000)) + "}",
    "many-nulls": "{addons: [" + ", ".join(["~"] * 3000) + "]}",
    "many-aliases": "{a: &a [x], b: [" + ", ".join(["*a"] * 3000) + "]}",
    "many-anchors": "[" + ", ".join(f"&a{number} x" for number in range(3000)) + "]",
    "braces-of-templates": "{{ .Values.platform }}",
    "shell": "$(cat /etc/passwd)",
    "template-in-key": "{'{{': 1}",
}
"""What may stand where a mapping belongs."""

_BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))

_TEXTS = {
    "billion-laughs": _BOMB,
    "billion-laughs-of-mappings": "a0: &a0 {x: 1}\n"
    + "".join(f"a{n}: &a{n} {{a: *a{n - 1}, b: *a{n - 1}}}\n" for n in range(1, 60)),
    "nested-by-aliases": "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 100)),
    "alias-to-itself-at-the-end": "a: &a [*a]",
    "two-documents": f"{FLEET}---\n{FLEET}",
    "document-behind-the-end": f"{FLEET}...\nx: 1\n",
    "yaml-1.1": f"%YAML 1.1\n---\n{FRAME}platform: yes\n",
    "yaml-9.9": f"%YAML 9.9\n---\n{FLEET}",
    "directive-twice": f"%YAML 1.2\n%YAML 1.2\n---\n{FLEET}",
    "tag-directive": f"%TAG ! tag:evil.example.com,2000:\n---\n{FRAME}platform: !x {{}}\n",
    "undeclared-handle": f"{FRAME}platform: !e!x {{}}\n",
    "only-a-comment": "# nothing\n",
    "only-a-scalar": "hello\n",
    "only-a-list": "- a\n- b\n",
    "only-null": "null\n",
    "json": '{"apiVersion": "tenantry/v1"}',
    "json-cut": '{"apiVersion": "tenantry/v1", ',
    "toml": "[environments]\nname = 'dev'\n",
    "ini": "[default]\nregion=eu\n",
    "xml": "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
    "python": "import os\nos.system('exit 1')\n",
    "kubernetes": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n",
    "conflict": f"<<<<<<< HEAD\n{FRAME}=======\n{FLEET}>>>>>>> other\n",
    "tabs": FLEET.replace("  ", "\t"),
    "carriage-returns-and-a-tab": FLEET.replace("\n", "\r\n").replace("    apps", "\tapps"),
    "everything-twice": FLEET + FLEET,
    "wrong-version": FLEET.replace("v1", "v2"),
    "version-as-list": FLEET.replace("tenantry/v1", "[tenantry/v1]"),
    "key-without-colon": FLEET.replace("tenants:", "tenants"),
    "key-without-space": FLEET.replace("all: true", "all:true"),
    "quotes-of-a-word-processor": FLEET.replace("https://git.example.com/rocky", "“https://git.example.com/rocky”"),
    "no-break-space": FLEET.replace("management: hub", "management:\u00a0hub"),
}

_CHARACTERS = {
    "bidirectional": "\u202e",
    "isolate": "\u2066",
    "zero-width-space": "\u200b",
    "zero-width-joiner": "\u200d",
    "soft-hyphen": "\u00ad",
    "cyrillic": "\u0430",
    "full-width": "\uff41",
    "combining": "e\u0301",
    "emoji": "\U0001f600",
    "private-use": "\ue000",
    "noncharacter": "\ufdd0",
    "line-separator": "\u2028",
    "next-line": "\u0085",
    "byte-order-mark": "\ufeff",
    "delete": "\x7f",
    "escape": "\x1b[31m",
    "capital": "A",
    "slash": "../x",
}
_PLACES = {
    "tenant": FLEET.replace("rocky:", '"ro#cky":'),
    "app": FLEET.replace("web: {", '"w#eb": {'),
    "key": FLEET.replace("credentials:\n", '"cred#entials":\n'),
    "cluster": FLEET.replace("[dev]}}", '["de#v"]}}'),
}


def _indented() -> Iterator[Case]:
    """Every line of the fleet moved by one space, which is another structure or none."""
    lines = FLEET.splitlines()
    for index in range(1, len(lines)):
        moved = [*lines[:index], f" {lines[index]}", *lines[index + 1 :]]
        yield Case(f"indentation/line-{index + 1}", "\n".join(moved).encode(), certain=False)


def _cut() -> Iterator[Case]:
    """The fleet, up to every thirteenth byte."""
    raw = FLEET.encode()
    for end in range(7, len(raw), 13):
        yield Case(f"cut/{end}", raw[:end], certain=False)
