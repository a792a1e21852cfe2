# SPDX-License-Identifier: Apache-2.0
"""Files that are there and fail: the page is that of a host without them, and each failure is counted under its errno's name."""
import os
import random
import re
import shutil
from collections import Counter
from pathlib import Path

from harness import FIXTURES, TESTS, expect, lint, main, root_of, run, series, total, write

ERRNOS = ("EINVAL", "EIO", "ENODEV", "ENOLINK", "EAGAIN", "EBUSY", "ENOMEM", "ETIMEDOUT", "EACCES")
PLACEHOLDER = "3133713373"
DEVICE = "sys/class/infiniband/*"
PORT = DEVICE + "/ports/*"

# What is read on a pass, as (files, source of the read error), in groups that do not depend on one another: without its state a port's rate
# is not looked at, without its netdev no MTU.
GROUPS = (
    [(PORT + "/counters/*", "counters"), (PORT + "/hw_counters/*", "hw_counters"), (DEVICE + "/hw_counters/*", "hw_counters"), (PORT + "/state", "port"),
     (PORT + "/phys_state", "port"), (PORT + "/lid", "port"), (PORT + "/gids/*", "port"), (DEVICE + "/fw_ver", "device"), (DEVICE + "/node_guid", "device")],
    [(PORT + "/counters/*", "counters"), (PORT + "/hw_counters/*", "hw_counters"), (PORT + "/rate", "port"), (PORT + "/link_layer", "port"),
     ("sys/class/net/*/mtu", "port"), (DEVICE + "/board_id", "device"), (DEVICE + "/device/numa_node", "device"), ("ethtool/*.txt", "ethtool"),
     (DEVICE + "/device/current_link_speed", "pci"), (DEVICE + "/device/max_link_width", "pci")],
    [(PORT + "/gid_attrs/ndevs/0", "port"), (PORT + "/gids/*", "port"), (PORT + "/state", "port"), (DEVICE + "/node_guid", "device")],
    [("sys/class/net/*/phys_port_name", "port")],
)


def values(page):
    """The series of a page but those that differ from run to run, and those that this is about."""
    volatile = (TESTS / "golden/volatile.txt").read_text().split() + ["qpscope_read_errors_total", "qpscope_series"]
    return {key: value for key, value in series(page).items() if key.split("{")[0] not in volatile}


def read_errors(page):
    labels = re.compile(r'qpscope_read_errors_total\{device="([^"]*)",source="([^"]*)",error="([^"]*)"\}')
    return Counter({labels.fullmatch(key).groups(): value for key, value in series(page).items() if key.startswith("qpscope_read_errors_total{")})


def once(root):
    code, page, err = run("--root", root, "--once", fixture=root)
    expect(code == 0 and lint(page) == "", f"exit code {code}", err, lint(page))
    warnings = [line for line in err.splitlines() if not line.startswith("<6>")]
    return page, warnings


def fails(fixture, rules):
    """(page, warnings, page without the files) of a host on which these files fail; rules are (path, errno, call)."""
    failing, without = root_of(fixture), root_of(fixture)
    lines = (failing / "errors.txt").read_text().splitlines() if (failing / "errors.txt").exists() else []
    lines += [" ".join(filter(None, rule)) for rule in rules]
    write(failing / "errors.txt", "\n".join(lines) + "\n")
    for path, _, call in rules:
        if not call:
            (failing / path).write_text(PLACEHOLDER + "\n")
        gone = without / path
        (shutil.rmtree if gone.is_dir() and not gone.is_symlink() else os.unlink)(gone)
    page, warnings = once(failing)
    expect(PLACEHOLDER not in page, "what a failing file holds is on the page", page)
    return page, warnings, once(without)[0]


def device_of(path, page):
    """Whose reads those of a file are: of one device, or of each that has the netdev as its own."""
    if found := re.match("sys/class/infiniband/([^/]*)/", path):
        return [found[1]]
    netdev = path.split("/")[3] if path.startswith("sys/") else Path(path).stem
    owners = re.findall(rf'\nqpscope_port_info\{{device="([^"]*)",port="[^"]*",netdev="{netdev}"', page)
    if path.endswith("phys_port_name"):  # only ports of a device that has several can stand for functions
        owners = [device for device in owners if f'qpscope_port_info{{device="{device}",port="2"' in page]
    return owners


def random_files(fixture):
    chosen = random.Random(fixture)  # the same ones each time
    base, _ = once(FIXTURES / fixture)
    known = read_errors(base)
    own = {line.split(" ")[0] for line in (FIXTURES / fixture / "errors.txt").read_text().splitlines()} if known else set()
    for group in GROUPS:
        rules, wanted = [], Counter(known)
        for pattern, source in group:
            files = sorted(str(file.relative_to(FIXTURES / fixture)) for file in (FIXTURES / fixture).glob(pattern))
            files = [file for file in files if file not in own and file.replace("/state", "/rate") not in own and not down_rate(FIXTURES / fixture / file)]
            for file in chosen.sample(files, min(len(files), 5)):
                errno = chosen.choice(ERRNOS[1:] if "/ndevs/" in file else ERRNOS)  # EINVAL is what an empty slot says
                rules.append((file, errno, None))
                wanted.update((device, source, errno) for device in device_of(file, base))
        page, warnings, without = fails(fixture, rules)
        expect(values(page) == without_stand_ins(page, without), "not the page of a host without these files",
               *set(values(page).items()) ^ set(values(without).items()), *rules)
        expect(read_errors(page) == wanted, "not these errors", "found:", *(read_errors(page) - wanted).items(), "missing:", *(wanted - read_errors(page)).items())
        expect(total(page, "qpscope_collector_success") == total(base, "qpscope_collector_success"), "a file takes a collector away")
        expect(len(warnings) <= total(base, "qpscope_devices_found") * 8, "more than one line for a collector", *warnings)
        # Link downs begin with what the hardware has counted, where that can be read.
        news = {key: value for key, value in values(page).items() if values(base).get(key) != value and "_info{" not in key and "link_downs" not in key}
        expect(not news, "values that were not there before", news)


def without_stand_ins(page, without):
    """What the device counts stands in for its ports only where no port has such a file, not where it fails."""
    return {key: value for key, value in values(without).items() if 'port=""' not in key or not key.startswith("qpscope_port_") or key in values(page)}


def down_rate(file):
    """Without link the rate is not looked at."""
    return file.name == "rate" and (file.parent / "state").read_text().startswith("1:")


def test_files_of_mlx5():
    random_files("01-mlx5-pf-roce-cx7")


def test_files_of_vfs():
    random_files("03-mlx5-vf-sriov")


def test_files_of_mana():
    random_files("12-mana-rate-einval")


def test_files_of_soft_devices():
    random_files("16-rxe-and-siw")


def test_files_of_mlx4():
    random_files("06-mlx4-cx3-dual-port")


def test_files_of_thor():
    random_files("08-bnxt_re-thor")


def test_files_of_efa():
    random_files("10-efa-p4d")


def test_files_of_a_switch():
    random_files("04-mlx5-switchdev-rep")


def test_part_of_a_sum():
    """A sum without one of its parts would fall: it is left out, the parts that can be read stay."""
    base, _ = once(FIXTURES / "09-irdma-e810-with-mlx5")
    page, _, _ = fails("09-irdma-e810-with-mlx5", [("sys/class/infiniband/irdma0/ports/1/hw_counters/ip6InOctets", "EIO", None)])
    lost = {key for key in values(base) if key not in values(page)}
    port = 'device="irdma0",port="1"'
    expect(lost == {f"qpscope_port_rx_bytes_total{{{port}}}", f'qpscope_hw_counters_total{{{port},counter="ip6InOctets"}}'}, "not these are lost", *lost)
    expect(all(values(page)[key] == values(base)[key] for key in values(page)), "others are touched")
    expect(read_errors(page) == {("irdma0", "hw_counters", "EIO"): 1}, "not this error", read_errors(page))


def test_open():
    device = "sys/class/infiniband/mlx5_0/"
    rules = [(device + "ports/1/counters/port_rcv_data", "EMFILE", "open"), (device + "ports/1/hw_counters/np_cnp_sent", "ENOMEM", "open"),
             (device + "ports/1/lid", "EIO", "open"), (device + "ports/1/gids", "EACCES", "open"), (device + "fw_ver", "EAGAIN", "open")]
    page, _, without = fails("01-mlx5-pf-roce-cx7", rules)
    expect(values(page) == values(without), "not the page of a host without these files", *set(values(page).items()) ^ set(values(without).items()))
    wanted = (("counters", "EMFILE"), ("hw_counters", "ENOMEM"), ("port", "EIO"), ("port", "EACCES"), ("device", "EAGAIN"))
    expect(read_errors(page) == {("mlx5_0", *one): 1 for one in wanted}, "not these errors", read_errors(page))


def test_list():
    first, second = "sys/class/infiniband/mlx5_0/ports/1/", "sys/class/infiniband/mlx5_1/"
    rules = [(first + "counters", "EIO", "list"), (first + "hw_counters", "ENOMEM", "list"), (first + "gid_attrs/ndevs", "EBUSY", "list"),
             (second + "ports", "EIO", "list")]
    page, warnings, without = fails("01-mlx5-pf-roce-cx7", rules)
    # A folder that cannot be listed can still be entered: lifespan is read by its name. None of hw_counters was, which is a pass that failed.
    failed = 'qpscope_collector_success{collector="hw_counters",device="mlx5_0"}'
    expect(values(page)[failed] == 0, "a pass over no hardware counter has succeeded", page)
    shown, wanted = ({k: v for k, v in values(one).items() if "lifespan" not in k and k != failed} for one in (page, without))
    expect(shown == wanted, "not the page of a host without these folders", *set(shown.items()) ^ set(wanted.items()))
    wanted = {("mlx5_0", "counters", "EIO"): 2, ("mlx5_0", "hw_counters", "ENOMEM"): 1, ("mlx5_0", "port", "EBUSY"): 1, ("mlx5_1", "port", "EIO"): 1}
    expect(read_errors(page) == wanted, "not these errors", read_errors(page))  # two collectors share counters/
    expect(len(warnings) == 5, "not one line for each collector", *warnings)


def test_devices_cannot_be_listed():
    page, warnings, _ = fails("01-mlx5-pf-roce-cx7", [("sys/class/infiniband", "EIO", "list")])
    expect(total(page, "qpscope_devices_found") == 0 and len(warnings) == 1 and "devices cannot be listed" in warnings[0], "not said once", page, *warnings)


def test_driver_link():
    """Without the driver's name the width of a counter is not known: better none than a wrong total."""
    base, _ = once(FIXTURES / "01-mlx5-pf-roce-cx7")
    page, warnings, _ = fails("01-mlx5-pf-roce-cx7", [("sys/class/infiniband/mlx5_0/device/driver", "ENOMEM", "link")])
    lost = {key for key in values(base) if key not in values(page)}
    of_hw = {key for key in values(base) if 'device="mlx5_0"' in key and ("_hw_" in key or '_info{device="mlx5_0",driver=' in key)}
    expect(of_hw <= lost, "hardware counters without a driver", *of_hw - lost)
    same_as = {key for key in values(page) if 'device="mlx5_1"' in key or key.startswith("qpscope_port_counters_total")}
    expect(all(values(page)[key] == values(base)[key] for key in same_as) and len(same_as) > 40, "others are touched", *lost - of_hw)
    expect(read_errors(page) == {("mlx5_0", "device", "ENOMEM"): 1}, "not this error", read_errors(page))
    for collector in ("hw_counters", "qp_statistics"):
        expect(total(page, "qpscope_collector_success", f'"{collector}"', '"mlx5_0"') == 0, f"{collector} does without a driver", page)
    expect(len(warnings) == 3, "not said once by each that needs it", *warnings)


def test_virtual_function_links():
    folder = next(FIXTURES.glob("03*/sys/devices/*/*/virtfn0")).parent.relative_to(FIXTURES / "03-mlx5-vf-sriov")
    page, _, without = fails("03-mlx5-vf-sriov", [(f"{folder}/virtfn1", "EIO", "link")])
    expect(values(page) == values(without), "not the page of a host without this link", *set(values(page).items()) ^ set(values(without).items()))
    vfs = len([key for key in series(page) if key.startswith("qpscope_device_vf_info{")])
    # Of VF 0 the link comes before it.
    expect(vfs == 2 and sum(read_errors(page).values()) == 2, "each VF looks through the links of its PF up to its own, once", vfs, read_errors(page))


main(globals())
