# SPDX-License-Identifier: Apache-2.0
"""The status page in a real Chromium: with the daemon, and with answers of the API that the test makes (support/page_api.py)."""
import gzip
import json
import os
import re
import time
from pathlib import Path

import counter_host
from browser import Browser, Keys
from harness import ANY_PORT, FAST, Daemon, expect, main, root_of, wait_for
from page_api import POINTS, PageApi, answers, burst, busy_night, event, port, queue_pair, tenant

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
MOST_BYTES = 60_000  # of the whole page, before gzip
HOSTILE = '<img src=x onerror="window.owned=1"><script>window.owned=1</script>"\'><svg onload=window.owned=1>&lt;b&gt;{{1}}'


def served():
    """The page and its headers as the daemon sends them."""
    with Daemon(root=root_of("18-no-rdma-host")) as daemon:
        status, headers, body = daemon.request("/", headers=HTML)
        expect(status == 200, f"/ answers {status}")
        return body, dict(headers)


def api(data):
    return PageApi(*served(), data)


def shows(browser, selector, text):
    wait_for(lambda: text in browser.text(selector), lambda: f"{selector} is {browser.text(selector)!r}, without {text!r}")


def quiet(browser, *allowed):
    """Nothing in the console, but for the sections that this daemon does not have and what is allowed."""
    said = [line for line in browser.complaints() if "/findings" not in line and not any(one in line for one in allowed)]
    expect(not said, "the console complains", *said)


def stays_home(browser, origin_port):
    foreign = [url for url in browser.requests() if not url.startswith((f"http://127.0.0.1:{origin_port}/", "data:"))]
    expect(not foreign, "a request leaves the origin", *foreign)


def rows(browser, section):
    return [row for row in browser.texts(f"#{section} tbody tr")]


def test_front_door():
    with Daemon(root=root_of("18-no-rdma-host")) as daemon:
        for accept in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}):
            _, headers, body = daemon.request("/", headers=accept)
            expect(headers["Content-Type"].startswith("text/plain") and b"/metrics/qps" in body, f"no list of pages for {accept}", body[:100])
        status, headers, body = daemon.request("/", headers=HTML)
        expect(status == 200 and headers["Content-Type"] == "text/html; charset=utf-8" and len(body) < MOST_BYTES, f"{len(body)} bytes", headers)
        _, packed, zipped = daemon.request("/", headers={**HTML, "Accept-Encoding": "gzip"})
        expect(packed["Content-Encoding"] == "gzip" and gzip.decompress(zipped) == body and len(zipped) < len(body) / 2, "not compressed")
        policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
        expect(policy["default-src"] == "'none'" and policy["connect-src"] == "'self'" and policy["frame-ancestors"] == "'none'", "the policy is weak", policy)
        for name in ("script-src", "style-src"):
            expect(re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", policy[name]), f"{name} is not one hash", policy)
        expect(headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer", "a header is missing", headers)
        expect("Accept" in headers.get_all("Vary"), "a cache would mix up page and list", headers)
        expect(not re.search(rb"https?://(?!www\.w3\.org/2000/svg|localhost)|innerHTML|insertAdjacent|document\.write|eval\(", body), "the page reaches out, or makes markup of text")
        daemon.healthy()


def test_daemon():
    """The real one: what the charts say is what the API says; it goes and comes back; nothing else is ever asked."""
    root = counter_host.new_root()
    with Daemon(root=root, config=FAST) as daemon, Browser() as browser:
        browser.open(daemon.port)
        shows(browser, "#port-list", "mlx5_0/1")
        moved = 0

        def agrees():
            nonlocal moved
            moved += 1
            counter_host.put(root, counter_host.PORT + "/counters/port_rcv_data", 1000 + moved * 1000)
            history = json.loads(daemon.page("/api/v1/ports"))["data"]["ports"][0]["history"].get("rx_bytes", [])  # none before the second reading
            shown = float(browser.run("return document.querySelector('.chart data').value") or -1)
            return shown > 0 and shown in [value for value in history if value]

        wait_for(agrees, "the chart does not show a number of the API")
        status = json.loads(daemon.page("/api/v1/status"))["data"]
        expect(status.get("host", "qpscope") == browser.text("#host") and status["version"] in browser.text("#facts"), "the header is not the daemon's", browser.text("header"))
        shows(browser, "#port-list", "ACTIVE")
        shows(browser, "#qps", "No queue pair is known.")
        shows(browser, "#events", "started" if browser.run("document.getElementById('events-info').click(); return true") else "")
        shows(browser, "#cost", "Memory")
        stays_home(browser, daemon.port)
        quiet(browser)
        daemon.stop()
        shows(browser, "#verdict", "does not answer")


def test_refused():
    with Daemon(root=root_of("18-no-rdma-host"), config=ANY_PORT + "api: {allow: []}\n") as daemon, Browser() as browser:
        browser.open(daemon.port)
        shows(browser, "#refused", "api.allow in the configuration")
        expect("ssh -L 9879:localhost:" in browser.text("#refused") and not browser.text("#content"), "it does not say what to do", browser.text("main"))
        shows(browser, "#host", "qpscope")
        stays_home(browser, daemon.port)
        quiet(browser, "403 (Forbidden)")
    data = answers([port("mlx5_0")])
    granted = data["status"]
    with api({**data, "status": (403, "add your address to api.allow in the configuration")}) as server, Browser() as browser:
        browser.open(server.port)
        shows(browser, "#refused", "api.allow")
        server.answers["status"] = granted
        shows(browser, "#verdict", "All well")
        expect(not browser.text("#refused"), "still refused")


def test_charts():
    lossy = port("mlx5_1")
    lossy["history"]["retransmits"] = burst(100, POINTS, 340)
    sparse = port("mlx5_2", state="DOWN", physical_state="Polling", totals={"rx_bytes": "1", "retransmits": "0"}, history={"rx_bytes": [1e9] * 60 + [None] * 30 + [2e9] * 59 + [None]})
    unused = port("mlx5_3", state="DOWN", physical_state="Disabled", queue_pairs=0)
    with api(answers([port("mlx5_0"), lossy, sparse, unused])) as server, Browser() as browser:
        browser.open(server.port)
        shows(browser, "#port-list", "mlx5_2/1")
        told = browser.run("return [...document.querySelectorAll('.port')].map((row) => [...row.querySelectorAll('.chart')].map((chart) => [...chart.querySelectorAll('data')].map((one) => one.value)))")
        for row, one in zip(told, [port("mlx5_0"), lossy]):
            wanted = [[one["history"][name][-1] for name in names] for names in (("rx_bytes", "tx_bytes"), ("retransmits",), ("rx_cnp_packets", "rx_ecn_marked_packets"), ("rx_pause_seconds",))]
            expect([[float(value) for value in chart] for chart in row] == wanted, "not the newest numbers of the API", row, wanted)
        expect(told[2] == [["2000000000"], [""], [""], [""]], "what is absent is shown, or the newest known is not", told[2])
        texts = browser.texts(".port:nth-child(3) .now")
        expect(texts == ["16 Gb/s rx", "— events", "— not told by this port", "— not told by this port"], "absent, unsampled and known are mixed up", texts)
        label = browser.run("return document.querySelector('.port:nth-child(3) svg').getAttribute('aria-label')")
        expect(label == "Bandwidth of mlx5_2/1, last 5 minutes: now rx 16 Gb/s; at most 16 Gb/s", "no text alternative", label)
        path = browser.run("return document.querySelector('.port:nth-child(3) .line0').getAttribute('d')")
        expect(path.count("M") == 2 and path.startswith("M0 17.5") and "L59 17.5M90 2.0" in path and path.endswith("L148 2.0"), "not the curve of the numbers, with its gap", path)
        for text in ("mlx5_1/1 retransmits: ", "mlx5_2/1 is DOWN (Polling)"):
            shows(browser, "#verdict", text)
        expect(browser.text("#verdict-title") == "2 warnings", "a port that nobody uses is a trouble", browser.text("#verdict"))
        expect("mlx5_0" not in browser.text("#verdict"), "a port that is well is complained about")
        expect(browser.texts(".alarm figcaption") == [text for text in browser.texts(".alarm figcaption") if text.startswith("Retransmissions")], "the wrong chart stands out")

        def pointed_at():
            """The chart may move once more while the page finds its place: so does the pointer."""
            box = browser.run("const box = document.querySelector('.port:nth-child(3) svg').getBoundingClientRect(); return [box.left, box.top, box.width]")
            browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": box[0] + box[2] * 30 / (POINTS - 1), "y": box[1] + 10})
            return "8 Gb/s rx 3 min 58 s ago" in browser.text(".port:nth-child(3) .chart")

        wait_for(pointed_at, lambda: f"the chart says {browser.text('.port:nth-child(3) .chart')!r}")
        browser.press(".port details summary")
        shows(browser, ".port dl", "81,604,378,624,000")
        shows(browser, ".port dl", "retransmits: packet sequence error")
        quiet(browser)


def test_many_ports():
    ports = [port(f"mlx5_{n}", function="vf", state="ACTIVE" if n != 150 else "DOWN") for n in range(200)]
    with api(answers(ports)) as server, Browser() as browser:
        browser.open(server.port)
        wait_for(lambda: len(browser.texts(".port")) == 16, "not a page of ports")
        shows(browser, ".port", "mlx5_150/1")
        wait_for(lambda: browser.run("return document.querySelector('.port data').value"), "no numbers")
        asked = [one for one in server.asked if one.startswith("/api/v1/ports") and "history=no" not in one]
        expect(asked and all(one.count("device=") == 16 for one in asked), "history of more ports than are shown is asked for", *asked)
        browser.press("#ports .pager button:last-child")
        wait_for(lambda: "mlx5_150/1" not in browser.text("#port-list") and browser.text("#ports .pager").find("17–32 of 200") > 0, "no next page")
        wait_for(lambda: browser.run("return [...document.querySelectorAll('.port data')].every((one) => one.value)"), "no numbers on the next page")


def test_queue_pairs():
    """None, 3 and 10,000 of them: search, order, pages, and nothing freezes."""
    few = [queue_pair(1), queue_pair(2, state="ERR", comm="train.py"), queue_pair(3, created_timestamp_seconds=time.time() - 5)]
    happened = [event(1, "queue_pair_failed", "warning", "modify failed", 30, device="mlx5_1", qpn=0x1003), event(2, "queue_pair_error", "error", "moved to ERR", 20, device="mlx5_0", qpn=0x1002)]
    with api(answers([port("mlx5_0")])) as server, Browser() as browser:
        browser.open(server.port)
        shows(browser, "#qps", "No queue pair is known.")
        shows(browser, "#calm", "1 port ACTIVE · 0 queue pairs")
        server.answers.update(answers([port("mlx5_0")], few, [tenant("research", "job 4702", 3, 1)], happened))
        wait_for(lambda: len(rows(browser, "qps")) == 3, "not 3 rows")
        first = rows(browser, "qps")[0]
        expect("ERR" in first and "4098" in first and "train.py 20000" in first, "the broken one is not the first", first)
        shows(browser, "#verdict", "1 queue pair in ERR: 1 of research / job 4702")
        wait_for(lambda: rows(browser, "qps")[0].split("\t")[1] == "1", "its error is not counted")
        younger = next(row for row in rows(browser, "qps") if "4099" in row)
        expect(younger.split("\t")[1] == "0", "the error of an earlier queue pair of that number is counted", younger)
        browser.press("#qps tbody tr button")
        shows(browser, "#detail", "::ffff:10.7.0.14")
        browser.find("#detail").send_keys(Keys.ESCAPE)
        wait_for(lambda: not browser.text("#detail"), "the dialog stays")

        many = [queue_pair(n, **({"state": "ERR"} if n == 11999 else {})) for n in range(12000)]  # beyond what is loaded, were it not broken
        server.answers.update(answers([port("mlx5_0")], many, [tenant("research", "job 4702", 12000, 1)]))
        shows(browser, "#qps .note", "10,001 · of 12,000")
        expect("ERR" in rows(browser, "qps")[0] and len(rows(browser, "qps")) == 50, "the broken one is not loaded, or a page is not 50", rows(browser, "qps")[0])
        browser.press("#qps .pager button:last-child")
        shows(browser, "#qps .pager", "51–100 of 10,001")
        frozen = browser.run("""const began = performance.now(), search = document.getElementById('qps-search');
            search.value = 'mlx5_1 job python3 0.7.0.21'; search.dispatchEvent(new Event('input')); document.body.offsetHeight; return performance.now() - began;""")
        expect(frozen < 500, f"a search takes {frozen} ms")
        found = rows(browser, "qps")
        wanted = [qp for qp in many[:10000] if qp["device"] == "mlx5_1" and qp["remote_gid"] == "::ffff:10.7.0.21"]
        expect(len(found) == min(50, len(wanted)) and all("::ffff:10.7.0.21" in row for row in found), f"{len(found)} found, {len(wanted)} are there")
        browser.run("const state = document.getElementById('qps-state'); state.value = 'ERR'; state.dispatchEvent(new Event('input'))")
        shows(browser, "#qps tbody", "None matches.")
        browser.run("for (const id of ['qps-state', 'qps-search']) { const one = document.getElementById(id); one.value = ''; one.dispatchEvent(new Event('input')); }")
        browser.press("th[data-sort=name] button")
        expect(rows(browser, "qps")[0].split("\t")[2] == "mlx5_0/1 4096", "not in the order of names", rows(browser, "qps")[0])
        browser.press("th[data-sort=name] button")
        expect(browser.find("th[data-sort=name]").get_attribute("aria-sort") == "descending", "not backwards")
        expect(rows(browser, "qps")[0].split("\t")[2].startswith("mlx5_1/1"), "not backwards", rows(browser, "qps")[0])
        browser.press("#tenants tbody button")
        expect(browser.find("#qps-search").get_attribute("value") == "research", "a tenant does not choose its queue pairs")
        quiet(browser)


def test_events():
    happened = [event(1, "daemon", "info", "started", 50), event(2, "port_state", "warning", "went DOWN", 40, device="mlx5_0", port=1)]
    with api(answers([port("mlx5_0")], events=happened)) as server, Browser() as browser:
        browser.open(server.port)
        shows(browser, "#events", "went DOWN")
        expect(len(rows(browser, "events")) == 1, "information is shown unasked")
        browser.press("#events-info")
        expect(["started" in row for row in rows(browser, "events")] == [False, True], "not the newest first", rows(browser, "events"))
        browser.press("#events-follow")
        happened.append(event(3, "queue_pair_error", "error", "moved to ERR", 0, device="mlx5_0", port=1, qpn=7))
        shows(browser, "#events .note", "1 new")
        expect(len(rows(browser, "events")) == 2, "the list moves although nobody follows")
        browser.press("#events-follow")
        shows(browser, "#events tbody", "moved to ERR")
        expect(any("after=3" in one for one in server.asked) or wait_for(lambda: any("after=3" in one for one in server.asked), "the cursor is not passed on"), "")
        shows(browser, "#verdict", "moved to ERR")


def test_hostile():
    """Whatever a tenant calls itself is text: in tables, titles, dialogs and charts."""
    name = HOSTILE
    qps = [queue_pair(0, tenant=name, workload=name, comm=name, cgroup=name, state="ERR")]
    data = answers([port(name, netdev=name, physical_state=name, state=name)], qps, [tenant(name, name, 1, 1, kind=name)],
                   [event(1, name, "error", name, 5, device=name, tenant=name, workload=name, comm=name)], host=name, kernel=name, troubles=[{"severity": "error", "device": name, "what": name}])
    data["probes"]["probes"][0].update(probe=name, reason=name, how=name)
    data["findings"] = {"findings": [{"severity": "error", "device": name, "message": name}]}
    with api(data) as server, Browser() as browser:
        browser.open(server.port)
        for section in ("#host", "#verdict", "#port-list", "#tenants tbody", "#events tbody", "#qps tbody", "#findings tbody"):
            shows(browser, section, name)
        browser.press("#qps tbody tr button")
        shows(browser, "#detail", name)
        browser.press("#detail button")
        browser.press("#probes summary")
        shows(browser, "#probes tbody", name)
        expect(name in browser.driver.title, "not in the title", browser.driver.title)
        made = browser.run("return [window.owned ?? null, document.querySelectorAll('img, b, iframe, object').length, document.scripts.length, document.querySelectorAll('[onload], [onerror]').length]")
        expect(made == [None, 0, 1, 0], "a name became markup", made)
        stays_home(browser, server.port)
        quiet(browser)
        # The second wall: were there a hole, the policy would still stand.
        refused = browser.run("""try { document.body.innerHTML = arguments[0]; return false; } catch (why) { return why instanceof TypeError; }""", name)
        expect(refused, "innerHTML takes a text")


def test_gone_and_back():
    data = answers([port("mlx5_0")], events=[event(9, "device_removed", "warning", "of the first daemon", 10)])
    with api(data) as server, Browser() as browser:
        browser.open(server.port)
        shows(browser, "#verdict", "of the first daemon")
        server.stop()
        shows(browser, "#verdict", "the daemon does not answer since")
        expect(browser.text("#verdict-title") == "1 error, 1 warning" and browser.text("#port-list"), "what was known is gone", browser.text("main"))
        expect("does not answer" in browser.run("return document.getElementById('live').textContent"), "it is not said aloud")
        server.answers = answers([port("mlx5_0")], events=[event(1, "device_added", "warning", "of the second daemon", 1)], uptime_seconds=1)
        server.start()
        shows(browser, "#verdict", "of the second daemon")
        expect("first daemon" not in browser.text("main") and "does not answer" not in browser.text("main"), "the old daemon's events are still there", browser.text("#verdict"))
        server.answers["tenants"] = (500, "no memory")
        shows(browser, "#verdict", "tenants: cannot be read: no memory")
        server.answers["status"] = (503, "starting")
        shows(browser, "#verdict", "is not ready")


def test_hidden():
    """Nobody looks: nobody asks. The test holds the page's clock."""
    with api(answers([port("mlx5_0")])) as server, Browser() as browser:
        browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """window.due = []; window.setTimeout = (task) => window.due.push(task);
            window.hide = (is) => { Object.defineProperty(document, 'hidden', {value: is, configurable: true}); document.dispatchEvent(new Event('visibilitychange')); };
            window.tick = () => window.due.splice(0).forEach((task) => task());"""})
        browser.open(server.port)
        wait_for(lambda: browser.run("return due.length") == 1 and any("/qps" in one for one in server.asked), "no round")
        asked = lambda: sum(one.startswith("/api/v1/status") for one in server.asked)  # noqa: E731
        browser.run("tick()")
        wait_for(lambda: asked() == 2 and browser.run("return due.length") == 1, "no second round")
        browser.run("hide(true); tick(); tick()")
        # Requests of a page come in order: one of our own, behind any that it would have made.
        expect(browser.run("return fetch('/').then(() => performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/status')).length)") == 2, "it asks although hidden")
        browser.run("hide(false)")
        wait_for(lambda: asked() == 3, "it does not go on when it is seen again")


def overflow(browser):
    return browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_looks():
    """Screenshots for people; size, contrast and names for everybody."""
    folder = Path(os.environ.get("QPSCOPE_SCREENSHOTS") or Path(os.environ["QPSCOPE_BUILD"]) / "screenshots")
    with api(busy_night()) as server, Browser() as browser:
        for scheme, width, height in (("light", 1920, 1700), ("dark", 1920, 1700), ("light", 360, 1700), ("dark", 360, 1700)):
            browser.look(width, height, dark=scheme == "dark")
            browser.open(server.port)
            wait_for(lambda: len(rows(browser, "qps")) == 50, "no queue pairs")
            browser.screenshot(folder / f"night-{scheme}-{width}.png")
            expect(overflow(browser) <= 0, f"{overflow(browser)} pixels too wide at {width}")
            ground = browser.run("return getComputedStyle(document.body).backgroundColor")
            expect((int(re.search(r"\d+", ground)[0]) < 128) == (scheme == "dark"), f"{scheme} is {ground}")
            seen = browser.contrasts()
            poor = [one for one in seen if one[1] < 4.5]
            expect(len(seen) > 300 and not poor, f"poor contrast in {scheme}", *poor[:10])
        server.answers = answers([port("mlx5_0"), port("mlx5_1")], [queue_pair(n) for n in range(40)], [tenant("research", "job 4711", 40)])
        browser.look(1280, 900)
        browser.open(server.port)
        shows(browser, "#verdict", "All well")
        wait_for(lambda: len(rows(browser, "qps")) == 40, "no queue pairs")
        browser.screenshot(folder / "well-light-1280.png")
        poor = [one for one in browser.contrasts() if one[1] < 4.5]
        expect(not poor, "poor contrast", *poor)
    print(f"screenshots in {folder}")


def test_assistive():
    """What a keyboard and a screen reader get."""
    with api(busy_night()) as server, Browser() as browser:
        browser.look(1280, 900, calm=True)
        browser.open(server.port)
        wait_for(lambda: len(rows(browser, "qps")) == 50, "no queue pairs")
        tree = browser.accessible()
        nameless = [one for one in tree if one[0] in ("button", "link", "textbox", "searchbox", "combobox", "checkbox", "img", "image", "figure", "region", "table", "navigation", "DisclosureTriangle")
                    and not one[1].strip() and one[0] not in ("figure", "table")]
        expect(not nameless, "no name", *nameless)
        roles = [role for role, _, _ in tree]
        for role, least in (("banner", 1), ("navigation", 1), ("main", 1), ("contentinfo", 1), ("image", 16), ("columnheader", 20), ("status", 1), ("searchbox", 1)):
            expect(roles.count(role) >= least, f"{roles.count(role)} of {role}", sorted(set(roles)))
        expect(browser.run("return getComputedStyle(document.documentElement).scrollBehavior") == "auto", "it moves for who wants no motion")
        expect(browser.run("return document.getElementById('live').textContent").startswith("2 errors, 3 warnings"), "the verdict is not said")

        body = browser.find("body")
        focused = lambda: browser.run("const at = document.activeElement; return at.id || at.textContent.trim()")  # noqa: E731
        body.send_keys(Keys.TAB)
        expect(focused() == "Skip to the status", "the first stop is not the way past the header", focused())
        stops = []
        for _ in range(18):
            browser.driver.switch_to.active_element.send_keys(Keys.TAB)
            stops.append(focused())
            ring = browser.run("const style = getComputedStyle(document.activeElement); return style.outlineStyle + parseFloat(style.outlineWidth)")
            expect(ring == "solid2", f"no visible focus on {stops[-1]}", ring)
        expect(stops[:5] == ["Ports", "Tenants", "Queue pairs", "Events", "Probes"] and stops[5].startswith("12 queue pairs in ERR"), "not the order of the page", stops)
        browser.driver.switch_to.active_element.send_keys("/")
        expect(focused() == "qps-search", "/ does not lead to the search", focused())
        browser.driver.switch_to.active_element.send_keys("ERR/")
        expect(browser.find("#qps-search").get_attribute("value") == "ERR/", "/ cannot be searched for")
        browser.run("document.querySelector('th[data-sort=age] button').focus()")
        browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
        expect(browser.find("th[data-sort=age]").get_attribute("aria-sort") == "ascending", "no sorting by keyboard")


main(globals())
