#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The names that tests/support/promql.py finds, in expressions that a search for words would get wrong."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import promql  # noqa: E402  (the path comes first)

CASES = (  # expression, metrics, labels grouped by
    ("up", {"up"}, set()),
    ("sum by (a, b) (rate(x_total{c=~\"y|z\",d!='w{e}'}[5m]))", {"x_total"}, {"a", "b"}),
    ("sum(x) without (a)", {"x"}, {"a"}),
    ("sum", {"sum"}, set()),  # any word may be a metric's name
    ("count_values by (a) (\"rate\", port:x:rate5m)", {"port:x:rate5m"}, {"a"}),
    ("a * on (l) group_left (m, n) b", {"a", "b"}, {"l", "m", "n"}),
    ("a * ignoring (l) group_right b unless c", {"a", "b", "c"}, {"l"}),
    ("x offset 1h30m > bool 5e-1 or vector(0)", {"x"}, set()),
    ("max_over_time(rate(x[5m])[1h:30s]) @ end()", {"x"}, set()),
    ("label_replace(x, \"to\", \"$1\", \"from\", \"(y_total)\") # z_total", {"x"}, set()),
    ("{__name__=\"x\", l=`a\\`}", set(), set()),
    ("-x ^ 2 % .5 == NaN", {"x"}, set()),
    ("topk(5, quantile(0.5, x)) and time() - y_timestamp_seconds > 0x10", {"x", "y_timestamp_seconds"}, set()),
    ("x{} / y{a=\"\\\"}\"}", {"x", "y"}, set()),
)
WRONG = ("x{a=", "x{a=1", "sum by (a", "x ; y", "\"open", "x{a=\"1\" b}")


def main():
    complaints = []
    for expression, metrics, labels in CASES:
        if (found := promql.metrics(expression)) != metrics or promql.grouped(expression) != labels:
            complaints.append(f"{expression}: {found} by {promql.grouped(expression)}")
    if promql.selectors(CASES[1][0]) != [("x_total", [("c", "=~", "y|z"), ("d", "!=", "w{e}")])]:
        complaints.append(f"{CASES[1][0]}: {promql.selectors(CASES[1][0])}")
    if promql.numbers("x[5m] > 1e-4 * 2 offset 10m") != {1e-4, 2.0}:
        complaints.append("durations are no numbers")
    for expression in WRONG:
        try:
            complaints.append(f"{expression}: taken, as {promql.selectors(expression)}")
        except promql.NotPromql:
            pass
    return "\n".join(complaints) or None


sys.exit(main())
