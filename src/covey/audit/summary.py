"""What the cells of an audit say together: one line for each algorithm, each mechanism, each thing in front."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from covey.audit.bounds import Claim
from covey.audit.cells import Cell

Answer = Mapping[str, Any]
Pairs = Sequence[tuple[Cell, Answer]]
HEADERS = ("what", "claimed", "lower bound", "worst transcript", "replay", "verdict")
MARGIN = 0.9  # of what is claimed: what a single mechanism's bound should reach


@dataclass(frozen=True)
class Line:
    """One line of the table. bounds: (claimed, best lower bound) for each epsilon and delta, the worst cell of each."""

    name: str
    bounds: tuple[tuple[str, float], ...]
    transcript: float | None
    event: float | None
    replayed: int | None
    diverged: int
    problems: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def failed(self) -> bool:
        return bool(self.problems)

    def cells(self) -> list[str]:
        """The line as words, in the order of HEADERS."""
        loss = (
            "" if self.replayed is None else "only events" if self.transcript is None else f"{self.transcript:.3f} of ε"
        )
        pairs = "" if self.replayed is None else f"{self.replayed:,} pairs, {self.diverged or 'none'} diverged"
        verdict = "FAILED" if self.failed else "passed" if self.bounds or self.replayed else "not in this version"
        return [
            self.name,
            "; ".join(claimed for claimed, _ in self.bounds),
            "; ".join(f"{lower:.3f}" for _, lower in self.bounds),
            loss,
            pairs,
            verdict,
        ]


def lines(done: Pairs) -> list[Line]:
    """Algorithms first, then what stands in front of them, then single mechanisms."""
    groups: dict[tuple[int, str], list[tuple[Cell, Answer]]] = defaultdict(list)
    for cell, answer in done:
        groups[_group(cell)].append((cell, answer))
    return [_line(name, some) for (_, name), some in sorted(groups.items(), key=lambda each: each[0][0])]


def _group(cell: Cell) -> tuple[int, str]:
    asked = cell.parameters
    if cell.kind == "mechanism":
        return 2, asked["name"]
    if cell.kind == "system":
        return 3, f"{asked['system']}, {asked['neighbours']}, d = {asked['columns']}"
    front = asked.get("front", "")
    if not front:
        return 0, asked["algorithm"]
    return 1, f"levels: {front}" if asked["algorithm"] == "levels" else f"in front: {front}"


def _line(name: str, some: Pairs) -> Line:
    bounds: dict[str, float] = {}
    for _, answer in some:
        if "lower" in answer:
            claimed = _claimed(answer)
            bounds[claimed] = max(answer["lower"], bounds.get(claimed, 0.0))
    replays = [answer for cell, answer in some if cell.kind == "replay" and answer["status"] == "done"]
    losses = [answer for cell, answer in some if cell.kind == "transcript" and answer["status"] == "done"]
    return Line(
        name=name,
        bounds=tuple(bounds.items()),
        transcript=_most(answer[kind] for answer in losses for kind in ("drawn", "chosen")),
        event=_most(answer["event"] for answer in losses),
        replayed=sum(answer["pairs"] for answer in replays) if replays else None,
        diverged=sum(answer["diverged"] for answer in replays),
        problems=tuple(problems(some)),
        missing=tuple(f"{cell.label}: {answer['why']}" for cell, answer in some if _is_missing(answer)),
    )


def _claimed(answer: Answer) -> str:
    letter = "μ" if answer["kind"] == "mu" else "ε"
    return f"{letter} = {answer['claimed']:g}" + (f", δ = {answer['delta']:g}" if answer["delta"] else "")


def _most(values: Iterable[float | None]) -> float | None:
    return max((each for each in values if each is not None), default=None)


def _is_missing(answer: Answer) -> bool:
    return answer["status"] in ("refused", "not in this version")


def problems(some: Pairs) -> list[str]:
    """Why an audit fails: a bound above its claim, a divergence, a loss above epsilon, an error, nothing attacked."""
    found = []
    for cell, answer in some:
        if answer["status"] == "error":
            found.append(f"{cell.label}: {answer['why']}")
        elif answer.get("failed"):
            words = "; ".join(answer.get("what", ())) or (
                f"the bound {answer['lower']:.4g} is above the claimed {answer['claimed']:g} ({answer['event']})"
            )
            found.append(f"{cell.label}: {words}")
    fits = [answer for cell, answer in some if cell.kind in ("fit", "system")]
    if fits and all(answer["status"] == "refused" for answer in fits):
        found.append(f"{_group(some[0][0])[1]}: every fit was refused, nothing was attacked")
    return found


def weak(done: Pairs) -> list[str]:
    """Single mechanisms whose bound does not reach its margin: the attack, not the mechanism, is to blame."""
    return [
        f"{cell.label}: {answer['lower'] / answer['claimed']:.3f} of the claim"
        for cell, answer in done
        if cell.kind == "mechanism" and answer.get("single") and answer["lower"] < MARGIN * answer["claimed"]
    ]


def beyond(done: Pairs) -> list[str]:
    """Claims that no outcome of so few fits could refute: that they passed says nothing."""
    found = []
    for cell, answer in done:
        if cell.kind in ("fit", "system") and "lower" in answer:
            claim, trials = Claim(answer["claimed"], answer["delta"], answer["kind"]), answer["trials"]
            most = float(claim.lower(trials, 0, trials=trials, alpha=answer["alpha"]))  # always there, never here
            if most <= claim.amount:
                found.append(f"{cell.label}: they can prove {most:.2f} at most, so that this passes whatever it does")
    return found
