# SPDX-License-Identifier: Apache-2.0
"""The names in a PromQL expression, by a tokenizer: promtool prints no syntax tree, and no API of Prometheus 2.42 does."""
import re

TOKEN = re.compile(r"""
    (?P<space>\s+|\#[^\n]*)
  | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)
  | (?P<duration>\[[^\]]*\])
  | (?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])|(?:\d+(?:ms|[smhdwy]))+))
  | (?P<name>[a-zA-Z_:$][\w:$]*)
  | (?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^@=<>(){},])
""", re.X)
OVER_LABELS = {"by", "without", "on", "ignoring", "group_left", "group_right"}
WORDS = {"and", "or", "unless", "bool", "offset", "inf", "nan", "start", "end", "atan2"}


class NotPromql(Exception):
    pass


def tokens(expression):
    """(kind, text) of everything but white space and comments."""
    at = 0
    while at < len(expression):
        found = TOKEN.match(expression, at)
        if not found:
            raise NotPromql(f"{expression[at:at + 20]!r} in {expression!r}")
        at = found.end()
        if found.lastgroup != "space":
            yield found.lastgroup, found[0]


def selectors(expression):
    """[(metric, [(label, operator, value)])] of each selector; the metric is None where there are only matchers."""
    return [one[1:] for one in _parse(expression) if one[0] == "selector"]


def metrics(expression):
    return {name for name, _ in selectors(expression) if name}


def grouped(expression):
    """The labels that by, on and their like name."""
    return {label for kind, *rest in _parse(expression) if kind == "labels" for label in rest}


def numbers(expression):
    """The numbers, durations among them left out."""
    return {float(text) for kind, text in tokens(expression) if kind == "number" and not re.search(r"[smhdwy]$", text)}


def _parse(expression):
    found = [*tokens(expression), ("sign", "")]
    at = 0
    while at < len(found) - 1:
        (kind, text), follows = found[at], found[at + 1][1]
        at += 1
        if kind == "name" and text.lower() in OVER_LABELS and (follows == "(" or text.startswith("group_")):
            if follows == "(":  # group_left alone has no list
                end = _end(found, at, ")")
                yield "labels", *(word for of, word in found[at + 1:end] if of == "name")
                at = end + 1
        elif kind == "name" and follows != "(" and text.lower() not in WORDS and not _aggregates(follows):
            end = _end(found, at, "}") if follows == "{" else at - 1
            yield "selector", text, _matchers(found[at + 1:end])
            at = end + 1
        elif text == "{":
            end = _end(found, at - 1, "}")
            yield "selector", None, _matchers(found[at:end])
            at = end + 1


def _aggregates(follows):
    """sum by (…) (…): the word before the list is none of ours."""
    return follows.lower() in ("by", "without")


def _end(found, at, closing):
    for index in range(at, len(found)):
        if found[index] == ("sign", closing):
            return index
    raise NotPromql(f"no {closing} after {' '.join(text for _, text in found[at:at + 5])}")


def _matchers(inside):
    parts = [part for part in inside if part != ("sign", ",")]
    if len(parts) % 3:
        raise NotPromql(f"matchers {' '.join(text for _, text in inside)}")
    return [(parts[at][1], parts[at + 1][1], parts[at + 2][1][1:-1]) for at in range(0, len(parts), 3)]
