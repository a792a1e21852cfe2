# SPDX-License-Identifier: Apache-2.0
"""Names and contents in the tree that try to break the page, the log or a terminal."""
import os
import unicodedata

from harness import FAST, Daemon, expect, lint, main, root_of, run, series, wait_for, write

NAMES = (b'quo"te', b"new\nline", b"back\\slash", b"cut\xc3", b"\xff\xfe", b"esc\x1b[2J", b"<3>level", b"{a=\"b\"} 1", b"n" * 255, b"rtl\xe2\x80\xae", b"# TYPE x counter")


def hostile_root():
    """Each name as a device, as a counter and inside the files that people may write."""
    root = root_of("18-no-rdma-host")
    folder = os.fsencode(root / "sys/class/infiniband")
    for name in NAMES:
        port = os.path.join(folder, name, b"ports", b"1")
        os.makedirs(os.path.join(port, b"hw_counters"))
        for file, content in ((b"state", b"4: ACTIVE\n"), (b"link_layer", name), (b"rate", name), (b"../../fw_ver", name), (b"../../board_id", name)):
            write_bytes(os.path.join(port, file), content)
        for counter in NAMES:
            write_bytes(os.path.join(port, b"hw_counters", counter), b"1\n")
        # What cannot be read is named in the log.
        write_bytes(os.path.join(port, b"hw_counters", b"bad" + name[:100]), name)
    return root


def write_bytes(path, content):
    with open(path, "wb") as out:
        out.write(content)


def harmless(text):
    return not [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c != "\n"]


def check_page(page):
    expect(lint(page) == "", "promtool complains", lint(page))
    expect(harmless(page), "control characters on the page")
    found = [key for key in series(page) if key.startswith("qpscope_port_state{")]
    expect(len(found) == len(NAMES), "not one series for each device", *found)


def check_log(lines):
    bad = [line for line in lines if not line.startswith(("<4>", "<6>")) or not harmless(line)]
    expect(lines and not bad, "a name breaks out of its log line", *map(repr, bad[:5]))


def test_once():
    code, page, err = run("--root", hostile_root(), "--once")
    expect(code == 0, f"exit code {code}", err)
    check_page(page)
    check_log(err.splitlines())


def test_daemon():
    root = hostile_root()
    with Daemon(root=root, config=FAST) as daemon:
        wait_for(lambda: daemon.page().count("\nqpscope_port_state{") == len(NAMES), "not every device is on the page")
        check_page(daemon.page())
        daemon.stop()
        check_log(daemon.lines)


def test_check():
    code, out, err = run("--root", hostile_root(), "--check")
    expect(code == 0 and err == "", f"exit code {code}", err)
    expect(harmless(out) and len(out.splitlines()) == 4, "a name breaks the table", out)


def test_not_a_device():
    # A file, a dangling link and an empty folder in the class; a fifo and a folder where a counter should be.
    root = root_of("18-no-rdma-host")
    write(root / "sys/class/infiniband/file", "x")
    (root / "sys/class/infiniband/dangling").symlink_to("../../nowhere")
    (root / "sys/class/infiniband/empty").mkdir()
    (root / "sys/class/infiniband/outside").symlink_to("../../../../../../../../etc")
    counters = root / "sys/class/infiniband/odd/ports/1/counters"
    (counters / "folder").mkdir(parents=True)
    os.mkfifo(counters / "fifo")
    write(counters / "symbol_error", "7\n")
    code, page, err = run("--root", root, "--once")
    expect(code == 0, f"exit code {code}", err)
    expect('qpscope_port_counters_total{device="odd",port="1",counter="symbol_error"} 7' in page, "a good counter is lost", page)
    expect("fifo" not in page and "folder" not in page, "no counters, but on the page", page)


main(globals())
