#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the disk and volume groups on the disk testbed, and prints a section for docs/BENCHMARK.md.

    storage.py [--build DIR] [--figures FILE] [--quick]

Times are of the Go client; device calls are counted by the testbed's driver. The driver's own round trip is part
of every time: a device call costs 0.3 to 0.5 ms here, and microseconds on Windows. The figures of the original
are those that its maintainers published (kubernetes-csi/csi-proxy#360); it cannot be measured here, because its
way to the disks, WMI, does not exist in Wine.
"""

import argparse
import collections
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "testbed"))

import testbed  # noqa: E402

MEASURE_S = 300
COUNTS = (1, 16, 256)
QUICK_COUNTS = (1, 16)

# Published for a node of 4 cores, Kubernetes 1.31; bounds of histogram buckets, in seconds.
PUBLISHED = {
    "FormatVolume": ("5.85 to 8.85 s", "2.90 s"),
    "ListDiskIDs": ("2.9 to 5.85 s", "0.585 s"),
    "ListVolumesOnDisk": ("2.9 s", "0.29 to 0.585 s"),
    "GetDiskNumberFromVolumeID": ("2.90 s", "0.29 to 0.58 s"),
    "GetVolumeStats": ("2.90 s", "0.29 s"),
    "IsVolumeFormatted": ("2.90 s", "0.0955 s"),
    "GetVolumeIDFromTargetPath": ("0.58 to 0.96 s", "0.009 s"),
}
LISTS = ("ListDiskLocations", "ListDiskIDs", "ListVolumesOnDisk")
# At most so many device calls: for each disk of a list, and in all for a statistic.
CALLS_A_DISK = 4
CALLS_A_STATISTIC = 2
STATISTICS = ("GetDiskStats", "GetDiskState", "GetVolumeStats", "GetDiskNumberFromVolumeID")


class Figures:
    """{(RPC, number of disks): {figure: value}}, RPCs in the order in which they were measured."""

    def __init__(self):
        self.values = collections.defaultdict(dict)

    def read(self, text):
        for line in text.splitlines():
            name, tab, value = line.partition("\t")
            if tab:
                _, rpc, disks, figure = name.split(".")
                self.values[rpc, int(disks)][figure] = float(value)

    def rpcs(self):
        return list(dict.fromkeys(rpc for rpc, _ in self.values))


def measure(bed, programs, figures, exe, *arguments):
    with bed.daemon(exe, prefix=testbed.PIPES + "csi-proxy-"):
        done = bed.run(programs / "go-bench.exe", *arguments, timeout_s=MEASURE_S)
    if done.code != 0:
        sys.exit(f"go-bench {' '.join(arguments)}: {done}")
    figures.read(done.out)


def milliseconds(microseconds):
    return f"{microseconds / 1000:.2f} ms" if microseconds < 10000 else f"{microseconds / 1000:.0f} ms"


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def reached(is_reached):
    return "reached" if is_reached else "missed"


def print_times(figures):
    row("RPC", "time, p50", "p99", "device calls", "devices opened", "original <= v1.2", "original v1.3.0")
    row("---", "--:", "--:", "--:", "--:", "--:", "--:")
    for rpc in figures.rpcs():
        at = figures.values[rpc, 1]
        row(rpc, milliseconds(at["p50_us"]), milliseconds(at["p99_us"]), f"{at['device_calls']:.0f}",
            f"{at['opens']:.0f}", *PUBLISHED.get(rpc, ("", "")))


def print_lists(figures, counts):
    row("RPC", "disks", "time, p50", "a listed disk", "device calls", "a listed disk", f"aim: <= {CALLS_A_DISK} a disk")
    row("---", "--:", "--:", "--:", "--:", "--:", "---")
    for rpc in LISTS:
        for count in counts:
            at = figures.values[rpc, count]
            listed = 1 if rpc == "ListVolumesOnDisk" else count
            row(rpc, count, milliseconds(at["p50_us"]), milliseconds(at["p50_us"] / listed),
                f"{at['device_calls']:.0f}", f"{at['device_calls'] / listed:.2f}",
                reached(at["device_calls"] / listed <= CALLS_A_DISK))


def print_statistics(figures):
    row("RPC", "device calls", f"aim: <= {CALLS_A_STATISTIC}")
    row("---", "--:", "---")
    for rpc in STATISTICS:
        calls = figures.values[rpc, 1]["device_calls"]
        row(rpc, f"{calls:.0f}", reached(calls <= CALLS_A_STATISTIC))


def print_report(figures, counts):
    print("## Disks and volumes\n")
    print("On the disk testbed, by the Go client; device calls as its driver counted them. Every device call makes a")
    print("round trip between processes under Wine (0.3 to 0.5 ms), which Windows does in microseconds. The original")
    print("cannot be measured here: its figures are the published ones (kubernetes-csi/csi-proxy#360), of Windows.\n")
    print_times(figures)
    print("\nThe calls about mounted folders are those of the executable with emulated links, which has its share in")
    print("their times.\n\nLists with more disks in the machine, each with a volume; ListVolumesOnDisk lists one of them:\n")
    print_lists(figures, counts)
    print("\nStatistics:\n")
    print_statistics(figures)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", help="the Windows build (build/windows-release)")
    parser.add_argument("--programs", help="where go-bench.exe is, if not in the build")
    parser.add_argument("--figures", help="a file to which the single figures are added")
    parser.add_argument("--quick", action="store_true", help="fewer disks")
    arguments = parser.parse_args()
    counts = QUICK_COUNTS if arguments.quick else COUNTS
    figures = Figures()
    try:
        with testbed.Testbed(arguments.build) as bed:
            programs = pathlib.Path(arguments.programs or bed.build.directory / "integrationtests" / "go")
            shutil.copy(programs / "bcryptprimitives.dll", bed.prefix / "drive_c" / "windows" / "system32")
            measure(bed, programs, figures, bed.build.shipped, "storage", *map(str, counts))
            measure(bed, programs, figures, bed.build.with_links, "mounts")
    except testbed.Failed as error:
        sys.exit(f"storage.py: {error}")
    if arguments.figures:
        with open(arguments.figures, "a", encoding="ascii") as file:
            for (rpc, disks), values in figures.values.items():
                for name, value in values.items():
                    file.write(f"ours\tstorage.{rpc}.{disks}.{name}\t{value}\n")
    print_report(figures, counts)


if __name__ == "__main__":
    main()
