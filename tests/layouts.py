"""Data written as YAML in any layout that people use: brackets or lines, comments, quotes, empty lines, line breaks."""

from __future__ import annotations

from random import Random
from typing import Any

from tenantry.edit.values import block, flow

Data = dict[str, Any]


def written(data: Data, seed: int) -> bytes:
    """The bytes of a file that holds the data, in a layout that the seed decides."""
    return _Layout(Random(seed)).file(data)


class _Layout:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.comments = 0
        self.often = random.choice([0, 0.1, 0.4])
        self.brackets = random.choice([0.2, 0.5, 0.9])

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def file(self, data: Data) -> bytes:
        lines = ["# The fleet.", *([""] if self.chance(0.5) else [])] if self.chance(0.5) else []
        lines += ["---"] if self.chance(0.1) else []
        lines += self.mapping(data, 0)
        lines += self.above(0) if self.chance(0.2) else []
        text = self.random.choice(["\n", "\n", "\r\n"]).join([*lines, ""])
        text = text.rstrip() if self.chance(0.2) else text
        return (f"\ufeff{text}" if self.chance(0.1) else text).encode()

    def comment(self) -> str:
        self.comments += 1
        return f"#{self.random.choice(['', ' '])}it's {{note}} \"{self.comments}"

    def behind(self) -> str:
        return f"{self.random.choice([' ', '  ', '    '])}{self.comment()}" if self.chance(self.often / 2) else ""

    def above(self, column: int) -> list[str]:
        """Comments and empty lines above an entry."""
        lines = [""] * self.random.choice([0, 0, 0, 1, 2]) if self.chance(0.4) else []
        for _ in range(self.random.choice([1, 1, 2]) if self.chance(self.often) else 0):
            lines.append(" " * max(0, column + self.random.choice([0, 0, 0, 0, 2, -2])) + self.comment())
        return lines

    def mapping(self, data: Data, column: int) -> list[str]:
        lines: list[str] = []
        for key, value in data.items():
            lines += self.above(column)
            head = f"{' ' * column}{self.text(key)}:"
            lines += self.value(head, value, column, self.random.choice([1, 2, 2, 4]))
        return lines

    def list(self, data: list[Any], column: int) -> list[str]:
        lines: list[str] = []
        for value in data:
            lines += self.above(column)
            head = " " * column + "-"
            if isinstance(value, dict) and value and self.chance(0.6):
                first, *others = self.mapping(value, column + 2)
                if first.strip() and not first.lstrip().startswith("#"):
                    lines += [f"{head} {first.lstrip()}", *others]
                    continue
            lines += self.value(head, value, column, 2)
        return lines

    def value(self, head: str, value: Any, column: int, step: int) -> list[str]:
        if isinstance(value, dict | list) and value and not self.chance(self.brackets):
            if isinstance(value, dict):
                return [head + self.behind(), *self.mapping(value, column + step)]
            dash = self.random.choice([0, 2, 2, 4]) if not head.endswith("-") else 2
            return [head + self.behind(), *self.list(value, column + dash)]
        if isinstance(value, str) and self.chance(0.5) and (lines := block(value)):
            return [
                f"{head} {lines[0]}{self.behind()}",
                *(" " * (column + step) + each if each else "" for each in lines[1:]),
            ]
        if isinstance(value, dict | list) and value and self.chance(0.3):
            return self.broken(head, value, column)
        return [f"{head}{self.random.choice([' ', ' ', '   '])}{self.flow(value)}{self.behind()}"]

    def broken(self, head: str, value: Any, column: int) -> list[str]:
        """In brackets, over several lines."""
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        indent = " " * (column + self.random.choice([2, 4]))
        inner = (
            [self.pair(*each) for each in value.items()]
            if isinstance(value, dict)
            else [self.flow(each) for each in value]
        )
        lines = [f"{head} {opening}{self.behind()}"]
        for index, each in enumerate(inner):
            comma = "," if index < len(inner) - 1 or self.chance(0.5) else ""
            lines += [indent + self.comment()] if self.chance(self.often / 2) else []
            lines.append(f"{indent}{each}{comma}{self.behind()}")
        return [*lines, f"{' ' * (column + 1)}{closing}{self.behind()}"]

    def flow(self, value: Any) -> str:
        space = " " * self.chance(0.2)
        between = f",{space or ' '}"
        if isinstance(value, dict):
            return f"{{{space}{between.join(self.pair(*each) for each in value.items())}{space}}}" if value else "{}"
        if isinstance(value, list):
            return f"[{space}{between.join(map(self.flow, value))}{space}]"
        return self.text(value) if isinstance(value, str) else flow(value)

    def pair(self, key: str, value: Any) -> str:
        return f"{self.text(key)}: {self.flow(value)}"

    def text(self, value: str) -> str:
        if flow(value) == value and self.chance(0.8):
            return value
        return flow(value, "'" if self.chance(0.4) else '"')
