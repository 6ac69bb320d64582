"""A client of yaml-language-server, the program behind the completion and the hovers of VS Code, Neovim and others.

One server answers all questions about one document, whose text is replaced for each.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).parents[2] / "build/editors/node_modules/yaml-language-server/bin/yaml-language-server"
"""Where `make test-editors` installs it."""
_FILE = "file:///fleet/tenants.yaml"


@dataclass
class LanguageServer:
    """Speaks the Language Server Protocol with a running server. schema: the file that it uses for every document."""

    process: subprocess.Popen[bytes]
    schema: Path
    told: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    """The problems that the server found in each version of the document."""
    _number: int = 0
    _version: int = 0

    def start(self) -> None:
        documentation = {"documentationFormat": ["markdown", "plaintext"]}
        capabilities = {
            "textDocument": {
                "completion": {"completionItem": {**documentation, "snippetSupport": True}},
                "hover": {"contentFormat": ["markdown", "plaintext"]},
                "publishDiagnostics": {"versionSupport": True},
            },
            "workspace": {"configuration": True},
        }
        self._ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        self._send({"method": "initialized", "params": {}})
        self._send({"method": "workspace/didChangeConfiguration", "params": {"settings": {}}})

    def labels(self, text: str) -> list[str]:
        """What the server offers where `|` stands in a document."""
        found = self._ask("textDocument/completion", self._opened(text))
        return [each["label"] for each in (found["items"] if isinstance(found, dict) else found)]

    def hover(self, text: str) -> str:
        """What the server shows for the word after `|` in a document, as Markdown."""
        found = self._ask("textDocument/hover", self._opened(text))
        return str(found["contents"]["value"]) if found else ""

    def problems(self, text: str) -> list[str]:
        """What the server finds wrong in a document: `line: message`, from 1."""
        self._opened(text)
        while self._version not in self.told:
            self._read()
        return [f"{each['range']['start']['line'] + 1}: {each['message']}" for each in self.told[self._version]]

    def _opened(self, text: str) -> dict[str, Any]:
        """The place of `|` in the document, which the server has read."""
        before, _, after = text.partition("|")
        line, column = before.count("\n"), len(before.rpartition("\n")[2])
        self._version += 1
        document = {"uri": _FILE, "version": self._version}
        if self._version == 1:
            opened = {"textDocument": {**document, "languageId": "yaml", "text": before + after}}
            self._send({"method": "textDocument/didOpen", "params": opened})
        else:
            changed = {"textDocument": document, "contentChanges": [{"text": before + after}]}
            self._send({"method": "textDocument/didChange", "params": changed})
        return {"textDocument": {"uri": _FILE}, "position": {"line": line, "character": column}}

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while (answer := self._read()) is None or answer.get("id") != self._number or "method" in answer:
            pass
        return answer["result"]

    def _send(self, message: dict[str, Any]) -> None:
        raw = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin
        self.process.stdin.write(f"Content-Length: {len(raw)}\r\n\r\n".encode() + raw)
        self.process.stdin.flush()

    def _read(self) -> dict[str, Any] | None:
        """The next message; questions of the server are answered."""
        assert self.process.stdout
        length = 0
        while (line := self.process.stdout.readline().strip()) or not length:
            assert line or self.process.poll() is None, "the server has ended"
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        if message.get("method") == "workspace/configuration":
            self._send({"id": message["id"], "result": [self._settings(each) for each in message["params"]["items"]]})
        elif "id" in message and "method" in message:
            self._send({"id": message["id"], "result": None})
        elif message.get("method") == "textDocument/publishDiagnostics":
            self.told[message["params"].get("version", self._version)] = message["params"]["diagnostics"]
        return message

    def _settings(self, item: dict[str, Any]) -> Any:
        if item.get("section") != "yaml":
            return {}
        schemas = {self.schema.resolve().as_uri(): "tenants.yaml"}
        return {
            "schemas": schemas,
            "schemaStore": {"enable": False},
            "completion": True,
            "hover": True,
            "validate": True,
        }


@contextmanager
def language_server(schema: Path) -> Iterator[LanguageServer]:
    program = ["node", str(PROGRAM), "--stdio"]
    pipe = subprocess.PIPE
    with subprocess.Popen(program, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
        try:
            server = LanguageServer(process, schema)
            server.start()
            yield server
        finally:
            process.kill()
