#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes into the stage of a package what it owes to others: THIRD-PARTY.md, LICENSES.txt and sbom.spdx.json.

One table says what is linked into the executables; versions come from scripts/deps.sh and from the packages
that are installed, licences from the copyright files that Debian has for each of them.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import urllib.parse

EXECUTABLES = ["csi-proxy.exe", "csi-proxyctl.exe"]
DEBIAN = "Organization: Debian"

# name, where the version is ("deps": a variable of deps.sh; "package": an installed package), Debian's source
# package, licence in SPDX, home page, what it is for, into which executables it is linked. What stands in the
# source of another one has its licence's path there in LICENCE_FILES.
COMPONENTS = [
    ("gRPC", "deps", "GRPC_VERSION", "grpc", "Apache-2.0", "https://grpc.io/",
     "HTTP/2 and gRPC; patched, see scripts/patches in the source", EXECUTABLES),
    ("upb", "deps", "GRPC_VERSION", "grpc", "BSD-3-Clause", "https://github.com/protocolbuffers/upb",
     "Protocol Buffers by reflection; part of gRPC's source", EXECUTABLES),
    ("utf8_range", "deps", "GRPC_VERSION", "grpc", "MIT", "https://github.com/cyb70289/utf8",
     "UTF-8 for upb; part of gRPC's source", EXECUTABLES),
    ("address_sorting", "deps", "GRPC_VERSION", "grpc", "BSD-3-Clause", "https://grpc.io/",
     "order of addresses; part of gRPC's source", EXECUTABLES),
    ("Abseil", "deps", "ABSEIL_VERSION", "abseil", "Apache-2.0", "https://abseil.io/",
     "C++ library that gRPC stands on", EXECUTABLES),
    ("protobuf-c", "deps", "PROTOBUF_C_VERSION", "protobuf-c", "BSD-2-Clause",
     "https://github.com/protobuf-c/protobuf-c", "Protocol Buffers in C", EXECUTABLES),
    ("GNU libmicrohttpd", "deps", "LIBMICROHTTPD_VERSION", "libmicrohttpd", "LGPL-2.1-or-later",
     "https://www.gnu.org/software/libmicrohttpd/", "HTTP server of the metrics endpoint", ["csi-proxy.exe"]),
    ("zlib", "package", "libz-mingw-w64-dev", "libz-mingw-w64", "Zlib", "https://zlib.net/",
     "compression", EXECUTABLES),
    ("mingw-w64 runtime and winpthreads", "package", "mingw-w64-x86-64-dev", "mingw-w64",
     "LicenseRef-mingw-w64-runtime", "https://www.mingw-w64.org/",
     "C runtime start-up code and POSIX threads", EXECUTABLES),
    ("GCC runtime libraries", "package", "g++-mingw-w64-x86-64-posix", "gcc-mingw-w64",
     "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org/", "libgcc and libstdc++", EXECUTABLES),
]

# Licences of parts that Debian's copyright file of the source leaves out or does not print.
LICENCE_FILES = {
    "gRPC": "LICENSE",
    "upb": "third_party/upb/LICENSE",
    "utf8_range": "third_party/upb/third_party/utf8_range/LICENSE",
    "address_sorting": "third_party/address_sorting/LICENSE",
}

LGPL_NOTE = """## GNU libmicrohttpd

csi-proxy.exe is linked statically with GNU libmicrohttpd, which is under the GNU Lesser General Public
License, version 2.1 or later. The complete source of csi-proxy is published under the Apache License
2.0, with the scripts that build and link it. The source of libmicrohttpd is Debian's source package
libmicrohttpd {version}, which `scripts/deps.sh` of that source fetches and builds. To use a changed
libmicrohttpd, change it there and run `scripts/build.sh`: it links the program anew. Reverse engineering
for debugging such changes is allowed.
"""


def deps_versions(script):
    return dict(re.findall(r"^([A-Z_]+_VERSION)=(\S+)$", script.read_text(), re.MULTILINE))


def installed_version(package):
    """That of the source package, which is what the package URL names."""
    return subprocess.run(["dpkg-query", "-W", "-f", "${source:Version}", package], check=True,
                          capture_output=True, text=True).stdout


def resolve(versions):
    """The components with their versions."""
    for name, where, key, source, licence, home, purpose, executables in COMPONENTS:
        if where == "deps" and key not in versions:
            sys.exit(f"scripts/deps.sh does not say {key}, the version of {name}")
        version = versions[key] if where == "deps" else installed_version(key)
        yield {"name": name, "version": version, "source": source, "licence": licence, "home": home,
               "purpose": purpose, "executables": executables, "package": None if where == "deps" else key}


def copyright_text(component, sources):
    """Debian's copyright file: in the source package, or installed with the package."""
    if component["package"]:
        return pathlib.Path(f"/usr/share/doc/{component['package']}/copyright").read_text(encoding="utf-8")
    upstream = component["version"]
    archive = sources / f"{component['source']}_{upstream}.debian.tar.xz"
    with tarfile.open(archive) as tar:
        return tar.extractfile("debian/copyright").read().decode("utf-8")


def licence_text(component, sources):
    """A component's own licence file, in the source that is built; None when the table has none."""
    path = LICENCE_FILES.get(component["name"])
    if path is None:
        return None
    upstream = component["version"].rsplit("-", 1)[0]
    with tarfile.open(sources / f"{component['source']}_{upstream}.orig.tar.gz") as tar:
        return tar.extractfile(f"{component['source']}-{upstream}/{path}").read().decode("utf-8")


def write_licences(stage, components, sources):
    parts, seen = [], set()

    def add(title, text):
        parts.append(f"{'=' * 78}\n{title}\n{'=' * 78}\n\n{text}")

    for component in components:
        own = licence_text(component, sources)
        if own:
            add(f"{component['name']} {component['version']}", own)
        if component["source"] not in seen:
            seen.add(component["source"])
            names = [c["name"] for c in components if c["source"] == component["source"]]
            add(f"{component['source']} {component['version']}, Debian's copyright file: {', '.join(names)}",
                copyright_text(component, sources))
    for name in ["Apache-2.0", "LGPL-2.1", "GPL-3"]:
        add(name, pathlib.Path("/usr/share/common-licenses", name).read_text(encoding="utf-8"))
    (stage / "LICENSES.txt").write_text("\n\n".join(parts), encoding="utf-8")


def write_third_party(stage, product, components):
    lines = ["# Software in this package by others", "",
             f"{product} itself is under the Apache License 2.0 (LICENSE). Its executables contain the "
             "following, linked statically; their copyright notices and licences are in LICENSES.txt.", "",
             "| Component | Version (Debian source package) | Licence | For | In |", "|---|---|---|---|---|"]
    for c in components:
        licence = c["licence"].removeprefix("LicenseRef-")
        lines.append(f"| [{c['name']}]({c['home']}) | {c['version']} ({c['source']}) | {licence} | "
                     f"{c['purpose']} | {', '.join(c['executables'])} |")
    for c in components:
        if c["source"] == "libmicrohttpd":
            lines += ["", LGPL_NOTE.format(version=c["version"]).rstrip()]
    (stage / "THIRD-PARTY.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def spdx_id(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name)


def spdx_file(stage, name):
    content = (stage / name).read_bytes()
    return {"SPDXID": spdx_id(name), "fileName": "./" + name, "fileTypes": ["BINARY"],
            "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
                          {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}],
            "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}


def spdx_package(component):
    version = urllib.parse.quote(component["version"], safe=".-~")
    purl = f"pkg:deb/debian/{component['source']}@{version}?arch=source"
    return {"SPDXID": spdx_id(component["name"]), "name": component["name"],
            "versionInfo": component["version"], "supplier": DEBIAN, "downloadLocation": "NOASSERTION",
            "homepage": component["home"], "filesAnalyzed": False,
            "licenseConcluded": component["licence"], "licenseDeclared": component["licence"],
            "copyrightText": "NOASSERTION", "comment": component["purpose"],
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": purl}]}


def write_sbom(stage, arguments, components):
    moment = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    product = {"SPDXID": spdx_id(arguments.product), "name": arguments.product,
               "versionInfo": arguments.version, "supplier": "Organization: The csi-proxy authors",
               "downloadLocation": "NOASSERTION",
               "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
               "copyrightText": "NOASSERTION", "primaryPackagePurpose": "APPLICATION"}
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", product["SPDXID"])]
    relations += [(product["SPDXID"], "GENERATES", spdx_id(name)) for name in EXECUTABLES]
    relations += [(spdx_id(name), "STATIC_LINK", spdx_id(c["name"]))
                  for c in components for name in c["executables"]]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{arguments.product}-{arguments.version}",
        "documentNamespace": f"urn:uuid:{arguments.namespace}",
        "creationInfo": {"created": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Organization: The csi-proxy authors", "Tool: scripts/package.sh"]},
        "packages": [product] + [spdx_package(c) for c in components],
        "files": [spdx_file(stage, name) for name in EXECUTABLES],
        "hasExtractedLicensingInfos": [{
            "licenseId": "LicenseRef-mingw-w64-runtime", "name": "mingw-w64 runtime licence",
            "extractedText": "See the part mingw-w64 of LICENSES.txt, which comes with this document: public "
                             "domain, Zope Public License 2.1 and MIT (winpthreads)."}],
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in relations],
    }
    (stage / "sbom.spdx.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ["product", "version", "namespace"]:
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--deps", type=pathlib.Path, required=True)
    parser.add_argument("--stage", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    cache = os.environ.get("CSI_PROXY_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "csi-proxy")
    components = list(resolve(deps_versions(arguments.deps)))
    write_third_party(arguments.stage, arguments.product, components)
    write_licences(arguments.stage, components, pathlib.Path(cache) / "sources")
    write_sbom(arguments.stage, arguments, components)


if __name__ == "__main__":
    sys.exit(main())
