#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""testbed_test.py [--build DIR] [CLASS.test ...]: the testbed does what docs/TESTBED.md says of it."""

import re
import sys
import threading
import time

import cases
import testbed
from cases import Partition, read_mbr, verify_gpt
from testbed import harness

MIB = 1 << 20

PROFILE_DISK = re.compile(r"^disk add (.*)$", re.MULTILINE)

BUS_NUMBERS = {"scsi": "1", "iscsi": "9", "sas": "10", "virtual": "14", "nvme": "17"}


def same_bytes(word):
    """Escapes can be written in two ways, and hex digits too."""
    return re.sub(r"%([0-9A-Fa-f]{2})", lambda found: f"%{found[1].lower()}", word)


def plain(word):
    """What is escaped without need becomes plain."""
    return re.sub(r"%([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), same_bytes(word))


class Disks(cases.TestbedTest):
    def test_windows_lists_what_was_added(self):
        self.bed.add_disk(3, "1G", serial="ABC", product="Big disk", bus="nvme", address="1.2.3.4")
        self.bed.add_disk(12, "64M", sector=4096, serial="none", address="none")
        self.bed.command("wait-disks 2")
        disk = self.show(3)
        self.assertEqual(disk["size"], str(1 << 30))
        self.assertEqual(disk["sector"], "512")
        self.assertEqual(disk["serial"], "ABC")
        self.assertEqual(disk["product"], "Big%20disk")
        self.assertEqual(disk["bus"], BUS_NUMBERS["nvme"])
        self.assertEqual(disk["address"], "1.2.3.4")
        self.assertEqual(disk["style"], "raw")
        self.assertEqual((disk["offline"], disk["readonly"]), ("0", "0"))
        other = self.show(12)
        self.assertEqual(other["sector"], "4096")
        self.assertNotIn("serial", other)
        self.assertRegex(other["address"], "^error-")

    def test_the_image_is_sparse_and_has_its_size(self):
        image = self.bed.add_disk(1, "64T")
        self.assertEqual(image.stat().st_size, 64 << 40)
        self.assertLess(image.stat().st_blocks * 512, MIB)

    def test_identifiers_come_as_profiles_have_them(self):
        for profile in testbed.profiles():
            with self.subTest(profile):
                self.bed.reset()
                self.bed.apply(profile)
                self.check_profile((testbed.HERE / "profiles" / f"{profile}.profile").read_text())

    def check_profile(self, text):
        shown = [testbed.parse_words(line) for line in self.bed.command("show-disks")]
        by_number = {words["number"]: words for words in shown if "number" in words}
        disks = [testbed.parse_words(line) for line in PROFILE_DISK.findall(text)]
        self.assertGreater(len(disks), 0)
        self.assertEqual(len(shown), len(disks))
        for disk in disks:
            if "interface-broken" in disk:
                self.assertNotIn(disk["number"], by_number)
                continue
            seen = by_number[disk["number"]]
            self.assertEqual(seen["size"], str(testbed.size_bytes(disk["size"])))
            self.assertEqual(seen["sector"], disk.get("sector", "512"))
            self.assertEqual(seen["offline"], "1" if "offline" in disk else "0")
            self.assertEqual(seen["readonly"], "1" if "readonly" in disk else "0")
            self.assertEqual(seen["bus"], BUS_NUMBERS[disk.get("bus", "sas")])
            for key in ("vendor", "product", "serial"):
                if disk.get(key, "none") != "none":
                    self.assertEqual(plain(seen[key]), plain(disk[key]))
            if disk.get("serial") == "none":
                self.assertNotIn("serial", seen)
            if disk.get("address") == "none":
                self.assertRegex(seen["address"], "^error-")
            else:
                self.assertEqual(seen["address"], disk["address"])
            self.check_page83(disk.get("page83", "none"), seen)

    def check_page83(self, wanted, seen):
        if wanted == "unsupported":
            self.assertRegex(seen["page83"], "^error-")
        elif wanted == "none":
            self.assertNotIn("page83", seen)
        elif wanted not in ("malformed-next", "oversized"):
            # The words are a dictionary: of several identifiers it has the last.
            last = wanted.split(",")[-1].replace("hex:", "binary:")
            last += "" if "@" in last else "@0/0"
            self.assertEqual(plain(seen["page83"]), plain(last))

    def test_hot_plug_and_unplug(self):
        """A line of the table is what a person would want to know: how long a disk takes to come and go."""
        came, went = [], []
        self.bed.add_disk(1, "64M")
        for _ in range(50):
            begun = time.monotonic()
            self.bed.add_disk(7, "64M")
            self.bed.command("wait-disks 2")
            came.append(time.monotonic() - begun)
            begun = time.monotonic()
            self.bed.remove_disk(7)
            self.bed.command("wait-disks 1")
            went.append(time.monotonic() - begun)
        cases.table("50 disks attached and detached", ("", "median ms", "slowest ms"), [
            (what, f"{sorted(times)[25] * 1000:.1f}", f"{max(times) * 1000:.1f}")
            for what, times in (("attach", came), ("detach", went))])

    def test_a_number_is_given_to_another_disk(self):
        self.bed.add_disk(5, "1G", serial="FIRST")
        self.bed.remove_disk(5)
        self.bed.add_disk(5, "2G", serial="SECOND", file=self.bed.images / "other.img")
        self.assertEqual(self.show(5)["serial"], "SECOND")
        self.assertEqual(self.show(5)["size"], str(2 << 30))

    def test_many_disks(self):
        for number in range(1, 65):
            self.bed.add_disk(number, "64M")
        self.bed.command("wait-disks 64")
        self.assertEqual(len(self.bed.disks()), 64)
        self.bed.reset()
        self.bed.command("wait-disks 0")

    def test_growth_is_seen_after_a_look_at_the_medium(self):
        self.bed.add_disk(1, "1G")
        self.bed.command("disk grow number=1 size=2G")
        self.assertEqual(self.show(1)["size"], str(1 << 30))
        self.bed.command("update disk=1")
        self.assertEqual(self.show(1)["size"], str(2 << 30))

    def test_what_is_wrong_is_said(self):
        self.refused("disk remove number=99", "no such disk")
        self.refused("disk add number=1 size=1G", "file")
        self.refused("disk add number=0 size=1G file=C:\\x.img", "number")
        self.refused("disk add number=1 size=1 file=C:\\x.img", "size")
        self.refused("disk add number=1 size=1G file=C:\\no\\such\\x.img", "cannot add the disk")
        self.refused("disk add number=1 size=1G file=C:\\x.img colour=red", "colour")
        self.refused("disk eat number=1", "eat")
        self.refused("nonsense", "nonsense")
        self.refused("wait-disks 1 timeout=50", "lists 0 disks and not 1")
        self.refused("table disk=9 style=gpt", "PhysicalDrive9")
        self.bed.add_disk(1, "64M")
        self.refused("disk add number=1 size=1G file=C:\\x.img", "disk")

    def test_a_profile_fails_at_its_line(self):
        profile = self.bed.images / "broken.profile"
        profile.write_text("# one\n\ndisk list\ndisk add number=1\n")
        with self.assertRaisesRegex(testbed.Failed, r"broken\.profile:4: "):
            self.bed.apply(profile)
        done = self.bed.run(self.bed.build.control, "apply", testbed.windows_path(profile))
        self.assertEqual(done.code, 1)
        self.assertIn("broken.profile:4: ", done.err)


def table_command(*partitions):
    return " ".join(["table disk=1 style=gpt"] + [f"partition={words}" for words in partitions])


class Tables(cases.TestbedTest):
    def make(self, size, sector, *partitions):
        """A new disk 1 with this GPT; what sgdisk says of it."""
        image = self.bed.add_disk(1, size, sector=sector)
        self.bed.command(table_command(*partitions))
        return verify_gpt(image, sector)

    def test_tables_of_all_sizes_are_sound(self):
        rows = []
        for size in ("64M", "1G", "64T"):
            for sector in (512, 4096):
                self.bed.reset()
                for image in self.bed.images.iterdir():
                    image.unlink()
                partitions = self.make(size, sector, "basic,1M,rest")
                self.assertEqual(len(partitions), 1)
                self.assertEqual((partitions[0].number, partitions[0].first, partitions[0].code),
                                 (1, MIB // sector, "0700"))
                last_usable = testbed.size_bytes(size) // sector - 1 - (33 if sector == 512 else 5)
                self.assertEqual(partitions[0].last, last_usable)
                rows.append((size, sector, partitions[0].first, partitions[0].last, "sound"))
        cases.table("GPT as sgdisk sees it", ("disk", "sector", "first", "last", "sgdisk --verify"), rows)

    def test_several_partitions(self):
        found = self.make("1G", 512, "efi,1M,100M", "msr,101M,16M", "basic,117M,512M")
        self.assertEqual(found, [Partition(1, 2048, 206847, "EF00"), Partition(2, 206848, 239615, "0C01"),
                                 Partition(3, 239616, 1288191, "0700")])

    def test_windows_sees_what_was_written(self):
        self.make("1G", 512, "msr,17K,16367K", "basic,16M,512M")
        self.assertEqual(self.show(1)["style"], "gpt")
        lines = [line for line in self.bed.command("show-disks") if "number=1 " in line]
        self.assertRegex(lines[0], r"partition=1,17408,16759808 partition=2,16777216,536870912$")

    def test_bad_tables_are_refused(self):
        self.bed.add_disk(1, "1G")
        for words in (("basic,1M,512M", "basic,256M,512M"), ("basic,0,512M",), ("basic,1M,1G",),
                      ("basic,513,1M",)):
            with self.subTest(words):
                self.refused(table_command(*words), "IOCTL_DISK_SET_DRIVE_LAYOUT_EX")

    def test_mbr(self):
        image = self.bed.add_disk(1, "2G")
        self.bed.command("table disk=1 style=mbr partition=0c,1M,512M partition=07,513M,1G")
        self.assertEqual(read_mbr(image), [(2048, 1048576, "c"), (1050624, 2097152, "7")])
        self.assertEqual(self.show(1)["style"], "mbr")

    def test_a_deleted_table_is_gone(self):
        image = self.bed.add_disk(1, "1G")
        self.bed.command("table disk=1 style=gpt partition=basic,1M,512M")
        self.bed.command("table disk=1 style=raw")
        self.assertEqual(self.show(1)["style"], "raw")
        code, text = cases._tool("sgdisk", "--print", str(image))
        self.assertNotIn(" 0700 ", text)

    def test_a_table_stays_on_its_disk(self):
        self.bed.add_disk(1, "1G")
        self.bed.command("table disk=1 style=gpt partition=basic,1M,512M")
        before = self.bed.wait_for_volumes(1)
        self.bed.remove_disk(1)
        self.assertEqual(self.bed.volumes(), [])
        self.bed.add_disk(4, "1G", file=self.bed.image(1))
        after = self.bed.wait_for_volumes(4)
        self.assertEqual(after[0]["guid"], before[0]["guid"])
        self.assertEqual(after[0]["offset"], str(MIB))

    def test_an_offline_disk_has_no_volumes_and_takes_no_table(self):
        self.bed.add_disk(1, "1G")
        self.bed.command("table disk=1 style=gpt partition=basic,1M,512M")
        self.bed.wait_for_volumes(1)
        self.bed.command("disk set number=1 offline=1")
        self.bed.wait_for_volumes(1, count=0)
        self.refused("table disk=1 style=gpt", "Win32 error 21")
        self.bed.command("disk set number=1 offline=0")
        self.bed.wait_for_volumes(1)

    def test_a_read_only_disk_takes_no_table(self):
        self.bed.add_disk(1, "1G", "readonly")
        self.refused("table disk=1 style=gpt", "Win32 error 19")


class Volumes(cases.TestbedTest):
    def partitioned(self, number=1, size="1G", **keys):
        self.bed.add_disk(number, size, **keys)
        self.bed.command(f"table disk={number} style=gpt partition=basic,1M,512M")

    def shown(self, guid):
        for line in self.bed.command("show-volumes"):
            words = testbed.parse_words(line)
            if guid.lower() in words["name"].lower():
                return words
        return self.fail(f"{guid} is not listed")

    def test_they_come_late(self):
        self.partitioned(volume_delay=400)
        begun = time.monotonic()
        self.assertEqual(self.bed.volumes(), [])
        self.bed.wait_for_volumes(1)
        self.assertGreater(time.monotonic() - begun, 0.2)

    def test_windows_lists_them(self):
        self.partitioned()
        volume = self.bed.wait_for_volumes(1)[0]
        seen = self.shown(volume["guid"])
        self.assertEqual((seen["disk"], seen["partition"], seen["extents"]), ("1", "1", "1"))
        self.assertEqual((seen["extent-disk"], seen["offset"], seen["length"]),
                         ("1", str(MIB), str(512 * MIB)))
        self.assertEqual(seen["fs"], "error-1005")

    def test_the_volume_id_is_not_the_partition_id(self):
        self.partitioned()
        volume = self.bed.wait_for_volumes(1)[0]
        code, text = cases._tool("sgdisk", "--info=1", str(self.bed.image(1)))
        partition_id = re.search(r"unique GUID: ([0-9A-F-]+)", text)[1]
        self.assertNotIn(partition_id.lower(), volume["guid"].lower())

    def test_reserved_partitions_have_none(self):
        self.bed.add_disk(1, "1G")
        self.bed.command("table disk=1 style=gpt partition=msr,17K,16367K partition=basic,16M,512M")
        volumes = self.bed.wait_for_volumes(1)
        self.assertEqual([volume["partition"] for volume in volumes], ["2"])

    def test_file_systems(self):
        self.partitioned()
        for kind, seen, listed in (("ntfs", "NTFS", "ntfs"), ("refs", "ReFS", "refs"),
                                   ("noise", "error-1005", None), ("bitlocker", "error-", "bitlocker"),
                                   ("none", "error-1005", "raw")):
            with self.subTest(kind):
                self.bed.command(f"signature disk=1 partition=1 type={kind}")
                volume = self.bed.wait_for_volumes(1)[0]
                if listed:
                    self.assertEqual(volume["fs"], listed)
                self.assertTrue(self.shown(volume["guid"])["fs"].startswith(seen))
                if kind == "bitlocker":
                    self.assertNotEqual(self.shown(volume["guid"])["fs"], "error-1005")

    def test_letters(self):
        self.partitioned()
        guid = self.bed.wait_for_volumes(1)[0]["guid"]
        self.bed.command(f"volume letter guid={guid} letter=X")
        self.assertEqual(self.shown(guid)["path"], "X:\\")
        self.bed.command(f"volume letter guid={guid} letter=none")
        self.assertNotIn("path", self.shown(guid))

    def test_formatting(self):
        self.partitioned()
        guid = self.bed.wait_for_volumes(1)[0]["guid"]
        answer = self.bed.command(f"format volume={guid} label=data%201")
        self.assertEqual(answer, ["command=0x0b success=1 progress=100"])
        seen = self.shown(guid)
        self.assertEqual((seen["fs"], seen["label"]), ("NTFS", "data%201"))
        self.assertGreater(int(seen["total"]), 511 * MIB)
        self.bed.command(f"volume set guid={guid} used=100M")
        seen = self.shown(guid)
        self.assertAlmostEqual(int(seen["total"]) - int(seen["free"]), 100 * MIB, delta=65536)

    def test_formatting_can_be_refused(self):
        self.partitioned()
        guid = self.bed.wait_for_volumes(1)[0]["guid"]
        self.refused(f"format volume={guid} fs=ext4", "command=0x03", "success=0")
        self.refused(f"format volume={guid} cluster=4M", "command=0x11")
        self.refused("format volume={00000000-1111-2222-3333-444444444444}", "command=0x18")
        self.bed.command("signature disk=1 partition=1 type=ntfs")
        self.bed.fmifs("fail=0x08 step=0")
        self.refused(f"format volume={guid}", "command=0x08")
        self.assertEqual(self.shown(guid)["fs"], "NTFS")
        self.bed.fmifs("fail=0x06 step=5")
        self.refused(f"format volume={guid}", "command=0x06")
        self.assertEqual(self.shown(guid)["fs"], "error-1005")
        self.bed.fmifs("silent")
        self.refused(f"format volume={guid}", "has not formatted it")


class Faults(cases.TestbedTest):
    CALL = "DISK_GET_DRIVE_GEOMETRY_EX"

    def setUp(self):
        super().setUp()
        self.bed.add_disk(1, "1G")
        self.bed.add_disk(2, "1G")

    def sizes(self):
        return [self.show(number)["size"] for number in (1, 2)]

    def size_or_error(self, number=1):
        """As show(), but of a list that is asked once."""
        words = [testbed.parse_words(line) for line in self.bed.command("show-disks")]
        return next(disk["size"] for disk in words if disk.get("number") == str(number))

    def test_a_call_fails_once(self):
        self.bed.fault(f"disk=1 call={self.CALL} fail=0xC0000185")
        self.assertEqual(self.size_or_error(), "error-1117")
        self.assertEqual(self.size_or_error(), str(1 << 30))

    def test_another_disk_is_not_touched(self):
        self.bed.fault(f"disk=1 call={self.CALL} count=0 fail=0xC0000185")
        self.assertEqual(self.size_or_error(2), str(1 << 30))
        self.assertEqual(self.size_or_error(1), "error-1117")

    def test_the_nth_call_fails_as_often_as_told(self):
        self.bed.fault(f"disk=1 call={self.CALL} nth=2 count=2 fail=0xC0000185")
        found = [self.size_or_error().startswith("error") for _ in range(4)]
        self.assertEqual(found, [False, True, True, False])

    def test_for_ever_until_cleared(self):
        self.bed.fault(f"disk=1 call={self.CALL} count=0 fail=0xC0000185")
        self.assertEqual([self.size_or_error() for _ in range(3)], ["error-1117"] * 3)
        self.assertEqual(len(self.bed.command("fault list")), 1)
        self.bed.clear_faults()
        self.assertEqual(self.size_or_error(), str(1 << 30))
        self.assertEqual(self.bed.command("fault list"), [])

    def test_by_code(self):
        self.bed.fault("disk=1 call=0x000700A0 fail=0xC0000185")
        self.assertEqual(self.size_or_error(), "error-1117")

    def test_delay(self):
        self.bed.fault(f"disk=1 call={self.CALL} delay=300")
        begun = time.monotonic()
        self.assertEqual(self.size_or_error(), str(1 << 30))
        self.assertGreater(time.monotonic() - begun, 0.25)

    def in_background(self):
        """A program of its own that asks for the list, because it may not come back."""
        program = harness.Running(str(self.bed.build.control), "run", "show-disks")
        self.addCleanup(program.kill)
        return program

    def wait_until_called(self, call):
        end = time.monotonic() + 20
        while not any(name == call and count for (_, name), count in self.bed.counters().items()):
            self.assertLess(time.monotonic(), end, f"{call} has not been called")
            time.sleep(0.02)
        time.sleep(0.1)

    def test_a_hanging_call_ends_with_its_program(self):
        self.bed.fault(f"disk=1 call={self.CALL} hang")
        program = self.in_background()
        self.wait_until_called(self.CALL)
        self.assertIsNone(program.process.poll())
        program.kill()
        self.bed.remove_disk(1)
        self.bed.command("wait-disks 1")

    def test_a_stubborn_call_ends_when_faults_are_cleared(self):
        self.bed.fault(f"disk=1 call={self.CALL} hang-hard")
        program = self.in_background()
        self.wait_until_called(self.CALL)
        self.assertIsNone(program.process.poll())
        self.bed.clear_faults()
        self.assertEqual(program.wait(), 0)

    def test_a_disk_disappears_during_a_call(self):
        self.bed.fault(f"disk=1 call={self.CALL} remove")
        lines = [testbed.parse_words(line) for line in self.bed.command("show-disks")]
        self.assertRegex(lines[0]["size"], "^error-")
        self.bed.command("wait-disks 1")
        self.assertEqual(list(self.bed.disks()), [2])

    def test_pending_calls_end_when_the_disk_goes(self):
        self.bed.fault(f"disk=1 call={self.CALL} hang")
        program = self.in_background()
        self.wait_until_called(self.CALL)
        self.bed.remove_disk(1)
        self.assertEqual(program.wait(), 0)
        self.assertIn("size=error-", program.text())

    def test_opening_can_fail(self):
        self.bed.fault("disk=1 call=OPEN count=0 fail=0xC0000034")
        lines = [testbed.parse_words(line) for line in self.bed.command("show-disks")]
        self.assertEqual(lines[0].get("open"), "error-2")
        self.assertEqual(lines[1]["size"], str(1 << 30))

    def test_short_and_garbage(self):
        self.bed.fault("disk=1 call=STORAGE_QUERY_PROPERTY short count=0")
        self.bed.command("show-disks")
        self.bed.clear_faults()
        self.bed.fault("disk=1 call=STORAGE_QUERY_PROPERTY garbage count=0")
        self.bed.command("show-disks")

    def test_unknown_faults_are_refused(self):
        self.refused("fault add disk=1 call=NO_SUCH_CALL fail=0xC0000185", "NO_SUCH_CALL")
        self.refused(f"fault add disk=1 call={self.CALL}", "no action")
        self.refused(f"fault add disk=1 call={self.CALL} hang explode", "explode")


class Counters(cases.TestbedTest):
    def test_calls_are_counted(self):
        self.bed.add_disk(1, "1G")
        self.bed.counters(reset=True)
        for _ in range(3):
            self.bed.command("show-disks")
        counts = self.bed.counters()
        for call in ("DISK_GET_DRIVE_GEOMETRY_EX", "DISK_GET_DRIVE_LAYOUT_EX", "SCSI_GET_ADDRESS", "OPEN"):
            self.assertEqual(counts["disk=1", call], 3, call)
        self.assertEqual(counts["disk=1", "STORAGE_QUERY_PROPERTY"], 6)

    def test_reset(self):
        self.bed.add_disk(1, "1G")
        self.bed.command("show-disks")
        self.bed.counters(reset=True)
        self.assertNotIn(("disk=1", "DISK_GET_DRIVE_GEOMETRY_EX"),
                         {key: count for key, count in self.bed.counters().items() if count})


class Program(cases.TestbedTest):
    def test_usage(self):
        for arguments in ((), ("install",), ("nonsense",), ("run",)):
            done = self.bed.run(self.bed.build.control, *arguments)
            self.assertEqual(done.code, 2, done)
            self.assertIn("usage: vdiskctl", done.err)

    def test_run(self):
        self.bed.add_disk(1, "1G", serial="none")
        done = self.bed.run(self.bed.build.control, "run", "disk", "list")
        self.assertEqual(done.code, 0, done)
        self.assertRegex(done.out, r"^number=1 size=1073741824 ")
        done = self.bed.run(self.bed.build.control, "run", "disk", "remove", "number=9")
        self.assertEqual(done.code, 1, done)
        self.assertIn("vdiskctl: no such disk", done.err)

    def test_uninstall_and_install(self):
        self.addCleanup(self.bed.restart)
        control = self.bed.build.control
        self.bed.add_disk(1, "1G")
        for _ in range(2):  # the second time there is nothing to do
            self.assertEqual(self.bed.run(control, "uninstall").code, 0)
        done = self.bed.run(control, "run", "disk", "list")
        self.assertIn("driver does not run", done.err)
        self.assertIn("vdisk.inf", self.bed.run(control, "install", "C:\\nowhere").err)
        done = self.bed.run(control, "install", f"C:\\{testbed.INSTALLED_IN}")
        self.assertEqual(done.code, 0, done)
        self.assertEqual(self.bed.run(control, "run", "disk", "list").code, 0)

    def test_two_at_once(self):
        """Whoever asks gets his own answer."""
        self.bed.add_disk(1, "1G")
        wrong = []

        def ask():
            for _ in range(5):
                done = self.bed.run(self.bed.build.control, "run", "disk", "list")
                if not done.out.startswith("number=1 "):
                    wrong.append(done)

        askers = [threading.Thread(target=ask) for _ in range(3)]
        for asker in askers:
            asker.start()
        for _ in range(100):
            self.refused("disk remove number=77", "no such disk")
        for asker in askers:
            asker.join()
        self.assertEqual(wrong, [])


class Service(cases.TestbedTest):
    def test_csi_proxy_starts_and_stops(self):
        with self.bed.daemon() as daemon:
            self.assertTrue(daemon.is_running())
            self.assertEqual(daemon.stop(), 0)
        self.assertFalse(daemon.is_running())

    def test_one_that_cannot_start_is_reported(self):
        with self.assertRaisesRegex(testbed.Failed, "did not start"):
            self.bed.daemon(None, "-no-such-flag")


if __name__ == "__main__":
    cases.main(sys.modules[__name__])
