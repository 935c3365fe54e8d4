#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The metrics endpoint of csi-proxy.exe, read as Prometheus reads it. Usage: see harness.main()."""

import gzip
import http.client
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
import harness  # noqa: E402
from harness import Settings, WineTest, run, testtool  # noqa: E402

EXIT_CONFIG = 2
EXIT_START = 3


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def value(text, series):
    """The value of one series, as text; None when there is none."""
    found = re.search("^" + re.escape(series) + r" (\S+)$", text, re.MULTILINE)
    return found and found.group(1)


class Metrics(WineTest):
    def serve(self, address="127.0.0.1:0"):
        daemon = self.daemon("-metrics-bind-address=" + address, ready=False)
        line = daemon.wait_for_line("Metrics are served at http://")
        self.port = int(re.search(r":(\d+)/metrics", line).group(1))
        daemon.wait_for_line("] Serving 23 ")
        return daemon

    def ask(self, path="/metrics", method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.WAIT_S)
        self.addCleanup(connection.close)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer, answer.read()

    def text(self):
        answer, body = self.ask()
        self.assertEqual(answer.status, 200)
        return body.decode()

    def call(self, *arguments):
        ctl = str(pathlib.Path(Settings.exe).parents[2] / "client" / "ctl" / "csi-proxyctl.exe")
        return run(ctl, "-pipe-prefix=" + self.prefix, "call", *arguments)

    def test_calls_are_counted(self):
        self.serve("localhost:%d" % free_port())
        self.assertNotIn("grpc_server_", self.text())
        done = self.call("filesystem", "v1", "PathExists", '{"path": "C:\\\\var\\\\lib\\\\kubelet\\\\no"}')
        self.assertEqual(done.code, 0, done)
        # Nothing is there to be linked to, so this fails; the original's test looks for the literal below.
        done = self.call("filesystem", "v1", "CreateSymlink",
                         '{"source_path": "C:\\\\var\\\\lib\\\\kubelet\\\\no",'
                         ' "target_path": "C:\\\\var\\\\lib\\\\kubelet\\\\nor\\\\this"}')
        self.assertEqual(done.code, 1, done)
        text = self.text()
        self.assertIn('grpc_server_handling_seconds_bucket{grpc_method="CreateSymlink"', text)
        link = 'grpc_method="CreateSymlink",grpc_service="v1.Filesystem",grpc_type="unary"}'
        exists = 'grpc_method="PathExists",grpc_service="v1.Filesystem",grpc_type="unary"}'
        pipe = '{group="filesystem",version="v1"}'
        nt_call = 'csi_proxy_windows_call_duration_seconds_count{call="NtCreateFile"}'
        for series, expected in [
                ('grpc_server_handled_total{grpc_code="Unknown",' + link, "1"),
                ('grpc_server_handled_total{grpc_code="OK",' + exists, "1"),
                ("grpc_server_started_total{" + link, "1"),
                ("grpc_server_msg_received_total{" + link, "1"),
                ("grpc_server_msg_sent_total{" + link, "1"),
                ("csi_proxy_connections_opened_total" + pipe, "2"),
                ('csi_proxy_calls_in_flight{grpc_service="v1.Filesystem"}', "0"),
                ("csi_proxy_windows_calls_hanging", "0"),
                ("csi_proxy_windows_calls_unlisted_total", "0")]:
            self.assertEqual(value(text, series), expected, series)
        self.assertGreater(int(value(text, nt_call)), 0)
        self.check_with_promtool(text)

    def check_with_promtool(self, text):
        promtool = shutil.which("promtool")
        self.assertIsNotNone(promtool, "promtool is missing: scripts/setup.sh installs it")
        done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True,
                              timeout=harness.WAIT_S, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_the_process_tells_of_itself(self):
        self.serve()
        text = self.text()
        for name in ["process_cpu_seconds_total", "process_resident_memory_bytes",
                     "process_virtual_memory_bytes", "process_start_time_seconds",
                     "csi_proxy_process_threads"]:
            self.assertGreater(float(value(text, name)), 0, name)
        self.assertEqual(value(text, "process_max_fds"), "16777216")
        version = run(Settings.exe, "-version").out.split(maxsplit=1)[1].strip()
        self.assertRegex(text, r'\ncsi_proxy_build_info\{grpc_version="[\d.]+",version="%s"\} 1\n'
                         % re.escape(version))
        self.assertEqual(text.count("\ncsi_proxy_connections{"), 23 + 1)  # and the admin pipe
        for group in ["filesystem", "disk", "volume", "smb", "system", "iscsi"]:
            self.assertIn(value(text, 'csi_proxy_group_ready{group="%s"}' % group), ["0", "1"], group)

    def test_only_metrics_are_served(self):
        self.serve()
        answer, _ = self.ask("/")
        self.assertEqual(answer.status, 404)
        answer, _ = self.ask(method="POST")
        self.assertEqual((answer.status, answer.getheader("Allow")), (405, "GET, HEAD"))
        answer, body = self.ask(method="HEAD")
        self.assertEqual((answer.status, body), (200, b""))
        answer, body = self.ask(**{"Accept-Encoding": "gzip"})
        self.assertEqual(answer.getheader("Content-Encoding"), "gzip")
        self.assertIn(b"process_cpu_seconds_total ", gzip.decompress(body))
        self.assertRegex(answer.getheader("Process-Start-Time-Unix"), r"^\d{10}$")

    def test_a_taken_port_ends_the_start(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            daemon = self.daemon("-metrics-bind-address=127.0.0.1:%d" % port, ready=False)
            self.assertEqual(daemon.wait(), EXIT_START, daemon.text())
        self.assertIn("-metrics-bind-address: 127.0.0.1:%d: Only one usage" % port, daemon.text())
        self.assertIn("choose another", daemon.text())
        self.assertNotIn("] Serving ", daemon.text())
        self.assertEqual(testtool("probe", self.pipe("filesystem-v1")), "absent")

    def test_a_second_daemon_does_not_get_the_port(self):
        self.serve()
        second = self.start(Settings.exe, "-pipe-prefix=" + self.prefix + "second-",
                            "-metrics-bind-address=127.0.0.1:%d" % self.port)
        self.assertEqual(second.wait(), EXIT_START, second.text())
        self.assertIn("process_cpu_seconds_total", self.text())

    def test_an_address_that_is_none_is_refused(self):
        for flags in [["-check-config"], []]:
            done = run(Settings.exe, *flags, "-pipe-prefix=" + self.prefix, "-metrics-bind-address=localhost")
            self.assertEqual(done.code, EXIT_CONFIG, done)
            self.assertIn('-metrics-bind-address: "localhost" is not an address to listen on: it has no port',
                          done.out + done.err)
        done = run(Settings.exe, "-check-config", "-metrics-bind-address=[::1]:8888")
        self.assertEqual(done.code, 0, done)

    def test_it_ends_with_the_daemon(self):
        daemon = self.serve()
        with socket.create_connection(("127.0.0.1", self.port), harness.WAIT_S) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\n")  # and nothing more
            daemon.interrupt()
            self.assertEqual(daemon.wait(), 0, daemon.text())
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", self.port), harness.WAIT_S).close()


if __name__ == "__main__":
    os.environ.setdefault("WINEDEBUG", "-all")
    harness.main(sys.modules[__name__])
