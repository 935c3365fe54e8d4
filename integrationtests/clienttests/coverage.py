#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coverage.py PROTO_DIR RESULT...: which RPCs of which versions the cases of these result files have called.

A table for each group: passed cases with good + bad input, a case that ran in several passes once. Then how
many RPCs there are in all versions, and how many of them had both. Fails when one lacks something.
"""
import collections
import pathlib
import re
import sys

RPC = re.compile(r"^\s*rpc (\w+)\s*\(", re.MULTILINE)
WAS = re.compile(r"option \(csi_proxy\.rpc_was\) = \{(.*?)\};", re.DOTALL)
# For people and their tools, beside the wire contract of drivers; integrationtests/proxyctl calls it.
NO_DRIVERS_GROUP = "admin"
CASE = re.compile(r"^PASS (\S+) +(\S.*?) +(good|bad) *: (\S+)$")


def current_names(group_proto):
    """{(version, old name): name of today} of the RPCs that had another name."""
    names = {}
    for block in re.split(r"^  rpc ", group_proto, flags=re.MULTILINE)[1:]:
        name = re.match(r"\w+", block).group()
        for was in WAS.findall(block):
            old = re.search(r'name: "(\w+)"', was).group(1)
            for version in re.findall(r'"(v\w+)"', was):
                names[version, old] = name
    return names


def released(proto_dir):
    """{group: {version: [RPC]}}, RPCs by their names of today."""
    groups = {}
    for group_proto in sorted(proto_dir.glob("*/group.proto")):
        group, text = group_proto.parent.name, group_proto.read_text()
        if group == NO_DRIVERS_GROUP:
            continue
        names = current_names(text)
        groups[group] = {
            version: [names.get((version, rpc), rpc)
                      for rpc in RPC.findall((group_proto.parent / version / "api.proto").read_text())]
            for version in re.findall(r'^option \(csi_proxy\.version\) = "(\w+)";', text, re.MULTILINE)}
    return groups


def passed(files):
    """{(version, RPC): {"good": {case}, "bad": {case}}}; no two groups have an RPC of one name."""
    cases = collections.defaultdict(lambda: {"good": set(), "bad": set()})
    for file in files:
        for line in pathlib.Path(file).read_text(errors="replace").splitlines():
            match = CASE.match(line)
            if match:
                version, rpc, kind, name = match.groups()
                cases[version, rpc][kind].add(name)
    return cases


def print_table(group, versions, cases):
    rpcs = list(dict.fromkeys(rpc for of_version in versions.values() for rpc in of_version))
    print(f"\nCases that passed in some pass, good + bad input; group {group}:")
    print(f"{'':33}" + "".join(f"{version:10}" for version in versions).rstrip())
    for rpc in rpcs:
        cells = (f"{len(cases[version, rpc]['good'])} + {len(cases[version, rpc]['bad'])}" if rpc in has else "-"
                 for version, has in versions.items())
        print(f"{rpc:33}" + "".join(f"{cell:10}" for cell in cells).rstrip())


def main():
    groups, cases = released(pathlib.Path(sys.argv[1])), passed(sys.argv[2:])
    entries = [(group, version, rpc) for group, versions in groups.items()
               for version, rpcs in versions.items() for rpc in rpcs]
    for group, versions in groups.items():
        print_table(group, versions, cases)
    lacking = [entry for entry in entries if not all(cases[entry[1:]].values())]
    print(f"\n{len(entries) - len(lacking)} of {len(entries)} RPC entries called with good and bad input"
          f" ({sum(len(versions) for versions in groups.values())} pipes)")
    for entry in lacking:
        print("lacks good or bad input:", *entry)
    return 1 if lacking or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
