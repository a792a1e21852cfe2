# SPDX-License-Identifier: Apache-2.0
"""Files that hold no number, are no files, or have names nobody expects: each takes away its own value and is counted, the rest stays."""
import os
import re
import socket
from collections import Counter

from harness import FAST, NO_CAPABILITIES, Daemon, expect, lint, main, needs_root, run, series, temp_folder, total, wait_for, write

DEVICE = "sys/class/infiniband/test_0"
PORT = DEVICE + "/ports/1"

# What a counter file may hold: the number on the page, or the name under which its loss is counted.
CONTENTS = {
    "good": (b"42\n", 42),
    "no_newline": (b"42", 42),
    "blanks": (b" 42 \t \n", 42),
    "crlf": (b"42\r\n", 42),
    "hex": (b"0x2a\n", 42),
    "zeros": (b"0000042\n", 42),
    "greatest": (b"18446744073709551615\n", 2.0**64),  # as a double
    "beyond": (b"18446744073709551616\n", "parse"),
    "far_beyond": (b"9" * 60, "parse"),
    "negative": (b"-1\n", "parse"),
    "plus": (b"+1\n", "parse"),
    "fraction": (b"1.5\n", "parse"),
    "exponent": (b"1e3\n", "parse"),
    "two": (b"4 2\n", "parse"),
    "word": (b"N/A (no PMA)\n", "parse"),
    "empty": (b"", "parse"),
    "newline": (b"\n", "parse"),
    "nothing_hex": (b"0x\n", "parse"),
    "nul": (b"4\x002\n", "parse"),
    "binary": (bytes(range(1, 64)), "parse"),
    "no_utf8": (b"\xff\xfe42\n", "parse"),
    "huge": (b"4" * (1 << 20), "limit"),
    "long_blanks": (b"42" + b" " * 100, "limit"),
}


def new_root():
    root = temp_folder() / "root"
    for file, content in {"node_guid": "0a0b:0cff:fe00:0001", "ports/1/state": "4: ACTIVE", "ports/1/counters/symbol_error": "7"}.items():
        write(root / DEVICE / file, content + "\n")
    return root


def read_errors(page):
    found = Counter()
    for key, value in series(page).items():
        if labels := re.fullmatch(r'qpscope_read_errors_total\{device="[^"]*",source="([^"]*)",error="([^"]*)"\}', key):
            found[labels.groups()] += value
    return found


def counters(page, family="qpscope_port_counters_total"):
    """{counter: value} of the port."""
    found = {}
    for key, value in series(page).items():
        if labels := re.fullmatch(family + r'\{device="test_0",port="1",counter="((?:[^"\\]|\\.)*)"\}', key):
            found[labels[1]] = value
    return found


def once(root, errors, **more):
    """The page; its read errors are exactly those."""
    code, page, err = run("--root", root, "--once", **more)
    expect(code == 0 and lint(page) == "", f"exit code {code}", err, lint(page))
    expect(read_errors(page) == errors, "not these read errors", read_errors(page), errors)
    expect(total(page, "qpscope_port_state", 'device="test_0",port="1"') == 4, "the rest of the device is lost")
    return page


def test_contents():
    root = new_root()
    for folder in ("counters", "hw_counters"):
        for name, (content, _) in CONTENTS.items():
            write(root / PORT / folder / name, content)
    good = {name: value for name, (_, value) in CONTENTS.items() if not isinstance(value, str)}
    lost = Counter(value for _, value in CONTENTS.values() if isinstance(value, str))
    page = once(root, Counter({(folder, error): n for folder in ("counters", "hw_counters") for error, n in lost.items()}))
    expect(counters(page) == {**good, "symbol_error": 7}, "not these values", counters(page))
    expect(counters(page, "qpscope_hw_counters_total") == good, "not these values", counters(page, "qpscope_hw_counters_total"))
    with Daemon(root=root, config=FAST) as daemon:
        wait_for(lambda: read_errors(daemon.page())["counters", "parse"] > 2 * lost["parse"], "failures are not counted on")
        expect(counters(daemon.page()) == {**good, "symbol_error": 7}, "later passes find something else")
        expect(len(daemon.worse_than_info()) == 2, "each collector's trouble is not logged once", daemon.log())
        daemon.healthy()


def test_words_beyond_64_bits():
    root = new_root()
    words = root / PORT / "counters/port_rcv_data"
    for text, value in (("18446744073709551615", 4.0 * 2**64), ("4611686018427387905", 2.0**64), ("4611686018427387904", 2.0**64), ("2305843009213693953", 2.0**63)):
        write(words, text + "\n")
        page = once(root, Counter())
        expect(total(page, "qpscope_port_rx_bytes_total") == value, f"{text} words are not four times as many bytes", page)


def test_no_files():
    root = new_root()
    folder = root / PORT / "counters"
    write(root.parent / "outside", "424242\n")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "loop").symlink_to("loop")
    (folder / "loop_of_two").symlink_to("loop_of_two_b")
    (folder / "loop_of_two_b").symlink_to("loop_of_two")
    (folder / "out").symlink_to("../" * 40 + str(root.parent / "outside")[1:])
    (folder / "out_absolute").symlink_to(root.parent / "outside")
    (folder / "dangling").symlink_to("nothing")
    (folder / "through_a_file").symlink_to("symbol_error/x")
    (folder / "inside").symlink_to("symbol_error")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(folder)  # the name of a socket is short
        listener.bind("socket")
        os.chdir(here)
    once_errors = Counter({("counters", "EISDIR"): 1, ("counters", "ESPIPE"): 1, ("counters", "ELOOP"): 3, ("counters", "ENOENT"): 3,
                           ("counters", "ENOTDIR"): 1, ("counters", "ENXIO"): 1})
    page = once(root, once_errors)
    expect(counters(page) == {"symbol_error": 7, "inside": 7}, "not these values", counters(page))
    expect("424242" not in page, "a file outside of the root is read")
    with Daemon(root=root, config=FAST) as daemon:
        expect(counters(daemon.page()) == {"symbol_error": 7, "inside": 7}, "not these values", counters(daemon.page()))
        daemon.healthy()


def test_unreadable():
    needs_root()
    root = new_root()
    (write(root / PORT / "counters/hidden", "5\n")).chmod(0)
    (write(root / DEVICE / "fw_ver", "1.2.3\n")).chmod(0)
    write(root / PORT / "hw_counters/below", "5\n")
    (root / PORT / "hw_counters").chmod(0)
    (write(root / PORT / "gids/0", "fe80:0000:0000:0000:0a0b:0cff:fe00:0001\n")).parent.chmod(0)
    errors = Counter({("counters", "EACCES"): 1, ("hw_counters", "EACCES"): 1, ("device", "EACCES"): 1, ("port", "EACCES"): 1})
    page = once(root, errors, wrapper=NO_CAPABILITIES)
    expect(counters(page) == {"symbol_error": 7}, "not these values", counters(page))
    expect("hidden" not in page and "below" not in page and "1.2.3" not in page and "fe80" not in page, "something unreadable is on the page", page)


def test_facts():
    root = new_root()
    good = b"fe80:0000:0000:0000:0a0b:0cff:fe00:000"
    gids = {"0": good + b"1\n", "1": b"garbage\n", "2": b"\n", "3": b"0" * 70000, "4": good + b"4\r\n"}
    for name, content in {
        "fw_ver": b"9" * 70000,
        "board_id": b"\xff\0quote\"\n",
        "ports/1/link_layer": b"N/A (no PMA)\n",
        "ports/1/lid": b"none\n",
        "ports/1/rate": b"fast\n",
        "ports/1/phys_state": b": LinkUp\n",
        "ports/1/gid_attrs/ndevs/0": b"eth0\n",
        "../../net/eth0/mtu": b"-1500\n",
        **{"ports/1/gids/" + slot: content for slot, content in gids.items()},
    }.items():
        write(root / DEVICE / name, content)
    page = once(root, Counter({("device", "limit"): 1, ("port", "limit"): 1, ("port", "parse"): 5}))  # lid, rate, phys_state, mtu, gids/1
    expect(page.count("\nqpscope_port_gid_info{") == 2, "good GIDs are lost", page)
    expect('fw_ver="",board_id="\\\\xff\\\\x00quote\\""' in page, "not these facts", page)
    expect('netdev="eth0",link_layer="N/A (no PMA)",lid=""' in page, "not these facts", page)
    for family in ("qpscope_port_rate_bytes_per_second", "qpscope_port_physical_state", "qpscope_port_mtu_bytes"):
        expect(total(page, family) is None, f"no number, but {family} is on the page")


def test_names():
    root = new_root()
    long = b"n" * 254
    names = [b"a b", b"a_b", b"a,b", b"SwLinkUp,32", b"[0]: x", b"{a=\"b\"} 1", b'qu"ote', b"new\nline", b"new\\nline", b"new\\x0aline", b"cr\r", b"\xff", b"\xfe",
             b"\\xff", b"caf\xc3\xa9", b"cafe\xcc\x81", b"# HELP x", b" ", b"-", b"...", b"le", b"\x01", b"\xe2\x80\xae", long + b"1", long + b"2", b"\xff" * 100, b"\xff" * 101]
    folder = os.fsencode(root / PORT / "hw_counters")
    os.mkdir(folder)
    for value, name in enumerate(names, 1000):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(b"%d\n" % value)
    page = once(root, Counter())
    found = counters(page, "qpscope_hw_counters_total")
    expect(sorted(found.values()) == list(range(1000, 1000 + len(names))), "not one series for each name", found)
    expect(max(map(len, found)) <= 2 * 128, "a name is not cut", found)
    with Daemon(root=root, config=FAST) as daemon:
        expect(counters(daemon.page(), "qpscope_hw_counters_total") == found, "the daemon names them otherwise")
        daemon.healthy()


def test_names_of_devices():
    root = new_root()
    names = [b"long" * 63 + b"a", b"long" * 63 + b"b", b"\xff", b"\xfe", b"x{y=\"z\"}", b"new\nline"]
    for name in names:
        port = os.path.join(os.fsencode(root), b"sys/class/infiniband", name, b"ports/1/")
        os.makedirs(port)
        with open(port + b"state", "wb") as state:
            state.write(b"4: ACTIVE\n")
    page = once(root, Counter())
    expect(total(page, "qpscope_devices_found") == len(names) + 1, "not every device is found")
    expect(len([key for key in series(page) if key.startswith("qpscope_port_state{")]) == len(names) + 1, "devices that look alike are mixed up", page)


def test_ports():
    root = new_root()
    for port in ("2", "4", "10", "255"):
        write(root / DEVICE / "ports" / port / "state", "4: ACTIVE\n")
        write(root / DEVICE / "ports" / port / "counters/port_rcv_packets", port + "\n")
    for junk in ("x", "1x", "-3", "+3", "0x3", " 3", "3 ", "3.5", "\u0663"):
        write(root / DEVICE / "ports" / junk / "state", "4: ACTIVE\n")
        write(root / DEVICE / "ports" / junk / "counters/port_rcv_packets", "99\n")
    write(root / DEVICE / "ports/7", "a file\n")
    (root / DEVICE / "ports/8").mkdir()
    page = once(root, Counter())
    packets = {key: value for key, value in series(page).items() if key.startswith("qpscope_port_rx_packets_total")}
    expect(packets == {f'qpscope_port_rx_packets_total{{device="test_0",port="{n}"}}': n for n in (2, 4, 10, 255)}, "not these ports", packets)


main(globals())
