#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""iscsi_test.py [--build DIR] [--exe EXE] [CLASS.test ...]: csi-proxy.exe's iSCSI group against the stand-in
iscsidsc.dll, whose targets have disks of the testbed."""

import sys
import time

import cases
import scenarios_test
import testbed
from cases import verify_gpt
from scenarios_test import CallFailed, Scenario

PORTAL = "192.0.2.10:3260"
OTHER_PORTAL = "portal.example:3261"
USER, SECRET, MUTUAL = "chap-user", "one-way-secret", "mutual-secret-1"
WRONG = "wrong-secret-13"
SECRETS = (SECRET, MUTUAL, WRONG)

NON_SPECIFIC = 0xEFFF0001
AUTHENTICATION_FAILURE = 0xEFFF0009
SERVICE_NOT_RUNNING = 0xEFFF003E
DEVICE_BUSY = 0xEFFF0040
BUFFER_TOO_SMALL = 0xEFFF0054
SHORT_MS = 1500  # deadline of calls that are made to hang
PATIENCE_S = 60  # for what needs no time


def iqn(name):
    return f"iqn.2004-10.com.example:{name}"


class IscsiTest(scenarios_test.ServiceTest):
    """With targets."""

    limit_s = 300

    def add_target(self, name="one", portal=PORTAL, luns=(1,), flags="", **keys):
        """A target with LUNs that will be the disks of these numbers; returns its name."""
        name = iqn(name)
        words = "".join(f" {key.replace('_', '-')}={testbed.escape(value)}" for key, value in keys.items())
        self.bed.command(f"target add iqn={name} portal={portal}{words}")
        for number in luns:
            file = testbed.escape(testbed.windows_path(self.bed.image(number)))
            self.bed.command(f"target lun iqn={name} number={number} size=64M file={file} {flags}")
        return name

    def add_known_target(self, *arguments, **keys):
        """The same, and its portal is registered."""
        name = self.add_target(*arguments, **keys)
        self.call("AddTargetPortal", keys.get("portal", PORTAL))
        return name

    def connect(self, name, *chap, portal=PORTAL, client=None):
        self.call("ConnectTarget", portal, name, *chap, client=client)

    def disconnect(self, name, portal=PORTAL):
        self.call("DisconnectTarget", portal, name)

    def target_disks(self, name, portal=PORTAL):
        return [int(words["disk"]) for words in self.call("GetTargetDisks", portal, name)]

    def discovered(self, portal=PORTAL):
        return sorted(words["iqn"] for words in self.call("DiscoverTargetPortal", portal))

    def portals(self):
        return [words["portal"] for words in self.call("ListTargetPortals")]

    def sessions(self):
        return [testbed.parse_words(line) for line in self.bed.command("session list")]

    def library_calls(self):
        """{name: how often} of the calls of iscsidsc.dll."""
        found = [testbed.parse_words(line) for line in self.bed.command("network counters")]
        return {words["call"]: int(words["count"]) for words in found}

    def library_fault(self, words):
        self.bed.command("network fault add " + words)

    def clear_library_faults(self):
        self.bed.command("network fault clear")

    def refusal(self, precise, number, rpc, *arguments, client=None):
        """The RPC must fail with this code and this number, None for any, and tell no secret. Returns the
        error."""
        with self.assertRaises(CallFailed) as caught:
            self.call(rpc, *arguments, client=client)
        failure = caught.exception
        self.assertEqual(failure.precise, precise, failure)
        if number is not None:
            self.assertEqual(int(failure.number), number, failure)
        for secret in SECRETS:
            self.assertNotIn(secret, str(failure))
        return failure

    def wait_for_calls(self, name, count):
        """Until iscsidsc.dll has been called that often."""
        self.wait_until(lambda: self.library_calls().get(name, 0) >= count, f"{name} is not called")

    def wait_until(self, condition, problem):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), end, problem)
            time.sleep(0.02)

    def call_when_free(self, rpc, *arguments, client=None):
        """The RPC; waits for what was given up on the same target or portal and goes on."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return super().call(rpc, *arguments, client=client)
            except CallFailed as failure:
                if "has not returned for" not in failure.text or time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def start_again(self):
        """After the service has died."""
        self.client.kill()
        self.daemon = self.bed.daemon(self.executable())
        self.client = self.bed.calls(self.daemon)


class Flow(IscsiTest):
    def test_as_longhorn_does(self):
        """From a portal that nobody knows to a partitioned disk, and back."""
        name = self.add_target(flags="offline readonly")
        self.refusal("NOT_FOUND", 0, "DiscoverTargetPortal", PORTAL)
        self.call("AddTargetPortal", PORTAL)
        self.assertEqual(self.discovered(), [name])
        self.assertEqual(self.bed.disks(), {})
        self.connect(name)
        self.assertEqual(self.target_disks(name), [1])
        self.call("SetDiskState", 1, "online")
        self.call("PartitionDisk", 1)
        self.assertEqual(len(self.volume_ids(1)), 1)
        self.assertEqual([found.code for found in verify_gpt(self.bed.image(1))][-1:], ["0700"])
        self.assertEqual(self.call("ListDiskLocations")[0]["disk"], "1")
        self.disconnect(name)
        self.assertEqual(self.bed.disks(), {})
        self.assertEqual(self.sessions(), [])
        self.assertEqual(self.target_disks(name), [])
        # What was written is there the next time.
        self.connect(name)
        self.assertEqual(self.target_disks(name), [1])
        self.call("SetDiskState", 1, "online")
        self.bed.wait_for_volumes(1)
        self.assertEqual(len(self.volume_ids(1)), 1)
        self.disconnect(name)
        self.call("RemoveTargetPortal", PORTAL)
        self.assertEqual(self.portals(), [])

    def test_everything_twice(self):
        name = self.add_target()
        for _ in range(2):
            self.call("AddTargetPortal", PORTAL)
        self.assertEqual(self.portals(), [PORTAL])
        for _ in range(2):
            self.connect(name)
        self.assertEqual(self.library_calls()["LoginIScsiTargetW"], 1)
        self.assertEqual(len(self.sessions()), 1)
        for _ in range(2):
            self.disconnect(name)
        for _ in range(2):
            self.call("RemoveTargetPortal", PORTAL)

    def test_each_portal_has_its_own_targets(self):
        one = self.add_known_target("one")
        two = self.add_known_target("two", portal=OTHER_PORTAL, luns=(2,))
        self.assertEqual(self.discovered(), [one])
        self.assertEqual(self.discovered(OTHER_PORTAL), [two])
        self.refusal("NOT_FOUND", None, "ConnectTarget", PORTAL, two)
        self.connect(two, portal=OTHER_PORTAL)
        self.assertEqual(self.target_disks(two, OTHER_PORTAL), [2])
        self.assertEqual(sorted(self.portals()), sorted([PORTAL, OTHER_PORTAL]))

    def test_a_target_that_is_newer_than_the_discovery(self):
        self.add_known_target("one")
        two = self.add_target("two", luns=(2,))
        self.connect(two)
        self.assertEqual(self.target_disks(two), [2])

    def test_a_target_that_goes(self):
        name = self.add_known_target()
        self.connect(name)
        self.bed.command(f"target remove iqn={name}")
        self.assertEqual(self.bed.disks(), {})
        self.assertEqual(self.target_disks(name), [])
        self.disconnect(name)

    def test_a_portal_that_does_not_answer(self):
        failure = self.refusal("UNAVAILABLE", 0xEFFF0003, "AddTargetPortal", PORTAL)
        self.assertIn("AddIScsiSendTargetPortalW", failure.text)
        self.assertIn("192.0.2.10:3260", failure.text)
        name = self.add_known_target()
        self.bed.command(f"target set iqn={name} down=1")
        self.refusal("UNAVAILABLE", 0xEFFF0003, "ConnectTarget", PORTAL, name)
        self.bed.command(f"target set iqn={name} down=0")
        self.connect(name)

    def test_a_disk_that_comes_late(self):
        name = self.add_known_target(disk_delay=700)
        self.connect(name)
        self.assertEqual(self.target_disks(name), [1])
        self.bed.command("wait-disks 1")

    def test_several_luns(self):
        name = self.add_known_target(luns=(3, 1, 2))
        self.connect(name)
        self.assertEqual(sorted(self.target_disks(name)), [1, 2, 3])
        self.disconnect(name)
        self.assertEqual(self.bed.disks(), {})

    def test_a_busy_disk(self):
        name = self.add_known_target()
        self.connect(name)
        self.library_fault(f"call=LogoutIScsiTarget count=0 error={DEVICE_BUSY:#x}")
        failure = self.refusal("FAILED_PRECONDITION", DEVICE_BUSY, "DisconnectTarget", PORTAL, name)
        self.assertIn("SetDiskState", failure.text)
        self.assertEqual(self.target_disks(name), [1])
        self.clear_library_faults()
        self.library_fault(f"call=LogoutIScsiTarget error={DEVICE_BUSY:#x}")  # for a moment
        self.disconnect(name)
        self.assertEqual(self.sessions(), [])

    def test_a_target_whose_discovery_is_unknown(self):
        """It is listed, and keeps nobody from the others."""
        one = self.add_target("one")
        two = self.add_target("two", luns=(2,))
        self.call("AddTargetPortal", PORTAL)
        self.library_fault(f"call=GetIScsiTargetInformationW error={NON_SPECIFIC:#x}")
        self.assertEqual(self.discovered(), [one, two])
        self.library_fault(f"call=GetIScsiTargetInformationW error={NON_SPECIFIC:#x}")
        self.connect(two)
        for number in (5, 1722):
            self.library_fault(f"call=GetIScsiTargetInformationW error={number}")
            failure = self.refusal("PERMISSION_DENIED" if number == 5 else "FAILED_PRECONDITION", number,
                                   "DiscoverTargetPortal", PORTAL)
            self.assertIn("GetIScsiTargetInformationW", failure.text)

    def test_lists_that_need_no_room_and_have_too_little(self):
        """For persistent logins, the library says so as long as there are none; for others briefly."""
        name = self.add_known_target()
        for call in ("ReportIScsiSendTargetPortalsExW", "ReportIScsiTargetsW", "GetIScsiTargetInformationW",
                     "GetIScsiSessionListW"):
            self.library_fault(f"call={call} error=122")
        self.connect(name)
        self.library_fault(f"call=GetDevicesForIScsiSessionW error={BUFFER_TOO_SMALL:#x}")
        self.assertEqual(self.target_disks(name), [1])
        self.library_fault("call=ReportIScsiPersistentLoginsW count=0 error=122")
        self.disconnect(name)
        self.assertEqual(self.sessions(), [])
        self.clear_library_faults()
        self.bed.command(f"session add iqn={name} persistent=1")
        self.library_fault("call=ReportIScsiPersistentLoginsW error=122")
        self.disconnect(name)
        self.connect(name)
        self.assertEqual(self.sessions()[0]["persistent"], "0")


class Sessions(IscsiTest):
    def test_all_of_them_end(self):
        name = self.add_known_target()
        other = self.add_target("two", luns=(2,))
        for _ in range(3):
            self.bed.command(f"session add iqn={name}")
        self.bed.command(f"session add iqn={other}")
        self.assertEqual(self.target_disks(name), [1])
        self.connect(name)
        self.assertNotIn("LoginIScsiTargetW", self.library_calls())
        self.disconnect(name)
        self.assertEqual([session["iqn"] for session in self.sessions()], [other])
        self.assertEqual(list(self.bed.disks()), [2])

    def test_a_persistent_login_is_forgotten(self):
        name = self.add_known_target()
        self.bed.command(f"session add iqn={name} persistent=1")
        self.assertEqual(self.sessions()[0]["persistent"], "1")
        self.disconnect(name)
        self.assertEqual(self.sessions(), [])
        self.connect(name)
        self.assertEqual(self.sessions()[0]["persistent"], "0")

    def test_a_session_without_connection(self):
        """It keeps its disks, but when it has none nobody takes that for what the target has."""
        one = self.add_known_target("one")
        none = self.add_target("none", luns=())
        for name in (one, none):
            self.bed.command(f"session add iqn={name} lost=1")
        self.assertEqual(self.target_disks(one), [1])
        failure = self.refusal("UNAVAILABLE", None, "GetTargetDisks", PORTAL, none)
        self.assertIn("lost its connection", failure.text)

    def test_logins_are_not_persistent(self):
        name = self.add_known_target()
        self.connect(name)
        self.assertEqual(self.sessions(), [{"iqn": name, "portal": PORTAL, "auth": "none", "user": "",
                                            "persistent": "0"}])


class ManyOfAll(IscsiTest):
    """More than fits the buffers that csi-proxy begins with."""

    limit_s = 600

    def test_portals(self):
        wanted = [f"192.0.2.{number}:3260" for number in range(1, 41)]
        for number, portal in enumerate(wanted):
            self.add_target(f"t{number}", portal=portal, luns=())
            self.call("AddTargetPortal", portal)
        self.assertEqual(self.portals(), wanted)

    def test_targets(self):
        wanted = sorted(self.add_target(f"{number:03}-" + "x" * 180, luns=()) for number in range(90))
        self.call("AddTargetPortal", PORTAL)
        self.assertEqual(self.discovered(), wanted)

    def test_sessions_and_logins(self):
        name = self.add_known_target()
        last = self.add_target("last", luns=(2,))
        for _ in range(40):
            self.bed.command(f"session add iqn={name} persistent=1")
        self.connect(last)
        self.assertEqual(self.target_disks(last), [2])
        self.disconnect(name)
        self.assertEqual([session["iqn"] for session in self.sessions()], [last])

    def test_a_list_that_never_fits(self):
        self.library_fault("call=ReportIScsiSendTargetPortalsExW count=0 error=122")
        failure = self.refusal("INTERNAL", 122, "ListTargetPortals")
        self.assertIn("ReportIScsiSendTargetPortalsExW", failure.text)
        self.assertLess(self.library_calls()["ReportIScsiSendTargetPortalsExW"], 20)
        self.clear_library_faults()
        self.assertEqual(self.portals(), [])

    def test_disks(self):
        numbers = list(range(1, 21))
        name = self.add_known_target(luns=numbers)
        self.connect(name)
        self.assertEqual(sorted(self.target_disks(name)), numbers)


class Chap(IscsiTest):
    def tearDown(self):
        super().tearDown()
        log = "\n".join(self.daemon.log())
        for secret in SECRETS:
            self.assertNotIn(secret, log)

    def wrong(self, name, *chap):
        failure = self.refusal("PERMISSION_DENIED", AUTHENTICATION_FAILURE, "ConnectTarget", PORTAL, name, *chap)
        self.assertIn("Authentication Failure", failure.text)
        self.assertEqual(self.sessions(), [])

    def test_one_way(self):
        name = self.add_known_target(chap_user=USER, chap_secret=SECRET)
        self.wrong(name)
        self.wrong(name, "chap", USER, WRONG)
        self.wrong(name, "chap", "somebody", SECRET)
        self.connect(name, "chap", USER, SECRET)
        self.assertEqual([(session["auth"], session["user"]) for session in self.sessions()], [("chap", USER)])
        self.assertEqual(self.target_disks(name), [1])

    def test_mutual(self):
        name = self.add_known_target(chap_user=USER, chap_secret=SECRET, mutual_secret=MUTUAL)
        self.wrong(name, "mutual", USER, SECRET)
        self.call("SetMutualChapSecret", WRONG)
        self.wrong(name, "mutual", USER, SECRET)
        self.call("SetMutualChapSecret", MUTUAL)
        self.wrong(name, "mutual", USER, WRONG)
        self.connect(name, "mutual", USER, SECRET)
        self.assertEqual(self.sessions()[0]["auth"], "mutual")

    def test_the_initiators_own_name(self):
        """Without a user, the initiator gives its name."""
        name = self.add_known_target(chap_user="iqn.1991-05.com.microsoft:testbed", chap_secret=SECRET)
        self.connect(name, "chap", "-", SECRET)
        self.assertEqual(self.sessions()[0]["auth"], "chap")

    def test_secrets_of_the_wrong_length(self):
        name = self.add_known_target(chap_user=USER, chap_secret=SECRET)
        for secret in ("-", "short", "a-secret-of-17-by"):
            self.refusal("INVALID_ARGUMENT", 0, "ConnectTarget", PORTAL, name, "chap", USER, secret)
            self.refusal("INVALID_ARGUMENT", 0, "SetMutualChapSecret", secret)
        self.assertNotIn("LoginIScsiTargetW", self.library_calls())
        self.assertNotIn("SetIScsiInitiatorCHAPSharedSecret", self.library_calls())


class Hanging(IscsiTest):
    """A call of iscsidsc.dll that does not return is given up at the deadline; as long as it goes on, others on
    the same target fail at once."""

    def give_up(self, name, rpc, *arguments):
        """Has the RPC hang in this call until its deadline."""
        def has_hung():
            self.refusal("DEADLINE_EXCEEDED", None, rpc, *arguments)
            return self.library_calls().get(name, 0) > before

        before = self.library_calls().get(name, 0)
        self.library_fault(f"call={name} hang")
        self.deadline(SHORT_MS)
        self.wait_until(has_hung, f"{name} has not been called")  # a busy machine may not come so far
        self.deadline(PATIENCE_S * 1000)

    def test_login(self):
        one = self.add_known_target("one")
        two = self.add_known_target("two", luns=(2,))
        self.give_up("LoginIScsiTargetW", "ConnectTarget", PORTAL, one)
        failure = self.refusal("UNAVAILABLE", None, "ConnectTarget", PORTAL, one)
        self.assertIn("LoginIScsiTargetW has not returned for", failure.text)
        self.assertIn(one, failure.text)
        self.connect(two)
        self.assertEqual(self.target_disks(two), [2])
        self.assertEqual(self.discovered(), [one, two])
        self.clear_library_faults()
        # The login that was given up succeeds after all.
        self.call_when_free("ConnectTarget", PORTAL, one)
        self.assertEqual(self.target_disks(one), [1])
        self.assertEqual([session["iqn"] for session in self.sessions()].count(one), 1)
        self.disconnect(one)

    def test_login_then_disconnect(self):
        """There is no session yet, but there may be one later."""
        name = self.add_known_target()
        self.give_up("LoginIScsiTargetW", "ConnectTarget", PORTAL, name)
        failure = self.refusal("UNAVAILABLE", None, "DisconnectTarget", PORTAL, name.upper().replace("IQN.", "iqn."))
        self.assertIn("LoginIScsiTargetW has not returned for", failure.text)
        self.assertEqual(self.sessions(), [])
        self.clear_library_faults()
        self.call_when_free("DisconnectTarget", PORTAL, name)
        self.assertEqual(self.sessions(), [])
        self.assertEqual(self.bed.disks(), {})

    def test_lists(self):
        """Lists change nothing: one that hangs refuses nobody, but several do."""
        name = self.add_known_target()
        self.connect(name)
        self.give_up("GetIScsiSessionListW", "DisconnectTarget", PORTAL, name)
        self.give_up("GetDevicesForIScsiSessionW", "GetTargetDisks", PORTAL, name)
        self.give_up("ReportIScsiSendTargetPortalsExW", "RemoveTargetPortal", PORTAL)
        self.assertEqual(self.portals(), [PORTAL])
        self.assertEqual(self.target_disks(name), [1])
        self.connect(name)
        for _ in range(3):
            self.give_up("GetIScsiSessionListW", "ConnectTarget", PORTAL, name)
        failure = self.refusal("UNAVAILABLE", None, "ConnectTarget", PORTAL, name)
        self.assertIn("GetIScsiSessionListW has not returned for", failure.text)
        self.assertEqual(self.portals(), [PORTAL])
        self.clear_library_faults()
        self.call_when_free("DisconnectTarget", PORTAL, name)

    def test_a_slow_target(self):
        name = self.add_known_target()
        self.bed.command(f"target set iqn={name} login-delay=2000")
        self.connect(name)
        self.assertEqual(self.target_disks(name), [1])

    def test_logout(self):
        name = self.add_known_target()
        self.connect(name)
        self.give_up("LogoutIScsiTarget", "DisconnectTarget", PORTAL, name)
        self.refusal("UNAVAILABLE", None, "DisconnectTarget", PORTAL, name)
        # The session is still there, but will not be for long.
        self.refusal("UNAVAILABLE", None, "ConnectTarget", PORTAL, name)
        self.clear_library_faults()
        self.call_when_free("DisconnectTarget", PORTAL, name)
        self.assertEqual(self.sessions(), [])
        self.assertEqual(self.bed.disks(), {})

    def test_a_portal_holds_up_no_other(self):
        self.add_target("one")
        two = self.add_target("two", portal=OTHER_PORTAL, luns=(2,))
        self.give_up("AddIScsiSendTargetPortalW", "AddTargetPortal", PORTAL)
        self.refusal("UNAVAILABLE", None, "AddTargetPortal", PORTAL)
        self.refusal("UNAVAILABLE", None, "RemoveTargetPortal", PORTAL)
        self.call("AddTargetPortal", OTHER_PORTAL)
        self.connect(two, portal=OTHER_PORTAL)
        self.clear_library_faults()
        self.call_when_free("AddTargetPortal", PORTAL)


ALL_RPCS = [
    ("AddTargetPortal", PORTAL), ("DiscoverTargetPortal", PORTAL), ("RemoveTargetPortal", PORTAL),
    ("ListTargetPortals",), ("ConnectTarget", PORTAL, "iqn"), ("DisconnectTarget", PORTAL, "iqn"),
    ("GetTargetDisks", PORTAL, "iqn"), ("SetMutualChapSecret", MUTUAL),
]


class ServiceStopped(IscsiTest):
    def test_every_rpc_says_so(self):
        name = self.add_known_target()
        for error in (1722, 1753, 1062, SERVICE_NOT_RUNNING):
            self.bed.command(f"initiator set running=0 error={error}")
            for rpc, *arguments in ALL_RPCS:
                with self.subTest(rpc=rpc, error=error):
                    arguments = [name if argument == "iqn" else argument for argument in arguments]
                    failure = self.refusal("FAILED_PRECONDITION", error, rpc, *arguments)
                    self.assertIn("MSiSCSI is not running", failure.text)
                    self.assertIn("start it", failure.text)
        self.bed.command("initiator set running=1")
        self.connect(name)
        self.assertEqual(self.target_disks(name), [1])

    def test_sessions_outlive_the_service(self):
        name = self.add_known_target()
        self.connect(name)
        self.bed.command("initiator set running=0")
        self.refusal("FAILED_PRECONDITION", None, "DisconnectTarget", PORTAL, name)
        self.assertEqual(list(self.bed.disks()), [1])
        self.bed.command("initiator set running=1")
        self.disconnect(name)


# ---- Each call failing and hanging.


def portal_arguments(test):
    test.add_target()
    return (PORTAL,)


def registered_arguments(test):
    test.add_known_target()
    return (PORTAL,)


def target_arguments(test):
    return PORTAL, test.add_known_target()


def newer_target_arguments(test):
    test.add_known_target("zero", luns=())
    return PORTAL, test.add_target()


def connected_arguments(test):
    portal, name = target_arguments(test)
    test.connect(name)
    return portal, name


def persistent_arguments(test):
    portal, name = target_arguments(test)
    test.bed.command(f"session add iqn={name} persistent=1")
    test.bed.command(f"session add iqn={name}")
    return portal, name


def portal_is_registered(test, _):
    test.assertEqual(test.portals(), [PORTAL])


def portal_is_gone(test, _):
    test.assertEqual(test.portals(), [])


def target_is_connected(test, _):
    test.assertEqual([session["iqn"] for session in test.sessions()], [iqn("one")])
    test.assertEqual(list(test.bed.disks()), [1])


def target_is_not_connected(test, _):
    test.assertEqual(test.sessions(), [])
    test.assertEqual(test.bed.disks(), {})


def target_is_listed(test, words):
    test.assertEqual([item["iqn"] for item in words], [iqn("one")])


def disk_is_listed(test, words):
    test.assertEqual([item["disk"] for item in words], ["1"])


SCENARIOS = [
    Scenario("AddTargetPortal", "AddTargetPortal", portal_arguments, portal_is_registered),
    Scenario("AddTargetPortal again", "AddTargetPortal", registered_arguments, portal_is_registered),
    Scenario("DiscoverTargetPortal", "DiscoverTargetPortal", registered_arguments, target_is_listed),
    Scenario("RemoveTargetPortal", "RemoveTargetPortal", registered_arguments, portal_is_gone),
    Scenario("ListTargetPortals", "ListTargetPortals", lambda test: registered_arguments(test)[:0],
             lambda test, words: test.assertEqual(words, [{"portal": PORTAL}])),
    Scenario("ConnectTarget", "ConnectTarget", target_arguments, target_is_connected),
    Scenario("ConnectTarget new", "ConnectTarget", newer_target_arguments, target_is_connected),
    Scenario("ConnectTarget again", "ConnectTarget", connected_arguments, target_is_connected),
    Scenario("DisconnectTarget", "DisconnectTarget", connected_arguments, target_is_not_connected),
    Scenario("DisconnectTarget of others'", "DisconnectTarget", persistent_arguments, target_is_not_connected),
    Scenario("GetTargetDisks", "GetTargetDisks", connected_arguments, disk_is_listed),
    Scenario("SetMutualChapSecret", "SetMutualChapSecret", lambda test: (MUTUAL,),
             lambda test, _: test.assertIn("mutual-secret=1", test.bed.command("initiator list")[0])),
]


class FaultMatrix(IscsiTest):
    """Each call of iscsidsc.dll of each RPC made to fail and to hang, one at a time; the repeated RPC
    succeeds."""

    limit_s = 1800

    def test_matrix(self):
        rows = []
        for scenario in SCENARIOS:
            for name, times in self.calls_of(scenario).items():
                for nth in range(1, times + 1):
                    with self.subTest(scenario=scenario.name, call=name, nth=nth):
                        rows.append((scenario.name, name, nth, self.failing(scenario, name, nth),
                                     self.hanging(scenario, name, nth)))
        cases.table("Each call of iscsidsc.dll failing and hanging, one at a time; the repeated RPC succeeded",
                    ("RPC", "call", "n-th", "when it fails", "when it hangs"), rows)
        self.assertGreater(len(rows), 20)

    def call(self, rpc, *arguments, client=None):
        return self.call_when_free(rpc, *arguments, client=client)

    def begin(self, scenario):
        self.bed.reset()
        for image in self.bed.images.iterdir():
            image.unlink()
        return scenario.prepare(self)

    def calls_of(self, scenario):
        """{name: how often} of what the RPC calls when nothing goes wrong."""
        arguments = self.begin(scenario)
        before = self.library_calls()
        words = self.call(scenario.rpc, *arguments)
        after = self.library_calls()
        scenario.check(self, words)
        counts = {name: count - before.get(name, 0) for name, count in after.items()}
        return {name: min(count, scenarios_test.NTH_MAX) for name, count in counts.items() if count > 0}

    def failing(self, scenario, name, nth):
        arguments = self.begin(scenario)
        self.library_fault(f"call={name} nth={nth} error={NON_SPECIFIC:#x}")
        try:
            scenario.check(self, self.call(scenario.rpc, *arguments))
            outcome = scenarios_test.DONE
        except CallFailed as failure:
            self.assertEqual(int(failure.number), NON_SPECIFIC, failure)
            self.assertIn(name, failure.text)
            outcome = f"{failure.precise}"
        self.clear_library_faults()
        scenario.check(self, self.call(scenario.rpc, *arguments))
        return outcome

    def hanging(self, scenario, name, nth):
        arguments = self.begin(scenario)
        self.library_fault(f"call={name} nth={nth} hang")
        self.deadline(SHORT_MS)
        self.refusal("DEADLINE_EXCEEDED", None, scenario.rpc, *arguments)
        self.deadline(PATIENCE_S * 1000)
        self.clear_library_faults()
        scenario.check(self, self.call(scenario.rpc, *arguments))
        return "DEADLINE_EXCEEDED"


class Crashes(IscsiTest):
    """The service dies at a call of iscsidsc.dll; a new one finishes the work."""

    limit_s = 600

    def die_at(self, name, rpc, *arguments):
        before = self.library_calls().get(name, 0)
        self.library_fault(f"call={name} hang")
        caller = self.in_background(rpc, *arguments)
        self.wait_for_calls(name, before + 1)
        self.daemon.kill()
        caller.join()
        self.assertIsInstance(caller.failure, CallFailed)
        self.clear_library_faults()
        self.start_again()
        self.call(rpc, *arguments)

    def test_login(self):
        name = self.add_known_target(chap_user=USER, chap_secret=SECRET)
        self.die_at("LoginIScsiTargetW", "ConnectTarget", PORTAL, name, "chap", USER, SECRET)
        self.assertEqual(len(self.sessions()), 1)
        self.assertEqual(self.target_disks(name), [1])

    def test_after_the_login(self):
        """The session is there, and the new service takes it for its own."""
        name = self.add_known_target(disk_delay=300)
        self.connect(name)
        self.daemon.kill()
        self.start_again()
        self.connect(name)
        self.assertEqual(self.library_calls()["LoginIScsiTargetW"], 1)
        self.assertEqual(self.target_disks(name), [1])

    def test_logout(self):
        name = self.add_known_target()
        self.bed.command(f"session add iqn={name} persistent=1")
        self.die_at("LogoutIScsiTarget", "DisconnectTarget", PORTAL, name)
        self.assertEqual(self.sessions(), [])
        self.assertEqual(self.bed.disks(), {})

    def test_discovery(self):
        name = self.add_target()
        self.die_at("AddIScsiSendTargetPortalW", "AddTargetPortal", PORTAL)
        self.die_at("RefreshIScsiSendTargetPortalW", "DiscoverTargetPortal", PORTAL)
        self.assertEqual(self.discovered(), [name])


class Testbed(IscsiTest):
    """The stand-in itself."""

    def test_reset_takes_everything_away(self):
        for reset in ("network reset", "reset"):
            name = self.add_known_target()
            self.connect(name)
            self.bed.command(reset)
            for listing in ("disk list", "target list", "session list", "network counters"):
                self.assertEqual(self.bed.command(listing), [])
            self.assertEqual(self.bed.command("initiator list"), ["running=1 mutual-secret=0"])

    def test_refused_commands(self):
        for line in ("target add iqn=x", "target lun iqn=iqn.none number=1 size=1M file=x", "session add",
                     "initiator set running=perhaps", "session remove"):
            self.refused(line)


if __name__ == "__main__":
    cases.main(sys.modules[__name__], lambda parser: parser.add_argument(
        "--exe", help="another executable than the shipped one"))
