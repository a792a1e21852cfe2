# SPDX-License-Identifier: Apache-2.0
"""The words that the dashboards are written in, and how Grafana spells them (schema 39: Grafana 10.4 and later, 11).

A query is (PromQL, legend). In PromQL, {@port} and the other SELECTORS stand for what the variables select. Panels are dictionaries without a
place; dashboard() puts them in rows of 24 columns, from left to right, and gives each an id that stays while its title does.
"""
import zlib

SELECTORS = {
    "@cluster": 'cluster=~"$cluster"',
    "@node": 'cluster=~"$cluster",instance=~"$node"',
    "@port": 'cluster=~"$cluster",instance=~"$node",device=~"$device"',
    "@owner": 'cluster=~"$cluster",instance=~"$node",device=~"$device",tenant=~"$tenant",workload=~"$workload"',
    "@workload": 'cluster=~"$cluster",instance=~"$node",tenant=~"$tenant",workload=~"$workload"',
}
# Each asks only for what those before it leave. All is a regular expression, so that it selects what lacks the label, too.
VARIABLES = {
    "cluster": ("Cluster", "label_values(qpscope_build_info, cluster)"),
    "node": ("Node", 'label_values(qpscope_build_info{cluster=~"$cluster"}, instance)'),
    "device": ("Device", "label_values(qpscope_port_state{@node}, device)"),
    "tenant": ("Tenant", "label_values(qpscope_queue_pairs{@port}, tenant)"),
    "workload": ("Workload", 'label_values(qpscope_queue_pairs{@port,tenant=~"$tenant"}, workload)'),
}
PORT = ("instance", "device", "port")
DEVICE = ("instance", "device")
NODE = ("instance",)
OWNER = ("tenant", "workload")
_OF = {PORT: "@port", DEVICE: "@port", NODE: "@node", OWNER: "@owner"}
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_CARRIED = "${datasource:queryparam}&${cluster:queryparam}&${__url_time_range}"


def legend(per, *more, word=""):
    name = {PORT: "{{instance}} {{device}}/{{port}}", DEVICE: "{{instance}} {{device}}",
            OWNER: "{{tenant}}/{{workload}}"}.get(per) or " ".join("{{%s}}" % label for label in per)
    return " ".join([name, *("{{%s}}" % label for label in more), *([word] if word else [])])


def rate(family, *more, per=PORT, where="", word="", times=""):
    """A second's worth of a total, for each of `per` and of the labels `more`. Of twins in two clusters it makes two."""
    by = ", ".join(("cluster", *per, *more))
    return f"{times}sum by ({by}) (rate({family}{{{_OF[per]}{where}}}[$__rate_interval]))", legend(per, *more, word=word)


def now(family, *more, per=PORT, where="", word="", how="max", times=""):
    """What a gauge is."""
    by = ", ".join(("cluster", *per, *more))
    return f"{times}{how} by ({by}) ({family}{{{_OF[per]}{where}}})", legend(per, *more, word=word)


def quantile(share, family, per=PORT, word=""):
    by = ", ".join(("cluster", *per, "le"))
    return f"histogram_quantile({share}, sum by ({by}) (rate({family}_bucket{{{_OF[per]}}}[$__rate_interval])))", legend(per, word=word)


def recorded(name, *labels, word=""):
    """What a recording rule has, without sums: its labels are those of its name."""
    where = "@workload" if name.startswith("workload_") else "@port"
    return f"{name}{{{where}}}", legend(labels) + (f" {word}" if word else "")


def _targets(queries, **more):
    for ref, (expr, text) in zip("ABCDEFGHIJ", queries, strict=False):
        for selector in sorted(SELECTORS, key=len, reverse=True):
            expr = expr.replace(selector, SELECTORS[selector])
        yield {"datasource": _SOURCE, "editorMode": "code", "expr": expr, "legendFormat": text, "refId": ref, **more}


def _panel(kind, title, description, unit, queries, width, height, alerts, **target):
    limits = sorted(limit for limit in (alerts or {}).values() if limit is not None)
    steps = [{"color": "green", "value": None}, *({"color": "red" if limit == limits[-1] else "orange", "value": limit} for limit in limits)]
    if alerts:
        description += f" Alert: {', '.join(alerts)}."
    return {
        "id": zlib.crc32(title.encode()) >> 1, "type": kind, "title": title, "description": description, "datasource": _SOURCE,
        "gridPos": {"w": width, "h": height}, "targets": list(_targets(queries, **target)),
        "fieldConfig": {"defaults": {"unit": unit, "thresholds": {"mode": "absolute", "steps": steps}}, "overrides": []}, "options": {},
    }


def graph(title, description, unit, *queries, alerts=None, stack=False, width=8, to_node=False):
    """Lines over time. `alerts`: {alert that looks at the same: its threshold, or None where that is another number}."""
    panel = _panel("timeseries", title, description, unit, queries, width, 8, alerts, range=True)
    limited = len(panel["fieldConfig"]["defaults"]["thresholds"]["steps"]) > 1
    panel["fieldConfig"]["defaults"] |= {
        "min": 0, "color": {"mode": "palette-classic"},
        "custom": {"drawStyle": "line", "lineWidth": 1, "fillOpacity": 30 if stack else 5, "showPoints": "auto", "spanNulls": False,
                   "stacking": {"mode": "normal" if stack else "none", "group": "A"}, "thresholdsStyle": {"mode": "dashed" if limited else "off"}},
    }
    if to_node:
        panel["fieldConfig"]["defaults"]["links"] = [_link("qpscope-node", "Node", node="${__field.labels.instance}")]
    panel["options"] = {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True}, "tooltip": {"mode": "multi", "sort": "desc"}}
    return panel


def stat(title, description, unit, query, alerts=None, width=4, bad_above=None):
    """One number of now; red above `bad_above`."""
    panel = _panel("stat", title, description, unit, [(query, "")], width, 4, alerts, instant=True)
    if bad_above is not None:
        panel["fieldConfig"]["defaults"]["thresholds"]["steps"] = [{"color": "green", "value": None}, {"color": "red", "value": bad_above}]
    panel["options"] = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
                        "colorMode": "value" if bad_above is not None or alerts else "none", "graphMode": "none"}
    return panel


def states(title, description, names, *queries, alerts=None, good=None, width=12):
    """What was when, where a number stands for a name: {number: name}. All but `good` is orange."""
    panel = _panel("state-timeline", title, description, "none", queries, width, 8, {name: None for name in alerts or ()}, range=True)
    colours = {number: "green" if number in (good or ()) else "orange" for number in names}
    panel["fieldConfig"]["defaults"] |= {
        "mappings": [{"type": "value", "options": {str(number): {"text": name, "color": colours[number], "index": index}}} for index,
                     (number, name) in enumerate(names.items())],
        "custom": {"fillOpacity": 70, "lineWidth": 0},
    }
    panel["options"] = {"showValue": "auto", "mergeValues": True, "rowHeight": 0.8, "legend": {"displayMode": "list", "placement": "bottom", "showLegend": False}}
    return panel


def table(title, description, columns, *queries, alerts=None, units=None, width=12, names=None):
    """Rows of now. `columns`: {label, or "Value", or "Value #B" of the second of several queries: heading}; `units` and `names` ({number:
    name}) by heading. A node and a workload lead to their dashboards."""
    panel = _panel("table", title, description, "none", [(query, "") for query in queries], width, 8, {name: None for name in alerts or ()}, instant=True,
                   format="table")
    panel["transformations"] = [
        {"id": "merge", "options": {}},
        {"id": "filterFieldsByName", "options": {"include": {"names": list(columns)}}},
        {"id": "organize", "options": {"indexByName": {name: index for index, name in enumerate(columns)}, "renameByName": columns, "excludeByName": {}}},
    ]
    if unknown := {*(units or {}), *(names or {})} - set(columns.values()):
        raise ValueError(f"{title}: no column {unknown}")
    properties = {heading: [{"id": "unit", "value": unit}] for heading, unit in (units or {}).items()}
    for heading, of in (names or {}).items():
        mapping = {str(number): {"text": name, "index": index} for index, (number, name) in enumerate(of.items())}
        properties.setdefault(heading, []).append({"id": "mappings", "value": [{"type": "value", "options": mapping}]})
    links = {"Node": _link("qpscope-node", "Node", node="${__value.text}")}
    if {"tenant", "workload"} <= set(columns):
        links["Workload"] = _link("qpscope-workload", "Workload and tenant", tenant="${__data.fields.Tenant}", workload="${__value.text}")
    for heading in set(links) & set(columns.values()):
        properties.setdefault(heading, []).append({"id": "links", "value": [links[heading]]})
    panel["fieldConfig"]["overrides"] = [{"matcher": {"id": "byName", "options": heading},
                                          "properties": properties[heading]} for heading in columns.values() if heading in properties]
    panel["options"] = {"showHeader": True, "cellHeight": "sm", "footer": {"show": False, "reducer": ["sum"], "fields": ""}}
    return panel


def _link(uid, title, **variables):
    return {"title": title, "url": f"/d/{uid}?{_CARRIED}&" + "&".join(f"var-{name}={value}" for name, value in variables.items())}


def row(title, *panels, collapsed=False):
    return {"id": zlib.crc32(("row " + title).encode()) >> 1, "type": "row", "title": title, "collapsed": collapsed, "panels": list(panels)}


def _place(rows):
    """gridPos: x and y of each, rows below one another."""
    y = 0
    for one in rows:
        one["gridPos"] = {"x": 0, "y": y, "w": 24, "h": 1}
        x, y, high = 0, y + 1, 0
        for panel in one["panels"]:
            place = panel["gridPos"]
            if x + place["w"] > 24:
                x, y, high = 0, y + high, 0
            place |= {"x": x, "y": y}
            x, high = x + place["w"], max(high, place["h"])
        y += high
        # What is open stands beside its row, what is folded in it.
        inside = one["panels"] if one["collapsed"] else []
        yield one | {"panels": inside}
        if not one["collapsed"]:
            yield from one["panels"]


def _variable(name):
    label, query = VARIABLES[name]
    for selector in sorted(SELECTORS, key=len, reverse=True):
        query = query.replace(selector, SELECTORS[selector])
    return {
        "name": name, "label": label, "type": "query", "datasource": _SOURCE, "definition": query,
        "query": {"qryType": 1, "query": query, "refId": "PrometheusVariableQueryEditor-VariableQuery"},
        "includeAll": True, "allValue": ".*", "multi": True, "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "refresh": 2, "regex": "", "sort": 1, "hide": 0, "options": [], "skipUrlSync": False,
    }


def dashboard(uid, title, description, variables, *rows):
    datasource = {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "regex": "", "current": {}, "hide": 0,
                  "includeAll": False,
                  "multi": False, "options": [], "refresh": 1, "skipUrlSync": False}
    return {
        "uid": uid, "title": f"qpscope: {title}", "description": description, "tags": ["qpscope"], "schemaVersion": 39, "version": 1, "editable": True,
        "graphTooltip": 1,
        "time": {"from": "now-1h", "to": "now"}, "refresh": "30s", "timezone": "browser", "fiscalYearStartMonth": 0, "weekStart": "", "liveNow": False,
        "annotations": {"list": []},
        "links": [{"type": "dashboards", "title": "qpscope", "tags": ["qpscope"], "asDropdown": False, "includeVars": True, "keepTime": True, "targetBlank": False,
                   "icon": "external link", "tooltip": "", "url": ""}],
        "templating": {"list": [datasource, *map(_variable, variables)]},
        "panels": list(_place(rows)),
    }
