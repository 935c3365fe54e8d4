#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mi_test.py [--build DIR] [--exe EXE] [CLASS.test ...]: csi-proxy's SMB group on the testbed, by way of mi.dll
and the class MSFT_SmbGlobalMapping."""

import sys

import cases
import scenarios_test
import share_cases
from share_cases import NEW_PASSWORD, PASSWORD, ROOT, USER


class Shares(share_cases.ShareCases, scenarios_test.ServiceTest):
    route = "mi"
    QUERY = "MSFT_SmbGlobalMapping.Query"
    ADD = "MSFT_SmbGlobalMapping.Create"
    REMOVE = "MSFT_SmbGlobalMapping.Remove"

    def test_a_mapping_is_never_made_over_another(self):
        """The class does not say whose credentials a mapping has: the server is asked instead."""
        self.share("map", ROOT, user=USER, password=PASSWORD)
        self.map()
        self.assertEqual(self.count(self.ADD), 0)

    def test_a_disconnected_mapping_that_works_is_kept(self):
        self.map()
        self.share("set", ROOT, state="disconnected")
        self.map()
        self.assert_mapped()
        self.assertEqual(self.count(self.REMOVE), 0)

    def test_a_class_that_hangs(self):
        self.fault(self.QUERY, "hang")
        self.hangs(self.map, self.QUERY)
        self.bed.command("network fault clear")
        self.recovers(self.map)
        self.assert_mapped()

    def test_a_call_that_hangs_ends_by_itself(self):
        """At the time limit that it was given, without `network fault clear`."""
        self.fault(self.QUERY, "hang")
        self.hangs(self.map, self.QUERY)
        self.recovers(self.map)
        self.assert_mapped()

    def test_calls_that_end_late(self):
        for call in (self.QUERY, self.ADD, self.REMOVE):
            self.fault(call, "delay=300")
        self.map()
        self.assert_mapped()
        self.unmap()
        self.assert_not_mapped()

    def test_many_mappings_leave_nothing(self):
        self.one_cycle()
        before = scenarios_test.open_files(self.daemon.pid)
        for _ in range(20):
            self.one_cycle()
        # Some 120 calls of mi.dll. Threads that happen to be there have open files, too.
        self.assertLess(scenarios_test.open_files(self.daemon.pid), before + 40)

    def one_cycle(self):
        self.map()
        self.unmap()
        self.assert_not_mapped()


class Automatic(share_cases.ShareCases, scenarios_test.ServiceTest):
    """Without the testbed's mpr.dll there is no WNetAddConnection4W, and mi.dll is taken by itself."""

    route = "auto"
    QUERY, ADD, REMOVE = Shares.QUERY, Shares.ADD, Shares.REMOVE

    def setUp(self):
        library = cases.BED.prefix / "drive_c" / "windows" / "system32" / "mpr.dll"
        hidden = library.with_suffix(".hidden")
        if hidden.exists():  # a run before this one was ended
            hidden.replace(library)
        library.rename(hidden)
        self.addCleanup(hidden.rename, library)
        super().setUp()

    # There is no try_credentials without mpr.dll either: what works is kept, whoever has mapped it.
    test_the_mapping_of_somebody_else = None
    test_new_credentials_are_taken_over = None
    test_a_password_that_is_rotated_on_two_shares = None

    def test_wrong_credentials_do_not_end_a_mapping(self):
        self.map()
        with self.fails(None, "cannot be tried", "is kept"):
            self.map(password=NEW_PASSWORD)
        self.assert_mapped()
        self.assertEqual(self.count(self.REMOVE), 0)

    def test_it_says_so(self):
        self.map()
        self.assertGreater(self.count(self.ADD), 0)
        self.assertIn("Global mappings are made through mi.dll", self.whole_log())

    def test_what_others_have_mapped_is_kept(self):
        self.share("map", ROOT, user=USER, password=PASSWORD)
        self.map()
        self.assert_mapped()
        with self.fails(None, "is kept"):
            self.map(ROOT, None, None)
        self.assertEqual(self.count(self.REMOVE), 0)


if __name__ == "__main__":
    cases.main(sys.modules[__name__], lambda parser: parser.add_argument(
        "--exe", help="csi-proxy-testbed.exe unless another one is given"))
