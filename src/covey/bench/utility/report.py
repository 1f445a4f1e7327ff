"""The tables of `covey bench utility`: on the terminal for one system, as markdown for all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from covey.bench.peers.figures import PEERS, PUBLISHED, VERSIONS
from covey.bench.sets import UTILITY

Document = dict[str, Any]
Row = list[str]


def figure(value: float | None, error: float | None = None) -> str:
    """A ratio with about three digits, and its standard error."""
    if value is None:
        return "–"
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}" + ("" if error is None else f" ± {error:.{digits}f}")


def geometric_mean(values: Sequence[float]) -> float | None:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def cells_of(document: Document, epsilon: float) -> dict[str, dict[str, Any]]:
    return {row["set"]: row for row in document["cells"] if row["epsilon"] == epsilon}


def published(document: Document, name: str, epsilon: float, peer: str) -> float | None:
    """What a peer reached on the same rows; nothing where ours are made up or the objective is another."""
    if document["quick"] or document["objective"] != "k-means":
        return None
    return PUBLISHED.get(name, {}).get(epsilon, {}).get(peer)


def compare(document: Document, epsilon: float, peer: str) -> dict[str, int]:
    """In how many sets a system is ahead of a peer, level to the published digits, or behind."""
    counts = {"ahead": 0, "level": 0, "behind": 0}
    for name, row in cells_of(document, epsilon).items():
        theirs = published(document, name, epsilon, peer)
        if theirs is None:
            continue
        ours = math.inf if "refused" in row else row["ratio"]
        same = figure(theirs) == figure(ours) if ours < math.inf else False
        counts["level" if same else "ahead" if ours < theirs else "behind"] += 1
    return counts


def wins(document: Document, epsilon: float) -> list[str]:
    """A sentence for each peer with published figures at this ε."""
    lines = []
    for peer in PEERS:
        counts = compare(document, epsilon, peer)
        if total := sum(counts.values()):
            what = f"ahead in {counts['ahead']} of {total}, level in {counts['level']}, behind in {counts['behind']}"
            lines.append(f"{document['label']} against {peer}: {what}")
    return lines


def table_rows(documents: Sequence[Document], epsilon: float) -> list[Row]:
    """Header, a row for each set that any system was measured on, and the geometric means."""
    peers = [peer for peer in PEERS if any(published(d, n, epsilon, peer) for d in documents for n in PUBLISHED)]
    by_system = [cells_of(document, epsilon) for document in documents]
    rows = [["set", "k", *(document["label"] for document in documents), *(f"{peer}*" for peer in peers)]]
    columns: list[list[float]] = [[] for _ in range(len(documents) + len(peers))]
    for which in UTILITY:
        found = [cells.get(which.name) for cells in by_system]
        if not any(found):
            continue
        row = [which.name, str(which.k)]
        for column, cell in zip(columns, found, strict=False):
            if cell is None or "refused" in cell:
                row.append("refused" if cell else "–")
            else:
                row.append(figure(cell["ratio"], cell["se"]))
                column.append(cell["ratio"])
        for column, peer in zip(columns[len(documents) :], peers, strict=True):
            value = published(documents[0], which.name, epsilon, peer)
            row.append(figure(value))
            column += [value] if value is not None else []
        rows.append(row)
    most = max(map(len, columns), default=0)
    means = [
        figure(geometric_mean(each)) + ("" if len(each) in (0, most) else f" ({len(each)} sets)") for each in columns
    ]
    rows.append(["geometric mean", "", *means])
    return rows


def levels(documents: Sequence[Document]) -> list[float]:
    return sorted({row["epsilon"] for document in documents for row in document["cells"]})


def terminal(document: Document) -> str:
    """One system, ε by ε, next to the peers."""
    parts = []
    for epsilon in levels([document]):
        rows = table_rows([document], epsilon)
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        parts.append("\n".join([f"ε = {epsilon:g}", *lines, *wins(document, epsilon)]))
    return "\n\n".join(parts) + "\n"


def markdown(documents: Sequence[Document]) -> str:
    """All systems measured in a folder, a table for each ε."""
    if not documents:
        return ""
    quick = ", on made-up rows: a check of the command, not a result" if documents[0]["quick"] else ""
    best = "k-means (the best of 10 runs of scikit-learn)" if documents[0]["objective"] == "k-means" else "k-median"
    parts = [
        f"Cost of the private centres relative to non-private {best}{quick}. Mean ± standard error; 1 is as good as "
        "without privacy, smaller is better."
    ]
    for epsilon in levels(documents):
        header, *rows = table_rows(documents, epsilon)
        lines = [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows[:-1])]
        lines.append(f"| {' | '.join(f'**{text}**' if text else '' for text in rows[-1])} |")
        said = [f"- {line}" for document in documents if ":" in document["label"] for line in wins(document, epsilon)]
        parts += [f"## ε = {epsilon:g}", "\n".join(lines), *(["\n".join(said)] if said else [])]
    if any(published(documents[0], name, 1.0, "Google") for name in PUBLISHED):
        parts.append(
            f"\\* Published, not measured here: {VERSIONS['Google']} (δ = n^-1.5, 3 runs), {VERSIONS['IBM']} of "
            "IBM (pure ε, 3 runs; it overspends its ε from d = 5 on), and the floating-point prototype of Covey's "
            "recipe, which knows n exactly (6 runs). Ahead compares means; level is equal to the digits shown. "
            "Their 64 Gaussians are another draw."
        )
    refused = {
        f"{document['label']} refuses {row['set']}: {row['refused']}"
        for document in documents
        for row in document["cells"]
        if "refused" in row
    }
    parts += [f"- {line}" for line in sorted(refused)]
    runs = sorted({row["runs"] for document in documents for row in document["cells"] if "runs" in row})
    parts.append(
        "Runs per cell: " + (f"{runs[0]}." if len(runs) == 1 else f"{runs[0]} to {runs[-1]}." if runs else "none.")
    )
    return "\n\n".join(parts) + "\n"
