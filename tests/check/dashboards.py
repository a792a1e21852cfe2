#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What must hold of deploy/grafana and of the names in it and in the rules, without a Prometheus: every metric and label exists, every family of
METRICS.md is looked at somewhere, every panel has what it needs, and each section of the runbook leads to the panels of its alert."""
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "support"))
import dashboards  # noqa: E402  (the path comes first)
import promql  # noqa: E402
import rule_files  # noqa: E402

GRAFANA = ROOT / "deploy/grafana"
PROMETHEUS = ROOT / "deploy/prometheus"
OF_PROMETHEUS = {"up", "ALERTS", "ALERTS_FOR_STATE"}
OF_TARGETS = {"cluster", "instance", "job"}
OF_ALERTS = {"alertname", "alertstate", "severity", "scope"}
LEVELS = {"cluster": {"cluster"}, "port": {"device", "port"}, "device": {"device"}, "workload_node": {"tenant", "workload"},
          "workload_node_port": {"tenant", "workload", "device", "port"}, "qpscope": {"remote_gid", "peer", "peer_device", "peer_port"}}
PANELS = {"timeseries", "stat", "table", "state-timeline"}
UNITS = {"none", "short", "percentunit", "s", "bps", "Bps", "bytes", "decbytes", "pps", "cps", "ops"}
# What the rate of a family counts, by its name, where it is shown as it is.
RATES = {"_bytes_total": {"bps", "Bps"}, "_packets_total": {"pps", "cps"}, "_frames_total": {"pps"}, "_seconds_total": {"percentunit"}}


def families():
    """{series name: labels} of METRICS.md; a histogram has three."""
    text = (ROOT / "exporters/METRICS.md").read_text().partition("\n# Kernel counters\n")[0]
    found, bases = {}, {}
    for name, kind, labels in re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \|", text, re.M):
        labels = set(re.findall(r"`(\w+)`", labels))
        for series in [f"{name}_bucket", f"{name}_sum", f"{name}_count"] if kind == "histogram" else [name]:
            found[series], bases[series] = labels | ({"le"} if series.endswith("_bucket") else set()), name
    return found, bases


def complaints_of_names(where, expression, known, recorded):
    try:
        used = promql.selectors(expression)
        grouped = promql.grouped(expression)
    except promql.NotPromql as bad:
        yield f"{where}: {bad}"
        return
    labels_here = set(OF_TARGETS)
    for name, matchers in used:
        if name is None:
            yield f"{where}: a selector without a metric"
        elif name in known:
            labels = known[name] | OF_TARGETS
        elif name in recorded:
            labels = LEVELS[name.split(":")[0]] | OF_TARGETS
        elif name in OF_PROMETHEUS:
            labels = OF_TARGETS | OF_ALERTS
        else:
            yield f"{where}: {name} is in no row of METRICS.md, and no rule records it"
            continue
        labels_here |= labels
        yield from (f"{where}: {name} has no label {label}" for label, _, _ in matchers if label not in labels)
    made = set(re.findall(r'"(\w+)"', expression)) if "label_replace" in expression else set()
    yield from (f"{where}: no metric in it has the label {label}" for label in sorted(grouped - labels_here - made))


def complaints_of_labels(where, panel, known, recorded):
    """Legends and columns name what a query groups by or, where it does not, a label of its metrics."""
    there = set()
    for target in panel["targets"]:
        expression = dashboards.plain(target["expr"])
        there |= promql.grouped(expression)
        if not re.match(r"(8 \* )?[a-z]+ by \(", expression):
            for name in promql.metrics(expression):
                there |= known.get(name) or (LEVELS[name.split(":")[0]] if name in recorded else OF_ALERTS | {"device", "port"})
                there |= OF_TARGETS
    named = {label for target in panel["targets"] for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])}
    for one in panel.get("transformations", ()):
        named |= {name for name in one["options"].get("renameByName", ()) if not name.startswith("Value")}
    yield from (f"{where}: nothing has the label {label}" for label in sorted(named - there))


def complaints_of_panel(where, panel):
    unit = panel["fieldConfig"]["defaults"]["unit"]
    if panel["type"] not in PANELS:
        yield f"{where}: type {panel['type']}"
    if not panel["description"].endswith(".") or not panel["title"]:
        yield f"{where}: no title, or a description that is no sentence"
    units = {unit, *(one["value"] for override in panel["fieldConfig"]["overrides"] for one in override["properties"] if one["id"] == "unit")}
    yield from (f"{where}: unit {one}" for one in units - UNITS)
    if panel["datasource"] != dashboards.SOURCE or not panel["targets"]:
        yield f"{where}: no query, or another data source"
    refs = [target["refId"] for target in panel["targets"]]
    if len(set(refs)) != len(refs):
        yield f"{where}: a refId twice"
    for target in panel["targets"]:
        expression = dashboards.plain(target["expr"])
        if target["datasource"] != dashboards.SOURCE:
            yield f"{where}: a query of another data source"
        if "rate(" in target["expr"] and re.search(r"rate\([^][]*\[(?!\$__rate_interval\])", target["expr"]):
            yield f"{where}: a rate over another time than $__rate_interval"
        rated = re.fullmatch(r"(8 \* )?(?:sum|max) by \([^)]*\) \(rate\((\w+)\{[^}]*\}\[5m\]\)\)", expression)
        for suffix, allowed in RATES.items() if rated else ():
            if rated[2].endswith(suffix) and (unit not in allowed or (unit == "bps") != bool(rated[1])):
                yield f"{where}: {unit} is no unit for {rated[0]}"
    if panel["type"] == "table":
        columns = [one["options"]["renameByName"] for one in panel["transformations"] if one["id"] == "organize"][0]
        for override in panel["fieldConfig"]["overrides"]:
            if override["matcher"]["options"] not in columns.values():
                yield f"{where}: no column {override['matcher']['options']}"
        values = {"Value"} if len(refs) == 1 else {f"Value #{ref}" for ref in refs}
        yield from (f"{where}: {name} is no value of its queries" for name in columns if name.startswith("Value") and name not in values)


def complaints_of_places(where, board):
    taken = {}
    for panel in dashboards.panels(board, rows=True):
        place = panel["gridPos"]
        if place["x"] < 0 or place["x"] + place["w"] > 24 or place["h"] < 1 or place["w"] < 1:
            yield f"{where}: {panel['title']} is not within 24 columns"
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                if other := taken.setdefault((x, y), panel["title"]) != panel["title"] and taken[x, y]:
                    yield f"{where}: {panel['title']} and {other} overlap"
                    return


def complaints_of_board(path, board):
    where = path.name
    shown = [*dashboards.panels(board, rows=True)]
    for what in ("id", "title"):
        seen = [panel[what] for panel in shown]
        yield from (f"{where}: {what} {one} twice" for one in sorted({one for one in seen if seen.count(one) > 1}))
    if board["uid"] != path.stem or board["tags"] != ["qpscope"] or board.get("id") or board["schemaVersion"] != 39:
        yield f"{where}: uid, tag, id or schema"
    names = [one["name"] for one in board["templating"]["list"]]
    if names[0] != "datasource" or board["templating"]["list"][0]["type"] != "datasource":
        yield f"{where}: the first variable is not the data source"
    for index, variable in enumerate(board["templating"]["list"][1:], 1):
        asked = set(re.findall(r"\$(\w+)", variable["query"]["query"]))
        if asked != set(names[1:index]):
            yield f"{where}: {variable['name']} does not ask for what those before it leave"
        if variable["datasource"] != dashboards.SOURCE or variable["query"]["query"] != variable["definition"] or not variable["includeAll"] or variable["allValue"] != ".*":
            yield f"{where}: {variable['name']}: data source, definition or All"
    text = json.dumps([panel.get("targets") for panel in shown])
    used = set(re.findall(r"\$\{?(?!__)(\w+)", text)) | {"datasource"}
    yield from (f"{where}: ${name} is a variable or used, not both" for name in sorted(used ^ set(names)))
    if not any(link["type"] == "dashboards" and link["tags"] == ["qpscope"] and link["includeVars"] and link["keepTime"] for link in board["links"]):
        yield f"{where}: no links to the others that carry variables and time"


def complaints_of_links(boards):
    """A link carries data source, cluster and time, and sets variables that its target has."""
    variables = {board["uid"]: {one["name"] for one in board["templating"]["list"]} for board in boards.values()}
    for path, board in boards.items():
        for url in re.findall(r'"url": "(/[^"]*)"', json.dumps(board)):
            uid, _, query = url.removeprefix("/d/").partition("?")
            parts = query.split("&")
            if uid not in variables or not {"${datasource:queryparam}", "${cluster:queryparam}", "${__url_time_range}"} <= set(parts):
                yield f"{path.name}: {url} leads nowhere, or loses something"
            yield from (f"{path.name}: {url}: no variable {name} there" for name in re.findall(r"var-(\w+)=", url) if name not in variables.get(uid, set()))


def complaints_of_alerts(boards, alerts):
    """A section of the runbook leads to panels that name its alert, and a threshold is a number of its alert's expression."""
    named = {}
    for board in boards.values():
        for panel in dashboards.panels(board):
            title = f"{board['title'].removeprefix('qpscope: ')} / {panel['title']}"
            mine = re.findall(r"Qpscope\w+", panel["description"])
            for alert in mine:
                named.setdefault(alert, set()).add(title)
            numbers = set().union(*(promql.numbers(alerts[alert]) for alert in mine if alert in alerts)) | ({1.0} if panel["type"] == "stat" else set())
            yield from (f"{title}: no alert of it has the threshold {step['value']}"
                        for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"] if step["value"] is not None and step["value"] not in numbers)
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", (PROMETHEUS / "RUNBOOK.md").read_text(), re.M | re.S))
    yield from (f"{sorted(titles)}: no alert {name}" for name, titles in named.items() if name not in alerts)
    for alert in alerts:
        listed = re.search(r"^\*\*Panels\*\* (.*?)\.$", sections.get(alert, ""), re.M | re.S)
        listed = set(listed[1].replace("\n", " ").split("; ")) if listed else set()
        if not listed or not listed <= named.get(alert, set()):
            yield f"RUNBOOK.md: {alert}: no panels, or one that does not name it: {sorted(listed)}, but {sorted(named.get(alert, set()))}"


def main():
    done = subprocess.run([sys.executable, "-B", GRAFANA / "make.py", "--check"], capture_output=True, text=True, timeout=50)
    complaints = [done.stdout + done.stderr] if done.returncode else []
    known, bases = families()
    rules = {path.name: path.read_text() for path in sorted((PROMETHEUS / "rules").glob("*.yml"))}
    every = [(path, *one) for path, text in rules.items() for one in rule_files.rules(text)]
    recorded = {name for _, kind, name, _ in every if kind == "record"}
    boards = {path: json.loads(path.read_text()) for path in sorted((GRAFANA / "dashboards").glob("*.json"))}

    asked = [(f"{path}: {name}", expression) for path, _, name, expression in every]
    asked += [(f"{path}: annotations", query) for path, text in rules.items() for query in rule_files.asked_in_annotations(text)]
    asked += [(f"{path.name}: {title}", query) for path, board in boards.items() for title, query in dashboards.queries(board)]
    for where, expression in asked:
        complaints += complaints_of_names(where, expression, known, recorded)
    used = {bases.get(name, name) for _, expression in asked for name in promql.metrics(expression)}
    raw = dict(line.split(maxsplit=1) for line in (HERE / "undrawn.txt").read_text().splitlines() if line and not line.startswith("#"))
    complaints += [f"{name}: neither a rule nor a dashboard asks for it, and undrawn.txt does not say why" for name in sorted(set(bases.values()) - used - set(raw))]
    complaints += [f"undrawn.txt: {name} is asked for, or no family" for name in sorted(set(raw) & used | set(raw) - set(bases.values()))]
    complaints += [f"{name} is recorded, and nobody asks for it" for name in sorted(recorded - used)]

    for path, board in boards.items():
        complaints += complaints_of_board(path, board)
        complaints += complaints_of_places(path.name, board)
        for panel in dashboards.panels(board):
            complaints += complaints_of_panel(f"{path.name}: {panel['title']}", panel)
            complaints += complaints_of_labels(f"{path.name}: {panel['title']}", panel, known, recorded)
    complaints += complaints_of_links(boards)
    complaints += complaints_of_alerts(boards, {name: expression for _, kind, name, expression in every if kind == "alert"})
    return "\n".join(complaints) or None


sys.exit(main())
