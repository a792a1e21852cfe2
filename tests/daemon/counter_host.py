# SPDX-License-Identifier: Apache-2.0
"""A host with one mlx5 device whose counters the test moves, as the kernel would."""
from harness import temp_folder, total, wait_for, write

DEVICE = "sys/class/infiniband/mlx5_0"
PORT = DEVICE + "/ports/1"
LOST = PORT + "/hw_counters/out_of_sequence"  # 32 bits
CNP = PORT + "/hw_counters/np_cnp_sent"  # 64 bits
RAW = ("qpscope_hw_counters_total", 'counter="out_of_sequence"')


def new_root(boot_id="7c3a9d5e-0000-4000-8000-123456789abc"):
    root = temp_folder() / "root"
    for file, content in {
        DEVICE + "/node_guid": "0c42:a103:0065:1a2b",
        PORT + "/state": "4: ACTIVE",
        PORT + "/counters/port_rcv_data": "1000",
        PORT + "/counters/link_downed": "254",
        LOST: "7",
        CNP: "1000000000000",
        "proc/sys/kernel/random/boot_id": boot_id,
    }.items():
        write(root / file, content + "\n")
    (root / DEVICE / "device").mkdir()
    (root / DEVICE / "device/driver").symlink_to("../../../../bus/pci/drivers/mlx5_core")
    (root / "run").mkdir()
    return root


def put(root, file, value):
    """As the kernel does: a reader sees the old value or the new one."""
    with open(root / file, "r+b", buffering=0) as kept:  # in one write, into the file that the daemon keeps open
        kept.write(f"{value}\n".encode().ljust(24, b" "))


def shows(daemon, value, family, *labels):
    wait_for(lambda: total(daemon.page(), family, *labels) == value, lambda: f"{family} is {total(daemon.page(), family, *labels)}, not {value}")


def feed(daemon, root, file, *pairs):
    """Kernel value after kernel value; the total after each."""
    for raw, expected in pairs:
        put(root, file, raw)
        shows(daemon, expected, *RAW)
