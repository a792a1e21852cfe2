# SPDX-License-Identifier: Apache-2.0
"""qpscope, the command: tables, JSON, exit codes; against the daemon, and against one made up, which can say anything."""
import json
import os
import re
import shutil
import subprocess

from harness import PATIENCE, Daemon, environment, expect, main, needs_root, root_of, skip, temp_folder, wait_for
import made_api  # of tests/support
from made_api import TIME, Host, event, port
import terminal  # of tests/support

COMMAND = os.environ["QPSCOPE"]
DONE, REFUSED, USAGE, NO_DAEMON, NO_PERMISSION, WRONG = range(6)
LISTS = ("status", "ports", "tenants", "qps", "events", "probes")


def qpscope(*arguments, wrapper=(), **env):
    """(exit code, standard output, standard error)"""
    done = subprocess.run([*wrapper, COMMAND, *map(str, arguments)], env=environment(**env), stdin=subprocess.DEVNULL, capture_output=True, timeout=40, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def fails(code, *arguments, words=(), **more):
    got, out, err = qpscope(*arguments, **more)
    expect(got == code, f"exit code {got}, not {code}", out, err)
    expect(out == "" and err.endswith("\n"), "what went wrong belongs on standard error", out, err)
    for word in words:
        expect(word in err, f"{word!r} is not in the message", err)


def Made(answer):  # noqa: N802  (made_api.Made at a path of its own)
    return made_api.Made(temp_folder() / "api.sock", answer)


def page(qps, following=None):
    return {"schema": 1, "time": 1.5, "age_seconds": 0.25, "data": {"qps": qps, **({"next": following} if following else {})}}


QP = {"device": "mlx5_0", "port": 1, "qpn": 17, "generation": "3", "type": "RC", "state": "RTS", "tenant": "läb", "workload": "train", "pid": 4001, "comm": "python3",
      "remote_qpn": 18, "remote_gid": "0000:0000:0000:0000:0000:ffff:c000:0207"}


def test_help():
    for arguments in (["--help"], *([word, "--help"] for word in (*LISTS, "top", "focus"))):
        code, out, err = qpscope(*arguments)
        expect(code == DONE and err == "" and "Usage: qpscope" in out, "no help", out, err)
    out = qpscope("--help")[1]
    expect("qps" in out and "focus" in out and "Exit codes" in out, "help that does not help", out)
    expect(re.fullmatch(r"qpscope \d+\.\d+\.\d+\n", qpscope("--version")[1]), "no version")


def test_usage():
    for arguments in ([], ["nonsense"], ["qps", "--colour", "red"], ["qps", "--limit", "0"], ["qps", "extra"], ["focus"], ["focus", "mlx5_0"], ["focus", "mlx5_0", "x"],
                      ["focus", "mlx5_0", "16777216"], ["focus", "mlx5_0", "1", "--for", "2h"], ["focus", "mlx5_0", "1", "--for", "1x"], ["focus", "mlx5_0", "1", "--for", "0"], ["probes", "maybe"], ["probes", "off", "--for", "2d"],
                      ["events", "--since", "x"], ["events", "--severity", "bad"], ["top", "--view", "x"], ["top", "--interval", "0"], ["status", "extra"]):
        fails(USAGE, *arguments)


def test_with_the_daemon():
    root = root_of("01-mlx5-pf-roce-cx7")
    (root / "run").mkdir()
    at = root / "run/qpscope/api.sock"
    with Daemon(root=root) as daemon:
        code, out, err = qpscope("--socket", at, "qps")
        expect((code, out, err) == (DONE, "No queue pairs.\n", ""), "not in words that nothing is there", out, err)
        for word in LISTS:
            code, out, err = qpscope("--socket", at, word)
            expect(code == DONE and err == "" and out.endswith("\n"), f"{word}: exit code {code}", out, err)
            expect("data" in json.loads(qpscope("--socket", at, word, "--json")[1]), f"{word}: no JSON")
        out = qpscope("--socket", at, "ports")[1]
        expect(re.search(r"^mlx5_0 +1 .* ACTIVE +400 Gbit/s", out, re.M), "not the port", out)
        code, out, err = qpscope("--socket", at, "top", "--view", "qps")
        expect(code == DONE and "No queue pairs." in out, "top without a terminal", out, err)
        code, out, err = qpscope("--socket", at, "qps", "--json", "--state", "RTS", "--tenant", "a b&c=d", http_proxy="http://127.0.0.1:1")
        expect(code == DONE and json.loads(out)["data"] == {"qps": []}, "no JSON", out, err)
        fails(USAGE, "--socket", at, "qps", "--state", "rts", words=["state", "RTS"])
        fails(USAGE, "--socket", at, "qps", "--remote-gid", "\x1b[31m", words=["remote_gid", "\\x1b"])
        fails(REFUSED, "--socket", at, "focus", "mlx5_0", "17", words=["focus"])
        daemon.healthy()
    fails(NO_DAEMON, "--socket", at, "qps", words=[str(at), "running"])


def test_no_daemon():
    at = temp_folder() / "api.sock"
    for word in (*LISTS, "top"):
        fails(NO_DAEMON, word, "--socket", at, words=[str(at), "running"])
    fails(NO_DAEMON, "--socket", at, "focus", "mlx5_0", "17", words=["running"])
    with Made(lambda *_: (200, page([]))) as made:
        shutil.copytree(made.path.parent, at.parent, dirs_exist_ok=True, ignore=lambda *_: ["api.sock"])
    fails(NO_DAEMON, "--socket", made.path, "qps")  # a file that nobody serves
    fails(USAGE, "--socket", "x" * 200, "qps")


def test_no_permission():
    needs_root()
    if not shutil.which("setpriv"):
        skip("needs setpriv")
    with Made(lambda *_: (200, page([]))) as made:
        made.path.parent.chmod(0o755)
        made.path.chmod(0o660)
        wrapper = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if subprocess.run([*wrapper, COMMAND, "--version"], capture_output=True, check=False).returncode != 0:
            skip("the command cannot be read by others here")
        fails(NO_PERMISSION, "--socket", made.path, "qps", wrapper=wrapper, words=[str(made.path), "root"])
    with Made(lambda *_: (403, {"error": {"code": "forbidden", "message": "not you"}})) as made:
        fails(NO_PERMISSION, "--socket", made.path, "qps", words=["not you"])


def test_table():
    rows = [QP, {**QP, "qpn": 1234567, "state": "ERR", "tenant": "x" * 20}, {"device": "mlx5_1", "qpn": 1, "type": "GSI", "kernel_module": "ib_core"}]
    with Made(lambda *_: (200, page(rows))) as made:
        code, out, err = qpscope("--socket", made.path, "qps")
    expect(code == DONE and err == "", f"exit code {code}", err)
    lines = out.splitlines()
    expect(len(lines) == 4 and not any(line.endswith(" ") for line in lines), "not a line each", out)
    for word in ("QPN", "STATE", "WORKLOAD", "COMM", "REMOTE GID"):
        cells = {line[lines[0].index(word):].split("  ")[0] for line in lines}
        expect(not any(cell.startswith(" ") for cell in cells) and all(line[lines[0].index(word) - 1] == " " for line in lines), f"{word} is not aligned", out)
    expect(re.search(r"^mlx5_0 +1 +17 +RC +RTS +- +läb +train +4001 +python3 +18 +::ffff:192\.0\.2\.7$", out, re.M), "not the queue pair", out)
    expect(re.search(r"^mlx5_1 +- +1 +GSI +- +- +- +- +- +- +- +-$", out, re.M), "absent is not zero", out)


def test_filters_and_pages():
    def answer(_method, _path, query, _body):
        cursor = dict(query).get("cursor")
        return 200, page([{**QP, "qpn": 2}]) if cursor else page([{**QP, "qpn": 1}], "a b+c")
    with Made(answer) as made:
        code, out, err = qpscope("--socket", made.path, "qps", "--json", "--device", "mlx5_0", "--device", "a&b=c%d", "--state", "RTS", "--port", "1", "--qpn", "7", "--type", "RC",
                                 "--tenant", "läb", "--workload", "w", "--remote-gid", "::1", "--pid", "9")
        expect(code == DONE, f"exit code {code}", err)
        got = json.loads(out)
        expect([qp["qpn"] for qp in got["data"]["qps"]] == [1, 2] and "next" not in got["data"] and got["schema"] == 1, "pages are not put together", out)
        first, second = [query for _, _, query, _ in made.asked]
        filters = {("device", "mlx5_0"), ("device", "a&b=c%d"), ("state", "RTS"), ("port", "1"), ("qpn", "7"), ("type", "RC"), ("tenant", "läb"), ("workload", "w"),
                   ("remote_gid", "::1"), ("pid", "9")}
        expect(set(first) == filters | {("limit", "10000")}, "not what was asked for", first)
        expect(set(second) == set(first) | {("cursor", "a b+c")}, "not the next page", second)
        made.asked.clear()
        out = qpscope("--socket", made.path, "qps", "--json", "--limit", "1")[1]
        expect(len(json.loads(out)["data"]["qps"]) == 1 and dict(made.asked[0][2])["limit"] == "1" and len(made.asked) == 1, "not the limit", made.asked)


def test_focus():
    with Made(lambda *_: (200, {"schema": 1, "time": 1, "age_seconds": 0, "data": {"message": "watching\x1b mlx5_0 17"}})) as made:
        for arguments, seconds in (([], 60), (["--for", "90s"], 90), (["--for", "5m"], 300), (["--for", "1h"], 3600), (["--for", "7"], 7)):
            made.asked.clear()
            code, out, err = qpscope("--socket", made.path, "focus", "mlx5_0", "17", *arguments)
            expect(code == DONE and out == "watching\\x1b mlx5_0 17\n" and err == "", f"exit code {code}", out, err)
            method, path, _, body = made.asked[0]
            expect((method, path) == ("POST", "/api/v1/focus") and json.loads(body) == {"device": "mlx5_0", "qpn": 17, "seconds": seconds}, "not the request", made.asked)


def test_probes_off_and_on():
    state = {"attached": True}

    def answer(method, path, query, body):
        if method == "POST":
            state["left"], state["wanted"] = 2, json.loads(body)["attached"]
            return 200, {"schema": 1, "time": 1, "age_seconds": 0, "data": {"message": "as you like"}}
        # As the daemon: what it publishes comes a little later.
        state["left"] -= 1
        if state["left"] == 0:
            state["attached"] = state["wanted"]
        bpf = {"on": state["attached"]} | ({} if state["attached"] else {"back_in_seconds": 9})
        return 200, {"schema": 1, "time": 1, "age_seconds": 0, "data": {"bpf": bpf, "probes": [{"probe": "qp_create", "how": "fexit", "attached": state["attached"]}]}}

    with Made(answer) as made:
        for arguments, wanted in ((["off"], {"attached": False, "seconds": 900}), (["on"], {"attached": True}), (["off", "--for", "1h"], {"attached": False, "seconds": 3600})):
            made.asked.clear()
            code, out, err = qpscope("--socket", made.path, "probes", *arguments)
            expect(code == DONE and out.startswith("as you like\n") and err == "", f"exit code {code}", out, err)
            expect(("Nothing is attached." in out) == (arguments[0] == "off"), "not what there is to say", out)
            method, path, _, body = made.asked[0]
            expect((method, path) == ("POST", "/api/v1/probes") and json.loads(body) == wanted, "not the request", made.asked)
            expect([one[0] for one in made.asked] == ["POST", "GET", "GET"], "it does not wait until it is done", made.asked)


def test_what_is_no_answer():
    error = {"error": {"code": "failed", "message": "it \x1b[31m broke"}}
    for status, body, code, word in (
        (500, error, REFUSED, "it \\x1b[31m broke"), (404, error, REFUSED, "broke"), (429, error, REFUSED, "broke"), (501, error, REFUSED, "broke"), (400, error, USAGE, "broke"),
        (500, b"oops", REFUSED, "500"), (500, [], REFUSED, "500"), (500, {"error": 1}, REFUSED, "500"), (500, {"error": {"message": 1}}, REFUSED, "500"), (302, b"", REFUSED, "302"),
        (200, b"", REFUSED, "answer"), (200, b"oops", REFUSED, "answer"), (200, b"\xff", REFUSED, "answer"), (200, [], REFUSED, "answer"), (200, {"data": 1}, REFUSED, "answer"),
        (200, {"data": {"qps": {}}}, REFUSED, "answer"), (200, b"[" * 100000, REFUSED, "answer"),
    ):
        with Made(lambda *_, s=status, b=body: (s, b)) as made:
            fails(code, "--socket", made.path, "qps", words=[word])
    hostile = [1, None, [], {}, {"device": {"a": [1]}, "comm": "\x1b[2J\u202e", "remote_gid": 7}]
    with Made(lambda *_: (200, page(hostile))) as made:
        code, out, err = qpscope("--socket", made.path, "qps")
        expect(code == DONE and "\x1b" not in out and "\u202e" not in out and out.count("\n") == 6, "a table of anything", out, err)


def test_answers_of_anything():
    hostile = [1, None, [], {}, {key: "\x1b[2J\u202e\n" for key in ("device", "state", "tenant", "message", "what", "probe", "comm")}, {"history": 7, "totals": [], "by_state": "x"}]
    for word in LISTS:
        for data in ([], {"ports": hostile, "tenants": hostile, "qps": hostile, "events": hostile, "troubles": hostile, "probes": hostile, "bpf": hostile}):
            with Made(lambda *_, d=data: (200, made_api.envelope(d))) as made:
                code, out, err = qpscope("--socket", made.path, word)
                expect(code in (DONE, REFUSED) and not re.search("[\x1b\u202e]", out + err), f"{word} of {data}: exit code {code}", out, err)


def words_of(word, host, *more, code=DONE):
    with Made(host.answer) as made:
        got, out, err = qpscope(word, "--socket", made.path, *more)
    expect((got, err) == (code, ""), f"{word}: exit code {got}, not {code}", out, err)
    return out


def test_status():
    well = Host(queue_pairs=0)
    out = words_of("status", well, "--check")
    expect(out.startswith("node17: all is well\n"), "all is well", out)
    for part in ("qpscoped 0.9.1", "2 of 2", "8123 events", "13.2 MiB", "627 firmware commands", "0.03 % of a core", "mlx5_0", "queue pair 4711", "port 1 of mlx5_0 is DOWN"):
        expect(part in out, f"{part} is not said", out)
    expect("started" not in out, "an event that is no warning", out)
    ill = Host()
    ill.troubles = [{"severity": "error", "device": "mlx5_1", "what": "hw_counters: cannot read \x1b[2J"}]
    ill.ports.append(port("mlx5_2", 1, quiet=True, state="DOWN", physical_state="Disabled", queue_pairs=4))
    for options, code in ((["--check"], WRONG), ([], DONE)):
        out = words_of("status", ill, *options, code=code)
        expect(out.startswith("node17: 5 things are wrong\n"), "what is wrong", out)
        for part in ("cannot read \\x1b[2J", "1 of 3 queue pairs in ERR", "retransmits: 12.5/s", "15.3 %", "mlx5_2/1  is DOWN (Disabled)"):
            expect(part in out, f"{part} is not said", out)
    expect(json.loads(words_of("status", ill, "--check", "--json", code=WRONG))["data"] == ill.status(), "not the answer")
    many = Host(ports=400)
    many.ports[300]["history"]["retransmits"] = [7] * 150
    out = words_of("status", many)
    expect(out.count("\n") < 40 and "and 388 more" in out and "mlx5_300/1" in out, "a screen of it", out)
    without = Host(queue_pairs=0)
    with Made(lambda m, path, q, b: (404, {}) if path == "/api/v1/events" else without.answer(m, path, q, b)) as made:
        expect(qpscope("--socket", made.path, "status", "--check")[0] == DONE, "a daemon without events")


def test_lists():
    host = Host()
    out = words_of("ports", host)
    expect(re.search(r"^mlx5_0 +1 +ens1f0np0 +ACTIVE +400 Gbit/s +406 +187 Gbit/s +8.8 Gbit/s +12.5/s +15.3 % +40.2/s +0/s +12 +18.4E +- +- +3 +- ", out, re.M), "not the port", out)
    expect(json.loads(words_of("ports", host, "--json"))["data"]["ports"] == host.ports, "not the answer")
    out = words_of("tenants", host)
    expect(re.search(r"^research +job 4711 +slurm +12 +1 +93\d GiB +954 MiB +1\d\d +- +- +mlx5_0 +set$", out, re.M), "not the tenant", out)
    expect(re.search(r"^läb +train +rule +3 +0 +- +- +- +- +- +mlx5_0,mlx5_1 +-$", out, re.M), "absent is not zero", out)
    out = words_of("probes", host)
    expect(out.startswith("BPF is on\n") and "events lost: ring_full 0" in out, "BPF", out)
    expect(re.search(r"^devx_create +devx +off +kprobe +- +- +- +no such function: mlx5_ib is not loaded$", out, re.M), "not the probe", out)
    expect(re.search(r"^qp_create +qp +attached +fentry +123 +813 ns +0 +-$", out, re.M), "not the probe", out)
    nothing = Host(queue_pairs=0, ports=0)
    nothing.events = []
    for word, what in (("ports", "No ports"), ("tenants", "No tenants"), ("qps", "No queue pairs"), ("events", "No events")):
        expect(words_of(word, nothing).startswith(what), f"{word}: not in words that nothing is there")
    expect("filters" in words_of("qps", nothing, "--device", "x"), "it is not said that there are filters")
    with Made(host.answer) as made:
        qpscope("--socket", made.path, "ports", "--device", "mlx5_0", "--port", "1")
        expect(made.asked[0][2] == [("device", "mlx5_0"), ("port", "1")], "not what was asked for", made.asked)


def test_events():
    host = Host()
    host.events += [event(4, tenant="other", timestamp_seconds=TIME - 5), event(5, severity="warning", message="a\nb")]
    lines = words_of("events", host).splitlines()
    expect(len(lines) == 6 and lines[0].startswith("TIME") and lines[-1].endswith("a\\x0ab"), "not a line each", lines)
    ids = lambda *more: [one["id"] for one in json.loads(words_of("events", host, "--json", *more))["data"]["events"]]  # noqa: E731
    expect(ids() == ["1", "2", "3", "4", "5"], "not the answer")
    expect(ids("--severity", "warning") == ["1", "2", "4", "5"] and ids("--severity", "error") == ["1", "4"], "severity")
    expect(ids("--tenant", "other") == ["4"] and ids("--tenant", "other", "--tenant", "research") == ["1", "2", "3", "4", "5"], "tenant")
    expect(ids("--since", "10s") == ["4"] and ids("--since", "98") == ["2", "3", "4", "5"], "since", ids("--since", "98"))
    expect(ids("--limit", "2") == ["4", "5"] and ids("--kind", "port_state") == ["2"], "limit and kind")
    expect("filters" in words_of("events", host, "--workload", "none"), "it is not said that there are filters")
    host.dropped = 7
    expect(words_of("events", host).endswith("7 more, too many at once, were not kept.\n"), "what is missing is not said")


def test_follow():
    host = Host()
    with Made(host.answer) as made:
        for options, shown in (([], "queue pair 4711 of mlx5_0 moved to ERR (9)"), (["--json"], '"id":"9"')):
            host.events = host.events[:3]
            made.asked.clear()
            with subprocess.Popen([COMMAND, "--socket", made.path, "events", "-f", "--severity", "error", *options], env=environment(), stdout=subprocess.PIPE) as follower:
                os.set_blocking(follower.stdout.fileno(), False)
                out = bytearray()
                read = lambda: out.extend(follower.stdout.read() or b"") or out.decode()  # noqa: E731
                wait_for(lambda: "(1)" in read() and len(made.asked) > 1, "not what there was", PATIENCE)
                host.events += [event(8, severity="info", message="of no interest"), event(9)]
                wait_for(lambda: shown in read(), "not what came", PATIENCE)
                follower.terminate()
            expect("of no interest" not in out.decode() and out.decode().count("(1)") == 1, "too much", out)
            expect(dict(made.asked[1][2])["after"] == "3", "not what came since", made.asked[1])


def test_follow_over_a_restart():
    root = root_of("01-mlx5-pf-roce-cx7")
    (root / "run").mkdir()
    follow = [COMMAND, "--socket", root / "run/qpscope/api.sock", "events", "-f", "--kind", "daemon"]
    with Daemon(root=root) as daemon, subprocess.Popen(follow, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as follower:
        said = {stream: bytearray() for stream in (follower.stdout, follower.stderr)}

        def read(stream):
            os.set_blocking(stream.fileno(), False)
            said[stream].extend(stream.read() or b"")
            return said[stream].decode()
        wait_for(lambda: read(follower.stdout).count("started") == 1, lambda: f"not the start: {said}", PATIENCE)
        daemon.stop()
        wait_for(lambda: "waiting for it" in read(follower.stderr), lambda: f"nobody is told that it is away: {said}", PATIENCE)
        with Daemon(root=root):
            wait_for(lambda: read(follower.stdout).count("started") == 2, lambda: f"not the second start: {said}", PATIENCE)
        follower.terminate()
        expect(said[follower.stderr].count(b"\n") == 1, "said more than once", said)


def test_ten_thousand_queue_pairs():
    host = Host(queue_pairs=10001)
    with Made(host.answer) as made:
        out = qpscope("--socket", made.path, "qps")[1]
        expect(out.count("\n") == 10002 and len([1 for _, path, _, _ in made.asked if path.endswith("qps")]) == 2, "not all of them", len(out))
    with Made(lambda *_: (200, page([], "for ever"))) as made:
        expect(qpscope("--socket", made.path, "qps")[0] == DONE and len(made.asked) == 1, "a list without an end")


def test_on_a_terminal():
    for queue_pairs in (0, 3, 10000):
        host = Host(queue_pairs)
        host.queue_pairs = [{**qp, "comm": "計算機", "tenant": "e\u0301\u202e" + "x" * 90} for qp in host.queue_pairs]
        with Made(host.answer) as made:
            for columns in (80, 200):
                for word in LISTS if queue_pairs < 10000 else ("status", "qps"):
                    with terminal.Terminal([COMMAND, "--socket", made.path, word], columns=columns) as shown:
                        code, out = shown.end()
                    expect(code == DONE, f"{word}: exit code {code}", out)
                    wide = [line for line in terminal.plain(out).split("\r\n") if terminal.columns_of(line) > columns]
                    expect(not wide, f"{word}: wider than {columns}", wide[:3])
    with Made(Host().answer) as made:
        for env, colours in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)):
            with terminal.Terminal([COMMAND, "--socket", made.path, "status"], **env) as shown:
                expect(("\x1b[" in shown.end()[1]) == colours, f"colours with {env}")
        expect("\x1b" not in qpscope("--socket", made.path, "status")[1], "colours in a pipe")


main(globals())
