#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual pages and the completions know exactly the subcommands and options that --help knows."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY / "tests/support"))
from made_api import Host, Made, port  # noqa: E402  (the path comes first)

COMMAND, DAEMON = os.environ["QPSCOPE"], os.environ["QPSCOPED"]
CLI = REPOSITORY / "exporters/cli"
faults = []


def expect(condition, *what):
    if not condition:
        faults.append(" ".join(map(str, what)))


def output(*arguments, **more):
    return subprocess.run([str(one) for one in arguments], capture_output=True, text=True, check=False, timeout=50, **more).stdout


def options_of(text):
    return set(re.findall(r"--[a-z][a-z-]+", "\n".join(re.findall(r"^  (-\S.*?)(?:  |$)", text, re.M))))


def described(page):
    """Options that have a paragraph of their own."""
    return {"-" + name for line in re.findall(r"^\.It (.*)$", page, re.M) for name in re.findall(r"(?:Fl|,) (-[a-z][a-z-]+)", line)}


def check_manual(program, path, subcommands):
    page = path.read_text()
    parts = {re.sub(r" Ar .*", "", name): text for name, text in re.findall(r"^\.Ss (.*)\n((?:(?!\.S[sh] ).*\n)*)", page, re.M)}
    common = described(re.sub(r"^\.Ss (?:.*\n(?!\.Sh ))*", "", page, flags=re.M))
    expect(set(parts) == set(subcommands), path.name, "has the subcommands", sorted(parts), "not", sorted(subcommands))
    own = options_of(output(program, "--help"))
    expect(own <= common, path.name, "has no", own - common)
    known = set(own)
    for word in subcommands:
        there = options_of(output(program, word, "--help"))
        known |= there
        said = described(parts.get(word, ""))
        expect(there <= said | common, path.name, word, "has no", there - said - common)
        expect(said <= there, path.name, word, "has what is not there:", said - there)
    expect(common <= known, path.name, "has what is not there:", common - known)
    if shutil.which("mandoc"):
        complaints = output("mandoc", "-T", "lint", "-W", "warning", path)
        expect(not complaints, complaints)


def completed(*words):
    return output(COMMAND, "complete", *words).split()


def check_completions(subcommands, socket):
    expect(completed("") == sorted(subcommands), "completed are", completed(""))
    expect(completed("t") == ["tenants", "top"], "completed are", completed("t"))
    for word in subcommands:
        wanted = options_of(output(COMMAND, word, "--help")) | options_of(output(COMMAND, "--help"))
        expect(set(completed(word, "-")) == wanted, word, "has", completed(word, "-"), "not", wanted)
    at = ("--socket", socket)
    for words, wanted in ((("qps", "--state", "R"), ["RESET", "RTR", "RTS"]), (("qps", "--state", "=", "ER"), ["ERR"]), (("top", "--view", ""), ["ports", "qps", "tenants"]),
                          ((*at, "qps", "--device", ""), ["mlx5_0", "mlx5_1"]), ((*at, "focus", ""), ["mlx5_0", "mlx5_1"]), ((*at, "focus", "mlx5_0", ""), []),
                          ((*at, "events", "--kind", "q"), ["queue_pair_error"]), ((*at, "qps", "--tenant", "re"), ["research"]), (("--socket", "/none", "qps", "--device", ""), []),
                          (("qps", "--limit", ""), []), (("nonsense", "x", ""), sorted(subcommands))):
        expect(completed(*words) == wanted, words, "becomes", completed(*words))


def check_shells(socket):
    script = 'source "$1"; COMP_WORDS=("$2" --socket "$3" focus mlx5); COMP_CWORD=4; _qpscope; echo "${COMPREPLY[@]}"'
    expect(output("bash", "-c", script, "bash", CLI / "completion/qpscope.bash", COMMAND, socket) == "mlx5_0 mlx5_1\n", "bash completes nothing")
    if shutil.which("zsh"):
        script = 'compadd() { shift; echo "$@" }; words=("$2" --socket "$3" focus mlx5); CURRENT=5; source "$1"'
        expect(output("zsh", "-fc", script, "zsh", CLI / "completion/_qpscope", COMMAND, socket) == "mlx5_0 mlx5_1\n", "zsh completes nothing")


def main():
    subcommands = re.findall(r"^  ([a-z]+) ", output(COMMAND, "--help").partition("Subcommands:")[2].partition("\n\n")[0], re.M)
    expect(len(subcommands) > 5, "no subcommands in --help")
    check_manual(COMMAND, CLI / "qpscope.1", subcommands)
    check_manual(DAEMON, REPOSITORY / "daemon/qpscoped.8", [])
    host = Host()
    host.ports += [port("$(reboot)", 1), port("a b", 1)]  # not for a shell
    with tempfile.TemporaryDirectory() as folder, Made(Path(folder) / "api.sock", host.answer) as made:
        check_completions(subcommands, made.path)
        check_shells(made.path)
    return "\n".join(faults) or None


sys.exit(main())
