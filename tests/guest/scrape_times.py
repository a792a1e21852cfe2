#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: scrape_times.py URL [--count N] [--every SECONDS]
How long scrapes take: N requests (default 300) over one connection of this process, which starts nothing meanwhile, at moments that
are SECONDS apart (default 0.02). The page is rendered once per snapshot, so that only the first scrape of a snapshot pays for it: with
the beat fixed, that is the same share of every batch, however fast the answers are. A tenth of N goes ahead and is not counted.
Prints median, p99 and worst in milliseconds, from the first byte sent to the last one read, by the monotonic clock."""
import http.client
import sys
import time
from urllib.parse import urlsplit


def scrape(connection, path):
    began = time.monotonic()
    connection.request("GET", path)
    response = connection.getresponse()
    body = response.read()
    took = time.monotonic() - began
    if response.status != 200 or not body:
        sys.exit(f"scrape_times.py: {response.status}, {len(body)} bytes")
    return took * 1000


def batch(url, count, every):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    connection.connect()
    times = []
    due = time.monotonic()
    for number in range(count + count // 10):
        time.sleep(max(0.0, due - time.monotonic()))
        took = scrape(connection, parts.path or "/")
        if number >= count // 10:
            times.append(took)
        # A scrape that took longer than a beat or two moves the later ones: no burst makes up for it.
        due = max(due + every, time.monotonic())
    return times


def summary(times):
    ordered = sorted(times)

    def percentile(share):
        return ordered[max(0, -(-len(ordered) * share // 100) - 1)]

    return f"{percentile(50):.1f} {percentile(99):.1f} {ordered[-1]:.1f}"


def main(arguments):
    options = {"--count": "300", "--every": "0.02"}
    urls = []
    while arguments:
        word = arguments.pop(0)
        if word in options and arguments:
            options[word] = arguments.pop(0)
        elif not word.startswith("-"):
            urls.append(word)
        else:
            sys.exit(__doc__)
    if len(urls) != 1:
        sys.exit(__doc__)
    print(summary(batch(urls[0], int(options["--count"]), float(options["--every"]))))


main(sys.argv[1:])
