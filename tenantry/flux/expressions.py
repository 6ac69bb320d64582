"""Expressions that Flux compiles only when it runs, CEL and regular ones: each function returns the problem of one, or None.

Called by: `texts`, which knows where a kind has such expressions.
Never: evaluates an expression on data of a fleet.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from tenantry.messages.errors import Problem
from tenantry.messages.problems import shown
from tenantry.messages.redact import shorten
from tenantry.messages.text import closest

# --- CEL --------------------------------------------------------------------------------------------------------------


class Language(NamedTuple):
    """What an expression may name and has to yield. Source: fluxcd/pkg `runtime/cel`, and the controllers that call it.

    variables: their names. yields: "BOOL", "STRING", or "" for anything. of_object: the variables are the fields of an object, of
    which a definition may have others, and the expression is parsed, but not checked against types.
    """

    variables: tuple[str, ...]
    yields: str = "BOOL"
    of_object: bool = False

    @property
    def example(self) -> str:
        if self.of_object:
            return "status.phase == 'Ready'"
        return (
            "'NAME/' + event.involvedObject.name" if self.yields == "STRING" else f"{self.variables[0]}.name == 'NAME'"
        )


OF_OBJECT = Language(("apiVersion", "kind", "metadata", "spec", "status", "data"), of_object=True)
MOST_CHARACTERS = 2_000
MOST_NESTED = 3
"""Loops within loops: each takes all entries of a list for each entry of the outer one."""
MOST_GROWTH = 1_000
"""How many times as long as its input the result may become: Flux evaluates without a limit of memory."""
_WORDS = {"BOOL": "true or false", "STRING": "a text"}
_NOT_FIELDS = ("self", "object", "obj", "resource", "this", "root", "res", "dep", "item")
"""What other programs call the object."""
_ERROR = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")
_UNDECLARED = re.compile(r"undeclared reference to '([^'.]*)(\.?)")
_MIXED = re.compile(
    r"no matching overload for '_(?:==|!=|<|<=|>|>=)_' applied to '\((?:int|uint|double), (?:int|uint|double)\)'"
)
"""A comparison of two kinds of numbers, which Flux switches on."""
_TEXT_OR_PARENTHESIS = re.compile(
    r"""(?P<text>[rR]?(?:'{3}.*?'{3}|"{3}.*?"{3}|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"))"""
    r"|(?:\.\s*(?P<call>\w+)\s*)?(?P<open>\()|(?P<close>\))",
    re.DOTALL,
)
_MATCHES = re.compile(r"""\.matches\(\s*([rR]?)(?:'([^'\\]*|(?<=r')[^']*)'|"([^"\\]*|(?<=r")[^"]*)")\s*\)""")
_LOOPS = ("all", "exists", "exists_one", "filter", "map")
_GROWING = ("replace", "join", "format")


@cache
def expression_problem(text: str, language: Language) -> Problem | None:
    """What is wrong with a CEL expression, which is compiled as Flux does and never evaluated."""
    if len(text) > MOST_CHARACTERS:
        message = f"the expression has {len(text):,} characters, and at most {MOST_CHARACTERS:,} are taken"
        return _bad(message, "shorten it")
    if cost := _cost(text):
        return cost
    names, compiled = language.variables, None
    while compiled is None:
        try:
            compiled = _environment(names).compile(text)
        except RuntimeError as error:
            line, column, why = (
                match.groups() if (match := _ERROR.search(str(error))) else ("1", "1", "it cannot be compiled")
            )
            undeclared = _UNDECLARED.match(why)
            name = undeclared[1] if undeclared else ""
            if _MIXED.search(why):
                return None
            # An unknown name may be a field at the top of some object, if it is no function.
            is_unlikely = re.search(rf"\b{re.escape(name)}\s*\(", text) or name in _NOT_FIELDS
            is_field = name and not (is_unlikely or name in names or closest(name, OF_OBJECT.variables))
            if language.of_object and is_field:
                names = (*names, name)
                continue
            where = f"line {line}, column {column}" if "\n" in text.strip() else f"column {column}"
            example, notes = f"write it as in {language.example}", (f"variables: {', '.join(language.variables)}",)
            if undeclared:
                return _bad(f"'{shorten(name)}' is not known in this expression ({where})", example, notes)
            why = why.partition(" (in container")[0].removeprefix("Syntax error: ").partition(" expecting ")[0]
            why = "it ends too early" if "'<EOF>'" in why else shorten(why)
            return _bad(f"this is no CEL expression: {why} ({where})", example)
    got = compiled.return_type().name()
    if language.yields in ("", got) or (got == "DYN" and language.of_object):
        patterns = (match[2] if match[2] is not None else match[3] for match in _MATCHES.finditer(text))
        return next(filter(None, map(pattern_problem, patterns)), None)
    what = "what may be anything" if got == "DYN" else f"a value of type {got.lower()}"
    around = "string(...)" if language.yields == "STRING" else "(...) == true" if got == "DYN" else ""
    fix = f"write '{around}' around it" if around else f"compare it with something, as in {language.example}"
    return _bad(f"the expression has to yield {_WORDS[language.yields]}, and yields {what}", fix)


def _bad(message: str, fix: str, notes: tuple[str, ...] = ()) -> Problem:
    return Problem((), "bad-expression", message, notes, fix)


def _cost(text: str) -> Problem | None:
    """Loops that are nested too deep, or calls that can make a value too long; counted on the text, before anything parses it."""
    growth, deepest, opened = 1, 0, list[tuple[str, int]]()
    for token in _TEXT_OR_PARENTHESIS.finditer(text):
        if token["open"]:
            opened.append((token["call"] or "", token.end()))
            deepest = max(deepest, sum(call in _LOOPS for call, _ in opened))
        elif token["close"] and opened:
            call, start = opened.pop()
            argument = text[start : token.start()]
            if call == "map" and (variable := re.match(r"\s*(\w+)\s*,", argument)):
                growth *= max(1, len(re.findall(rf"\b{variable[1]}\b", argument)) - 1)
            elif call in _GROWING:
                texts = (match["text"] for match in _TEXT_OR_PARENTHESIS.finditer(argument) if match["text"])
                growth *= max(1, sum(len(part) - 2 for part in texts))
    if deepest > MOST_NESTED:
        message = f"more than {MOST_NESTED} loops are nested in this expression, and Flux evaluates it without a limit"
        return _bad(message, f"write it with fewer of {', '.join(_LOOPS)}")
    if growth > MOST_GROWTH:
        message = f"this expression can make a value {growth:,} times as long, and Flux evaluates it without a limit of memory"
        fix = f"use fewer of map, {', '.join(_GROWING)}, at most {MOST_GROWTH:,} times in all"
        return _bad(message, fix)
    return None


@cache
def _environment(variables: tuple[str, ...]) -> Any:
    """The compiler with what Flux adds to CEL. Variables are mappings with texts as keys, as a Struct is."""
    from cel_expr_python import cel  # type: ignore[import-untyped]
    from cel_expr_python.ext import ext_encoders, ext_optional, ext_strings  # type: ignore[import-untyped]

    kinds = cel.Type
    of_struct = (
        kinds.DYN
        if variables[: len(OF_OBJECT.variables)] == OF_OBJECT.variables
        else kinds.Map(kinds.STRING, kinds.DYN)
    )
    sets = [
        cel.FunctionDecl(
            f"sets.{name}",
            [cel.Overload(id=name, return_type=kinds.BOOL, parameters=[kinds.LIST, kinds.LIST], is_member=False)],
        )
        for name in ("contains", "equivalent", "intersects")
    ]
    extensions = [ext_strings.ExtStrings(), ext_optional.ExtOptional(), ext_encoders.ExtEncoders()]
    return cel.NewEnv(variables=dict.fromkeys(variables, of_struct), extensions=extensions, functions=sets)


# --- regular expressions ----------------------------------------------------------------------------------------------

_PLAIN_PATTERN = re.compile(r"[A-Za-z0-9 _/.|-]*")


@cache
def pattern_problem(text: str) -> Problem | None:
    """What is wrong with a regular expression of Go. CEL's `matches` has the same engine, RE2."""
    if _PLAIN_PATTERN.fullmatch(text):
        return None
    result = _environment(("p",)).compile("''.matches(string(p.text))").eval(data={"p": {"text": text}}).value()
    if not isinstance(result, bool) or r"\C" in text.replace(r"\\", ""):  # Go has no bytes in patterns
        why = str(result).partition("invalid regular expression: ")[2] or "it does not compile"
        fix = "Flux takes RE2, without look-around and back references; '.*' is any text, and '\\' stands before a plain bracket"
        return Problem((), "bad-pattern", f"{shown(text)} is no regular expression of Go: {shorten(why)}", fix=fix)
    return None
