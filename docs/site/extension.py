"""What the site needs beyond Sphinx: rooms with a line for each page, commands from the parser, maths without scripts,
links that show titles of pages, and links to folders as words."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from os.path import normpath
from pathlib import Path
from typing import Any

import click
from docutils import nodes
from docutils.statemachine import StringList
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.matching import patfilter

HERE = Path(__file__).parent

LINK = re.compile(r"(?<!!)\[([^]]+)\]\(([^)#:\s]+)(#[^)]*)?\)")
LINE = re.compile(r"^\| \[[^]]+\]\(([^)]+)\.md\) \| (.+) \|$", re.MULTILINE)  # of docs/README.md
PLAIN = ("README.md", "docs/README.md")  # lists of pages: the site has its own


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("commands", Commands)
    app.add_directive("pages", Pages)
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    app.connect("autodoc-process-signature", as_called)
    app.connect("source-read", for_readers)
    app.connect("build-finished", front_door)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def as_called(*event: Any) -> tuple[str, str] | None:
    """How a class is made, where one that catches wrong arguments stands in front of it."""
    _, what, _, thing, _, signature, returns = event
    if what != "class" or not (signature or "").startswith("(*given"):
        return None
    bare = [each.replace(annotation=each.empty) for each in inspect.signature(thing).parameters.values()]
    return str(inspect.Signature(bare)), returns


def inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="maths">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def for_readers(app: Sphinx, docname: str, source: list[str]) -> None:
    """Names of pages become their titles, links to folders plain words, links to tables of results files to save."""
    root = Path(app.srcdir)
    folder = (root / docname).parent

    def shown(found: re.Match[str]) -> str:
        words, address, place = found[1], found[2], found[3] or ""
        target = Path(normpath(folder / address))
        if target.is_dir() or target.relative_to(root).as_posix() in PLAIN:
            return words
        if target.suffix == ".md" and target.is_relative_to(root / "benchmarks"):
            return f"{{download}}`{words.replace('`', '')} <{address}>`"
        if re.fullmatch(r"`?[\w./-]+\.md`?", words):
            return f"[]({address}{place})"
        return found[0]

    if app.env.doc2path(docname).suffix == ".md":
        source[0] = LINK.sub(shown, source[0])


def front_door(app: Sphinx, problem: Exception | None) -> None:
    """index.html at the top, which leads to the first page."""
    if problem is None and app.builder.format == "html":
        first = f"{app.config.root_doc}.html"
        lead = f'<meta http-equiv="refresh" content="0; url={first}"><a href="{first}">Covey</a>'
        Path(app.outdir, "index.html").write_text(f"<!doctype html><title>Covey</title>{lead}\n", encoding="utf-8")


class Pages(SphinxDirective):
    """The pages of a room, each with what docs/README.md, or this list, says of it; `*` stands for those not named."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        told = dict(LINE.findall(Path(self.env.srcdir, "docs", "README.md").read_text(encoding="utf-8")))
        lines, places = [""], [""]
        for page, _, words in (entry.partition(" ") for entry in self.entries()):
            words = words or told.get(page.removeprefix("/docs/")) or told.get(f"..{page}", "")
            lines.append(f"- :doc:`{page}`" + (f": {literal(words)}" if words else ""))
            places.append(f"   {page}")
        holder = nodes.section()
        self.state.nested_parse(StringList([".. toctree::", "   :hidden:", *places, *lines], "pages"), 0, holder)
        return holder.children

    def entries(self) -> Iterator[str]:
        rooms = {page for path in HERE.glob("*.rst") for page in re.findall(r"/[\w/.-]+", path.read_text())}
        for entry in self.content:
            if "*" not in entry:
                yield entry
            else:
                found = patfilter((f"/{page}" for page in sorted(self.env.found_docs)), entry)
                yield from (page for page in found if page not in rooms)


class Commands(SphinxDirective):
    """Every command below `covey`: how it is called, what it says of itself, and its options, from the parser."""

    def run(self) -> list[nodes.Node]:
        from covey.cli.main import cli

        holder = nodes.section()
        self.state.nested_parse(StringList(list(lines_of(cli, "covey")), "commands"), 0, holder, match_titles=True)
        return holder.children


def lines_of(group: click.Group, path: str) -> list[str]:
    lines: list[str] = []
    for name, command in sorted(group.commands.items()):
        full = f"{path} {name}"
        if isinstance(command, click.Group):
            lines += lines_of(command, full)
            continue
        context = click.Context(command, info_name=full)
        usage = " ".join([full, *command.collect_usage_pieces(context)])
        lines += ["", full, "-" * len(full), "", "::", "", f"    {usage}", ""]
        lines += [*explained(command.help or ""), ""]
        for parameter in command.get_params(context):
            record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
            if record is not None:
                lines += [f"``{record[0]}``", f"    {literal(record[1])}", ""]
    return lines


def explained(help_text: str) -> list[str]:
    """The words of a docstring; a part that click leaves as it is becomes a literal one."""
    lines: list[str] = []
    for part in re.split(r"\n\s*\n", help_text):
        if part.startswith("\b"):
            title, _, rest = part.lstrip("\b\n").partition("\n")
            lines += ["", f"{literal(title).rstrip(':')}::", "", *[f"    {line}" for line in rest.splitlines()], ""]
        else:
            lines += ["", *[literal(line.strip()) for line in part.splitlines()]]
    return lines


def literal(words: str) -> str:
    """Plain words in reStructuredText, with `code` as code."""
    parts = re.split(r"(`[^`]+`)", words)
    return "".join(f"`{p}`" if p.startswith("`") else re.sub(r"([*\\|_])", r"\\\1", p) for p in parts)
