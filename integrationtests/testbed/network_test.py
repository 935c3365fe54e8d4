#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""network_test.py [--build DIR] [--exe EXE] [CLASS.test ...]: the testbed's shares, and csi-proxy's SMB group
on them by way of mpr.dll."""

import sys

import cases
import scenarios_test
import share_cases
import testbed
from share_cases import NEW_PASSWORD, PASSWORD, ROOT, USER

MI_ADD = "MSFT_SmbGlobalMapping.Create"
PROBE = "wine-folder-probe.txt"


def exists(bed, path):
    return "yes" in bed.run("cmd", "/c", f"if exist {path} echo yes").out


class Commands(cases.TestbedTest):
    """The commands `share` and `network`, and where the files of a share are."""

    def is_reachable(self, root=ROOT):
        """Whether Windows programs can open what is in the share."""
        return exists(self.bed, f"{root}\\{PROBE}")

    def add_share_with_file(self, root=ROOT):
        """Written while the share is not mapped."""
        self.bed.add_share(root, user=USER, password=PASSWORD)
        host, name = root.removeprefix("\\\\").split("\\")
        folder = self.bed.prefix / "drive_c" / testbed.INSTALLED_IN / "shares" / host / name
        (folder / PROBE).write_text("here", encoding="ascii")

    def test_files_are_there_while_the_share_is_mapped(self):
        self.add_share_with_file()
        self.assertFalse(self.is_reachable())
        self.bed.command(f"share map root={ROOT} user=u")
        self.assertTrue(self.is_reachable())
        self.assertTrue(self.is_reachable(ROOT.upper()))
        for state in ("down", "gone"):
            self.bed.set_share(ROOT, state=state)
            self.assertFalse(self.is_reachable())
            self.bed.set_share(ROOT, state="up")
            self.assertTrue(self.is_reachable())
        self.bed.command(f"share unmap root={ROOT}")
        self.assertFalse(self.is_reachable())

    def test_a_share_that_is_removed_takes_its_files_along(self):
        self.add_share_with_file()
        self.bed.command(f"share map root={ROOT} user=u")
        self.bed.command(f"share remove root={ROOT}")
        self.bed.command(f"share unmap root={ROOT}")
        self.bed.add_share(ROOT)
        self.bed.command(f"share map root={ROOT} user=u")
        self.assertFalse(self.is_reachable())

    def test_a_reset_leaves_nothing(self):
        self.add_share_with_file()
        self.bed.command(f"share map root={ROOT} user=u")
        self.bed.network_fault("call=WNetAddConnection4W error=5")
        self.bed.reset()
        self.assertEqual(self.bed.shares(), {})
        self.assertEqual(self.bed.network_counters(), {})
        self.assertFalse(self.is_reachable())

    def test_the_list(self):
        self.bed.add_share("//FILES/Share/", user=USER, password=PASSWORD)
        self.assertEqual(self.bed.shares(),
                         {ROOT: {"root": ROOT, "mapped": "0", "user": "", "privacy": "0"}})
        self.bed.command(f"share map root={ROOT} user=a%20b password=p")
        self.assertEqual(self.bed.shares()[ROOT]["user"], "a%20b")

    def test_what_is_refused_changes_nothing(self):
        self.refused("share add root=nothing", "root=")
        self.refused(f"share unmap root={ROOT}", "not mapped")
        self.refused("share", "enumerate=0|1")
        self.refused("network fault add call=A", "no action")
        self.refused("network", "fault add")
        self.assertEqual(self.bed.shares(), {})


class Shares(share_cases.ShareCases, scenarios_test.ServiceTest):
    route = "wnet"
    QUERY = "WNetOpenEnumW"
    ADD = "WNetAddConnection4W"
    REMOVE = "WNetCancelConnection2W"

    def test_files_can_be_reached_through_the_mapping(self):
        self.map()
        folder = self.bed.prefix / "dosdevices" / "unc" / "files" / "share"
        (folder / PROBE).write_text("here", encoding="ascii")
        self.assertTrue(exists(self.bed, f"{ROOT}\\{PROBE}"))
        self.unmap()
        self.assertFalse(exists(self.bed, f"{ROOT}\\{PROBE}"))
        self.map()
        self.assertTrue(exists(self.bed, f"{ROOT}\\{PROBE}"))

    def test_a_listing_that_hangs(self):
        self.fault(self.QUERY, "hang")
        self.hangs(self.map, self.QUERY)
        self.bed.command("network fault clear")
        self.recovers(self.map)
        self.assert_mapped()

    def test_an_error_of_the_provider_itself(self):
        self.fault(self.ADD, "error=1208")
        with self.fails(1208, "the network provider says 4711: The testbed's network says so."):
            self.map()

    def test_a_mapping_that_is_away_for_a_while_is_kept(self):
        self.map()
        self.share("set", ROOT, state="down")
        with self.fails(None, "the mapping that is there is kept"):
            self.map()
        self.assert_mapped()
        self.share("set", ROOT, state="up")
        self.map()
        self.assertEqual(self.count(self.REMOVE), 0)

    def test_nothing_but_mpr_is_needed(self):
        self.map()
        self.unmap()
        self.assertEqual(self.count(MI_ADD), 0)


class SharesThatAreNotListed(Shares):
    """On a Windows that does not list global mappings nobody knows what is mapped."""

    def setUp(self):
        super().setUp()
        self.bed.command("share enumerate=0")

    def test_again_is_kept(self):
        self.map()
        self.map()
        self.assertEqual(self.count(self.REMOVE), 0)
        self.assert_mapped()

    def test_a_mapping_that_is_away_for_a_while_is_kept(self):
        self.map()
        self.share("set", ROOT, state="down")
        with self.fails(53):
            self.map()
        self.assert_mapped()
        self.share("set", ROOT, state="up")
        self.map()
        self.assertEqual(self.count(self.REMOVE), 0)

    def test_what_cannot_have_a_link_is_not_left_mapped(self):
        """It is: nobody knows whether somebody else has mapped it."""
        with self.fails(None, "creating link", "stays mapped"):
            self.map(link=share_cases.KUBELET + "\\missing\\link")
        self.assert_mapped()

    def test_the_mapping_of_somebody_else(self):
        """It is asked for with the credentials of the request: these or others, nothing is ended for that."""
        self.share("map", ROOT, user=USER, password=PASSWORD)
        self.map()
        self.assertEqual(self.count(self.REMOVE), 0)
        with self.fails(86):
            self.map(password=NEW_PASSWORD)
        self.assert_mapped()


class Shipped(share_cases.ShareCases, scenarios_test.ServiceTest):
    """csi-proxy.exe, which under Wine cannot ask a server about credentials beside a mapping."""

    route = "auto"
    QUERY = "WNetOpenEnumW"
    ADD = "WNetAddConnection4W"
    REMOVE = "WNetCancelConnection2W"

    def executable(self):
        return self.bed.build.shipped

    def test_a_link(self):
        """Wine has none."""
        with self.fails(None, "creating link"):
            self.map(ROOT + "\\sub", link=share_cases.KUBELET + "\\link")
        self.assert_not_mapped()

    def test_wrong_credentials_do_not_end_a_mapping(self):
        self.map()
        with self.fails(None, "cannot be tried", "is kept"):
            self.map(password=NEW_PASSWORD)
        self.assert_mapped()
        self.assertEqual(self.count(self.REMOVE), 0)

    def test_new_credentials_are_taken_over(self):
        """Not while the mapping works: nobody can say that they are good."""
        self.map()
        self.share("set", ROOT, password=NEW_PASSWORD)
        with self.fails(None, "RemoveSmbGlobalMapping first"):
            self.map(password=NEW_PASSWORD)
        self.unmap()
        self.map(password=NEW_PASSWORD)
        self.assert_mapped()

    test_a_password_that_is_rotated_on_two_shares = None

    def test_the_mapping_of_somebody_else(self):
        self.share("map", ROOT, user=USER, password=PASSWORD)
        self.map()
        self.assertEqual(self.count(self.REMOVE), 0)

    def test_credentials_are_not_tried(self):
        self.map()
        with self.fails(None):
            self.map(password=NEW_PASSWORD)
        self.assertIn("the credentials are not tried", self.whole_log())

    def test_a_flag_that_windows_does_not_know(self):
        for error in (87, 1004):
            with self.subTest(error=error):
                self.end_daemon()
                self.start_daemon()
                self.fault(self.ADD, f"error={error}")
                before = self.count(MI_ADD)
                self.map()
                self.assert_mapped()
                self.assertEqual(self.count(MI_ADD), before + 1)
                self.assertIn("mi.dll from now on", self.whole_log())
                self.unmap()
                self.map()
                self.assertEqual(self.count(MI_ADD), before + 2)
                self.unmap()

    def test_a_flag_that_windows_has_known_before(self):
        self.map()
        self.unmap()
        self.fault(self.ADD, "error=87")
        with self.fails(87):
            self.map()
        self.map()
        self.assertEqual(self.count(MI_ADD), 0)

    def start_daemon(self):
        self.daemon = self.bed.daemon(self.executable(), *self.flags())
        self.client = self.bed.calls(self.daemon)
        self.addCleanup(self.client.kill)

    def test_a_refusal_that_is_not_about_the_flag(self):
        self.fault(self.ADD, "error=1312")
        with self.fails(1312):
            self.map()
        self.map()
        self.assertEqual(self.count(MI_ADD), 0)


if __name__ == "__main__":
    cases.main(sys.modules[__name__], lambda parser: parser.add_argument(
        "--exe", help="csi-proxy-testbed.exe unless another one is given"))
