#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: seeds.py SOURCE_FOLDER OUT_FOLDER
Makes what the fuzzers begin with and people need not write: OUT/TARGET/NAME, from the fixtures and from the layouts of
bpf/events.h and of RDMA netlink. What is written by hand lies in corpus/."""
import re
import struct
import sys
from pathlib import Path

source, out = Path(sys.argv[1]), Path(sys.argv[2])


def seed(target, name, content):
    path = out / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def numbers():
    """One file of every shape that the fixtures have."""
    shapes = {}
    for path in sorted((source / "tests/fixtures").glob("*/sys/**/*")):
        if path.is_file() and not path.is_symlink():
            text = path.read_bytes()[:64]
            shapes.setdefault(re.sub(rb"[0-9a-f]+", b"9", text), text)
    for index, text in enumerate(shapes.values()):
        seed("numbers", f"{index}", text)


def ethtool():
    """The texts of the fixtures, their names in slots of 32 bytes, and an answer of DCB (net/dcb/dcbnl.c dcbnl_ieee_fill)."""
    for path in sorted((source / "tests/fixtures").glob("*/ethtool/*.txt")):
        text = path.read_bytes()
        seed("ethtool", f"text-{path.parent.parent.name}-{path.stem}", b"\0" + text)
        names = [line.rsplit(b": ", 1)[0].strip() for line in text.splitlines()[1:]]
        seed("ethtool", f"names-{path.parent.parent.name}-{path.stem}", b"\1" + b"".join(name.ljust(32, b"\0") for name in names))
    pfc = struct.pack("=HH", 4 + 136, 2) + struct.pack("=BBBxHxx16Q", 8, 0x18, 0, 0, *range(16))
    nest = struct.pack("=HH", 4 + len(pfc), 13) + pfc
    seed("ethtool", "dcb", b"\2" + struct.pack("=BBH", 0, 21, 0) + struct.pack("=HH5s3x", 9, 1, b"eth0\0") + nest)


def sysfs_trees():
    """Every device of the fixtures in the lines of sysfs_tree.cpp, with a second and a third look after its counters have moved."""
    wanted = re.compile(r"[^/]+|ports/\d+/(state|phys_state|rate|link_layer|lid|(hw_)?counters/[^/]+|gids/0|gid_attrs/ndevs/0)|hw_counters/[^/]+")
    for number, device in enumerate(sorted(d for d in (source / "tests/fixtures").glob("*/sys/**/infiniband/*") if not d.is_symlink())):
        lines = []
        for path in sorted(device.rglob("*")):
            relative = str(path.relative_to(device))
            if path.is_file() and not path.is_symlink() and wanted.fullmatch(relative):
                lines.append(f"{relative}={path.read_text().strip()}".replace("\n", " "))
        counters = [line.split("=")[0] for line in lines if "counters/" in line][:8]
        moved = [f"{path}={value}" for value in (4294967295, 3) for path in counters]
        lines = lines[:90] + [">1000"] + moved[:8] + [">1000"] + moved[8:] + [">1000", "!", ">1000"]
        seed("sysfs_tree", f"{number}-{device.name}", "\n".join(lines).encode())


def ring_records():
    """Two queue pairs live and die, a cgroup comes and goes, a call fails (bpf/events.h)."""

    def record(kind, body):
        whole = struct.pack("=QHHI", 5_000_000_000, kind, 16 + len(body), 0) + body
        return struct.pack("=H", len(whole)) + whole

    def qp(serial, qpn, kind=2, flags=1):
        return struct.pack("=QIIIIII", serial, 3, qpn, kind, 1, flags, 0)

    def owner(flags, comm=b"", kern_name=b""):
        return struct.pack("=QIIII16s64s", 99, 1001, 1000, flags, 0, comm, kern_name)

    def modify(serial, qpn, state):
        mask = 1 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 20
        return qp(serial, qpn) + struct.pack("=IIIIIIIBBBB", mask, 7, state, 0x12, 0, 106, 5, 14, 7, 7, 0) + bytes(range(32))

    def cgroup(what, path):
        return struct.pack("=QII", 4242, what, len(path) + 1) + path + b"\0"

    seed("decode", "user", record(1, qp(7, 0x11) + owner(3, b"train")) + b"".join(record(2, modify(7, 0x11, s)) for s in (1, 2, 3, 6)) + record(3, qp(7, 0x11)))
    seed("decode", "found-kernel", record(1, qp(8, 1, 1, 3) + owner(1, kern_name=b"ib_core")) + record(2, modify(8, 1, 3)) + record(3, qp(8, 1, 1)))
    seed("decode", "many", b"".join(record(1, qp(n, n) + owner(3, b"a")) for n in range(1, 7)) + record(3, qp(0, 2)))
    seed("decode", "cgroups", record(5, cgroup(0, b"/a")) + record(5, cgroup(1, b"/b")) + record(5, cgroup(2, b"/b")))
    devx = [struct.pack("=QIIII", 0xFFFF888000000000 + n, 3, what, 0x500, n) + owner(3, b"dpdk") for n, what in ((1, 0), (2, 0), (1, 1), (2, 0))]
    seed("decode", "devx", b"".join(record(7, one) for one in devx))
    seed("decode", "failed", b"".join(record(4, struct.pack("=IIII", 3, call, 12, 0)) for call in range(3)))


def netlink():
    """Answers as drivers/infiniband/core/nldev.c of the kernel writes them; numbers of include/uapi/rdma/rdma_netlink.h."""

    def attribute(kind, body):
        whole = struct.pack("=HH", 4 + len(body), kind) + body
        return whole + bytes(-len(whole) % 4)

    def message(body, kind=0x140A, sequence=7):
        return struct.pack("=IHHII", 16 + len(body), kind, 2, sequence, 9) + body

    def u8(value):
        return struct.pack("=B", value)

    def u32(value):
        return struct.pack("=I", value)

    def u64(value):
        return struct.pack("=Q", value)

    attributes, dump, single = b"\2", b"\0", b"\1"
    qp = b"".join(attribute(*one) for one in ((3, u32(1)), (21, u32(17)), (22, u32(99)), (26, u8(2)), (27, u8(3)), (28, u32(1234)), (29, b"ib_core\0")))
    seed("nldev", "device", attributes + attribute(1, u32(3)) + attribute(2, b"mlx5_0\0") + attribute(3, u32(2)) + attribute(5, b"28.39\0")
         + attribute(6, u64(0x506B4B0300C0FFEE)) + attribute(7, u64(1)) + attribute(14, u8(1)) + attribute(67, b"roce\0"))
    seed("nldev", "port", attributes + attribute(1, u32(3)) + attribute(3, u32(1)) + attribute(9, u32(5)) + attribute(12, u8(4)) + attribute(13, u8(5))
         + attribute(51, b"ens1f0np0\0"))
    seed("nldev", "queue-pair", attributes + qp)
    seed("nldev", "queue-pairs", attributes + attribute(1, u32(3)) + attribute(19, attribute(20, qp) * 2))
    entry = attribute(16, attribute(17, b"pd\0") + attribute(18, u64(3))) + attribute(16, attribute(17, b"qp\0") + attribute(18, u64(5)))
    seed("nldev", "summary", attributes + attribute(15, entry))
    seed("nldev", "counters", attributes + attribute(80, attribute(81, attribute(82, b"out_of_buffer\0") + attribute(83, u64(9)))))
    seed("nldev", "driver", attributes + attribute(73, u32(1)))
    small = attribute(19, attribute(20, attribute(21, u32(17)) + attribute(26, u8(2))))
    seed("nldev", "dump", dump + message(small) + message(b"\0\0\0\0", 3))
    seed("nldev", "single", single + message(small))
    seed("nldev", "error", single + message(struct.pack("=i", -22), 2))
    seed("nldev", "overrun", dump + message(small, sequence=6) + message(b"", 4))


numbers()
ethtool()
sysfs_trees()
ring_records()
netlink()
seed("config", "default.yaml", (source / "config/default.yaml").read_bytes())
