# SPDX-License-Identifier: Apache-2.0
"""The dashboards of deploy/grafana as Grafana would ask: panels, queries, variables."""
import json
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent.parent / "deploy/grafana/dashboards"
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def boards():
    return [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]


def panels(board, rows=False):
    """Those in folded rows, too; a row is no panel unless rows are asked for."""
    for one in board["panels"]:
        if rows or one["type"] != "row":
            yield one
        yield from one.get("panels", ())


def variables(board):
    """{name: (metric selector, label)} of those that ask Prometheus, in their order."""
    for one in board["templating"]["list"]:
        if one["type"] == "query":
            yield one["name"], *re.fullmatch(r"label_values\((.*), (\w+)\)", one["query"]["query"]).groups()


def queries(board):
    """[(title, PromQL)] of panels and variables, with All for every variable."""
    for panel in panels(board):
        for target in panel["targets"]:
            yield panel["title"], plain(target["expr"])
    for name, selector, _ in variables(board):
        yield f"variable {name}", plain(selector)


def plain(text, values=None, interval="5m"):
    """PromQL without what Grafana puts in. `values`: {variable: regular expression}, All for the others."""
    text = text.replace("$__rate_interval", interval)
    return re.sub(r"\$(\w+)", lambda found: (values or {}).get(found[1], ".*"), text)
