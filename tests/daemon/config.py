# SPDX-License-Identifier: Apache-2.0
"""A configuration that cannot be used is refused in one line: what, where, and what to write instead."""
import socket

from harness import ANY_PORT, FIXTURES, Daemon, config_file, expect, main, refused, run, temp_folder, write

QUIET_ROOT = FIXTURES / "18-no-rdma-host"


def refused_config(text, *words):
    path = config_file(text)
    refused("--root", QUIET_ROOT, "--config", path, words=[str(path), *words])


def test_unknown_key():
    refused_config("sampling:\n  interval: 1s\n  intervall: 2s\n", ":3: ", '"intervall"', "slow_interval")


def test_unknown_section():
    refused_config("log: {level: info}\nlogging: {}\n", ":2: ", '"logging"', "sampling")


def test_bad_value():
    refused_config("sampling:\n  interval: fast\n", ":2: ", "sampling.interval", '"fast"', "500ms")


def test_value_out_of_range():
    refused_config("tenants:\n  limit: 0\n", ":2: ", "tenants.limit", "from 1 to 4096")


def test_counter_sets():
    refused_config("counters:\n  qp_mode: on\n", ":2: ", "counters.qp_mode", "leave", "tenant")
    refused_config("counters:\n  qp_mode: tenant\n  max_sets: 1\n", ":3: ", "counters.max_sets", "from 2 to 255")
    refused_config("counters:\n  max_sets: 256\n", ":2: ", "counters.max_sets", "from 2 to 255")
    refused_config("counters:\n  qp_focus: 17\n", ":2: ", "counters.qp_focus", "from 0 to 16")
    refused_config("counters:\n  qp_focus: -1\n", ":2: ", "counters.qp_focus")
    refused_config("counters:\n  focus_time: 0s\n", ":2: ", "counters.focus_time")
    refused_config("counters:\n  focus_time: 2h\n", ":2: ", "counters.focus_time")
    refused_config("counters:\n  slow_command: 50\n", ":2: ", "counters.slow_command")
    refused_config("counters:\n  mode: tenant\n", ":2: ", '"mode"', "qp_mode")


def test_key_given_twice():
    refused_config("log:\n  level: info\n  level: debug\n", ":3: ", "level", "twice")


def test_no_yaml():
    refused_config("sampling: [1\n", ":")


def test_hostile_text():
    # The message goes to a terminal and the journal.
    path = config_file('log: {level: "a\\n<3>b\\e[31m"}\n')
    code, _, err = run("--root", QUIET_ROOT, "--config", path)
    expect(code == 2 and err.count("\n") == 1 and "\x1b" not in err, "a hostile value reaches the terminal", repr(err))


def test_missing_file():
    path = temp_folder() / "absent.yaml"
    refused("--root", QUIET_ROOT, "--config", path, words=[str(path), "No such file"])


def test_folder_for_file():
    refused("--root", QUIET_ROOT, "--config", temp_folder(), words=["configuration"])


def test_missing_root():
    path = temp_folder() / "absent"
    refused("--root", path, words=[str(path), "No such file"])


def test_file_for_root():
    path = write(temp_folder() / "file", "")
    refused("--root", path, words=[str(path), "Not a directory"])


def test_occupied_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = "127.0.0.1:%d" % taken.getsockname()[1]
        path = config_file('exporters: {prometheus: {listen: "%s"}}\nlog: {level: warning}\n' % listen)
        refused("--root", QUIET_ROOT, "--config", path, words=[listen, "exporters.prometheus.listen", "another process"])


def test_bad_listen():
    path = config_file('exporters: {prometheus: {listen: "localhost:http"}}\nlog: {level: warning}\n')
    refused("--root", QUIET_ROOT, "--config", path, words=["localhost:http", ":9879"])


def test_bad_network():
    path = config_file(ANY_PORT + 'api: {allow: ["10.0.0.0/99"]}\nlog: {level: warning}\n')
    refused("--root", QUIET_ROOT, "--config", path, words=["10.0.0.0/99", "10.0.0.0/8"])


def test_bad_pattern():
    refused_config("tenants:\n  rules:\n    - tenant: a\n      cgroup: '(b'\n", ":4: ", "tenants.rules.cgroup", "missing )")
    refused_config("tenants: {kubernetes: {workload_patterns: ['(?=x)']}}\n", ":1: ", "workload_patterns", "(?=")


def test_print_loads_back():
    path = config_file("sampling: {interval: 250ms, slow_interval: 90m}\ndevices: {exclude: ['a\"b', 'x*']}\nlog: {level: debug}\n")
    code, first, err = run("--config", path, "--print-config")
    expect(code == 0 and err == "", "--print-config fails", err)
    expect("interval: 250ms" in first and "slow_interval: 90m" in first, "what was set is not printed", first)
    code, second, err = run("--config", config_file(first), "--print-config")
    expect((code, second) == (0, first), "what --print-config prints does not load back", err, first, second)


def test_empty_file():
    defaults = run("--config", config_file("{}"), "--print-config")
    expect(run("--config", config_file(""), "--print-config") == defaults and defaults[0] == 0, "an empty file is not the defaults", defaults)


def test_default_file_runs():
    text = (FIXTURES.parent.parent / "config" / "default.yaml").read_text()
    with Daemon(root=QUIET_ROOT, config=text.replace('":9879"', '"127.0.0.1:0"')) as daemon:
        daemon.healthy()


main(globals())
