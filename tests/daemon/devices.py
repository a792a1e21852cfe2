# SPDX-License-Identifier: Apache-2.0
"""Devices come, go and fail while the daemon runs: what cannot be read is absent, counted, and logged once."""
import shutil

from harness import FAST, FIXTURES, Daemon, expect, main, root_of, series, total, wait_for, write

NEW = "sys/class/infiniband/test_0"


def add_device(root, name="test_0"):
    # Made aside and moved in: the kernel's folders appear whole, too.
    aside = root / "aside"
    for file, content in {
        "node_guid": "0a0b:0cff:fe00:0001\n",
        "ports/1/state": "4: ACTIVE\n",
        "ports/1/phys_state": "5: LinkUp\n",
        "ports/1/link_layer": "Ethernet\n",
        "ports/1/rate": "100 Gb/sec (4X EDR)\n",
        "ports/1/counters/port_rcv_data": "1000\n",
        "ports/1/counters/symbol_error": "3\n",
    }.items():
        write(aside / file, content)
    (root / "sys/class/infiniband").mkdir(parents=True, exist_ok=True)
    aside.rename(root / "sys/class/infiniband" / name)


def device_series(daemon):
    return {k: v for k, v in series(daemon.page()).items() if 'device="test_0"' in k}


def test_appear_and_vanish():
    root = root_of("18-no-rdma-host")
    with Daemon(root=root, config=FAST) as daemon:
        expect(total(daemon.page(), "qpscope_devices_found") == 0, "a device where there is none")
        for _ in range(2):
            add_device(root)
            wait_for(lambda: total(daemon.page(), "qpscope_port_rx_bytes_total", '"test_0"') == 4000, "the device does not appear")
            wait_for(lambda: total(daemon.page(), "qpscope_port_rate_bytes_per_second", '"test_0"') == 12.5e9, "its rate does not appear")
            expect(total(daemon.page(), "qpscope_devices_found") == 1, "not one device")
            (root / NEW).rename(root / "aside2")
            wait_for(lambda: not device_series(daemon), lambda: f"the device does not vanish: {device_series(daemon)}")
            shutil.rmtree(root / "aside2")
        daemon.healthy()
        expect(daemon.log().count("no RDMA device here") == 3, "absence is not logged once each time", daemon.log())
        expect(daemon.log().count("device test_0 found") == 2, "the device is not logged once each time", daemon.log())
        expect(not daemon.worse_than_info(), "a device that comes and goes is worth a warning", *daemon.worse_than_info())


def test_ignored():
    with Daemon(root=FIXTURES / "03-mlx5-vf-sriov", config=FAST + 'devices: {exclude: ["*v?"]}\n') as daemon:
        wait_for(lambda: total(daemon.page(), "qpscope_port_state") == 4, "the device that is left does not appear")
        expect(total(daemon.page(), "qpscope_devices_found") == 1, "ignored devices are watched")
        expect("s0f0v" not in daemon.page() + daemon.log(), "an ignored device is mentioned")


def test_card_that_failed():
    def counts(page):
        return total(page, "qpscope_devices_found"), total(page, "qpscope_devices_expected")

    root = root_of("01-mlx5-pf-roce-cx7")
    function = root / "sys/bus/pci/devices/0000:3b:00.1"
    with Daemon(root=root, config=FAST) as daemon:
        expect(counts(daemon.page()) == (2, 2), "not as many as there are", counts(daemon.page()))
        # As when the driver's probe fails: no driver, no netdev, no RDMA device.
        for name in ("driver", "infiniband/mlx5_1/device"):
            (function / name).unlink()
        (root / "sys/class/infiniband/mlx5_1").unlink()
        shutil.rmtree(function / "infiniband")
        wait_for(lambda: counts(daemon.page()) == (1, 2), lambda: f"the card is not missed: {counts(daemon.page())}")
        (function / "driver").symlink_to("../../../bus/pci/drivers/vfio-pci")
        wait_for(lambda: counts(daemon.page()) == (1, 1), lambda: f"what is given away is missed: {counts(daemon.page())}")
        daemon.healthy()
    with Daemon(root=root, config=FAST + "devices: {expected: 8}\n") as daemon:
        expect(counts(daemon.page()) == (1, 8), "not what the configuration says", counts(daemon.page()))
    with Daemon(root=root, config=FAST + 'devices: {exclude: ["*"]}\n') as daemon:
        expect(counts(daemon.page()) == (0, 0), "a device is missed that is not to be watched", counts(daemon.page()))
    shutil.rmtree(root / "sys/bus/pci")
    with Daemon(root=root, config=FAST) as daemon:
        expect(counts(daemon.page()) == (1, None), "told without a PCI bus", counts(daemon.page()))


def test_failing_read():
    fixture = FIXTURES / "12-mana-rate-einval"
    with Daemon(root=fixture, fixture=fixture, config=FAST) as daemon:
        wait_for(lambda: (total(daemon.page(), "qpscope_read_errors_total", '"mana_0"', '"EINVAL"') or 0) >= 5, "failures are not counted on")
        page = daemon.page()
        expect(total(page, "qpscope_port_rate_bytes_per_second", '"mana_0"') is None, "a rate that cannot be read is on the page")
        expect(total(page, "qpscope_port_state", '"mana_0"') == 4, "the rest of the port is lost")
        expect(total(page, "qpscope_collector_success") == total(page, "qpscope_devices_found") * 9, "one value takes a collector away", page)
        daemon.healthy()
        expect(len(daemon.worse_than_info()) == 1, "the failure is not logged exactly once", daemon.log())
        expect("mana_0" in daemon.worse_than_info()[0] and "ports/1/rate: Invalid argument" in daemon.worse_than_info()[0], "not what failed", daemon.log())


def test_garbage_and_recovery():
    root = root_of("18-no-rdma-host")
    add_device(root)
    state = root / NEW / "ports/1/state"
    with Daemon(root=root, config=FAST) as daemon:
        wait_for(lambda: total(daemon.page(), "qpscope_port_state") == 4, "the device does not appear")
        for _ in range(2):
            state.write_text("no number\n")
            wait_for(lambda: total(daemon.page(), "qpscope_port_state") is None, "garbage leaves a value on the page")
            state.write_text("1: DOWN\n")
            wait_for(lambda: total(daemon.page(), "qpscope_port_state") == 1, "the value does not come back")
        daemon.healthy()
        expect(len(daemon.worse_than_info()) == 2, "each fault is not logged once", daemon.log())
        expect(daemon.log().count("everything can be read again") == 2, "each recovery is not logged once", daemon.log())


def test_counter_extremes():
    root = root_of("18-no-rdma-host")
    add_device(root)
    counters = root / NEW / "ports/1/counters"
    for name, text in {"a": "18446744073709551615", "b": "-1", "c": "", "d": "99999999999999999999", "e": "0x10", "f": "7 8", "g": "1" * 5000}.items():
        write(counters / name, text + "\n")
    with Daemon(root=root, config=FAST) as daemon:
        wait_for(lambda: total(daemon.page(), "qpscope_port_counters_total", '"symbol_error"') == 3, "good counters are lost")
        page = daemon.page()
        greatest = total(page, "qpscope_port_counters_total", 'counter="a"')
        expect(greatest == float(2**64 - 1), "the greatest value is lost", greatest)
        bad = [name for name in "bcdfg" if total(page, "qpscope_port_counters_total", f'counter="{name}"') is not None]
        expect(not bad, "no numbers, but on the page", *bad)
        daemon.healthy()


main(globals())
