# SPDX-License-Identifier: Apache-2.0
"""Every query of deploy/grafana, asked of a real Prometheus that scraped what the daemon says of every fixture while its counters move."""
import re

from harness import FAST, FIXTURES, PATIENCE, TESTS, Daemon, expect, main, root_of, series, skip, temp_folder, wait_for, write
from dashboards_run import judge  # of tests/support
from prometheus_server import Prometheus

CONFIG = FAST + "budget: {firmware_commands_per_second: 0}\n"
PASS, WORKS = "qpscope_collector_last_success_timestamp_seconds{", "qpscope_collector_success{"
# What no fixture has: {fixture: {file: text put at its end}}. The first four show on a panel by a number, the last by what is missing.
MORE = {
    "01-mlx5-pf-roce-cx7": {"ethtool/ens1f0np0.txt": "     outbound_pci_buffer_overflow: 3\n     total_success_recovery_phy: 3\n     rx_prio3_discards: 3\n"},
    "08-bnxt_re-thor": {"sys/class/infiniband/bnxt_re0/device/aer_dev_correctable": "RxErr 3\nTOTAL_ERR_COR 3\n"},
    "13-hns-kunpeng": {"errors.txt": "sys/class/infiniband/hns_0/device/driver ENOMEM link\n"},
}
AT_MOST = {15, 255, 65535, 2**32 - 1}  # where small counters stay


def move(root):
    """Every counter counts on by a little."""
    folders = [folder for device in root.glob("sys/class/infiniband/*") for of in ("", "ports/*/") for folder in device.resolve().glob(f"{of}*counters")]
    for path in (path for folder in folders for path in folder.iterdir()):
        text = path.read_text()
        if path.name != "lifespan" and re.fullmatch(r"\d+\n", text) and int(text) not in AT_MOST:
            path.write_text(f"{int(text) + 7}\n")
    for path in root.glob("ethtool/*.txt"):
        path.write_text(re.sub(r": (\d+)$", lambda found: f": {int(found[1]) + 7}", path.read_text(), flags=re.M))


def passes(page):
    """When each collector that does not fail ended a pass."""
    shown = series(page)
    return {key: at for key, at in shown.items() if key.startswith(PASS) and shown[key.replace(PASS, WORKS)] == 1}


def a_pass_later(daemon):
    """The page once every collector has read once more."""
    before = passes(daemon.page())

    def later():
        page = daemon.page()
        return all(at > before[key] for key, at in passes(page).items() if key in before) and page
    return wait_for(later, "no other pass")


def keep(fixture, pages):
    """Three pages of the fixture, between which its counters move."""
    root, config = root_of(fixture), CONFIG
    (root / "run").mkdir()
    write(root / "proc/sys/kernel/random/boot_id", "7c3a9d5e-0000-4000-8000-123456789abc\n")
    if fixture.startswith("18-"):
        config += "devices: {expected: 2}\n"
    for file, text in MORE.get(fixture, {}).items():
        old = root / file
        write(old, (old.read_text() if old.exists() else "") + text)
    with Daemon(root=root, config=config, fixture=root) as daemon:
        for number in range(3):
            if number == 2 and fixture.startswith("02-"):
                (root / "sys/class/infiniband/mlx5_1/ports/1/state").write_text("1: DOWN\n")
            a_pass_later(daemon)  # it may have begun before the files moved
            write(pages / fixture / f"metrics.{number}.txt", a_pass_later(daemon))
            move(root)


def test_fixtures():
    if not Prometheus.installed():
        skip("no prometheus (deploy/packages/test.txt)")
    pages = temp_folder()
    for fixture in sorted(path.parent.name for path in FIXTURES.glob("*/README")):
        keep(fixture, pages)
    said = judge(pages, TESTS / "daemon/dashboards_empty.txt", temp_folder(), 3 * PATIENCE)
    expect(said == "", "not as the dashboards have it", said)


main(globals())
