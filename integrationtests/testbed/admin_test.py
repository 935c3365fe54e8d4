#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""admin_test.py [--build DIR] [--exe EXE] [CLASS.test ...]: that the admin group of csi-proxy.exe tells what
the testbed has, asked by csi-proxyctl.exe."""

import json
import sys

import cases
import scenarios_test
import testbed
from share_cases import PASSWORD, ROOT, USER

IQN = "iqn.2004-10.com.example:admin"
PORTAL = "192.0.2.10:3260"
OTHER_ROOT = "\\\\other\\share"
NVME_SERIAL = "vol0a1b2c3d4e5f60718_00000001."


class AdminTest(scenarios_test.ServiceTest):
    """Answers as JSON."""

    def ask(self, rpc, request=None, timeout="30s"):
        done = self.bed.run(self.bed.build.directory / "client" / "ctl" / "csi-proxyctl.exe",
                            "-pipe-prefix", self.daemon.prefix, "-timeout", timeout,
                            "call", "admin", "v1", rpc, json.dumps(request or {}))
        if done.code != 0:
            raise testbed.Failed(f"{rpc}: {done.out}{done.err}")
        return json.loads(done.out)

    def disk(self, number):
        """The disk in the answer of ListDisks."""
        answer = self.ask("ListDisks")
        found = [disk for disk in answer["disks"] if disk["number"] == number]
        self.assertEqual(len(found), 1, answer)
        return found[0]

    def finding(self, number, subject, part):
        """The finding of ExplainDisk on a subject that has a part in its text."""
        findings = self.ask("ExplainDisk", {"disk_number": number})["findings"]
        for finding in findings:
            if finding["subject"] == subject and part in finding["text"]:
                return finding
        return self.fail(f"nothing on {subject} with {part!r}: {findings}")

    def volume_of(self, number):
        answer = self.ask("ListVolumes")
        found = [volume for volume in answer["volumes"] if volume["disk_number"] == number]
        self.assertEqual(len(found), 1, answer)
        return found[0]


class Disks(AdminTest):
    """ListDisks, ExplainDisk, ListVolumes."""

    def test_a_disk_tells_all(self):
        self.bed.add_disk(3, "64M", "offline", bus="nvme", vendor="NVMe", product="Amazon Elastic B",
                          serial=NVME_SERIAL, page83="ascii:eui.0123456789abcdef@0/8", address="2.1.4.63")
        disk = self.disk(3)
        self.assertEqual(disk["size_bytes"], str(64 << 20))
        self.assertEqual(disk["sector_bytes"], 512)
        self.assertEqual(disk["bus_type"], "NVMe")
        self.assertEqual(disk["product"], "Amazon Elastic B")
        self.assertEqual(disk["serial_number"], NVME_SERIAL)
        self.assertEqual(disk["page83"], "eui.0123456789abcdef")
        self.assertEqual([disk[key] for key in ("has_location", "adapter", "bus", "target", "lun")],
                         [True, 2, 1, 4, 63])
        self.assertFalse(disk["online"])
        self.assertEqual(disk["partition_style"], "RAW")
        self.assertEqual(disk["errors"], [])
        self.finding(3, "serial number", "vol-0a1b2c3d4e5f60718")
        self.assertIn("Set-Disk -Number 3", self.finding(3, "state", "offline")["advice"])
        self.finding(3, "partition table", "makes it a GPT disk")

    def test_a_volume_and_its_partition(self):
        self.bed.add_disk(4, "64M", page83="hex:6000c29a@0/3", vendor="VMware", serial="one")
        self.bed.command("table disk=4 style=gpt partition=basic,1M,rest")
        guid = self.bed.wait_for_volumes(4)[0]["guid"]
        self.assertEqual(self.volume_of(4)["file_system"], "")
        self.bed.command("signature disk=4 partition=1 type=ntfs")
        self.bed.command(f"volume letter guid={guid} letter=X")
        volume = self.volume_of(4)
        self.assertEqual(volume["errors"], [])
        self.assertEqual(volume["file_system"], "NTFS")
        self.assertEqual(volume["volume_id"].lower(), f"\\\\?\\volume{guid}\\".lower())
        self.assertEqual(volume["mount_points"], ["X:\\"])
        partition, = self.disk(4)["partitions"]
        self.assertEqual(partition["type"], "basic data")
        self.assertEqual(partition["volume_id"], volume["volume_id"])
        self.finding(4, "page 83 identifier", "the vSphere driver")
        self.finding(4, "volume", "mounted on X:\\")

    def test_a_disk_that_hangs_hides_no_other(self):
        for number in (5, 6):
            self.bed.add_disk(number, "64M", serial=f"SN{number}")
        with self.bed.faults("disk=5 call=DISK_GET_DRIVE_LAYOUT_EX hang count=0"):
            answer = self.ask("ListDisks", timeout="8s")
        disks = {disk["number"]: disk for disk in answer["disks"]}
        self.assertEqual(disks[5]["serial_number"], "SN5")
        self.assertIn("partition table: ", " ".join(disks[5]["errors"]))
        self.assertEqual(disks[6]["partition_style"], "RAW")
        self.assertEqual(disks[6]["errors"], [])

    def test_no_handle_stays_open(self):
        self.bed.add_disk(7, "64M")
        before = self.bed.open_handles()
        for rpc, request in (("ListDisks", {}), ("ListVolumes", {}), ("ExplainDisk", {"disk_number": 7})):
            self.ask(rpc, request)
        self.assertEqual(self.bed.open_handles(), before)


class Network(AdminTest):
    """ListSmbMappings, ListIscsiSessions."""

    def test_shares(self):
        self.assertEqual(self.ask("ListSmbMappings")["mappings"], [])
        self.bed.add_share(ROOT, user=USER, password=PASSWORD)
        self.call("NewSmbGlobalMapping", ROOT, USER, PASSWORD)
        answer = self.ask("ListSmbMappings")
        self.assertEqual([mapping["remote_path"] for mapping in answer["mappings"]], [ROOT.lower()])
        self.assertIn(answer["mappings"][0]["state"], ("mapped", "unknown"))
        self.assertNotIn(PASSWORD, json.dumps(answer))

    def test_shares_of_others(self):
        self.bed.add_share(OTHER_ROOT)
        self.bed.command(f"share map root={OTHER_ROOT} user=u")
        self.bed.command("share enumerate=1")
        mapping, = self.ask("ListSmbMappings")["mappings"]
        self.assertEqual((mapping["remote_path"], mapping["state"]), (OTHER_ROOT, "mapped"))
        self.bed.command("share enumerate=0")
        self.assertEqual(self.ask("ListSmbMappings")["mappings"], [])

    def test_sessions(self):
        file = testbed.escape(testbed.windows_path(self.bed.image(8)))
        self.bed.command(f"target add iqn={IQN} portal={PORTAL}")
        self.bed.command(f"target lun iqn={IQN} number=8 size=64M file={file} bus=iscsi")
        self.bed.command(f"session add iqn={IQN}")
        self.bed.command("wait-disks 1")
        session, = self.ask("ListIscsiSessions")["sessions"]
        self.assertEqual(session["target"], IQN)
        self.assertTrue(session["connected"])
        self.assertEqual(session["disk_numbers"], [8])
        self.finding(8, "iSCSI session", IQN)
        self.bed.command("initiator set running=0")
        with self.assertRaisesRegex(testbed.Failed, "MSiSCSI is not running"):
            self.ask("ListIscsiSessions")


class Service(AdminTest):
    """GetStatus, GetVersion, ListCalls."""

    def test_status(self):
        status = self.ask("GetStatus")
        self.assertGreater(status["process_id"], 0)
        self.assertGreater(int(status["resident_bytes"]), 0)
        self.assertGreater(status["threads"], 0)
        self.assertIn(f"-pipe-prefix={self.daemon.prefix}", status["flags"])
        groups = {group["group"]: group for group in status["groups"]}
        parts = {part["name"]: part for part in groups["volume"]["parts"]}
        # Of the testbed.
        self.assertEqual(parts["fmifs.dll"]["state"], "PART_STATE_PRESENT", parts)
        self.assertEqual(parts["\\\\.\\MountPointManager"]["state"], "PART_STATE_PRESENT", parts)
        for group in groups.values():
            required = [part for part in group["parts"] if part["required"]]
            ready = all(part["state"] == "PART_STATE_PRESENT" for part in required)
            self.assertEqual(group["ready"], ready, group)
            for part in group["parts"]:
                self.assertTrue(part["state"] == "PART_STATE_PRESENT" or part["detail"], part)
                # Nobody can start a service that is not installed.
                if "error 1060 " in part["detail"]:
                    self.assertIn("This edition of Windows has no ", part["detail"])
                    self.assertNotIn("sc.exe", part["detail"])
        # Wine does not know it.
        parts = {part["name"]: part for part in groups["filesystem"]["parts"]}
        self.assertFalse(parts["SeCreateSymbolicLinkPrivilege"]["required"], parts)
        self.assertTrue(groups["filesystem"]["ready"], groups["filesystem"])
        self.assertEqual(len([pipe for pipe in status["pipes"] if pipe["group"] != "admin"]), 23)

    def test_version(self):
        version = self.ask("GetVersion")
        self.assertIn("Windows", version["os_version"])
        self.assertEqual(version["architecture"], "amd64")
        services = {(api["group"], api["version"]): api for api in version["api_versions"]}
        self.assertIn("PartitionDisk", services["disk", "v1"]["rpcs"])
        self.assertIn("ListDisks", services["admin", "v1"]["rpcs"])

    def test_calls(self):
        self.bed.add_disk(9, "64M")
        self.ask("ListDisks")
        answer = self.ask("ListCalls")
        self.assertIn("ListCalls", [call["method"] for call in answer["calls"]])
        totals = {total["method"]: total for total in answer["methods"] if total["service"] == "v1.Admin"}
        self.assertGreaterEqual(int(totals["ListDisks"]["succeeded"]), 1)


if __name__ == "__main__":
    cases.main(sys.modules[__name__], lambda parser: parser.add_argument(
        "--exe", help="another executable than the shipped one"))
