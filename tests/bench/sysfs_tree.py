# SPDX-License-Identifier: Apache-2.0
"""Hosts of any size for `qpscoped --root`: the functions of the mlx5 fixtures, again and again. And the traffic on them."""
import os
import pathlib
import tempfile
import threading
import time

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
CX7 = FIXTURES / "01-mlx5-pf-roce-cx7/sys/devices/pci0000:3b/0000:3b:00.0"
PF = FIXTURES / "03-mlx5-vf-sriov/sys/devices/pci0000:5e/0000:5e:00.0"
VF = FIXTURES / "03-mlx5-vf-sriov/sys/devices/pci0000:5e/0000:5e:00.2"

# What moves while a job runs: all of it is sampled every second.
BUSY = ("counters/port_xmit_data", "counters/port_rcv_data", "counters/port_xmit_packets", "counters/port_rcv_packets", "hw_counters/rx_write_requests",
        "hw_counters/rx_read_requests", "hw_counters/np_ecn_marked_roce_packets", "hw_counters/np_cnp_sent", "hw_counters/rp_cnp_handled",
        "hw_counters/out_of_sequence", "hw_counters/packet_seq_err")


def memory_folder():
    """A temporary folder in memory, as sysfs and /run are: what a disk costs is nobody's."""
    return tempfile.TemporaryDirectory(prefix="qpscope-bench-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


class Tree:
    def __init__(self, root):
        self.root, self.functions, self.ports = pathlib.Path(root), 0, []
        self.folder("run")
        self.write(self.folder("proc/sys/kernel/random") / "boot_id", b"7c3a9d5e-0000-4000-8000-123456789abc\n")
        for name in ("bus/pci/devices", "bus/pci/drivers/mlx5_core", "class/infiniband", "class/net"):
            self.folder("sys/" + name)

    def folder(self, name):
        path = self.root / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    @staticmethod
    def write(path, content):
        path.write_bytes(content)

    def link(self, name, target):
        path = self.root / name
        path.symlink_to(os.path.relpath(target, path.parent))

    def copy(self, source, target, depth=8):
        """Files and folders, no links; less what is large and nobody reads."""
        target.mkdir(parents=True, exist_ok=True)
        for entry in source.iterdir():
            if entry.is_symlink() or entry.name in ("ecn", "statistics"):
                continue
            if entry.is_file():
                self.write(target / entry.name, entry.read_bytes())
            elif depth:
                self.copy(entry, target / entry.name, depth - 1)

    def add_function(self, like, address, ports=1):
        """A PCI function with its RDMA device and a netdev for each port."""
        number, self.functions = self.functions, self.functions + 1
        device = f"mlx5_{number}"
        folder = self.root / f"sys/devices/pci{address[:7]}/{address}"
        self.copy(like, folder, depth=0)
        self.write(folder / "uevent", f"DRIVER=mlx5_core\nPCI_SLOT_NAME={address}\n".encode())
        self.link(folder / "driver", self.root / "sys/bus/pci/drivers/mlx5_core")
        self.link(f"sys/bus/pci/devices/{address}", folder)
        rdma, like_rdma, like_net = folder / "infiniband" / device, next((like / "infiniband").iterdir()), next((like / "net").iterdir())
        self.copy(like_rdma, rdma, depth=0)
        self.write(rdma / "node_guid", f"0c42:a103:{number >> 16:04x}:{number & 0xffff:04x}\n".encode())
        self.link(rdma / "device", folder)
        self.link(f"sys/class/infiniband/{device}", rdma)
        for port in range(1, ports + 1):
            path, netdev = rdma / f"ports/{port}", f"eth{number}p{port}"
            self.copy(like_rdma / "ports/1", path)
            self.write(path / "gid_attrs/ndevs/0", f"{netdev}\n".encode())
            self.copy(like_net, folder / "net" / netdev)
            self.link(folder / "net" / netdev / "device", folder)
            self.link(f"sys/class/net/{netdev}", folder / "net" / netdev)
            self.ports.append(path)
        return folder

    def add_devices(self, devices, ports):
        for bus in range(1, devices + 1):
            self.add_function(CX7, f"0000:{bus:02x}:00.0", ports)

    def add_virtual_functions(self, count):
        """A physical function and its virtual ones, each with a device on this host."""
        pf = self.add_function(PF, "0000:5e:00.0")
        for n in range(count):
            slot = n + 2
            vf = self.add_function(VF, f"0000:{0x5e + slot // 256:02x}:{slot % 256 // 8:02x}.{slot % 8}")
            self.link(pf / f"virtfn{n}", vf)
            self.link(vf / "physfn", pf)


class Traffic:
    """Moves the busy counters of every port once a second, as the kernel would; a context manager."""

    def __init__(self, tree):
        self.files = [os.open(port / name, os.O_RDWR) for port in tree.ports for name in BUSY if (port / name).exists()]
        self.values = [int(os.pread(fd, 32, 0)) for fd in self.files]
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        while not self.done.wait(1):
            for i, fd in enumerate(self.files):
                self.values[i] += 1000 + i
                os.pwrite(fd, b"%d\n" % self.values[i], 0)  # never shorter than before

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()
        for fd in self.files:
            os.close(fd)
