#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do exactly the right alerts of deploy/prometheus fire on the pages that the scenario alert_causes kept?

usage: alert_causes.py DIR

DIR is what run.sh left. Each row of alert_causes.txt is a node with one device, mlx5_0, to one Prometheus (promtool test rules), which scrapes
once a minute; the device of the N-th row is mlx5_N of the pages. Hours before the first page are as that page was: nothing moved; those after
the last one likewise. Nothing may fire before the causes begin, exactly what the table says while they go on, and nothing in the end. Every
alert has a cause in the table. Exit status 1 with promtool's words, 77 if nothing was kept or the machine was too slow.
"""
import collections
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
RULES = sorted((HERE.parent.parent / "deploy/prometheus/rules").glob("*.yml"))
PAST = 360  # minutes before the first page: QpscopeRetransmitSpike looks back for six hours
FUTURE = 60  # after the last: QpscopeLinkFlapping looks back for one
GAP = 20  # minutes without a scrape
MOST_MINUTES = 1.2  # for a page: of a machine that is slower, rates say nothing
GONE = "stale"  # as promtool writes it: the series has ended
UNSEEN = "_"

Row = collections.namedtuple("Row", "nodes page device alerts cause")
Page = collections.namedtuple("Page", "minute since at samples")  # samples: {name of the page: {series: value}}


def table():
    lines = [line.split() for line in (HERE / "alert_causes.txt").read_text().splitlines() if line and not line.startswith("#")]
    for number, (name, page, _, alerts, cause, *_) in enumerate(lines):
        name, _, copies = name.partition("*")
        nodes = [f"{name}-{copy}" for copy in range(1, int(copies) + 1)] if copies else [name]
        yield Row(nodes, page, f"mlx5_{number}", set(alerts.split(",")) - {"-"}, cause)


def read_pages(folder):
    """By time, each at the minute next to it: a machine that was slow has minutes without a page, which are missed scrapes."""
    pages = []
    for path in sorted(folder.glob("*.txt"), key=lambda path: int(path.stem)):
        head, *lines = path.read_text().splitlines()
        at, since, step = map(float, head.split()[1:])
        samples = collections.defaultdict(dict)
        for line in lines:
            name, sample = line.split(":", 1)
            series, value = sample.rsplit(" ", 1)
            samples[name][series] = value
        pages.append(Page(round((at - pages[0].at) / step) if pages else 0, since, at, samples))
        stretch = 60 / step
    return pages, stretch


def series_of(row, page, minute, stretch):
    """{series: value} of the row's device and of its daemon."""
    out = {}
    for series, value in page.samples[row.page].items():
        device = re.search(r'[{,]device="([^"]*)"', series)
        if device and device[1] != row.device:
            continue
        if series.split("{")[0].endswith("_timestamp_seconds"):  # as old as it was, in stretched time
            value = minute * 60 - (page.at - float(value)) * stretch
        out[re.sub(r'device="[^"]*"', 'device="mlx5_0"', series)] = value
    return out


def scrapes(row, pages, stretch):
    """Of each minute {series: value}, or None where nothing was scraped."""
    begin = next(page.minute for page in pages if page.since == 0)
    seen = {page.minute: page for page in pages}
    for minute in range(PAST):
        yield series_of(row, pages[0], minute, stretch)
    for minute in range(pages[-1].minute + 1):
        page = seen.get(minute)
        gap = row.cause == "scrape_gap" and begin <= minute < begin + GAP
        yield series_of(row, page, PAST + minute, stretch) if page and not gap else None
    for minute in range(FUTURE):
        yield series_of(row, pages[-1], PAST + pages[-1].minute + 1 + minute, stretch)


def input_series(row, pages, stretch):
    values = collections.defaultdict(list)  # {series: [value]}, each until it was seen last
    for minute, scrape in enumerate(scrapes(row, pages, stretch)):
        if scrape is None:
            continue
        up = bool(scrape)
        for series, value in [*scrape.items(), ("up", int(up))]:
            of = values[series]
            of += [UNSEEN] * (minute - len(of))
            of.append(value)
        for series, of in values.items():
            if series not in scrape and series != "up" and of[-1] != GONE and len(of) <= minute:
                of += [UNSEEN] * (minute - len(of)) + [GONE]
    for node in row.nodes:
        for series, of in values.items():
            name, _, labels = series.partition("{")
            yield {"series": f'{name}{{instance="{node}",job="any",{labels or "}"}', "values": " ".join(map(str, of))}


def fired(node, alerts, minute):
    """A case: of the node, or without a node where that is "", exactly these have fired until then."""
    return {"expr": f'group by (alertname) (count_over_time(ALERTS{{alertstate="firing",instance="{node}"}}[12h]))', "eval_time": f"{minute}m",
            "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in sorted(alerts)]}


def test(rows, pages, stretch):
    begin = PAST + next(page.minute for page in pages if page.since == 0)
    end = PAST + pages[-1].minute + FUTURE
    fabric = {alert for row in rows for alert in row.alerts if alert.startswith("QpscopeFabric")}
    cases = [{"expr": 'ALERTS{alertstate="firing"}', "eval_time": f"{begin}m"}, fired("", fabric, end)]
    cases += [fired(node, row.alerts - fabric, end) for row in rows for node in row.nodes]
    cases.append({"expr": "ALERTS", "eval_time": f"{end}m"})
    series = [one for row in rows for one in input_series(row, pages, stretch)]
    return {"rule_files": list(map(str, RULES)), "evaluation_interval": "1m", "tests": [{"interval": "1m", "input_series": series, "promql_expr_test": cases}]}


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    kept = Path(sys.argv[1]) / "alert_causes"
    if not (kept / "result").is_file() or not (kept / "result").read_text().startswith("pass"):
        print("SKIP: the scenario alert_causes kept no pages")
        return 77
    rows = [*table()]
    alerts = set(re.findall(r"^ *- alert: (\w+)", "".join(path.read_text() for path in RULES), re.M))
    if without := alerts - set().union(*(row.alerts for row in rows)):
        return f"no cause in alert_causes.txt: {' '.join(sorted(without))}"
    with tempfile.TemporaryDirectory() as folder:
        pages, stretch = read_pages(kept / "pages")
        if pages[-1].minute + 1 > MOST_MINUTES * len(pages):
            print(f"SKIP: the machine was too slow: {len(pages)} pages of {pages[-1].minute + 1} minutes")
            return 77
        file = Path(folder) / "test.yml"
        file.write_text(json.dumps(test(rows, pages, stretch)))  # which is YAML, too
        return subprocess.run(["promtool", "test", "rules", file]).returncode


sys.exit(main())
