# SPDX-License-Identifier: Apache-2.0
"""What the rule files of deploy/prometheus hold, as far as it is PromQL. They are written in one manner, which is all that is read here."""
import re


def rules(text):
    """[(kind, name, expression)]: kind is record or alert."""
    parts = re.split(r"^ *- (record|alert): *(\S+)\n", text, flags=re.M)[1:]
    return [(kind, name, expression(body)) for kind, name, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)]


def expression(body):
    """Behind `expr:`, on the same line or, behind a |, indented below it."""
    one = re.search(r"^( *)expr: (.*)\n((?:\1 .*\n)*)", body + "\n", re.M)
    return one[3] if one[2] == "|" else one[2]


def asked_in_annotations(text):
    """The queries of templates, of which an alert's text is made."""
    for query in re.findall(r'query (?:\(printf )?"((?:[^"\\]|\\.)*)"', text):
        yield query.replace('\\"', '"').replace("%q", '""')
