# SPDX-License-Identifier: Apache-2.0
"""Statistics of netdevs: very many of them, names that change, a bond."""
from harness import FAST, FIXTURES, Daemon, expect, lint, main, root_of, run, series, total, wait_for, write

FIXTURE = "01-mlx5-pf-roce-cx7"
TEXT = "ethtool/ens1f0np0.txt"
CONFIG = FAST + "budget: {firmware_commands_per_second: 0}\n"
PAUSE = "qpscope_port_rx_pfc_frames_total"
OURS = 'device="mlx5_0"'


def rings(count):
    return "".join(f"     rx{ring}_{word}: {ring}\n" for ring in range(count // 4) for word in ("packets", "bytes", "wqe_err", 'hostile"\\\xff'))


def once(root):
    code, page, err = run("--root", root, "--once")
    expect(code == 0 and lint(page) == "", f"exit code {code}", err, lint(page))
    return page, err


def of_netdevs(page):
    return {key: value for key, value in series(page).items() if key.startswith(("qpscope_port_rx_", "qpscope_port_tx_", "qpscope_port_phy_", "qpscope_port_vport", "qpscope_device_pcie"))}


def test_nine_thousand():
    few, _ = once(FIXTURES / FIXTURE)
    root = root_of(FIXTURE)
    write(root / TEXT, (FIXTURES / FIXTURE / TEXT).read_text() + rings(9000))
    many, _ = once(root)
    expect(of_netdevs(many) == of_netdevs(few) and len(of_netdevs(few)) > 40, "not the same families", *set(of_netdevs(many).items()) ^ set(of_netdevs(few).items()))
    spent = total(many, "qpscope_collector_duration_seconds", 'collector="netdev_statistics"', 'device="mlx5_0"')
    expect(spent < 2, f"reading them took {spent} s")


def test_too_many():
    root = root_of(FIXTURE)
    write(root / TEXT, (root / TEXT).read_text() + rings(16384))
    page, err = once(root)
    expect(total(page, "qpscope_read_errors_total", 'device="mlx5_0"', 'source="ethtool"', 'error="limit"') == 1, "not counted", page)
    expect("16384 are read at most" in err, "the log does not say why", err)
    expect(total(page, PAUSE, OURS) is None and total(page, "qpscope_port_rx_bytes_total", OURS) == 922159499729932, "not the rest of the page", page)


def test_priority_moves():
    root = root_of(FIXTURE)
    three = (root / TEXT).read_text()
    four = three.replace("prio3_pause", "prio4_pause").replace("rx_prio4_pause: 41927", "rx_prio4_pause: 99000000")
    with Daemon(root=root, config=CONFIG) as daemon:
        for text, priority, frames in ((three, 3, 41927), (four, 4, 99000000), (three, 3, 41927), (four.replace("99000000", "99000001"), 4, 99000001)):
            replace(root, text)
            wait_for(lambda: total(daemon.page(), PAUSE, OURS, f'priority="{priority}"') == frames, lambda: f"priority {priority} is not {frames}: {daemon.page()}")
            expect(len([key for key in series(daemon.page()) if key.startswith(PAUSE) and OURS in key]) == 1, "both priorities are there")
        expect(total(daemon.page(), "qpscope_counters_resets_total") == 0, "taken for a reset", daemon.page())
        daemon.healthy()


def replace(root, text):
    """At once: half of a text would be another set of names."""
    write(root / "new.txt", text).rename(root / TEXT)


def test_bond_is_said_once():
    root = root_of(FIXTURE)
    net = root / "sys/class/net"
    for netdev in ("bond0", "eth9"):
        write(net / netdev / "ifindex", "70\n")
    write(net / "bond0/bonding/slaves", "ens1f0np0 eth9\n")
    write(root / "ethtool/eth9.txt", "NIC statistics:\n     rx_prio3_pause: 3\n")
    for slot in (root / "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs").iterdir():
        slot.write_text("bond0\n")
    with Daemon(root=root, config=CONFIG) as daemon:
        wait_for(lambda: total(daemon.page(), PAUSE, OURS) == 41930, daemon.page)
        expect(total(daemon.page(), "qpscope_port_netdev_statistics_total", 'netdev="eth9"', 'statistic="rx_prio3_pause"') == 3, "no member", daemon.page())
        passes = lambda: total(daemon.page(), "qpscope_collector_last_success_timestamp_seconds", 'collector="netdev_statistics"', 'device="mlx5_0"')
        for _ in range(3):
            before = passes()
            wait_for(lambda: passes() > before, "another pass")
        said = [line for line in daemon.log().splitlines() if "bond0 has no statistics" in line]
        expect(len(said) == 1, "not said once", *said)
        daemon.healthy()


main(globals())
