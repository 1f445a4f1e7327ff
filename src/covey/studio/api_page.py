"""The OpenAPI document as one plain HTML page, made here: no script, nothing from elsewhere."""

from __future__ import annotations

import json
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark; --soft: #5b6878; --line: #cfd6de; --code: #f2f5f7; }
@media (prefers-color-scheme: dark) { :root { --soft: #a4b0bd; --line: #3a4653; --code: #1c232b; } }
body { margin: 0 auto; max-width: 52rem; padding: 1.5rem 1rem 4rem; font: 16px/1.5 system-ui, sans-serif; }
h2 { margin: 2rem 0 .3rem; text-transform: capitalize; }
h3 { margin: 1.4rem 0 .2rem; font: 600 1rem ui-monospace, monospace; }
h3 b { display: inline-block; min-width: 4.5rem; } p { margin: .2rem 0; } .soft { color: var(--soft); }
table { border-collapse: collapse; }
td { padding: .1rem 1rem .1rem 0; vertical-align: top; border-bottom: 1px solid var(--line); }
pre, code { font: 13px/1.45 ui-monospace, monospace; background: var(--code); }
pre { padding: .6rem; overflow-x: auto; }
"""
LIMITS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}
RULES = (
    "Every address stands below the token that <code>covey studio</code> printed. A request that changes something "
    "carries the header <code>X-Covey-Studio: 1</code>, a JSON body <code>Content-Type: application/json</code>. "
    'An error is <code>{"error": {"parameter": ..., "message": ...}}</code>; 429 says in Retry-After how long to wait.'
)


def api_page(document: dict[str, Any]) -> str:
    """The whole page: operations by their tag, with parameters and an outline of the body."""
    groups: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            tag = (operation.get("tags") or ["other"])[0]
            groups.setdefault(tag, []).append(_operation(path, method, operation, document))
    parts = "".join(f"<h2>{escape(tag)}</h2>{''.join(each)}" for tag, each in groups.items())
    info = document["info"]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(info['title'])}</title><style>{STYLE}</style></head><body>"
        f'<h1>{escape(info["title"])} <span class="soft">{escape(info["version"])}</span></h1><p>{RULES}</p>'
        f'<p class="soft">The same as a document: <code>openapi.json</code></p>{parts}</body></html>'
    )


def _operation(path: str, method: str, operation: dict[str, Any], document: dict[str, Any]) -> str:
    words = escape((operation.get("description") or operation.get("summary") or "").replace("`", ""))
    rows = "".join(
        f"<tr><td><code>{escape(parameter['name'])}</code></td><td>{escape(parameter['in'])}</td>"
        f"<td>{escape(_outline(parameter.get('schema', {}), document))}</td>"
        f"<td>{escape(parameter.get('description', ''))}</td></tr>"
        for parameter in operation.get("parameters", ())
    )
    parts = [f"<h3><b>{escape(method.upper())}</b> {escape(path.removeprefix('/'))}</h3><p>{words}</p>"]
    if rows:
        parts.append(f"<table>{rows}</table>")
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        shape = _example(body.get("schema", {}), document)
        text = "the file itself" if kind != "application/json" else json.dumps(shape, indent=2)
        parts.append(f'<p class="soft">body, {escape(kind)}</p><pre>{escape(text)}</pre>')
    return "".join(parts)


def _resolved(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][name] if name else schema


def _outline(schema: dict[str, Any], document: dict[str, Any]) -> str:
    """A schema in a few words: its type or choices, its limits, its default."""
    one = _resolved(schema, document)
    if "anyOf" in one:
        return " or ".join(_outline(each, document) for each in one["anyOf"])
    words = " or ".join(map(str, one["enum"])) if "enum" in one else str(one.get("const", one.get("type", "anything")))
    limits = [f"{sign} {one[key]:g}" for key, sign in LIMITS.items() if key in one]
    limits += [f"by default {schema['default']}"] if "default" in schema else []
    return ", ".join([words, *limits])


def _example(schema: dict[str, Any], document: dict[str, Any]) -> Any:
    """The shape of a body: every field with what it takes."""
    one = _resolved(schema, document)
    if "anyOf" in one:
        return _example(one["anyOf"][0], document)
    if "properties" in one:
        return {name: _example(each, document) for name, each in one["properties"].items()}
    if one.get("type") == "array":
        return [_example(one.get("items", {}), document)]
    if "patternProperties" in one:
        return {"name": _example(next(iter(one["patternProperties"].values())), document)}
    return one["const"] if "const" in one else _outline(one, document)
