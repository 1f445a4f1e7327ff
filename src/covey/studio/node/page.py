"""The page of a node as one file: its own sources and those that it shares with the studio, joined without a tool."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from pathlib import Path

HERE = Path(__file__).parent
STYLES = ("../page/css/base.css", "../page/css/layout.css", "../page/css/parts.css", "node.css")
IMPORT = re.compile(r'^import (\{ [^}]+ \}) from "([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const) (\w+))", re.MULTILINE)


def make_page() -> bytes:
    """An HTML document that needs nothing else. Its policy lets it run what it holds, and load or send nothing."""
    style = "".join((HERE / each).read_text(encoding="utf-8") for each in STYLES)
    script = join_modules(HERE / "main.js")
    sources = f"default-src 'none'; script-src {_hashed(script)}; style-src {_hashed(style)}; img-src data:"
    policy = f"{sources}; base-uri 'none'; form-action 'none'"
    page = (HERE / "page.html").read_text(encoding="utf-8")
    for name, text in (("policy", policy), ("style", style), ("script", script)):
        page = page.replace("{{" + name + "}}", text)
    return page.encode()


def join_modules(start: Path) -> str:
    """A module and all that it imports as one script: each in a function of its own, those that it needs before it."""
    names: dict[Path, str] = {}
    parts: list[str] = []

    def add(path: Path) -> str:
        if path in names:
            return names[path]
        text = path.read_text(encoding="utf-8")
        needed = [(given, add((path.parent / source).resolve())) for given, source in IMPORT.findall(text)]
        taken = [f"const {given} = {name};\n" for given, name in needed]
        body = EXPORT.sub("", IMPORT.sub("", text))
        names[path] = f"module{len(names)}"
        told = ", ".join(EXPORT.findall(text))
        parts.append(f"const {names[path]} = (() => {{\n{''.join(taken)}{body}return {{ {told} }};\n}})();\n")
        return names[path]

    add(start.resolve())
    return "".join(parts)


def _hashed(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
