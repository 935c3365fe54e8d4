# SPDX-License-Identifier: Apache-2.0
"""What csi-proxy's SMB group does with shares, whichever way to global mappings it goes. A module of tests
makes a class of ShareCases and scenarios_test.ServiceTest, and says how the calls of its way are called."""

import shutil
import time
import urllib.parse

import cases
import testbed
from scenarios_test import CallFailed

ROOT = "\\\\files\\share"
OTHER_ROOT = "\\\\files\\other"
USER = "CONTOSO\\us:er"
PASSWORD = "p:w\\ 7Qz=%"
NEW_PASSWORD = "n:w\\ 8Xy=%"
KUBELET = "C:\\var\\lib\\kubelet\\csi-testbed"
HANG_DEADLINES_MS = (1500, 20000)  # of a call that is made to hang; the first may be over before it does
BEGIN_S = 5  # until a call of the system begins whose caller has gone
RECOVERY_S = 60  # until a call that was given up has really ended
LOG_S = 30  # until a line of the log has arrived
POLL_S = 0.05


class ShareCases:
    """Tests; each begins with one share that USER may use."""

    limit_s = 600
    route = None  # of -smb-route
    QUERY = ADD = REMOVE = None  # names of calls, for faults and counters

    def setUp(self):
        super().setUp()
        self.add_share(ROOT)
        folder = self.folder()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)

    def flags(self):
        return (f"-smb-route={self.route}", "-v=5")

    def executable(self):
        """With links, and with a server that can be asked about credentials."""
        return cases.SETTINGS.exe or self.bed.build.with_links

    # ---- The network.

    def folder(self):
        return self.bed.prefix.joinpath("drive_c", *KUBELET.split("\\")[1:])

    def add_share(self, root, user=USER, password=PASSWORD, **keys):
        self.bed.add_share(root, user=user, password=password, **keys)

    def share(self, verb, root, **keys):
        """`share set`, or `share map`: a mapping that this service has not made, or not since its start."""
        words = [f"share {verb} root={testbed.escape(root)}"]
        self.bed.command(" ".join(words + [f"{key}={testbed.escape(value)}" for key, value in keys.items()]))

    def mapping(self, root=ROOT):
        """The words of `share list` for a share; None when it is not mapped."""
        for listed, words in self.bed.shares().items():
            if urllib.parse.unquote(listed) == root:
                return words if words["mapped"] == "1" else None
        return None

    def assert_mapped(self, root=ROOT):
        self.assertIsNotNone(self.mapping(root), f"{root} is not mapped")

    def assert_not_mapped(self, root=ROOT):
        self.assertIsNone(self.mapping(root), f"{root} is mapped")

    def count(self, call):
        return self.bed.network_counters().get(call, 0)

    def fault(self, call, action):
        self.bed.network_fault(f"call={call} {action}")

    # ---- The calls.

    def map(self, root=ROOT, user=USER, password=PASSWORD, link=None, **keys):
        arguments = [root, user or "-", password or "-"]
        return self.call("NewSmbGlobalMapping", *arguments + ([link] if link else []), **keys)

    def unmap(self, root=ROOT):
        return self.call("RemoveSmbGlobalMapping", root)

    def fails(self, number, *parts):
        """A block that ends in an error with this Win32 number (None: any), without a password in it."""
        return _Failure(self, number, parts)

    def whole_log(self):
        """The log, complete up to now: a line arrives a moment after what it tells of."""
        end = time.monotonic() + LOG_S
        self.unmap("\\\\nobody\\marker")
        while time.monotonic() < end:
            log = "\n".join(self.daemon.log())
            if "marker" in log:
                return log
            time.sleep(POLL_S)
        return self.fail(f"the log ends here: {self.daemon.log()[-5:]}")

    def assert_no_secrets(self):
        log = self.whole_log()
        self.assertIn("NewSmbGlobalMapping", log)
        for secret in (PASSWORD, NEW_PASSWORD):
            self.assertNotIn(secret, log)
            self.assertNotIn(secret.replace("\\", "\\\\"), log)

    # ---- Mapping and unmapping.

    def test_map_and_unmap(self):
        self.map()
        self.assert_mapped()
        self.assertEqual(self.mapping()["privacy"], "1")
        self.unmap()
        self.assert_not_mapped()
        self.assert_no_secrets()

    def test_every_spelling_is_one_mapping(self):
        for spelling in ("\\\\files\\share", "//FILES/Share/", "\\\\Files\\SHARE\\sub\\dir"):
            self.map(spelling)
        self.assertEqual(self.count(self.REMOVE), 0)
        self.unmap("//Files/share")
        self.assert_not_mapped()

    def test_a_share_that_is_not_mapped_is_unmapped(self):
        self.unmap()
        self.unmap("\\\\nobody\\knows")

    def test_without_credentials(self):
        self.bed.add_share(OTHER_ROOT)
        self.map(OTHER_ROOT, None, None)
        self.assert_mapped(OTHER_ROOT)
        with self.fails(5):
            self.map(ROOT, None, None)

    def test_a_name_with_quotes(self):
        root = "\\\\files\\it's"
        self.add_share(root)
        self.map(root)
        self.map(root)
        self.assert_mapped(root)
        self.unmap(root)
        self.assert_not_mapped(root)

    # ---- Servers that refuse.

    def test_a_wrong_password(self):
        with self.fails(86, "NewSmbGlobalMapping failed", "check username and password"):
            self.map(password=NEW_PASSWORD)
        with self.fails(1326):
            self.map(user="nobody")
        self.assert_not_mapped()
        self.assert_no_secrets()

    def test_a_server_that_is_away(self):
        with self.fails(53):
            self.map("\\\\nowhere\\share")
        self.share("set", ROOT, state="down")
        with self.fails(53):
            self.map()
        self.share("set", ROOT, state="up")
        self.map()

    def test_a_share_that_is_gone(self):
        self.add_share(OTHER_ROOT)
        self.share("set", ROOT, state="gone")
        with self.fails(67):
            self.map()

    def test_a_server_without_encryption(self):
        self.share("set", ROOT, privacy="unsupported")
        with self.fails(65, "-require-privacy=false"):
            self.map()
        self.assert_not_mapped()

    # ---- Mappings that are there.

    def test_again_is_kept(self):
        self.map()
        added = self.count(self.ADD)
        self.map()
        self.assertEqual(self.count(self.ADD), added)
        self.assertEqual(self.count(self.REMOVE), 0)

    def test_new_credentials_are_taken_over(self):
        self.map()
        self.share("set", ROOT, password=NEW_PASSWORD)
        self.map(password=NEW_PASSWORD)
        self.assert_mapped()
        self.assertEqual(self.count(self.REMOVE), 1)
        self.map(password=NEW_PASSWORD)
        self.assertEqual(self.count(self.REMOVE), 1)
        self.assert_no_secrets()

    def test_a_password_that_is_rotated_on_two_shares(self):
        """One session for both: the mappings that are there are kept, and can be made anew one after the other."""
        self.add_share(OTHER_ROOT)
        self.map()
        self.map(OTHER_ROOT)
        for root in (ROOT, OTHER_ROOT):
            self.share("set", root, password=NEW_PASSWORD)
        for root in (ROOT, OTHER_ROOT):
            self.map(root, password=NEW_PASSWORD)
        self.assertEqual(self.count(self.REMOVE), 0)
        self.unmap(OTHER_ROOT)
        self.map(password=NEW_PASSWORD)
        self.assertEqual(self.count(self.REMOVE), 2)
        self.map(OTHER_ROOT, password=NEW_PASSWORD)
        self.assert_mapped()
        self.assert_mapped(OTHER_ROOT)

    def test_two_users_on_one_server(self):
        self.add_share(OTHER_ROOT, user="somebody")
        self.map()
        with self.fails(1219):
            self.map(OTHER_ROOT, user="somebody")
        self.assert_mapped()
        self.assert_not_mapped(OTHER_ROOT)

    def test_without_credentials_over_a_mapping(self):
        self.map()
        with self.fails(None, "RemoveSmbGlobalMapping first", "is kept"):
            self.map(ROOT, None, None)
        self.assert_mapped()
        self.assertEqual(self.count(self.REMOVE), 0)

    def test_wrong_credentials_do_not_end_a_mapping(self):
        self.map()
        with self.fails(86):
            self.map(password=NEW_PASSWORD)
        self.assert_mapped()
        self.assertEqual(self.count(self.REMOVE), 0)

    def test_the_mapping_of_somebody_else(self):
        self.share("map", ROOT, user=USER, password=PASSWORD)
        self.map()
        self.map()
        self.assert_mapped()
        self.assertEqual(self.count(self.REMOVE), 0)
        with self.fails(86):
            self.map(password=NEW_PASSWORD)
        self.assert_mapped()

    def test_a_broken_mapping_can_be_ended(self):
        self.map()
        self.share("set", ROOT, state="disconnected")
        self.unmap()
        self.assert_not_mapped()

    # ---- Links.

    def test_a_link(self):
        self.map(ROOT + "\\sub", link=KUBELET + "\\link")
        self.map(ROOT + "\\sub", link=KUBELET + "\\link")
        self.assert_mapped()

    def test_what_cannot_have_a_link_is_not_left_mapped(self):
        with self.fails(None, "creating link"):
            self.map(link=KUBELET + "\\missing\\link")
        self.assert_not_mapped()
        with self.fails(None, "not within the working directories"):
            self.map(link="C:\\elsewhere\\link")
        self.assert_not_mapped()

    # ---- Calls that fail and hang.

    def test_failing_calls(self):
        self.fault(self.QUERY, "error=5")  # a hint that is missing
        self.map()
        self.assert_mapped()
        self.unmap()
        self.fault(self.ADD, "error=1312")
        with self.fails(1312):
            self.map()
        self.assert_not_mapped()
        self.map()
        self.fault(self.REMOVE, "error=2404")
        with self.fails(2404):
            self.unmap()
        self.assert_mapped()
        self.unmap()
        self.assert_not_mapped()

    def test_a_mapping_that_hangs(self):
        self.add_share(OTHER_ROOT)
        self.fault(self.ADD, "hang")
        self.hangs(self.map, self.ADD)
        self.map(OTHER_ROOT)
        self.bed.command("network fault clear")
        self.recovers(self.map)
        self.assert_mapped()

    def test_an_unmapping_that_hangs(self):
        self.map()
        self.fault(self.REMOVE, "hang")
        self.hangs(self.unmap, self.REMOVE)
        self.bed.command("network fault clear")
        self.recovers(self.unmap)
        self.assert_not_mapped()

    def hangs(self, call, name):
        """The call must be over at its deadline, and leave a call of that name behind that hangs. That one may
        also have begun late, and be the reason why the second call is refused."""
        before = self.count(name)
        for attempt, deadline_ms in enumerate(HANG_DEADLINES_MS):
            self.deadline(deadline_ms)
            with self.assertRaises(CallFailed) as caught:
                call()
            if attempt == 0 or caught.exception.precise != "UNAVAILABLE":
                self.assertEqual(caught.exception.code, "DEADLINE_EXCEEDED")
            self.deadline(60 * 1000)
            if self.has_begun(name, before):
                return
        self.fail(f"{name} was never called")

    def has_begun(self, name, before):
        end = time.monotonic() + BEGIN_S
        while self.count(name) == before:
            if time.monotonic() > end:
                return False
            time.sleep(POLL_S)
        return True

    def recovers(self, call):
        """The call is refused while the one that hung has not returned, and not longer."""
        end = time.monotonic() + RECOVERY_S
        while True:
            try:
                return call()
            except CallFailed as failure:
                if failure.precise != "UNAVAILABLE" or time.monotonic() > end:
                    raise
            time.sleep(POLL_S)


class _Failure:
    def __init__(self, test, number, parts):
        self._test, self._number, self._parts = test, number, parts

    def __enter__(self):
        return self

    def __exit__(self, kind, failure, _):
        if kind is None:
            self._test.fail("nothing has failed")
        if not issubclass(kind, CallFailed):
            return False
        if self._number is not None:
            self._test.assertIn(f"Win32 error {self._number} ", failure.text)
        for part in self._parts:
            self._test.assertIn(part, failure.text)
        for secret in (PASSWORD, NEW_PASSWORD):
            self._test.assertNotIn(secret, failure.text)
        return True
