#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every query of deploy/grafana on the pages that scenarios kept (keep_page of scenarios/lib.sh), each scenario a node.

usage: dashboards.py DIR

DIR is what run.sh left. Exit status 1 with a line for each query that fails or has no data and is not in dashboards_empty.txt, 77 if nothing was kept.
"""
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from dashboards_run import judge  # noqa: E402  (the path comes first)
from prometheus_server import Prometheus  # noqa: E402
from qpscoped import skip  # noqa: E402

PATIENCE = 60


def each_gid_once(nodes):
    """All are one machine, and a GID on two nodes is nobody's: it stays with the first that has it."""
    owner = {}
    for page in sorted(nodes.glob("*/metrics.*")):
        lines = page.read_text().splitlines(keepends=True)
        kept = [line for line in lines if not line.startswith("qpscope_port_gid_info{") or owner.setdefault(line.split('gid="')[1], page.parent) == page.parent]
        page.write_text("".join(kept))


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    if not Prometheus.installed():
        skip("no prometheus (deploy/packages/test.txt)")
    kept = sorted({page.parent for page in Path(sys.argv[1]).glob("*/pages/metrics.*")})
    if not kept:
        skip(f"no scenario kept a page in {sys.argv[1]}")
    with tempfile.TemporaryDirectory() as folder:
        nodes = Path(folder) / "nodes"
        for pages in kept:
            shutil.copytree(pages, nodes / pages.parent.name)
        each_gid_once(nodes)
        return judge(nodes, HERE / "dashboards_empty.txt", Path(folder), PATIENCE) or None


sys.exit(main())
