# SPDX-License-Identifier: Apache-2.0
"""Without an argument: what must hold of every rule of deploy/prometheus but the names in it, which dashboards.py knows. With SUBJECT: promtool runs the cases of tests/rules/SUBJECT.yml."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
PROMETHEUS = TESTS.parent / "deploy/prometheus"
RULES = sorted((PROMETHEUS / "rules").glob("*.yml"))
FIRED = 'group without (alertstate, severity, scope) (count_over_time(ALERTS{alertstate="firing"}[12h]))'


def tool(*words):
    """What promtool or amtool complains of, "" when it does not."""
    if not shutil.which(words[0]):
        print(f"SKIP: no {words[0]} (deploy/packages/test.txt)")
        sys.exit(77)
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{' '.join(map(str, words[:3]))}: {done.stdout}{done.stderr}"


def items(text, start):
    """{name: text} of the list items that begin with `start`."""
    parts = re.split(rf"^ *- {start}: *", text, flags=re.M)[1:]
    return {part.split("\n", 1)[0].strip('" '): re.split(r"^ *- (?:record|alert|name):", part, flags=re.M)[0] for part in parts}


def complaints_of_rules(rules):
    recorded = set(items(rules, "record"))
    sections = set(re.findall(r"^## (\w+)$", (PROMETHEUS / "RUNBOOK.md").read_text(), re.M))
    table = set(re.findall(r"^\| `(Qpscope\w+)` \|", (PROMETHEUS / "README.md").read_text(), re.M))
    alerts = items(rules, "alert")

    for name in sorted(recorded):
        if not re.fullmatch(r"[a-z_]+:\w+:\w+|qpscope:gid_peer", name):
            yield f"{name} is not level:metric:operation"
    for name, text in alerts.items():
        if not re.fullmatch(r"Qpscope[A-Z]\w+", name):
            yield f"{name} is not Qpscope and CamelCase"
        labels = re.search(r"labels: \{severity: (page|ticket|info)(, scope: (network|fabric))?\}", text)
        if not labels:
            yield f"{name}: labels are a severity and perhaps a scope, and nothing else"
        for annotation in ("summary", "description", "runbook"):
            if f"\n          {annotation}: " not in text:
                yield f"{name} has no {annotation}"
        if f"runbook: deploy/prometheus/RUNBOOK.md#{name.lower()}\n" not in text:
            yield f"{name}: the runbook is not its section"
    for what, names in (("section of RUNBOOK.md", sections), ("row of README.md", table)):
        for name in sorted(set(alerts) ^ names):
            yield f"{name} is an alert or a {what}, not both"


def complaints_of_cases(rules, cases):
    alerts = set(items(rules, "alert"))
    seen = {"fires": set(), "silent": set()}
    for name, text in cases:
        kind, _, rest = name.partition(" ")
        if kind not in seen:
            continue
        named = rest.split(":")[0].split()
        seen[kind] |= set(named)
        if kind == "fires" and not all(f'labels: \'{{alertname="{alert}"' in text for alert in named):
            yield f"{name}: does not expect what it names"
        if kind == "silent" and ("exp_samples" in text or "expr: *fired" not in text and f"expr: &fired {FIRED}" not in text):
            yield f"{name}: does not look at all alerts, or expects one"
    for kind, names in seen.items():
        for alert in sorted(alerts ^ names):
            yield f"{alert}: no alert, or no case in which it {'is silent' if kind == 'silent' else kind}"


def main():
    if len(sys.argv) == 2:
        complaints = [tool("promtool", "test", "rules", TESTS / "rules" / f"{sys.argv[1]}.yml")]
    else:
        rules = "\n".join(re.sub(r"^ *#.*", "", path.read_text(), flags=re.M) for path in RULES)
        cases = [case for path in sorted((TESTS / "rules").glob("*.yml")) for case in items(path.read_text(), "name").items()]
        complaints = [*complaints_of_rules(rules), *complaints_of_cases(rules, cases), tool("promtool", "check", "config", PROMETHEUS / "prometheus.yml"),
                      tool("amtool", "check-config", PROMETHEUS / "alertmanager.yml")]
    complaints = [complaint for complaint in complaints if complaint]
    return "\n".join(complaints) or None


sys.exit(main())
