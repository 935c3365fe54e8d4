#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scenarios_test.py [--build DIR] [--exe EXE] [CLASS.test ...]: csi-proxy.exe's disk and volume groups on the
testbed. CSI_CYCLES (100) is how often a disk is attached and detached."""

import os
import pathlib
import re
import shutil
import sys
import threading
import time

import cases
import testbed
from cases import verify_gpt

MIB = 1 << 20
GIB = 1 << 30

IO_ERROR = "0xC0000185"
NAME_NOT_FOUND = "0xC0000034"
DONE = "done all the same"
FAULT_DEADLINE_MS = 1500  # of a call that is made to hang
SLACK_S = 2.0  # how much later than its deadline an answer may come, on a busy machine
NTH_MAX = 2  # of the same device call in one RPC, so many are tried
CALL_S = 90


class CallFailed(Exception):
    """An RPC's error."""

    def __init__(self, text):
        super().__init__(text)
        found = re.fullmatch(r"(\w+)/(\w+) \((\d+)\) (.*)", text, re.DOTALL)
        self.code, self.precise, self.number, self.text = found.groups() if found else ("", "", "0", text)


class _Caller(threading.Thread):
    def __init__(self, test, rpc, arguments):
        super().__init__(daemon=True)
        self.failure = None
        self._test, self._rpc, self._arguments = test, rpc, arguments
        self._client = test.bed.calls(test.daemon)

    def run(self):
        try:
            self._test.call(self._rpc, *self._arguments, client=self._client)
        except CallFailed as failure:
            self.failure = failure
        finally:
            self._client.kill()


class ServiceTest(cases.TestbedTest):
    """With csi-proxy and a client of it."""

    def setUp(self):
        super().setUp()
        self.daemon = self.bed.daemon(self.executable(), *self.flags())
        self.addCleanup(self.end_daemon)
        self.client = self.bed.calls(self.daemon)
        self.addCleanup(self.client.kill)

    def executable(self):
        return cases.SETTINGS.exe or self.bed.build.shipped

    def flags(self):
        """Of the service, besides those that every test needs."""
        return ()

    def end_daemon(self):
        alive = self.daemon.is_running()
        if alive:
            self.daemon.stop()
        self.assertTrue(alive, "csi-proxy has ended by itself:\n" + "\n".join(self.daemon.log()[-20:]))

    def call(self, rpc, *arguments, client=None):
        """The lines that come back, as words; CallFailed."""
        line = " ".join([rpc] + [testbed.escape(argument) for argument in arguments])
        try:
            return [testbed.parse_words(text) for text in (client or self.client).ask(line, CALL_S)]
        except testbed.Failed as error:
            raise CallFailed(str(error)) from None

    def in_background(self, rpc, *arguments):
        """The same by a client of its own, in a thread: `failure` is None or what it raised."""
        caller = _Caller(self, rpc, arguments)
        caller.start()
        return caller

    def volume_ids(self, disk, *partition):
        return [words["volume"] for words in self.call("ListVolumesOnDisk", disk, *partition)]

    def deadline(self, milliseconds):
        self.client.ask(f"timeout {milliseconds}", CALL_S)

    def formatted_disk(self, number=1, size="1G", length="512M", **keys):
        """A disk with one NTFS volume; returns the volume id."""
        self.bed.add_disk(number, size, **keys)
        self.bed.command(f"table disk={number} style=gpt partition=basic,1M,{length}")
        self.bed.command(f"signature disk={number} partition=1 type=ntfs")
        return "\\\\?\\Volume" + self.bed.wait_for_volumes(number)[0]["guid"].lower() + "\\"


def memory_kib(pid):
    """What a process has of its own: memory that is not a file's."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", text)[1])


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class Cycles(ServiceTest):
    cycles = int(os.environ.get("CSI_CYCLES", "100"))
    limit_s = 120 + cycles * 3

    def one_cycle(self, i):
        """A new disk from nothing to its volume; returns the volume id."""
        number = 1 + i % 7
        image = self.bed.add_disk(number, "1G", volume_delay=[0, 20, 150][i % 3], address=f"0.0.0.{number}",
                                  serial=f"CYCLE{i:06}")
        self.bed.command("wait-disks 1")
        self.call("PartitionDisk", number)
        found = self.volume_ids(number)
        self.assertEqual(len(found), 1, f"cycle {i}: VolumeIds {found}")
        self.assertIn(self.bed.volumes(number)[0]["guid"].lower(), found[0].lower())
        ids = self.call("ListDiskIDs")
        self.assertEqual([words["serial"] for words in ids], [f"<CYCLE{i:06}>"])
        self.bed.remove_disk(number)
        with self.assertRaises(CallFailed):
            self.volume_ids(number)
        image.unlink()
        return found[0]

    def test_attach_partition_list_detach(self):
        seen, rows = set(), []
        warm_up = max(10, self.cycles // 10)
        begun = time.monotonic()
        for i in range(self.cycles):
            seen.add(self.one_cycle(i))
            if i + 1 in (warm_up, self.cycles // 2, self.cycles):
                rows.append((i + 1, memory_kib(self.daemon.pid), open_files(self.daemon.pid),
                             self.bed.open_handles(), f"{(time.monotonic() - begun) / (i + 1) * 1000:.0f}"))
        title = f"{self.cycles} times attach, PartitionDisk, ListVolumesOnDisk, detach; no empty VolumeIds"
        cases.table(title, ("after", "own memory KiB", "open files", "open devices", "ms a cycle"), rows)
        self.assertEqual(len(seen), self.cycles, "a volume id came twice")
        first, last = rows[0], rows[-1]
        self.assertLess(last[1] - first[1], 2048, "memory grows")
        self.assertLessEqual(last[2], first[2] + 4, "open files grow")
        self.assertEqual(last[3], 0)


class WrittenTables(ServiceTest):
    def test_sgdisk_finds_no_fault(self):
        rows = []
        for sector in (512, 4096):
            for size in ("64M", "1G", "64T"):
                rows.append(self.check(size, sector))
        cases.table("What PartitionDisk wrote", ("disk", "sector", "partition", "first MiB", "last sector",
                                                 "free at the end KiB", "sgdisk --verify"), rows)

    def check(self, size, sector):
        self.bed.reset()
        image = self.bed.add_disk(1, size, sector=sector, file=self.bed.images / f"{size}-{sector}.img")
        self.call("PartitionDisk", 1)
        partitions = [found for found in verify_gpt(image, sector) if found.code == "0700"]
        self.assertEqual(len(partitions), 1)
        found = partitions[0]
        self.assertEqual(found.first * sector % MIB, 0, "the partition begins at no MiB")
        end = testbed.size_bytes(size)
        left = end - (found.last + 1) * sector
        self.assertLess(left, 2 * MIB + 33 * sector)
        self.assertEqual(len(self.volume_ids(1)), 1)
        before = image_beginning(image)
        self.call("PartitionDisk", 1)
        self.assertEqual(image_beginning(image), before, "a second PartitionDisk has written")
        return size, sector, found.number, found.first * sector // MIB, found.last, left // 1024, "sound"

    def test_what_has_partitions_is_left_alone(self):
        self.bed.apply("mbr-legacy")
        for number, name in ((1, "mbr-ntfs"), (2, "mbr-two")):
            image = self.bed.images / f"{name}.img"
            before = image_beginning(image)
            self.call("PartitionDisk", number)
            self.assertEqual(image_beginning(image), before)

    def test_an_msr_does_not_count(self):
        self.bed.apply("msr-only")
        self.call("PartitionDisk", 1)
        found = verify_gpt(self.bed.images / "msr-only.img")
        self.assertEqual([partition.code for partition in found], ["0C01", "0700"])
        self.assertEqual(len(self.volume_ids(1)), 1)

    def test_offline_and_read_only_disks(self):
        self.bed.apply("vsphere")
        self.call("PartitionDisk", 1)
        found = verify_gpt(self.bed.images / "vsphere-1.img")
        self.assertEqual(found[-1].code, "0700")
        self.assertEqual(self.call("GetDiskState", 1), [{"online": "1"}])


def image_beginning(image):
    with open(image, "rb") as file:
        return file.read(2 * MIB)


class Scenario:
    """An RPC, what has to be there before it, and what has to be true after it."""

    def __init__(self, name, rpc, prepare, check=lambda test, words: None, tolerant=False, patience_s=0):
        self.name, self.rpc, self.prepare, self.check = name, rpc, prepare, check
        self.tolerant = tolerant  # a failing device call may leave out a disk and not fail the RPC
        self.patience_s = patience_s  # how long it looks for progress when its caller has gone


def raw_disks(test):
    test.bed.add_disk(1, "1G", serial="ONE")
    test.bed.add_disk(2, "1G", serial="TWO")
    return ()


def raw_disk(test):
    return raw_disks(test) + ("1",)


def offline_disk(test):
    test.bed.add_disk(1, "1G", "offline", "readonly")
    return ("1",)


def ntfs_volume(test):
    return (test.formatted_disk(),)


def raw_volume(test):
    test.bed.add_disk(1, "1G")
    test.bed.command("table disk=1 style=gpt partition=basic,1M,512M")
    return ("\\\\?\\Volume" + test.bed.wait_for_volumes(1)[0]["guid"].lower() + "\\",)


def grown_volume(test):
    volume = test.formatted_disk(length="rest")
    test.bed.command("disk grow number=1 size=3G")
    return volume, "0"


def volumes_on_disk(test):
    test.formatted_disk()
    return ("1",)


def then(condition):
    """A check of the words that came back."""
    return lambda test, words: test.assertTrue(condition(words), words)


def disk_is_partitioned(test, _):
    partitions = [found.code for found in verify_gpt(test.bed.image(1))]
    test.assertEqual(partitions[-1:], ["0700"])
    test.assertEqual(len(test.volume_ids(1)), 1)


def volume_is_formatted(test, _):
    test.assertEqual([volume["fs"] for volume in test.bed.volumes(1)], ["ntfs"])


def volume_fills_the_disk(test, _):
    found = verify_gpt(test.bed.image(1))[-1]
    test.assertGreater((found.last + 1) * 512, 3 * GIB - 3 * MIB)
    volume = "\\\\?\\Volume" + test.bed.volumes(1)[0]["guid"].lower() + "\\"
    total = int(test.call("GetVolumeStats", volume)[0]["total"])
    test.assertGreater(total, (found.last + 1 - found.first) * 512 - 65536)


def both_disks_are_listed(test, words):
    test.assertEqual(sorted(disk["disk"] for disk in words), ["1", "2"])


SCENARIOS = [
    Scenario("ListDiskLocations", "ListDiskLocations", raw_disks, both_disks_are_listed, True),
    Scenario("ListDiskIDs", "ListDiskIDs", raw_disks, both_disks_are_listed, True),
    Scenario("GetDiskStats", "GetDiskStats", raw_disk, then(lambda words: words == [{"total": str(GIB)}])),
    Scenario("GetDiskState", "GetDiskState", raw_disk, then(lambda words: words == [{"online": "1"}])),
    Scenario("SetDiskState online", "SetDiskState", lambda test: offline_disk(test) + ("online",),
             lambda test, _: test.assertEqual(test.bed.disks()[1]["offline"], "0")),
    Scenario("SetDiskState offline", "SetDiskState", lambda test: volumes_on_disk(test) + ("offline",),
             lambda test, _: test.assertEqual(test.bed.disks()[1]["offline"], "1")),
    Scenario("Rescan", "Rescan", raw_disks, tolerant=True),
    Scenario("PartitionDisk", "PartitionDisk", raw_disk, disk_is_partitioned),
    Scenario("PartitionDisk offline", "PartitionDisk", offline_disk, disk_is_partitioned),
    Scenario("ListVolumesOnDisk", "ListVolumesOnDisk", volumes_on_disk, then(lambda words: len(words) == 1)),
    Scenario("IsVolumeFormatted yes", "IsVolumeFormatted", ntfs_volume,
             then(lambda words: words == [{"formatted": "1"}])),
    Scenario("IsVolumeFormatted no", "IsVolumeFormatted", raw_volume,
             then(lambda words: words == [{"formatted": "0"}])),
    Scenario("FormatVolume", "FormatVolume", raw_volume, volume_is_formatted, patience_s=5),
    Scenario("ResizeVolume", "ResizeVolume", grown_volume, volume_fills_the_disk),
    Scenario("GetVolumeStats", "GetVolumeStats", ntfs_volume,
             then(lambda words: int(words[0]["total"]) > 500 * MIB)),
    Scenario("GetDiskNumberFromVolumeID", "GetDiskNumberFromVolumeID", ntfs_volume,
             then(lambda words: words == [{"disk": "1"}])),
    Scenario("WriteVolumeCache", "WriteVolumeCache", ntfs_volume),
]


class FaultMatrix(ServiceTest):
    """Every device call of every RPC made to fail and to hang, one at a time."""

    limit_s = 1800
    scenarios = SCENARIOS
    title = "Each device call of each RPC failing and hanging, one at a time; the repeated call succeeded"

    def test_matrix(self):
        rows, wrong = [], []
        for scenario in self.scenarios:
            for fault, times in self.device_calls(scenario):
                for nth in range(1, min(times, NTH_MAX) + 1):
                    actions = [f"nth={nth} fail={IO_ERROR}", f"nth={nth} hang"]
                    if "call=OPEN" in fault:  # what the driver can do to one
                        actions = [f"count=0 fail={NAME_NOT_FOUND}"] if nth == 1 else []
                    outcomes = [self.outcome(scenario, f"{fault} {action}", wrong) for action in actions]
                    if outcomes:
                        outcomes = (outcomes + ["-"])[:2]
                        rows.append((scenario.name, fault.removeprefix("call="), nth, *outcomes))
        cases.table(self.title, ("RPC", "device call", "n-th", "when it fails", "when it hangs"), rows)
        self.assertGreater(len(rows), len(self.scenarios))
        self.assertEqual(wrong, [])

    def outcome(self, scenario, fault, wrong):
        """What under_fault() says; "WRONG" after a failed assertion."""
        outcome = "WRONG"
        with self.subTest(scenario=scenario.name, fault=fault):
            try:
                outcome = self.under_fault(scenario, fault)
            finally:
                if outcome == "WRONG":
                    wrong.append((scenario.name, fault))
        return outcome

    def fresh(self):
        self.bed.reset()
        for image in self.bed.images.iterdir():
            image.unlink()

    def device_calls(self, scenario):
        """What the RPC calls when nothing goes wrong: [(beginning of a fault, how often)]."""
        self.fresh()
        arguments = scenario.prepare(self)
        volumes = self.bed.volumes(1)
        self.bed.counters(reset=True)
        words = self.call(scenario.rpc, *arguments)
        faults = {}
        for (thing, call), count in self.bed.counters().items():
            if call in ("CLOSE", "HANDLES") or not count:
                continue
            if call == "OPEN":
                # Of a volume that was not there before, opening cannot be made to fail beforehand.
                thing = "volume" if thing.startswith("volume=") else thing
                if thing == "disk=1" or thing == "volume" and volumes:
                    faults[f"{thing} call=OPEN"] = 1
            else:
                faults[f"call={call}"] = faults.get(f"call={call}", 0) + count
        scenario.check(self, words)
        self.assertGreater(len(faults), 0, f"{scenario.name} makes no device call")
        return sorted(faults.items())

    def under_fault(self, scenario, fault):
        """One call with the fault, then one without; returns what the first came to."""
        self.fresh()
        arguments = scenario.prepare(self)
        if fault.startswith("volume "):
            fault = f"volume={self.bed.volumes(1)[0]['guid']} {fault.removeprefix('volume ')}"
        hangs = fault.endswith(" hang")
        self.deadline(FAULT_DEADLINE_MS if hangs else CALL_S * 1000)
        begun = time.monotonic()
        with self.bed.faults(fault):
            outcome = self.attempt(scenario, arguments)
            if hangs:
                self.wait_until_devices_are_closed(begun, scenario.patience_s)
        self.deadline(CALL_S * 1000)
        begun = time.monotonic()
        words = self.call(scenario.rpc, *arguments)
        self.assertLess(time.monotonic() - begun, 10, "the repeated call took long: a lock was kept")
        scenario.check(self, words)
        return outcome

    def attempt(self, scenario, arguments):
        try:
            words = self.call(scenario.rpc, *arguments)
        except CallFailed as error:
            self.assertNotEqual(error.text.strip(), "", "an error without a text")
            return " ".join(word for word in (error.precise, error.number) if word != "0")
        if not scenario.tolerant:
            scenario.check(self, words)
        return DONE

    def wait_until_devices_are_closed(self, begun, patience_s):
        """The caller's deadline passes by itself. The service has to come back from the device at the same
        time, or patience_s later, and let go of it."""
        while self.bed.open_handles() > 0:
            self.assertLess(time.monotonic() - begun, FAULT_DEADLINE_MS / 1000 + patience_s + SLACK_S,
                            f"the service has not come back from the device: {self.bed.counters()}")
            time.sleep(0.02)


def once_waiting(test, call, nth):
    """Waits until the driver has got the nth such call since the counters were reset."""
    end = time.monotonic() + 20
    while sum(count for (_, name), count in test.bed.counters().items() if name == call) < nth:
        test.assertLess(time.monotonic(), end, f"{call} has not been called")
        time.sleep(0.01)
    time.sleep(0.05)


class Crashes(FaultMatrix):
    """The service dies at each device call of what changes a disk; a new one finishes the work."""

    scenarios = [scenario for scenario in SCENARIOS
                 if scenario.rpc in ("PartitionDisk", "FormatVolume", "ResizeVolume", "SetDiskState")]
    title = "csi-proxy killed at each device call; the repeated call, by a new one, succeeded"

    def test_matrix(self):
        rows = []
        for scenario in self.scenarios:
            for fault, times in self.device_calls(scenario):
                if "call=OPEN" in fault:
                    continue
                call = fault.removeprefix("call=")
                for nth in range(1, min(times, NTH_MAX) + 1):
                    with self.subTest(scenario=scenario.name, call=call, nth=nth):
                        self.die_at(scenario, call, nth)
                        rows.append((scenario.name, call, nth, "finished"))
        cases.table(self.title, ("RPC", "killed in device call", "n-th", "repeated"), rows)
        self.assertGreater(len(rows), 20)

    def die_at(self, scenario, call, nth):
        self.fresh()
        arguments = scenario.prepare(self)
        self.bed.counters(reset=True)
        with self.bed.faults(f"call={call} nth={nth} hang"):
            caller = self.in_background(scenario.rpc, *arguments)
            once_waiting(self, call, nth)
            self.daemon.kill()
            caller.join()
        self.start()
        words = self.call(scenario.rpc, *arguments)
        scenario.check(self, words)

    def start(self):
        self.client.kill()
        self.daemon = self.bed.daemon(self.executable(), *self.flags())
        self.client = self.bed.calls(self.daemon)


class Locks(ServiceTest):
    """Calls on one disk wait for each other, calls on different ones do not."""

    def timed(self, rpc, *arguments):
        begun = time.monotonic()
        self.call(rpc, *arguments)
        return time.monotonic() - begun

    def test_another_disk_is_not_held_up(self):
        raw_disks(self)
        self.bed.counters(reset=True)
        with self.bed.faults("disk=1 call=DISK_CREATE_DISK hang"):
            caller = self.in_background("PartitionDisk", "1")
            once_waiting(self, "DISK_CREATE_DISK", 1)
            self.assertLess(self.timed("PartitionDisk", 2), 5)
            self.assertLess(self.timed("GetDiskStats", 1), 5)
            self.assertLess(self.timed("ListDiskIDs"), 5)
            self.assertTrue(caller.is_alive(), "the call on disk 1 did not wait")
            self.bed.remove_disk(1)
            caller.join()
        self.assertIsInstance(caller.failure, CallFailed)

    def test_calls_on_one_disk_wait_for_each_other(self):
        raw_disks(self)
        self.bed.counters(reset=True)
        with self.bed.faults("disk=1 call=DISK_CREATE_DISK delay=500"):
            callers = [self.in_background("PartitionDisk", "1") for _ in range(4)]
            for caller in callers:
                caller.join()
        self.assertEqual([caller.failure for caller in callers], [None] * 4)
        self.assertEqual(self.bed.counters()["disk=1", "DISK_CREATE_DISK"], 1)
        self.assertEqual(len(self.volume_ids(1)), 1)

    def test_a_device_that_cannot_be_cancelled(self):
        """It keeps a thread of the service, and nothing else."""
        raw_disks(self)
        self.deadline(FAULT_DEADLINE_MS)
        with self.bed.faults("disk=1 call=DISK_GET_DRIVE_GEOMETRY_EX hang-hard"):
            begun = time.monotonic()
            with self.assertRaises(CallFailed):
                self.call("GetDiskStats", 1)
            self.assertLess(time.monotonic() - begun, FAULT_DEADLINE_MS / 1000 + SLACK_S)
            for _ in range(20):
                self.assertLess(self.timed("GetDiskStats", 2), 2)
        self.assertEqual(self.call("GetDiskStats", 1), [{"total": str(GIB)}])


class Removal(FaultMatrix):
    """The disk disappears during each device call; with the disk back, the repeated call succeeds."""

    scenarios = [Scenario("PartitionDisk", "PartitionDisk", raw_disk, disk_is_partitioned),
                 Scenario("GetDiskStats", "GetDiskStats", raw_disk),
                 Scenario("ListDiskIDs", "ListDiskIDs", raw_disks, both_disks_are_listed, True)]
    title = "The disk pulled out during each device call; the repeated call, with the disk back, succeeded"

    def test_matrix(self):
        rows = []
        for scenario in self.scenarios:
            for fault, _ in self.device_calls(scenario):
                if "OPEN" not in fault and "MOUNT" not in fault:
                    with self.subTest(scenario=scenario.name, fault=fault):
                        outcome = self.pull_out(scenario, fault)
                        rows.append((scenario.name, fault.removeprefix("call="), outcome))
        cases.table(self.title, ("RPC", "device call", "outcome"), rows)
        self.assertGreater(len(rows), 8)

    def pull_out(self, scenario, fault):
        self.fresh()
        arguments = scenario.prepare(self)
        with self.bed.faults(f"disk=1 {fault} remove"):
            outcome = (self.attempt if scenario.tolerant else self.must_fail)(scenario, arguments)
        self.assertEqual(list(self.bed.disks()), [2])
        self.bed.add_disk(1, "1G")
        words = self.call(scenario.rpc, *arguments)
        scenario.check(self, words)
        return outcome

    def must_fail(self, scenario, arguments):
        with self.assertRaises(CallFailed) as caught:
            self.call(scenario.rpc, *arguments)
        return f"{caught.exception.precise} {caught.exception.number}"


def mounted(test):
    """An NTFS volume and an empty folder for it."""
    volume = test.formatted_disk()
    folder = test.drive_c("var", "lib", "kubelet", "mounts")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "v").mkdir(parents=True)
    return volume, "C:\\var\\lib\\kubelet\\mounts\\v"


def is_mounted(test):
    volume, path = mounted(test)
    test.call("MountVolume", volume, path)
    return volume, path


def path_leads_to_the_volume(test, _):
    volume = "\\\\?\\Volume" + test.bed.volumes(1)[0]["guid"].lower() + "\\"
    found = test.call("GetVolumeIDFromTargetPath", "C:\\var\\lib\\kubelet\\mounts\\v")
    test.assertEqual(found[0]["volume"].lower(), volume.lower())


def path_is_plain(test, _):
    with test.assertRaises(CallFailed):
        test.call("GetVolumeIDFromTargetPath", "C:\\var\\lib\\kubelet\\mounts\\v")


class FaultMatrixWithLinks(FaultMatrix):
    """The same for what needs mounted folders."""

    title = "The same of RPCs on mounted folders, with csi-proxy-testbed.exe"
    scenarios = [
        Scenario("MountVolume", "MountVolume", mounted, path_leads_to_the_volume),
        Scenario("UnmountVolume", "UnmountVolume", is_mounted, path_is_plain),
    ]

    def executable(self):
        return self.bed.build.with_links

    def drive_c(self, *parts):
        return self.bed.prefix.joinpath("drive_c", *parts)


if __name__ == "__main__":
    cases.main(sys.modules[__name__], lambda parser: parser.add_argument(
        "--exe", help="another executable than the shipped one"))
