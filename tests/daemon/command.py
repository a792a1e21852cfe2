# SPDX-License-Identifier: Apache-2.0
"""qpscope, the command: tables, JSON, exit codes; against the daemon, and against one made up, which can say anything."""
import http.server
import json
import os
import re
import shutil
import socketserver
import subprocess
import threading
import urllib.parse

from harness import Daemon, environment, expect, main, needs_root, root_of, skip, temp_folder

COMMAND = os.environ["QPSCOPE"]
DONE, REFUSED, USAGE, NO_DAEMON, NO_PERMISSION = range(5)


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


class Made:
    """A server on a unix socket that answers as it is told: `answer(method, path, query, body)` gives (status, body)."""

    def __init__(self, answer):
        self.path = temp_folder() / "api.sock"
        self.asked = []
        made = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def reply(self):
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                path, _, query = self.path.partition("?")
                made.asked.append((self.command, path, urllib.parse.parse_qsl(query), body))
                status, text = answer(*made.asked[-1])
                data = text if isinstance(text, bytes) else json.dumps(text).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = reply  # noqa: N815

            def address_string(self):
                return ""

            def log_message(self, *_):
                pass

        self.server = socketserver.ThreadingUnixStreamServer(str(self.path), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def page(qps, following=None):
    return {"schema": 1, "time": 1.5, "age_seconds": 0.25, "data": {"qps": qps, **({"next": following} if following else {})}}


QP = {"device": "mlx5_0", "port": 1, "qpn": 17, "generation": "3", "type": "RC", "state": "RTS", "tenant": "läb", "workload": "train", "pid": 4001, "comm": "python3",
      "remote_qpn": 18, "remote_gid": "0000:0000:0000:0000:0000:ffff:c000:0207"}


def test_help():
    for arguments in (["--help"], ["qps", "--help"], ["focus", "--help"]):
        code, out, err = qpscope(*arguments)
        expect(code == DONE and err == "" and "Usage: qpscope" in out, "no help", out, err)
    out = qpscope("--help")[1]
    expect("qps" in out and "focus" in out and "Exit codes" in out, "help that does not help", out)
    expect(re.fullmatch(r"qpscope \d+\.\d+\.\d+\n", qpscope("--version")[1]), "no version")


def test_usage():
    for arguments in ([], ["nonsense"], ["qps", "--colour", "red"], ["qps", "--limit", "0"], ["qps", "extra"], ["focus"], ["focus", "mlx5_0"], ["focus", "mlx5_0", "x"],
                      ["focus", "mlx5_0", "16777216"], ["focus", "mlx5_0", "1", "--for", "2h"], ["focus", "mlx5_0", "1", "--for", "1x"], ["focus", "mlx5_0", "1", "--for", "0"]):
        fails(USAGE, *arguments)


def test_with_the_daemon():
    root = root_of("01-mlx5-pf-roce-cx7")
    (root / "run").mkdir()
    at = root / "run/qpscope/api.sock"
    with Daemon(root=root) as daemon:
        code, out, err = qpscope("--socket", at, "qps")
        expect(code == DONE and err == "" and out.startswith("DEVICE  PORT  QPN") and out.count("\n") == 1, "no empty table", out, err)
        code, out, err = qpscope("--socket", at, "qps", "--json", "--state", "RTS", "--tenant", "a b&c=d", http_proxy="http://127.0.0.1:1")
        expect(code == DONE and json.loads(out)["data"] == {"qps": []}, "no JSON", out, err)
        fails(USAGE, "--socket", at, "qps", "--state", "rts", words=["state", "RTS"])
        fails(USAGE, "--socket", at, "qps", "--remote-gid", "\x1b[31m", words=["remote_gid", "\\x1b"])
        fails(REFUSED, "--socket", at, "focus", "mlx5_0", "17", words=["focus"])
        daemon.healthy()
    fails(NO_DAEMON, "--socket", at, "qps", words=[str(at), "running"])


def test_no_daemon():
    at = temp_folder() / "api.sock"
    fails(NO_DAEMON, "--socket", at, "qps", words=[str(at), "running"])
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
    expect(re.search(r"^mlx5_0 +1 +17 +RC +RTS +läb +train +4001 +python3 +18 +::ffff:192\.0\.2\.7$", out, re.M), "not the queue pair", out)
    expect(re.search(r"^mlx5_1 +- +1 +GSI +- +- +- +- +- +- +-$", out, re.M), "absent is not zero", out)


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


main(globals())
