# SPDX-License-Identifier: Apache-2.0
"""Reads the message table (RT_MESSAGETABLE) of a Windows program, as the Event Viewer does."""

import struct

RT_MESSAGETABLE = 11
RESOURCES = 2  # index of the data directory


class Broken(Exception):
    """The file is no program, or its resources are not what they should be."""


class Image:
    """As much of a PE32+ file as is needed to find its resources."""

    def __init__(self, data):
        self.data = data
        header = self.unpack("<I", 0x3C)[0]
        if data[:2] != b"MZ" or data[header:header + 4] != b"PE\0\0":
            raise Broken("not a PE file")
        sections, optional_bytes = self.unpack("<H", header + 6)[0], self.unpack("<H", header + 20)[0]
        optional = header + 24
        if self.unpack("<H", optional)[0] != 0x20B:
            raise Broken("not PE32+")
        self.resources, size = self.unpack("<II", optional + 112 + 8 * RESOURCES)
        if size == 0:
            raise Broken("no resources")
        table = optional + optional_bytes
        self.sections = [self.unpack("<IIII", table + 40 * i + 8) for i in range(sections)]

    def unpack(self, form, offset):
        return struct.unpack_from(form, self.data, offset)

    def offset_of(self, address):
        for virtual_bytes, virtual, raw_bytes, raw in self.sections:
            if virtual <= address < virtual + max(virtual_bytes, raw_bytes):
                return raw + address - virtual
        raise Broken(f"address {address:#x} is in no section")

    def entries(self, directory):
        """[(id, offset, is_directory)] of one level of the resource tree."""
        base = self.offset_of(self.resources)
        named, numbered = self.unpack("<HH", base + directory + 12)
        rows = []
        for i in range(named + numbered):
            number, target = self.unpack("<II", base + directory + 16 + 8 * i)
            rows.append((number, target & 0x7FFFFFFF, bool(target & 0x80000000)))
        return rows

    def resource(self, kind):
        """[(language, bytes)] of all resources of a kind."""
        found = []
        for number, names, _ in self.entries(0):
            if number != kind:
                continue
            for _, languages, _ in self.entries(names):
                for language, leaf, _ in self.entries(languages):
                    address, size = self.unpack("<II", self.offset_of(self.resources) + leaf)
                    begin = self.offset_of(address)
                    found.append((language, self.data[begin:begin + size]))
        return found


def parse(table):
    """{id: text} of one message table."""
    texts = {}
    for block in range(struct.unpack_from("<I", table)[0]):
        low, high, offset = struct.unpack_from("<III", table, 4 + 12 * block)
        for number in range(low, high + 1):
            length, flags = struct.unpack_from("<HH", table, offset)
            if length < 4 or offset + length > len(table) or flags != 1:
                raise Broken(f"message {number:#x}: length {length}, flags {flags}")
            texts[number] = table[offset + 4:offset + length].decode("utf-16-le").rstrip("\0")
            offset += length
    return texts


def read(path):
    """{language: {id: text}}"""
    with open(path, "rb") as file:
        image = Image(file.read())
    return {language: parse(table) for language, table in image.resource(RT_MESSAGETABLE)}
