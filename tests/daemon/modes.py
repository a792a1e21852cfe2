# SPDX-License-Identifier: Apache-2.0
"""The modes that print and end: --help, --version, --check, --once, --print-metrics."""
import re

from harness import FIXTURES, REPOSITORY, config_file, expect, main, run, total

ROCE = FIXTURES / "01-mlx5-pf-roce-cx7"
NO_RDMA = FIXTURES / "18-no-rdma-host"


def test_help():
    code, out, err = run("--help")
    expect(code == 0 and err == "", "--help fails", err)
    for word in ("--root", "--once", "--check", "--owner", "--config", "Exit codes", "/etc/qpscope/qpscope.yaml"):
        expect(word in out, f"--help does not mention {word}", out)


def test_version():
    version = (REPOSITORY / "version.txt").read_text().strip()
    expect(run("--version") == (0, f"qpscoped {version}\n", ""), "--version is not that of version.txt", run("--version"))


def test_unknown_option():
    code, out, err = run("--nonsense")
    expect(code == 2 and out == "" and "--nonsense" in err, "an unknown option is not refused with 2", code, err)


def test_two_modes():
    code, out, err = run("--once", "--check")
    expect(code == 2 and out == "" and "--check" in err, "two modes at once are not refused with 2", code, err)


def test_samples_without_once():
    code, _, err = run("--samples", "2")
    expect(code == 2 and "--once" in err, "--samples without --once is not refused with 2", code, err)


def test_once_several_samples():
    code, out, err = run("--root", ROCE, "--once", "--samples", "2", "--interval", "0.1")
    expect(code == 0, "fails", err)
    expect(total(out, "qpscope_devices_found") == 2, "not one page of two devices", out)
    expect(out.count("# TYPE qpscope_devices_found ") == 1, "more than one page is printed")


def test_once_counts_every_failure():
    fixture = FIXTURES / "12-mana-rate-einval"
    code, out, err = run("--root", fixture, "--once", "--samples", "3", "--interval", "0", fixture=fixture)
    expect(code == 0, "fails", err)
    expect(total(out, "qpscope_read_errors_total", "mana_0", "EINVAL") == 3, "three passes are not three read errors", out)
    expect(err.count("<4>") == 1 and "mana_0" in err, "the failure is not logged exactly once", err)


def test_check_fixture():
    code, out, err = run("--root", ROCE, "--config", config_file(""), "--check")
    expect(code == 0 and err == "", f"exit code {code}", out, err)
    rows = [re.split(r" {2,}", line) for line in out.splitlines()]
    expect(all(len(row) == 3 and row[1] in ("ok", "-") for row in rows), "not a table of three columns without a fault", out)
    expect(["devices", "ok", "2: mlx5_0, mlx5_1"] in rows, "the devices are not in the table", out)


def test_check_no_rdma():
    code, out, _ = run("--root", NO_RDMA, "--check")
    expect(code == 0 and "no RDMA device" in out, "a host without RDMA is not healthy", code, out)


def test_check_bad_config():
    code, out, err = run("--root", NO_RDMA, "--check", "--config", config_file("nonsense: 1\n"))
    expect(code == 2 and out == "" and "nonsense" in err, f"exit code {code}, not 2", out, err)


def test_print_metrics():
    code, out, err = run("--print-metrics")
    expect(code == 0 and err == "", "--print-metrics fails", err)
    documented = set(re.findall(r"^\| `(\w+)` ", out, re.M))
    for fixture in sorted(FIXTURES.glob("[0-9]*")):
        page = run("--root", fixture, "--once", fixture=fixture)[1]
        families = set(re.findall(r"^# TYPE (\w+) ", page, re.M))
        expect(families <= documented, f"{fixture.name}: on the page, not in the reference", sorted(families - documented))


main(globals())
