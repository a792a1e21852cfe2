# SPDX-License-Identifier: Apache-2.0
"""Every query of every dashboard, asked of a real Prometheus that scraped real pages.

The pages are a folder: NODE/metrics.N.txt and, where it was kept, NODE/metrics_qps.N.txt, N counting up. They are served one after another, and the
last for good; two clusters have the same nodes, so that a query that mixes clusters shows. The rules are those of deploy/prometheus, whose `for` is
left out.
"""
import fnmatch
import re
import time

import dashboards
from peer_join import PageServer
from prometheus_server import Prometheus

RULES = dashboards.FOLDER.parent.parent / "prometheus/rules"
CLUSTERS = ("east", "west")
# Labels that are empty, and so not there, where all is well.
MAY_BE_EMPTY = {"error"}
QUEUE_PAIR = ("cluster", "instance", "device", "port", "qpn", "generation")


def fast_rules(folder):
    """Alerts that fire at once, and no group that waits for minutes."""
    for path in RULES.glob("*.yml"):
        text = re.sub(r"^ +(for|keep_firing_for|interval): \w+\n", "", path.read_text(), flags=re.M)
        (folder / path.name).write_text(text)
        yield folder / path.name


class OneAfterAnother:
    """Each text is served so often that every cluster has it three times, whatever time that takes; then the last."""

    def __init__(self, texts):
        self.texts, self.served = texts, 0

    def __call__(self):
        self.served += 1
        return self.texts[min((self.served - 1) // (3 * len(CLUSTERS)), len(self.texts) - 1)]

    def done(self):
        return self.served >= 3 * len(CLUSTERS) * len(self.texts)


def pages_of(folder):
    """{node: {path: OneAfterAnother}}"""
    found = {}
    number = lambda path: int(path.name.split(".")[1])  # noqa: E731
    for node in sorted(path for path in folder.iterdir() if path.is_dir()):
        for path, name in (("/metrics", "metrics"), ("/metrics/qps", "metrics_qps")):
            texts = [file.read_text() for file in sorted(node.glob(f"{name}.*.txt"), key=number)]
            if texts:
                found.setdefault(node.name, {})[path] = OneAfterAnother(texts)
    return found


def scrape_configs(server, pages):
    def targets(path):
        return [{"targets": [f"127.0.0.1:{port}"], "labels": {"instance": node, "cluster": cluster}}
                for node, port in server.ports.items() if path in pages[node] for cluster in CLUSTERS]
    # Every two seconds, and with as long to answer: this machine may be busy.
    return [{"job_name": path, "metrics_path": path, "scrape_interval": "2s", "scrape_timeout": "2s", "static_configs": targets(path)} for path in ("/metrics", "/metrics/qps")]


def values_of_variables(prometheus, board):
    """(complaints, {variable: one value of each}), each asked with what those before it have."""
    chosen, complaints = {}, []
    for name, selector, label in dashboards.variables(board):
        found = sorted(labels[label] for labels, _ in prometheus.query(f"group by ({label}) ({dashboards.plain(selector, chosen)})") if label in labels)
        if found:
            chosen[name] = re.escape(found[0]).replace("\\", "\\\\")  # as Grafana does: for a regular expression, in a string
        else:
            complaints.append(f"variable {name}")
    return complaints, chosen


def wrong_legends(target, answer):
    """What a legend names and no series has; and lines of one cluster that have the same."""
    text = target["legendFormat"]
    for label in re.findall(r"\{\{(\w+)\}\}", text):
        if label not in MAY_BE_EMPTY and not any(label in labels for labels, _ in answer):
            yield f"no series has the label {label} of its legend"
    lines = [(labels.get("cluster"), re.sub(r"\{\{(\w+)\}\}", lambda found: labels.get(found[1], ""), text)) for labels, _ in answer]
    if twice := next((line for line in lines if lines.count(line) > 1), None):
        yield f"two lines are called {twice[1]!r}: {[labels for labels, _ in answer if labels.get('cluster') == twice[0]][:4]}"


def queue_pairs_twice(answer):
    """A queue pair that is on two pages of a node, and so in two rows."""
    rows = [tuple(labels.get(label) for label in QUEUE_PAIR) for labels, _ in answer if "qpn" in labels]
    if len(set(rows)) < len(rows):
        yield f"{len(rows)} rows of {len(set(rows))} queue pairs"


def ask(prometheus):
    """(faults, [what has no data]): a query as "Dashboard / Panel A", a column as "Dashboard / Panel label"."""
    faults, empty = [], []
    for board in dashboards.boards():
        name = board["title"].removeprefix("qpscope: ")
        missing, chosen = values_of_variables(prometheus, board)
        empty += [f"{name} / {what}" for what in missing]
        for panel in dashboards.panels(board):
            answers = set()
            for target in panel["targets"]:
                where = f"{name} / {panel['title']} {target['refId']}"
                try:
                    prometheus.query(dashboards.plain(target["expr"], chosen))
                    answer = prometheus.query(dashboards.plain(target["expr"]))
                except RuntimeError as refused:
                    faults.append(f"{where}: {refused}")
                    continue
                if all(value != value for _, value in answer):  # none, or NaN alone
                    empty.append(where)
                elif panel["type"] == "table":
                    answers.update(label for labels, _ in answer for label in labels)
                    faults += [f"{where}: {fault}" for fault in queue_pairs_twice(answer)]
                elif panel["type"] != "stat":
                    faults += [f"{where}: {fault}" for fault in wrong_legends(target, answer)]
            columns = {name for one in panel.get("transformations", ()) for name in one["options"].get("renameByName", ()) if not name.startswith("Value")}
            empty += [f"{name} / {panel['title']} {label}" for label in sorted(columns - answers) if answers]
    return faults, empty


def allowed(path):
    """{pattern: reason} of a list of what may be empty: "Dashboard / Panel A: reason" a line, with * and ? in the name. What is there now and then
    has a reason that begins with "sometimes": it need not be empty."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


def complaints(faults, empty, may_be_empty):
    yield from faults
    yield from (f"{where}: no data" for where in empty if not any(fnmatch.fnmatchcase(where, pattern) for pattern in may_be_empty))
    yield from (f"{pattern} may be empty, and is not" for pattern, reason in may_be_empty.items() if not reason.startswith("sometimes") and not any(fnmatch.fnmatchcase(where, pattern) for where in empty))


def judge(pages_folder, empty_list, work_folder, patience):
    """What is wrong with the dashboards on these pages, "" if nothing is; asked again until the rules have had their time."""
    pages = pages_of(pages_folder)
    may_be_empty = allowed(empty_list)
    with PageServer(pages) as server, Prometheus(work_folder, scrape_configs(server, pages), rules=[*fast_rules(work_folder)], patience=patience) as prometheus:
        everything = [served for paths in pages.values() for served in paths.values()]
        deadline = time.monotonic() + patience
        while not all(served.done() for served in everything) or len(prometheus.query("up == 1")) < len(CLUSTERS) * len(everything):
            if time.monotonic() > deadline:
                return "Prometheus does not scrape\n" + prometheus.log.read_text()
            time.sleep(0.2)
        deadline = time.monotonic() + patience
        while (said := [*complaints(*ask(prometheus), may_be_empty)]) and time.monotonic() < deadline:
            time.sleep(1)
    return "\n".join(said)
