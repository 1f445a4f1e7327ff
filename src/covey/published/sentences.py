"""The errors of a release in plain words, for people and for maps. From what is stored in the release alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from covey.post.errors.quantiles import LEVEL
from covey.published.certificate import without_places
from covey.published.counted import below_none, counted_words
from covey.published.ways import MEAN, METRES, ROOT
from covey.text import counted, listing, outward, plain, which

if TYPE_CHECKING:
    from covey.published.certificate import Certificate
    from covey.published.errors import Errors
    from covey.published.release import Release

MOST_TOLD = 1e100  # of a number that anybody may have written: no more digits than a line holds
NOISE = "may be only noise"
FLATTERED = "Centres that were found on the same counts look a little better than they are."
NOWHERE = "place not determined"
UNKNOWN = "?"  # drawn beside a centre whose place is not determined
HOW_MANY = "How many clusters"
ONE_MEAN = "one mean"  # the note of a fit that did not look for clusters


def words_of(release: Release, names: Sequence[str] | None = None, *, scaled: bool = False) -> list[str]:
    """Plain sentences on how far off a release may be. `names` are those of its centres, if not their numbers."""
    share, labels = release.rows_outside, names or centre_labels(release)
    outside = [str(share)] if share is not None and share.matters else []
    outside = [*outside, *counted_words(release.certificate)]
    if release.errors is None:
        why = not_told(release).get("errors")
        told = [] if why is None else [f"How far off these numbers are cannot be told: {why}."]
        return [*without_clusters(release), *told, *below_none(release, labels), *outside]
    errors = release.errors
    costs = of_costs(release, scaled=scaled)
    return [
        *without_clusters(release),
        *_intervals(errors),
        *below_none(release, labels),
        *doubts(release, labels),
        *both_true(release),
        *(_places(errors) or without_places(release.certificate)),
        *costs,
        *outside,
    ]


def units_in_words(certificate: Certificate) -> str:
    """What became of missing values, and how distances are measured: from the request alone, never from rows."""
    if certificate.parameters.get("missing") == "drop":
        told = "Rows with a missing value were left out."
    else:
        drop = "; `missing='drop'` leaves such rows out" if certificate.neighbours == "add-remove" else ""
        told = f"Missing values were moved to the middle of their range{drop}."
    on_map = " Longitude and latitude count in equal metres." if certificate.domain.get("equal_metres") is True else ""
    return told + on_map


def _which(release: Release) -> str:
    """Whose range costs are told by: all columns', or that of the one that counts most."""
    scale = release.certificate.domain.get("scale")
    return "each column's" if scale is None else f"{release.columns[scale.index(max(scale))]}'s"


def not_told(release: Release) -> dict[str, str]:
    """What a release cannot say, and why, by its certificate."""
    found = release.certificate.parameters.get("not_told")
    return {str(what): str(why) for what, why in found.items()} if isinstance(found, dict) else {}


def _intervals(errors: Errors) -> list[str]:
    if errors.sizes is None:
        return []
    return [f"Each interval holds {often(errors.level)}; those that hold all at once are wider (joint)."]


def often(level: float) -> str:
    """How often an interval holds: "9 times in 10" for 0.9."""
    return f"{plain(10 * level)} times in 10"


def centre_labels(release: Release) -> list[str]:
    """What centres are called where nobody named them: by their numbers."""
    return [str(i) for i in range(len(release.centres))]


def hollow(release: Release, i: int) -> bool:
    """Whether a centre may be only noise."""
    return release.errors is not None and release.errors.doubtful is not None and release.errors.doubtful[i]


def marks_in_words(release: Release) -> list[str]:
    """What else a map shows: rings and hollow discs, where there are any."""
    known = release.errors
    if known is None:
        return []
    rings = f"Rings: where a centre probably is, {often(known.level)}; small ones lie under their disc."
    radii = known.radii or ()
    words = [rings] if any(radius is not None for radius in radii) else []
    words += [f"“{UNKNOWN}”, no ring: {NOWHERE}."] if None in radii else []
    return words + ([f"Hollow: {NOISE}."] if any(known.doubtful or ()) else [])


def nowhere(release: Release, i: int) -> bool:
    """Whether the place of a centre was looked for and is not determined."""
    known = release.errors
    return known is not None and known.radii is not None and known.radii[i] is None


def doubts(release: Release, names: Sequence[str] | None = None) -> list[str]:
    """One sentence on centres that may be only noise, if there are any."""
    labels = names or centre_labels(release)
    known = () if release.doubtful is None else release.doubtful
    doubted = [name for name, doubt in zip(labels, known, strict=False) if doubt]
    if not doubted:
        return []
    return [f"{'Centres' if len(doubted) > 1 else 'Centre'} {listing(doubted)} {NOISE}."]


def both_true(release: Release) -> list[str]:
    """One sentence, where a centre may be only noise though the interval of its rows is above 0."""
    known = release.errors
    if known is None or known.sizes is None or known.doubtful is None:
        return []
    if not any(doubt and low >= 1 for doubt, (low, _) in zip(known.doubtful, known.sizes, strict=True)):
        return []
    return [
        "That an interval is above 0 does not clear a centre of this: it counts all rows nearest to the centre, "
        f"wherever they are, and holds {often(known.level)}; whether noise drew the centre is asked more strictly."
    ]


def without_clusters(release: Release) -> list[str]:
    """One sentence, where rows were too few to look for clusters."""
    if release.certificate.parameters.get("synopsis") != ONE_MEAN:
        return []
    what = ("centre is one noisy mean", "centres are one noisy mean and the middle of the domain")
    many = "centres are the middle of the domain, one noisy mean, and other places where that may be"
    which = (*what, many)[min(len(release.centres), 3) - 1]
    return [f"Rows are too few for this epsilon to tell clusters apart: the {which}."]


def how_many_words(release: Release) -> list[str]:
    """How many clusters there seem to be, where that was asked for. A document may say anything."""
    found = release.certificate.parameters.get("how_many")
    words = found.get("words") if isinstance(found, dict) else None
    if not isinstance(words, str):
        return []
    return [words if words.startswith(HOW_MANY) else f"{HOW_MANY}: {words}"]


def not_told_k(release: Release) -> list[str]:
    """The same, where the release does not tell and the likeliest number was used."""
    words = how_many_words(release)
    return words if words and release.certificate.parameters["how_many"].get("k") is None else []


def _places(errors: Errors) -> list[str]:
    if all(radius is None for radius in errors.radii or ()):
        return []
    return [f"A centre is probably ({often(errors.level)}) as near as is said to where it would be without noise."]


def of_costs(release: Release, *, scaled: bool = False) -> list[str]:
    """By how much the centres may be worse than without privacy, and how far rows are from them.

    scaled : what they cost instead, for their own objective. They were found on the same counts, which has to be said.
    Reruns cannot see what was missed: that too.
    """
    errors, objective = release.errors, release.objective
    if errors is None:
        return []
    lines = [] if errors.radii is None and errors.excess is None else [f"{excess_words(errors.excess)}."]
    far = None if scaled else distance_words(release)
    known, why = (errors.costs or {}).get(objective), not_told(release).get(f"{objective} cost")
    if far is not None:
        lines.append(f"{far} {FLATTERED}")
    elif known is not None:
        cost, low, high = known
        lines.append(
            f"The {objective} cost is about {amount(cost)} ({amount(low)} to {amount(high)}; {often(errors.level)}), "
            f"with half of {_which(release)} range as the unit. {FLATTERED}"
        )
    elif why is not None:
        lines.append(cost_untold(f"The {objective} cost", why))
    return lines


def distance_words(release: Release) -> str | None:
    """How far rows are from their centres: in metres on a map, else in the units of the data. None if unknown."""
    told = (release.errors.distances if release.errors is not None else None) or {}
    kind = METRES if METRES in told else ROOT if release.objective == "k-means" else MEAN
    if release.errors is None or kind not in told:
        return None
    far = way_words(*told[kind], metres=kind == METRES).removesuffix(")")
    where = "" if kind == METRES else ", in the units of the data"
    how = "in root mean square" if kind == ROOT else "on average"
    return f"A row is {far}; {often(release.errors.level)}) from its centre {how}{where}."


def way_words(far: float, low: float | None = None, high: float | None = None, *, metres: bool, name: str = "") -> str:
    """A mean distance with its interval: 1.320 km (1.284 to 1.356). name : of a unit that is not metres."""
    size, name = (1.0, name) if not metres else (1000.0, " km") if far >= 1000 else (1.0, " m")

    def told(value: float) -> str:
        least = abs(far / size)  # all to the digits of the estimate
        return f"{value / size:.{3 - math.floor(math.log10(least))}f}" if 1e-3 < least < 1e3 else amount(value / size)

    ends = "" if low is None or high is None else f" ({told(low)} to {told(high)})"
    return f"{told(far)}{name}{ends}"


def constraint_words(release: Release) -> list[str]:
    """Where the centres of a release might be, and what others would cost, by its certificate; nothing if anywhere."""
    limits = release.certificate.parameters.get("constraints")
    if not isinstance(limits, dict):
        taken = which(release.certificate.parameters.get("site_numbers"))
        return [f"Limits: centres are places of the list{taken}."] if taken else []
    fixed, listed, allowed, forbidden = (
        _count(limits.get(name)) for name in ("fixed", "candidates", "allowed_polygons", "forbidden_polygons")
    )
    where = [f"chosen from {counted(listed, 'place')}{which(limits.get('numbers'))}" if listed else "found"]
    where += [f"inside {allowed:,} allowed polygon{'s' if allowed > 1 else ''}"] if allowed else []
    where += [f"outside {forbidden:,} forbidden polygon{'s' if forbidden > 1 else ''}"] if forbidden else []
    parts = [f"the first {'centre was' if fixed == 1 else f'{fixed} centres were'} given"] if fixed else []
    parts.append(f"{'all others' if fixed else 'centres'} were {', '.join(where)}")
    lines, more = [f"Limits: {'; '.join(parts)}."], limits.get("more_than_found")
    costs = limits.get("costs")
    base = costs.get("found") if isinstance(costs, dict) else None
    whole = base[0] if isinstance(base, list) and base and _is_cost(base[0]) and base[0] > 0 else None
    if isinstance(base, list) and None in base and release.errors is not None:  # noise hides what they cost
        whole = math.nan
    for name, words in (
        ("fixed alone", "The given places alone"),
        ("anywhere", f"{counted(len(release.centres), 'centre')} anywhere"),
    ):
        told = more.get(name) if isinstance(more, dict) else None
        if isinstance(told, list) and len(told) == 3 and _is_cost(told[0]):
            ends = told[1:] if all(map(_is_cost, told)) else None
            lines.append(f"{words} {_costs_more(told[0], ends, whole, guess=release.errors is None)}.")
    return lines


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 < value <= MOST_TOLD else 0


def _is_cost(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) <= MOST_TOLD


def _costs_more(cost: float, ends: Sequence[float] | None, whole: float | None, *, guess: bool) -> str:
    """By how much other centres cost more, or less, with its error. guess : tell it where no error is known.

    whole : what these cost, for a share of it; nan where noise hides it; without it, the number as it is measured.
    """

    def part(share: float) -> str:
        return amount(share) if whole is None else f"{plain(share) if share < 100 else f'{share:,.0f}'}%"

    unit = 1.0 if whole is None else 100 / whole
    words = f"would cost {part(unit * abs(cost))} {'more' if cost > 0 else 'less'}"
    if ends is None:
        return f"{words} (error unknown)" if guess else "cannot be compared with these: noise hides their costs"
    if ends[0] <= 0 <= ends[1]:
        return "cannot be told apart from these by their cost"
    if whole is not None and math.isnan(whole):
        return f"would cost {'more' if cost > 0 else 'less'}, by what share cannot be told: noise hides what these cost"
    low, high = sorted(unit * abs(end) for end in ends)
    if high < (1e4 if whole is None else 100):  # larger ones are told in whole numbers
        low, high = outward(low, high, 4 if whole is None else 2)
    else:
        low, high = math.floor(float(f"{low:.10g}")), math.ceil(float(f"{high:.10g}"))
    return f"{words} ({part(low)} to {part(high)}; {often(LEVEL)})"


def excess_words(excess: float | None) -> str:
    if excess is None:  # though the fit was run again: it may be more than twice as much
        return "How much worse than without privacy cannot be told at this level of privacy"
    share = plain(max(100 * excess, 0.1), up=True)
    return f"Probably ({often(LEVEL)}) up to {share}% worse than without privacy, if no cluster was missed"


def cost_untold(what: str, why: str) -> str:
    return f"{what} cannot be told: {why}."


def amount(value: float) -> str:
    """Four digits, without an exponent where it is not needed."""
    return f"{round(value):,}" if 1e4 <= abs(value) < 1e15 else f"{value:,.4g}"


def length(metres: float, *, up: bool = False) -> str:
    """A length in metres or kilometres, to two digits."""
    return f"{plain(metres, up=up)} m" if metres < 1000 else f"{plain(metres / 1000, up=up)} km"
