# SPDX-License-Identifier: Apache-2.0
"""qpscope top on a pseudo terminal: pictures, keys, the size, and the terminal afterwards."""
import os
import signal

from harness import expect, main, temp_folder, wait_for
from made_api import Host, Made  # of tests/support
from terminal import Terminal, columns_of  # of tests/support

COMMAND = os.environ["QPSCOPE"]
TAKEN, GIVEN = "\x1b[?1049h", "\x1b[?1049l"


class Top(Terminal):
    def __init__(self, made, *options, **more):
        super().__init__([COMMAND, "--socket", made.path, "top", "--interval", "0.5s", *options], **more)

    def shows(self, word, line=None):
        def there():
            frame = self.frame()
            return any(word in text for text in (frame if line is None else frame[line:line + 1]))
        wait_for(lambda: there() or self.program.poll() is not None, lambda: f"{word!r} is not shown: {self.frame()}")
        expect(there(), f"{word!r} is not shown", self.out[-2000:])

    def given_back(self):
        return self.is_as_found() and self.out.count(TAKEN) == self.out.count(GIVEN) and self.out.rstrip().endswith(GIVEN)


def made(host):
    return Made(temp_folder() / "api.sock", host.answer)


def test_views_and_keys():
    with made(Host()) as server, Top(server) as top:
        top.shows("ports by RETRANS  1-2 of 2", line=1)
        top.shows("187 Gbit/s", line=4)
        expect(not top.is_as_found(), "keys are not read one by one")
        top.press("t")
        top.shows("tenants by RETRANS", line=1)
        top.shows("3.5/s", line=4)  # of the second answer on
        top.press("u")
        top.shows("qps by STATE", line=1)
        top.shows("ERR", line=4)
        top.press("r")
        top.shows("RTS", line=4)
        top.press(">")
        top.shows("by SINCE", line=1)
        top.press("h")
        top.shows("sort by bandwidth")
        top.press("xq")
        expect(top.end()[0] == 0 and top.given_back(), "the terminal is not as it was found", top.out[-200:])


def test_pause():
    host = Host()
    with made(host) as server, Top(server) as top:
        top.shows("3 queue pairs", line=0)
        top.press(" ")
        top.shows("PAUSED", line=1)
        host.queue_pairs = host.queue_pairs[:2]
        asked = len(server.asked)
        top.press("j")
        top.press("b")
        top.shows("by RX", line=1)
        expect(len(server.asked) == asked, "it asks while it is paused")
        top.press(" ")
        top.shows("2 queue pairs", line=0)


def test_size():
    with made(Host(10000)) as server, Top(server, "--view", "qps") as top:
        for columns, rows in ((80, 24), (200, 50), (40, 8), (3, 2)):
            top.resize(columns, rows)
            wait_for(lambda n=rows: len(top.frame()) == n, lambda: f"{len(top.frame())} lines of {rows}")
            wide = [line for line in top.frame() if columns_of(line) > columns]
            expect(not wide, f"wider than {columns}", wide)
            expect(columns < 200 or "REMOTE QPN" in top.frame()[3], "room that is not used", top.frame())
        top.resize(80, 24)
        top.press("G")
        top.shows("9981-10000 of 10000", line=1)
        top.press("\x1b[5~")
        top.shows("9961-9980 of 10000", line=1)


def test_every_way_out():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT):
        with made(Host()) as server, Top(server) as top:
            top.shows("ports by")
            top.kill(number)
            code, _ = top.end()
            expect(code == -number and top.given_back(), f"signal {number}: {code}, the terminal is not as it was found", top.out[-200:])
    with made(Host()) as server, Top(server) as top:
        top.shows("ports by")
        top.press("\x03")
        expect(top.end()[0] == -signal.SIGINT and top.given_back(), "Ctrl-C", top.out[-200:])
    with made(Host()) as server, Top(server) as top:
        top.shows("ports by")
        top.hang_up()
        top.program.wait(20)


def test_while_the_daemon_does_not_answer():
    """Ctrl-C works in the middle of a question too."""
    host, silent = Host(), []

    def answer(*request):
        if silent:
            silent[0].append(1)
            wait_for(lambda: len(silent) > 1, "nobody ended it")
        return host.answer(*request)
    with Made(temp_folder() / "api.sock", answer) as server, Top(server) as top:
        top.shows("ports by")
        silent.append([])
        wait_for(lambda: silent[0], "no question")
        top.press("\x03")
        expect(top.end()[0] == -signal.SIGINT and top.given_back(), "Ctrl-C", top.out[-200:])
        silent.append([])


def test_stopped():
    with made(Host()) as server, Top(server) as top:
        top.shows("ports by")
        top.press("\x1a")
        wait_for(top.stopped, "Ctrl-Z does not stop it")
        wait_for(lambda: GIVEN in top.read(), "the screen is not given back")
        expect(top.is_as_found(), "the terminal is not given back")
        top.bytes = TAKEN.encode()
        top.go_on()
        top.shows("ports by")
        expect(not top.is_as_found(), "keys are not read one by one")
        top.press("q")
        expect(top.end()[0] == 0 and top.is_as_found(), "the terminal is not as it was found")


def test_a_daemon_that_goes_and_comes():
    host, folder = Host(), temp_folder()
    with Made(folder / "api.sock", host.answer) as server:
        top = Top(server)
        top.shows("ports by")
    (folder / "api.sock").unlink()
    with top:
        top.shows("is it running?", line=1)
        top.shows("187 Gbit/s")  # what was there stays
        with Made(folder / "api.sock", host.answer):
            top.shows("ports by", line=1)
    with Terminal([COMMAND, "--socket", folder / "none", "top"]) as none:
        code, out = none.end()
        expect(code == 3 and TAKEN not in out and "running" in out, "what is wrong has to stay on the screen", code, out)


main(globals())
