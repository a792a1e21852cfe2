#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes dashboards/*.json, one for each module that is named here. With --check it writes nothing, and says which are not fresh."""
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import fleet  # noqa: E402  (no __pycache__ beside the sources)
import itself  # noqa: E402
import node  # noqa: E402
import queue_pairs  # noqa: E402
import workload  # noqa: E402

FOLDER = Path(__file__).resolve().parent / "dashboards"


def main():
    texts = {FOLDER / f"{one.DASHBOARD['uid']}.json": json.dumps(one.DASHBOARD, indent=1) + "\n" for one in (fleet, node, workload, queue_pairs, itself)}
    stale = [path for path in sorted({*texts, *FOLDER.glob("*.json")}) if not path.exists() or path.read_text() != texts.get(path)]
    if "--check" in sys.argv:
        return "\n".join(f"{path.name} is not what deploy/grafana/make.py writes" for path in stale) or None
    for path in stale:
        path.write_text(texts[path]) if path in texts else path.unlink()
    return None


if __name__ == "__main__":
    sys.exit(main())
