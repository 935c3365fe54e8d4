#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every RPC of csi-proxyctl against Google's own protobuf and gRPC for Python.

rpcs_test.py RPC_TOOL CSI_PROXYCTL CSI_PROXY_NATIVE GEN_DIR

Random messages of every type that is a request or a response: their JSON, both ways, means the same to
csi-proxyctl and to google.protobuf. Then every RPC is called with an empty and with a random request through
csi-proxyctl and through grpc, and the outcomes are compared. CSI_PROXYCTL_SEED repeats a run.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.descriptor import FieldDescriptor

MESSAGES_A_TYPE = 25
TIMEOUT_S = 20
# Their answers tell the time, or of the very call.
CHANGING = {"GetStatus", "ListCalls"}

INTEGERS = {
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
}


class Api:
    """The descriptors of all groups, as protoc has written them."""

    def __init__(self, gen_dir, groups):
        self.pools = {}
        for group in groups:
            files = descriptor_pb2.FileDescriptorSet()
            with open(os.path.join(gen_dir, group, "descriptors.pb"), "rb") as file:
                files.ParseFromString(file.read())
            pool = descriptor_pool.DescriptorPool()
            for proto in files.file:
                if proto.name.startswith(group + "/") and proto.name.endswith("/api.proto"):
                    pool.Add(proto)
            self.pools[group] = pool

    def new(self, group, type_name):
        pool = self.pools[group]
        return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName(type_name))()


class Tool:
    """csi-proxyctl's own conversions."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, order):
        self.process.stdin.write(order.encode() + b"\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"FAILED: the tool ended at: {order[:200]}")
        return answer.decode("utf-8").rstrip("\n")

    def rpcs(self):
        words = self.ask("list").split()
        return [tuple(words[i:i + 5]) for i in range(0, len(words), 5)]

    def to_json(self, group, message):
        return self.ask(f"to-json {group} {message.DESCRIPTOR.full_name} {message.SerializeToString().hex()}")

    def from_json(self, group, message, text):
        """The bytes, or None and why not."""
        answer = self.ask(f"from-json {group} {message.DESCRIPTOR.full_name} {text.encode('utf-8').hex()}")
        word, _, rest = answer.partition(" ")
        return (bytes.fromhex(rest), "") if word == "ok" else (None, rest)

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise SystemExit(f"FAILED: the tool ended with {self.process.returncode}")


# --- random messages

def random_text(rng, plain):
    letters = "abcXYZ019 -_.:\\/" if plain else "aZ0 \\/\"'\n\t\x01\x1f\x7f\x00<&\u00e9\u20ac\u2028\U0001f4be"
    return "".join(rng.choice(letters) for _ in range(rng.choice((0, 1, 3, 12))))


def random_value(rng, field, plain, depth):
    if field.type in INTEGERS:
        low, high = INTEGERS[field.type]
        return rng.choice((low, high, 0 if low == 0 else -1, 1, rng.randint(low, high), rng.randint(0, 9)))
    if field.type == FieldDescriptor.TYPE_BOOL:
        return rng.random() < 0.5
    if field.type == FieldDescriptor.TYPE_STRING:
        return random_text(rng, plain)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return rng.randbytes(rng.choice((0, 1, 2, 3, 17)))
    if field.type == FieldDescriptor.TYPE_ENUM:
        known = [value.number for value in field.enum_type.values]
        return rng.choice(known if plain else known + [4711, -5])
    raise AssertionError(f"{field.full_name}: type {field.type} is not provided for")


def fill(rng, message, plain=False, depth=0):
    for field in message.DESCRIPTOR.fields:
        if rng.random() < 0.2 or depth > 4:
            continue
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            key, value = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
            entries = getattr(message, field.name)
            for _ in range(rng.randint(0, 3)):
                name = random_value(rng, key, plain, depth)
                if value.message_type is not None:
                    fill(rng, entries[name], plain, depth + 1)
                else:
                    entries[name] = random_value(rng, value, plain, depth)
        elif field.label == FieldDescriptor.LABEL_REPEATED:
            for _ in range(rng.randint(0, 3)):
                if field.message_type is not None:
                    fill(rng, getattr(message, field.name).add(), plain, depth + 1)
                else:
                    getattr(message, field.name).append(random_value(rng, field, plain, depth))
        elif field.message_type is not None:
            getattr(message, field.name).SetInParent()
            fill(rng, getattr(message, field.name), plain, depth + 1)
        else:
            setattr(message, field.name, random_value(rng, field, plain, depth))
    return message


# --- JSON

def oracle_dict(message):
    return json_format.MessageToDict(message, including_default_value_fields=True,
                                     preserving_proto_field_name=True)


def check_same(group, message, wire, what):
    got = type(message)()
    got.ParseFromString(wire)
    assert got == message, f"{group} {message.DESCRIPTOR.full_name}: {what}:\n{message}\nbecame\n{got}"


def check_json(tool, group, message):
    """Both ways, and with the names of either kind."""
    ours = tool.to_json(group, message)
    assert json.loads(ours) == oracle_dict(message), f"{ours}\nis not\n{oracle_dict(message)}"
    taken = json_format.Parse(ours, type(message)())
    check_same(group, message, taken.SerializeToString(), "our JSON, their parser")
    other = json_format.MessageToJson(message, preserving_proto_field_name=True, use_integers_for_enums=True,
                                      ensure_ascii=False, indent=None)
    for theirs in (ours, json_format.MessageToJson(message), other):
        wire, why = tool.from_json(group, message, theirs)
        assert wire is not None, f"{group} {message.DESCRIPTOR.full_name}: {theirs}: {why}"
        check_same(group, message, wire, "JSON to message")


def broken(rng, ours):
    """Texts that are wrong, each in its own way."""
    yield ours[:rng.randrange(len(ours))]
    yield ours + " x"
    yield ours + ours
    yield ours[:-1] + (', ' if len(ours) > 2 else '') + '"no_such_field": 1}'
    yield ours[:-1] + ",}"
    yield "[" + ours + "]"
    if len(ours) > 2:
        yield ours[:-1] + "," + ours[1:]


def check_numbers(tool, group, message):
    """Integers without quotes, at the ends of their range and where a double loses a digit."""
    for field in message.DESCRIPTOR.fields:
        if field.type not in INTEGERS or field.label == FieldDescriptor.LABEL_REPEATED:
            continue
        low, high = INTEGERS[field.type]
        for number in (low, high, high - 1, 2**53 + 1, -(2**53) - 1):
            text = f'{{"{field.name}": {number} }}'
            wire, why = tool.from_json(group, message, text)
            assert (wire is not None) == (low <= number <= high), f"{text}: {why}"
            if wire is not None:
                check_same(group, json_format.Parse(text, type(message)()), wire, text)


def check_refused(tool, rng, group, message):
    ours = tool.to_json(group, message)
    for text in broken(rng, ours):
        try:
            json_format.Parse(text, type(message)())
            theirs = True
        except json_format.ParseError:
            theirs = False
        assert not theirs, f"google.protobuf takes {text}"
        wire, why = tool.from_json(group, message, text)
        assert wire is None, f"{group} {message.DESCRIPTOR.full_name}: took {text}"
        assert why.startswith("JSON, line "), f"{text}: {why}"


def check_types(tool, group, message):
    """Values of the wrong type, field by field."""
    wrong = {
        FieldDescriptor.TYPE_BOOL: ('"true"', "1", "{}", "[true]"),
        FieldDescriptor.TYPE_STRING: ("1", "true", "{}", '["x"]'),
        FieldDescriptor.TYPE_BYTES: ("1", '"*"', "{}"),
        FieldDescriptor.TYPE_ENUM: ('"NO_SUCH_VALUE"', "1.5", "{}", "true"),
        FieldDescriptor.TYPE_MESSAGE: ("1", '"x"', "true"),
    }
    count = 0
    for field in message.DESCRIPTOR.fields:
        values = wrong.get(field.type)
        if field.type in INTEGERS:
            low, high = INTEGERS[field.type]
            values = (str(low - 1), str(high + 1), f'"{high + 1}"', f'"{low - 1}"', "1" + "0" * 40, "1.5",
                      '"x"', '""', "true", "{}", '"1 "')
        if field.label == FieldDescriptor.LABEL_REPEATED:
            values = ("1", '"x"', "true", "[null]")
        for value in values:
            text = f'{{"{field.name}": {value}}}'
            wire, why = tool.from_json(group, message, text)
            assert wire is None, f"{group} {message.DESCRIPTOR.full_name}: took {text}: {wire!r}"
            assert "line 1, column " in why, f"{text}: {why}"
            count += 1
    return count


def json_both_ways(tool, api, rpcs, seed):
    types = sorted({(group, name) for group, _, _, *names in rpcs for name in names})
    messages = refused = 0
    for group, name in types:
        rng = random.Random(f"{seed} {group} {name}")
        for i in range(MESSAGES_A_TYPE):
            message = api.new(group, name)
            if i > 0:
                fill(rng, message)
            check_json(tool, group, message)
            messages += 1
        check_refused(tool, rng, group, fill(rng, api.new(group, name)))
        check_numbers(tool, group, api.new(group, name))
        refused += check_types(tool, group, api.new(group, name))
    print(f"JSON: {messages} messages of {len(types)} types both ways, {refused} wrong values refused",
          flush=True)


# --- calls

class Service:
    def __init__(self, program, directory):
        self.prefix = os.path.join(directory, "p-")
        self.log = open(os.path.join(directory, "log"), "wb")
        self.process = subprocess.Popen([program, f"-pipe-prefix={self.prefix}", "-logtostderr=true"],
                                        cwd=directory, stderr=self.log)

    def wait(self, pipes):
        until = time.monotonic() + 60
        while not all(os.path.exists(f"{self.prefix}{pipe}") for pipe in pipes):
            assert self.process.poll() is None and time.monotonic() < until, "the service does not start"
            time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.log.close()
        assert code == 0, f"the service ended with {code}"


def by_grpc(service, group, version, path, request):
    """The code's name and the text, or OK and the bytes."""
    with grpc.insecure_channel(f"unix:{service.prefix}{group}-{version}") as channel:
        call = channel.unary_unary(path, request_serializer=None, response_deserializer=None)
        try:
            return "OK", call(request.SerializeToString(), timeout=TIMEOUT_S)
        except grpc.RpcError as error:
            return error.code().name, error.details()


def by_ctl(program, service, group, version, rpc, text):
    """The same from the command line: exit code, code's name, and text or JSON."""
    done = subprocess.run([program, "call", group, version, rpc, "-", "-timeout", f"{TIMEOUT_S}s",
                           "-pipe-prefix", service.prefix], input=text.encode("utf-8"), capture_output=True,
                          check=False, timeout=4 * TIMEOUT_S)
    if done.returncode == 0:
        assert done.stderr == b"", done.stderr
        return 0, "OK", done.stdout.decode("utf-8")
    lines = done.stderr.decode("utf-8").splitlines()
    assert done.stdout == b"" and len(lines) >= 2 and lines[0].startswith("error: "), done
    code = lines[1].removeprefix("  code: ")
    if code.endswith(" on the wire)"):
        code = code.split("(")[1].split()[0]
    return done.returncode, code, lines[0].removeprefix("error: ")


def check_call(program, service, api, rpc_entry, request):
    group, version, rpc, request_type, response_type = rpc_entry
    service_name, = api.pools[group].FindMessageTypeByName(request_type).file.services_by_name
    path = f"/{version}.{service_name}/{rpc}"
    code, answer = by_grpc(service, group, version, path, request)
    text = json_format.MessageToJson(request)
    exit_code, ctl_code, ctl_answer = by_ctl(program, service, group, version, rpc, text)
    where = f"{group} {version} {rpc} {text}"
    assert ctl_code == code, f"{where}: grpc says {code} {answer}, csi-proxyctl {ctl_code} {ctl_answer}"
    if code != "OK":
        assert exit_code == 1, f"{where}: exit code {exit_code} for {code}"
        assert ctl_answer == answer, f"{where}:\n{answer}\nis shown as\n{ctl_answer}"
        return False
    ours = json_format.Parse(ctl_answer, api.new(group, response_type))
    theirs = api.new(group, response_type)
    theirs.ParseFromString(answer)
    assert rpc in CHANGING or ours == theirs, f"{where}:\n{theirs}\nis shown as\n{ours}"
    return True


def call_all(program, native, api, rpcs, seed):
    good = bad = 0
    called = set()
    with tempfile.TemporaryDirectory() as directory:
        service = Service(native, directory)
        try:
            service.wait({f"{group}-{version}" for group, version, *_ in rpcs})
            for entry in rpcs:
                rng = random.Random(f"{seed} {entry}")
                empty, filled = (api.new(entry[0], entry[3]) for _ in range(2))
                for request in (empty, fill(rng, filled, plain=True)):
                    if check_call(program, service, api, entry, request):
                        good += 1
                    else:
                        bad += 1
                called.add(entry[:3])
        finally:
            service.stop()
    admin = sum(1 for group, *_ in called if group == "admin")
    print(f"calls: {good} answered, {bad} refused, the same by csi-proxyctl and by grpc")
    print(f"{len(called)} of {len(rpcs)} RPCs, {len(called) - admin} of them for drivers")
    assert len(called) == len(rpcs) and len(called) - admin == 139


def main():
    tool_program, program, native, gen_dir = map(os.path.abspath, sys.argv[1:])
    seed = int(os.environ.get("CSI_PROXYCTL_SEED", "20261121"))
    print(f"seed {seed}", flush=True)
    tool = Tool(tool_program)
    rpcs = tool.rpcs()
    api = Api(gen_dir, {group for group, *_ in rpcs})
    json_both_ways(tool, api, rpcs, seed)
    tool.close()
    call_all(program, native, api, rpcs, seed)


if __name__ == "__main__":
    main()
