# SPDX-License-Identifier: Apache-2.0
"""What every verb of csi-proxyctl has to show, wherever the service runs. native_test.py and wine_test.py say
how to run the program, and which disks there are."""

import json
import re
import unittest

import yaml

GROUPS = {"filesystem", "disk", "volume", "smb", "iscsi", "system"}
DONE, REFUSED, USAGE, UNREACHABLE, NOT_READY = 0, 1, 2, 3, 4


class Finished:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit code {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


def parse_profile(text):
    """{number: words} of the `disk add` lines of a profile; words with %XX resolved."""
    disks = {}
    for line in text.splitlines():
        if line.startswith("disk add "):
            words = dict(word.partition("=")[::2] for word in line.split()[2:])
            disks[int(words["number"])] = {key: re.sub("%(..)", lambda m: chr(int(m[1], 16)), value)
                                           for key, value in words.items()}
    return disks


def size_bytes(text):
    number, suffix = re.fullmatch(r"(\d+)([KMGT]?)", text).groups()
    return int(number) << (" KMGT".index(suffix or " ") * 10)


def read_table(text):
    """The rows of the first table of a text, as dictionaries by heading; [] without a table. Cells have no
    two blanks in a row."""
    lines = text.splitlines()
    at = next((i for i, line in enumerate(lines) if re.fullmatch(r" *[A-Z][A-Z0-9 /%]+", line)), None)
    if at is None:
        return []
    headings = re.split(" {2,}", lines[at].strip())
    rows = []
    for line in lines[at + 1:]:
        cells = re.split(" {2,}", line.strip())
        if len(cells) != len(headings):
            break
        rows.append(dict(zip(headings, cells)))
    return rows


class Verbs:
    """A mixin for unittest.TestCase. `disks` are those of a profile, as parse_profile() has them; `data_disk`
    is the one to be partitioned, formatted and mounted at `mount_point`."""

    disks = {}
    data_disk = 0
    mount_point = ""

    def ctl(self, *arguments, code=DONE, text=""):
        """Runs the program with text as its standard input."""
        done = self.run_ctl(*arguments, text=text)
        self.assertEqual(done.code, code, done)
        if code == DONE:
            self.assertEqual(done.err, "", done)
        return done

    def json(self, *arguments, code=DONE):
        """What -o json shows. -o yaml must be the same where nothing changes in between."""
        return json.loads(self.ctl("-o", "json", *arguments, code=code).out)

    def same_in_yaml(self, value, *arguments):
        self.assertEqual(yaml.safe_load(self.ctl("-o", "yaml", *arguments).out), value)

    def call(self, group, rpc, **request):
        version = {"iscsi": "v1alpha2"}.get(group, "v1")
        return json.loads(self.ctl("call", group, version, rpc, "-", text=json.dumps(request)).out)

    # ---- status

    def test_status(self):
        done = self.run_ctl("status")
        status = self.json("status", code=done.code)
        self.assertEqual(done.code, DONE if status["ready"] else NOT_READY, done)
        self.assertEqual({group["group"] for group in status["groups"]}, GROUPS)
        first = done.out.splitlines()[0]
        self.assertEqual(first, f"csi-proxy {status['version']}, process {status['process_id']}: "
                                f"{'ready' if status['ready'] else 'not ready'}")
        rows = {row["GROUP"]: row for row in read_table(done.out)}
        for group in status["groups"]:
            state = rows[group["group"]]["STATE"]
            self.assertEqual(state == "ready", group["ready"], done)
            for part in group["parts"]:
                if part["detail"] != "":
                    self.assertIn(f"! {group['group']}: {part['name']} is", done.out)
        pipes = [pipe for pipe in status["pipes"] if pipe["group"] == "disk"]
        self.assertEqual(int(rows["disk"]["PIPES"]), len(pipes))
        self.assertRegex(done.out, r"(?m)^Calls +\d+ running, \d+ since the start")
        self.assertRegex(done.out, r"(?m)^Uses +[\d.]+ .?i?B memory")
        self.assertRegex(done.out, r"(?m)^Up since +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(")

    # ---- disks

    def expected_serial(self, number):
        serial = self.disks[number].get("serial", "none")
        return "-" if serial == "none" else serial

    def test_disks(self):
        value = self.json("disks")
        self.same_in_yaml(value, "disks")
        found = {disk["number"]: disk for disk in value["disks"]}
        rows = {int(row["DISK"]): row for row in read_table(self.ctl("disks").out)}
        self.assertEqual(sorted(rows), sorted(found))
        for number, words in self.disks.items():
            disk, row = found[number], rows[number]
            self.assertEqual(int(disk["size_bytes"]), size_bytes(words["size"]))
            self.assertEqual(row["SIZE"], f"{size_bytes(words['size']) / (1 << 30):.1f} GiB")
            self.assertEqual(row["SERIAL"], self.expected_serial(number))
            self.assertEqual(row["DEVICE"], f"{words['vendor']} {words['product']}")
            self.assertEqual(row["LOCATION"], words["address"])
            self.assertEqual(row["BUS"], disk["bus_type"])
            self.assertEqual(row["PAGE 83"], disk["page83"] or "-")
            self.assertEqual(row["STATE"], "online" if disk["online"] else "offline")
            self.assertEqual(row["STYLE"], disk["partition_style"] or "-")
            self.assertEqual(row["GUARDED BY"], ", ".join(disk["guarded_by"]) or "-")

    # ---- explain

    def test_explain(self):
        number = self.data_disk
        value = self.json("explain", "disk", str(number))
        self.same_in_yaml(value, "explain", "disk", str(number))
        out = self.ctl("explain", "disk", str(number)).out
        self.assertTrue(out.startswith(f"Disk {number}\n"), out)
        self.assertRegex(out, rf"(?m)^  Size +[\d.]+ GiB \({size_bytes(self.disks[number]['size'])} bytes")
        self.assertIn(self.disks[number]["product"], out)
        # Findings: all of them, problems first.
        names = {"FINDING_LEVEL_PROBLEM": "PROBLEM", "FINDING_LEVEL_NOTE": "NOTE", "FINDING_LEVEL_OK": "OK"}
        expected = [(names[finding["level"]], finding["subject"]) for level in names
                    for finding in value["findings"] if finding["level"] == level]
        shown = re.findall(r"(?m)^(PROBLEM|NOTE|OK) +(.+)$", out)
        self.assertEqual(shown, expected)
        self.assertGreater(len(shown), 0)
        squeezed = " ".join(out.split())
        for finding in value["findings"]:
            self.assertIn(" ".join(finding["text"].split()), squeezed)
            if finding["advice"] != "":
                self.assertIn("-> " + " ".join(finding["advice"].split()), squeezed)

    def test_explain_by_what_names_the_disk(self):
        disks = {disk["number"]: disk for disk in self.json("disks")["disks"]}
        by_number = self.json("explain", "disk", str(self.data_disk))
        for name in ("serial_number", "page83"):
            text = disks[self.data_disk][name]
            self.assertNotEqual(text, "")
            self.assertEqual(self.json("explain", "disk", text), by_number)
        self.assertEqual(self.json("explain", "disk", disks[self.data_disk]["page83"].upper()), by_number)

    def test_explain_what_is_not_there(self):
        done = self.ctl("explain", "disk", "no-such-serial", code=REFUSED)
        self.assertIn("no-such-serial", done.err)
        done = self.ctl("explain", "disk", "4711", code=REFUSED)
        self.assertIn("4711", done.err)
        self.assertIn("csi-proxyctl disks", done.err)
        self.assertEqual(done.out, "")
        self.ctl("explain", "volume", "1", code=USAGE)
        self.ctl("explain", "disk", code=USAGE)

    # ---- volumes, mounts

    def make_volume(self):
        """Partitions, formats and mounts; returns the volume id."""
        self.call("disk", "PartitionDisk", disk_number=self.data_disk)
        self.call("disk", "SetDiskState", disk_number=self.data_disk, is_online=True)
        volume, = self.call("volume", "ListVolumesOnDisk", disk_number=self.data_disk)["volume_ids"]
        self.call("volume", "FormatVolume", volume_id=volume)
        self.call("filesystem", "Mkdir", path=self.mount_point)
        self.call("volume", "MountVolume", volume_id=volume, target_path=self.mount_point)
        return volume

    def unmake_volume(self, volume):
        self.call("volume", "UnmountVolume", volume_id=volume, target_path=self.mount_point)

    def test_volumes_and_mounts(self):
        id_ = self.make_volume()
        try:
            value = self.json("volumes")
            volume, = [volume for volume in value["volumes"] if volume["disk_number"] == self.data_disk]
            self.assertEqual(volume["file_system"], "NTFS")
            self.same_in_yaml(self.json("mounts"), "mounts")
            row, = [row for row in read_table(self.ctl("volumes").out) if row["DISK"] == str(self.data_disk)]
            self.assertEqual(row["VOLUME"], volume["volume_id"])
            self.assertEqual(row["PARTITION"], str(volume["partition_number"]))
            self.assertEqual(row["FILE SYSTEM"], "NTFS")
            self.assertRegex(row["SIZE"], r"^[\d.]+ GiB$")
            self.assertRegex(row["USE%"], r"^\d+%$")
            self.check_mounts(volume)
            listed = {disk["number"]: disk for disk in self.json("disks")["disks"]}[self.data_disk]
            volumes = [part for part in listed["partitions"] if part["volume_id"] != ""]
            row, = [row for row in read_table(self.ctl("disks").out) if row["DISK"] == str(self.data_disk)]
            self.assertEqual(row["VOLUMES"], str(len(volumes)))
        finally:
            self.unmake_volume(id_)

    def check_mounts(self, volume):
        self.assertGreaterEqual(len(volume["mount_points"]), 1, volume)
        rows = [row for row in read_table(self.ctl("mounts").out) if row["DISK"] == str(self.data_disk)]
        self.assertEqual([row["PATH"] for row in rows], volume["mount_points"])
        for row in rows:
            self.assertEqual(row["VOLUME"], volume["volume_id"])
            self.assertEqual(row["FILE SYSTEM"], "NTFS")

    # ---- smb, iscsi

    def test_smb(self):
        share = self.map_share()
        value = self.json("smb")
        self.same_in_yaml(value, "smb")
        mapping, = [found for found in value["mappings"] if found["remote_path"].lower() == share.lower()]
        row, = [row for row in read_table(self.ctl("smb").out) if row["SHARE"].lower() == share.lower()]
        self.assertEqual(row["STATE"], mapping["state"])
        self.assertEqual(mapping["state"], "mapped")

    def test_iscsi(self):
        target, address, port = self.connect_target()
        value = self.json("iscsi")
        self.same_in_yaml(value, "iscsi")
        out = self.ctl("iscsi").out
        portals, sessions = out.split("\nSessions\n")
        self.assertTrue(portals.startswith("Portals\n"), out)
        row, = [row for row in read_table(portals) if row["ADDRESS"] == address]
        self.assertEqual((row["PORT"], row["TARGETS"]), (str(port), target))
        row, = [row for row in read_table(sessions) if row["TARGET"] == target]
        session, = [session for session in value["sessions"] if session["target"] == target]
        self.assertEqual(row["STATE"], "connected")
        self.assertEqual(row["SESSION"], session["session_id"])
        self.assertEqual(row["DISKS"], ", ".join(str(number) for number in session["disk_numbers"]) or "-")

    # ---- top

    def test_top(self):
        for _ in range(3):
            self.call("disk", "ListDiskIDs")
        out = self.ctl("top", "-n", "2", "-interval", "100ms").out
        self.assertNotIn("\x1b", out)
        rounds = re.split(r"(?m)^(?=csi-proxy  )", out)[1:]
        self.assertEqual(len(rounds), 2, out)
        tables = [text.split("\n\n") for text in rounds]
        self.assertTrue(rounds[0].startswith("csi-proxy  ") and "  0 running  " in rounds[0], out)
        self.assertIn("\nNo call is running.\n", rounds[0])  # its own does not count
        first, second = ({row["METHOD"]: row for row in read_table(parts[2])} for parts in tables)
        self.assertGreaterEqual(int(second["v1.Disk/ListDiskIDs"]["CALLS"]), 3)
        self.assertEqual(first["v1.Disk/ListDiskIDs"]["CALLS/S"], "-")  # nothing to compare with
        self.assertEqual(second["v1.Disk/ListDiskIDs"]["CALLS/S"], "0.0")
        self.assertNotIn("v1.Admin/ListCalls", second)
        self.assertRegex(second["v1.Disk/ListDiskIDs"]["LONGEST"], r"^[\d.]+(us|ms|s)$")

    def test_top_for_scripts(self):
        decoder = json.JSONDecoder()
        text, rounds = self.ctl("-o", "json", "top", "-n", "3", "-interval", "100ms").out, []
        while text.strip() != "":
            value, end = decoder.raw_decode(text.lstrip())
            rounds.append(value)
            text = text.lstrip()[end:]
        self.assertEqual(len(rounds), 3)
        for value in rounds:
            self.assertIn("calls", value)
        text = self.ctl("-o", "yaml", "top", "-n", "2", "-interval", "100ms").out
        keys = [sorted(value) for value in yaml.safe_load_all(text)]
        self.assertEqual(keys, [["calls", "methods"]] * 2)

    def test_top_refuses_nonsense(self):
        self.ctl("top", "-interval", "1ms", code=USAGE)
        self.ctl("top", "-n", "-1", code=USAGE)
        self.ctl("top", "now", code=USAGE)
