# SPDX-License-Identifier: Apache-2.0
"""Runs the built qpscoped as a user would: Daemon for one that serves, run() for one that prints and ends."""
import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from qpscoped import TESTS, environment, lint, skip  # noqa: E402, F401  (the path comes first; the cases use them all)

BINARY = os.environ["QPSCOPED"]
FIXTURES = TESTS / "fixtures"
REPOSITORY = TESTS.parent
PATIENCE = 20  # seconds for what should take a fraction of one: two cores may build and boot guests meanwhile
NO_CAPABILITIES = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]
ANY_PORT = 'exporters: {prometheus: {listen: "127.0.0.1:0"}}\n'
FAST = ANY_PORT + "sampling: {interval: 100ms, slow_interval: 100ms}\n"


class Failed(Exception):
    pass


def expect(condition, what, *evidence):
    if not condition:
        raise Failed("\n".join([what, *map(str, evidence)]))


def wait_for(condition, what, seconds=PATIENCE):
    """The first true answer of condition(), asked again and again."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise Failed(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(0.02)


def needs_root():
    if os.geteuid() != 0:
        skip("needs root")


def temp_folder():
    folder = tempfile.TemporaryDirectory(prefix="qpscope-test-")
    _folders.append(folder)  # removed when the test ends
    return Path(folder.name)


_folders = []


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def config_file(text):
    return write(temp_folder() / "qpscope.yaml", text)


def root_of(fixture):
    """A copy of a fixture that the test may change."""
    root = temp_folder() / "root"
    shutil.copytree(FIXTURES / fixture, root, symlinks=True)
    return root


def run(*arguments, wrapper=(), fixture=None, **env):
    """qpscoped to its end: (exit code, standard output, standard error)."""
    done = subprocess.run(
        [*wrapper, BINARY, *map(str, arguments)], env=environment(fixture, **env), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE * 2
    )
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def refused(*arguments, words, **more):
    """qpscoped cannot run: exit code 2, nothing on standard output, one line on standard error that holds all words."""
    code, out, err = run(*arguments, **more)
    expect(code == 2, f"exit code {code}, not 2", err)
    expect(out == "", "standard output is not empty", out)
    expect(err.count("\n") == 1 and err.endswith("\n"), "standard error is not one line", err)
    for word in words:
        expect(word in err, f"{word!r} is not in the message", err)


def series(page):
    """{'family{labels}': value} of a page."""
    lines = [line for line in page.splitlines() if line and not line.startswith("#")]
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines}


def total(page, family, *labels):
    """The sum over the series of a family that hold all the given label texts; None where there is none."""
    values = [v for k, v in series(page).items() if k.split("{")[0] == family and all(label in k for label in labels)]
    return sum(values) if values else None


def private_run():
    """The words before a command that give it a /run/qpscope of its own: the machine's may be that of a daemon in earnest."""
    words = ("unshare", "-m", "sh", "-c", 'mkdir -p /run/qpscope && mount -t tmpfs none /run/qpscope && exec "$@"', "sh")
    usable = os.geteuid() == 0 and subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    return words if usable else ()


class Daemon:
    """A qpscoped that serves on a free port of loopback; a context manager that leaves no process behind."""

    def __init__(self, *arguments, root=None, config=ANY_PORT, wrapper=(), fixture=None, **env):
        self.lines = []
        where = ["--root", str(root)] if root else []
        self.process = subprocess.Popen(
            [*(() if root else private_run()), *wrapper, BINARY, "--config", str(config_file(config)), *where, *arguments],
            env=environment(fixture, **env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.decode("utf-8", errors="replace").rstrip("\n"))

    def __enter__(self):
        try:
            self.port = int(wait_for(self._port, lambda: "no ready line\n" + self.log()))
        except BaseException:
            self.process.kill()
            raise
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def _port(self):
        expect(self.process.poll() is None, f"ended with {self.process.returncode} before it was ready", self.log())
        found = re.search(r"ready on port (\d+)", self.log())
        return found and found[1]

    def log(self):
        return "\n".join(self.lines)

    def worse_than_info(self):
        return [line for line in self.lines if not line.startswith(("<6>", "<7>"))]

    def request(self, path, method="GET", headers=None, source=None, seconds=PATIENCE):
        """(status, headers, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds, source_address=source and (source, 0))
        try:
            connection.request(method, path, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def page(self, path="/metrics"):
        status, _, body = self.request(path)
        expect(status == 200, f"{path} answers {status}", body)
        return body.decode("utf-8")

    def connect(self, source=None):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE, source_address=source and (source, 0))

    def stop(self, number=signal.SIGTERM):
        """Seconds from the signal to the end, which must be exit code 0."""
        began = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(timeout=PATIENCE)
        took = time.monotonic() - began
        self._reader.join(PATIENCE)
        expect(code == 0, f"exit code {code} after signal {number}", self.log())
        return took

    def healthy(self):
        """Runs, answers, serves a page that promtool accepts, and ends as it should."""
        complaints = lint(self.page())
        expect(complaints == "", "promtool complains", complaints)
        self.stop()


def main(cases):
    """CASE: runs the function test_CASE of the calling module."""
    if len(sys.argv) != 2 or "test_" + sys.argv[1] not in cases:
        sys.exit("usage: " + Path(sys.argv[0]).name + " " + "|".join(n[5:] for n in cases if n.startswith("test_")))
    try:
        cases["test_" + sys.argv[1]]()
    except Failed as failed:
        frame = traceback.extract_tb(failed.__traceback__)[1]
        sys.exit(f"FAILED in {frame.name}, line {frame.lineno}: {failed}")
    finally:
        for folder in _folders:
            folder.cleanup()
