# SPDX-License-Identifier: Apache-2.0
"""A pseudo terminal with a program in it: what it writes, keys, the size, signals."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unicodedata

from qpscoped import environment

PATIENCE = 20


def plain(text):
    """Without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def columns_of(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


class Terminal:
    def __init__(self, arguments, columns=80, rows=24, **env):
        self.ours, self.theirs = pty.openpty()
        self.resize(columns, rows)
        self.found = termios.tcgetattr(self.theirs)
        self.bytes, self.out = b"", ""
        self.program = subprocess.Popen([str(one) for one in arguments], stdin=self.theirs, stdout=self.theirs, stderr=self.theirs, start_new_session=True,
                                        env=environment(**{"TERM": "xterm", **env}), preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.program.poll() is None:
            self.program.kill()
            self.program.wait()
        for end in (self.ours, self.theirs):
            if end >= 0:
                os.close(end)

    def resize(self, columns, rows):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.ours, keys.encode())

    def read(self):
        while select.select([self.ours], [], [], 0.02)[0]:
            self.bytes += os.read(self.ours, 65536)
        self.out = self.bytes.decode(errors="replace")
        return self.out

    def frame(self):
        """The lines of the newest whole picture of a program that draws again and again; none before the first."""
        whole = [piece for piece in self.read().split("\x1b[H") if piece.endswith("\x1b[J")]
        return [plain(line) for line in whole[-1].removesuffix("\x1b[J").replace("\x1b[K", "").split("\r\n")] if whole else []

    def ended(self):
        self.read()
        return self.program.poll() is not None

    def end(self):
        """(exit code, everything it wrote) once it is over."""
        until = time.monotonic() + PATIENCE
        while not self.ended():
            if time.monotonic() > until:
                raise TimeoutError(f"still running: {self.out[-500:]!r}")
        return self.program.returncode, self.read()

    def is_as_found(self):
        return termios.tcgetattr(self.theirs) == self.found

    def hang_up(self):
        """The window is closed."""
        os.close(self.theirs)
        self.theirs = -1
        os.close(self.ours)
        self.ours = -1

    def stopped(self):
        with open(f"/proc/{self.program.pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] == "T"

    def kill(self, number):
        os.kill(self.program.pid, number)

    def go_on(self):
        self.kill(signal.SIGCONT)
