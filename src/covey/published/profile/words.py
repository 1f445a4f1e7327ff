"""A profile as plain lines for a person: what stands out first. From what is published alone."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from covey.published.counted import counted_words, rows_of
from covey.published.profile.columns import CATEGORY, Column
from covey.published.profile.profile import Finding, Profile
from covey.text import listing, paragraph, plain, show_table

MOST_CELLS = 8  # of a column, that stand side by side in a table; of more, the largest are told
SMALLEST = 1e-12  # bin that numbers are told by: of narrower ones, or of as wide ones, to six digits
MOST_FINDINGS, OF_A_COLUMN = 4, 2
NARROW = 0.02  # interval of a share: a narrower one is told with a digit more


def sentences(profile: Profile) -> list[str]:
    """A sentence on each cluster: how it differs from the whole, or that nothing can be told."""
    return [
        f"Cluster {cluster}: {'; '.join(_of_cluster(profile, cluster))}." for cluster in range(len(profile.centres))
    ]


def _of_cluster(profile: Profile, cluster: int) -> Iterator[str]:
    blind = [each.name for each in profile.columns if profile.cannot_tell(each.name)[cluster]]
    if len(blind) == len(profile.columns):
        yield "too few rows to tell anything with this budget"
        return
    found = _telling([each for each in profile.standing_out if each.cluster == cluster and each.column not in blind])
    yield from (_in_words(each, profile.of(each.column)[0].edges) for each in found[:MOST_FINDINGS])
    if not found:
        yield "like all rows, as far as can be told"
    if blind:
        yield f"too few rows to tell {', '.join(blind)}"


def _telling(found: list[Finding]) -> list[Finding]:
    """Of each column what a cluster has more of than the whole; what it has less of only if it has nothing more."""
    kept: list[Finding] = []
    for each in found:
        more = [other for other in found if other.column == each.column and other.here[0] > other.overall[0]]
        alike = [other for other in kept if other.column == each.column]
        if len(alike) < (OF_A_COLUMN if more else 1) and (each in more or not more):
            kept.append(each)
    return kept


def _in_words(finding: Finding, edges: Sequence[float] | None) -> str:
    number, low, high = finding.here
    if edges is not None:
        median, least, most, overall = (in_bins(each, edges) for each in (*finding.here, finding.overall[0]))
        return f"median {finding.column} {median} ({least} to {most}), {overall} overall"
    return f"{finding.column} {finding.cell} {_percent(number, low, high)}, {100 * finding.overall[0]:.0f}% overall"


def in_bins(value: float, edges: Sequence[float]) -> str:
    """A number to as many digits as the narrowest bin needs: half of it, and its edges as they are."""
    narrowest = float(np.diff(edges).min())
    if not SMALLEST < narrowest < 1 / SMALLEST:
        return f"{value:.6g}"
    digits = math.ceil(-math.log10(narrowest / 2))
    digits += bool(np.abs(np.round(edges, digits) - edges).max() > narrowest / 20)
    told = f"{round(value, digits) + 0.0:,.{max(digits, 0)}f}"  # 0 for -0
    return told.rstrip("0").rstrip(".") if digits > 0 else told


def _percent(share: float, low: float, high: float) -> str:
    """A share with the ends of its interval, rounded outward: 61% (57 to 65). A small one is not in their middle."""
    digits = 0 if high - low >= NARROW else 1
    step = 10**digits
    least, most = math.floor(100 * step * low) / step, math.ceil(100 * step * high) / step
    return f"{100 * share:.{digits}f}% ({least:.{digits}f} to {most:.{digits}f})"


def show_profile(profile: Profile) -> None:
    """Everything about a profile that a person wants to know, on stdout."""
    sys.stdout.write(f"What is in {len(profile.centres)} clusters\n\n")
    for sentence in sentences(profile):
        sys.stdout.write(f"{paragraph(sentence)}\n")
    for column in profile.columns:
        sys.stdout.write("\n")
        show_table(*_table(profile, column), right=range(1, len(column.cells) + 3))
    notes = [NOTE.format(scale=plain(profile.noise_scale, up=True)), *_ends(profile), *_found(profile)]
    notes += counted_words(profile.certificate)
    sys.stdout.write(f"\n{paragraph(' '.join(notes))}\n\n{paragraph(profile.certificate.statement)}\n\n")


NOTE = (
    "Numbers of rows, shares and medians come with what holds the true one 9 times in 10, each by itself; it is about "
    "the noise (of scale {scale} on every count), and about the rows that were counted. What is said to stand out does "
    "so for all cells together, 9 times in 10."
)


ENDS = (
    "Numbers beyond the range of {columns} were counted in its first or last cell: a median whose interval reaches an "
    "end of the range may lie beyond it."
)


def _ends(profile: Profile) -> Iterator[str]:
    """Of which columns a median may be beyond the range that it was looked for in."""
    columns = []
    for each in profile.columns:
        if each.edges is not None:
            medians = np.array([*profile.medians(each.name), profile.whole_median(each.name)])
            told = np.append(~profile.cannot_tell(each.name), True)
            at_end = (medians[:, 1] <= each.edges[0]) | (medians[:, 2] >= each.edges[-1])
            columns += [each.name] if (at_end & told).any() else []
    if columns:
        yield ENDS.format(columns=listing(columns))


FOUND = (
    "Categories of {column} were found in the rows: only texts that about {threshold:,} rows or more have are shown; "
    "all others, and what is missing, are 'other'."
)


def _found(profile: Profile) -> Iterator[str]:
    """How categories that nobody declared came to be shown."""
    private = profile.certificate.parameters.get("private")
    for column, how in private.items() if isinstance(private, dict) else ():
        if isinstance(how, dict) and isinstance(how.get("threshold"), int):
            yield FOUND.format(column=column, threshold=how["threshold"])


def _table(profile: Profile, column: Column) -> tuple[list[str], list[list[str]]]:
    known, counts = profile.of(column.name)
    lines = [*map(str, range(len(profile.centres))), "all"]
    shares = np.concatenate([counts.shares(), counts.whole.shares()])
    sizes = np.concatenate([counts.sizes(), counts.whole.sizes()])
    rows = [f"{max(total, 0.0):,.0f} ± {math.ceil((high - low) / 2):,}" for total, low, high in sizes]
    head = [known.name, f"{rows_of(profile.certificate)} (noisy)"]
    table = [[line, many] for line, many in zip(lines, rows, strict=True)]
    if known.edges is not None:
        medians = [*profile.medians(known.name), profile.whole_median(known.name)]
        head += ["median", "from", "to"]
        told = [[in_bins(each, known.edges) for each in median] for median in medians]
        table = [[*line, *median] for line, median in zip(table, told, strict=True)]
    blind = [*profile.cannot_tell(known.name), False]
    if known.kind == CATEGORY or len(known.cells) <= MOST_CELLS:
        chosen = list(range(min(len(known.cells), MOST_CELLS)))
    elif known.edges is None:
        chosen = np.sort(np.argsort(-shares[-1, :, 0], kind="stable")[:MOST_CELLS]).tolist()
    else:
        chosen = [len(known.cells) - 1]
    head += [known.cells[cell] for cell in chosen]
    for line, told, few in zip(table, shares, blind, strict=True):
        line += ["cannot tell" if few else _percent(*told[cell]) for cell in chosen]
    return head, table
