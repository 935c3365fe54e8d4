#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the manual pages of both programs from what they say of themselves.

manual.py CSI_PROXYCTL CSI_PROXY_USAGE OUTPUT_DIR   writes csi-proxyctl.1, csi-proxy.8, and .md of both

Both are written twice from one list of pieces: as roff and as Markdown.
"""

import os
import re
import subprocess
import sys

SERVICE_VERBS = ("install", "upgrade", "uninstall")
FLAG = re.compile(r"^  -(\S+)(?: (\S+))?$")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


class Page:
    """Pieces of a page: ("heading", text), ("subheading", text), ("text", text), ("code", lines),
    ("item", term, text)."""

    def __init__(self, name, section, summary, version):
        self.name, self.section, self.summary, self.version = name, section, summary, version
        self.pieces = []

    def add(self, kind, *values):
        self.pieces.append((kind, *values))


# --- reading usage

def blocks(text):
    """Splits help into paragraphs, code (lines that begin with two blanks) and flags."""
    kind, lines = None, []
    for line in text.split("\n") + [None]:
        if line is None or line == "":
            this = None
        elif FLAG.match(line) or line.startswith("    \t"):
            this = "flags"
        else:
            this = "code" if line.startswith("  ") else "text"
        if this != kind and lines:
            yield kind, lines
            lines = []
        kind = this
        if this:
            lines.append(line)


def flags(lines):
    """(term, meaning) of each flag, as the flag package writes them."""
    found = []
    for line in lines:
        match = FLAG.match(line)
        if match:
            found.append(["-" + match[1] + (" " + match[2] if match[2] else ""), ""])
        else:
            found[-1][1] = (found[-1][1] + " " + line.strip()).strip()
    return found


def add_blocks(page, text):
    for kind, lines in blocks(text):
        if kind == "flags":
            for term, meaning in flags(lines):
                page.add("item", term, meaning)
        elif kind == "code":
            page.add("code", [line[2:] for line in lines])
        else:
            sentences = [line for line in lines if not line.startswith("Usage of ")]
            if sentences:
                page.add("text", " ".join(sentences))


# --- the pages

def ctl_page(program):
    version = output_of(program, "version").split()[1]
    head, verbs_text, flags_text, codes = re.fullmatch(
        r"usage: [^\n]*\n\n(.*?)\n\nVerbs:\n(.*?)\n\n(?:Flags:\n)?(Usage of .*?)\n\nExit codes:\n(.*)",
        output_of(program, "help"), re.DOTALL).groups()
    page = Page("csi-proxyctl", 1, "look at the CSI Proxy service and call it", version)
    page.add("heading", "SYNOPSIS")
    page.add("code", ["csi-proxyctl [FLAGS] VERB [ARGUMENTS]"])
    page.add("heading", "DESCRIPTION")
    add_blocks(page, head)
    page.add("heading", "VERBS")
    verbs = re.findall(r"^  ([a-z]+)\b", verbs_text, re.MULTILINE)
    assert "call" in verbs and "help" in verbs, verbs
    for verb in verbs:
        title, _, text = output_of(program, "help", verb).partition("\n")
        usage, _, summary = title.partition(" - ")
        page.add("subheading", usage.removeprefix("csi-proxyctl "))
        page.add("text", summary + ".")
        add_blocks(page, text.strip("\n"))
    page.add("heading", "FLAGS")
    add_blocks(page, flags_text)
    page.add("heading", "EXIT STATUS")
    for number, meaning in re.findall(r"^  (\d)  (.*)$", codes, re.MULTILINE):
        page.add("item", number, meaning[0].upper() + meaning[1:] + ".")
    return page


def service_page(usage_program, version):
    page = Page("csi-proxy", 8, "Kubernetes CSI Proxy for Windows nodes", version)
    page.add("heading", "SYNOPSIS")
    page.add("code", ["csi-proxy.exe [FLAGS]"] + [f"csi-proxy.exe {verb} [FLAGS]" for verb in SERVICE_VERBS])
    page.add("heading", "DESCRIPTION")
    page.add("text", "Serves the storage API of CSI node plugins on named pipes, one for each version of "
                     "each API group. The verbs put the service into the service manager, take it out, and "
                     "exchange its program; without a verb it serves.")
    page.add("heading", "FLAGS OF THE SERVICE")
    own = output_of(usage_program)
    add_blocks(page, own)
    for verb in SERVICE_VERBS:
        text = output_of(usage_program, verb)
        assert text != own, verb
        page.add("heading", verb.upper())
        add_blocks(page, text)
    page.add("heading", "SEE ALSO")
    page.add("text", "csi-proxyctl(1)")
    return page


# --- writing

LONG_WORD = re.compile(r"\S{40,}")


def roff_text(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    # Where a long word may be broken.
    text = LONG_WORD.sub(lambda word: re.sub(r"([,;|)])", r"\1\\:", word[0]), text)
    return "\n".join("\\&" + line if line[:1] in ".'" else line for line in text.split("\n"))


def roff(page):
    out = [".\\\" Generated; do not edit.", f".TH {page.name.upper()} {page.section} \"\" "
           f"\"{roff_text(page.version)}\" \"CSI Proxy\"", ".ad l", ".nh", ".SH NAME",
           f"{roff_text(page.name)} \\- {roff_text(page.summary)}"]
    below = False
    for index, (kind, *values) in enumerate(page.pieces):
        if kind in ("heading", "subheading"):
            out.append(f".{'SH' if kind == 'heading' else 'SS'} \"{roff_text(values[0])}\"")
        elif kind == "item":
            out += [".TP", f".B {roff_text(values[0])}", roff_text(values[1])]
        else:
            if below:
                out.append(".PP")
            out += [roff_text(values[0])] if kind == "text" else \
                [".RS 4", ".nf", *map(roff_text, values[0]), ".fi", ".RE"]
        below = kind in ("text", "code", "item") and index + 1 < len(page.pieces)
    return "\n".join(out) + "\n"


def markdown_text(text):
    return re.sub(r"([<>|*_\[\]\\`])", r"\\\1", text)


def markdown(page):
    out = ["<!-- Generated; do not edit. -->", f"# {page.name}", "",
           markdown_text(page.summary[0].upper() + page.summary[1:]) + "."]
    for kind, *values in page.pieces:
        if kind == "heading":
            out += ["", "## " + markdown_text(values[0].capitalize())]
        elif kind == "subheading":
            out += ["", f"### `{values[0]}`"]
        elif kind == "item":
            out += ["", f"`{values[0]}`: {markdown_text(values[1])}"]
        elif kind == "text":
            out += ["", markdown_text(values[0])]
        else:
            out += ["", "```", *values[0], "```"]
    return "\n".join(out) + "\n"


def write(directory, name, text):
    with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
        file.write(text)


def main():
    ctl, usage, directory = sys.argv[1:]
    os.makedirs(directory, exist_ok=True)
    page = ctl_page(ctl)
    for one in (page, service_page(usage, page.version)):
        write(directory, f"{one.name}.{one.section}", roff(one))
        write(directory, f"{one.name}.md", markdown(one))


if __name__ == "__main__":
    main()
