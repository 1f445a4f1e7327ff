"""What a publication would promise: the same amounts under the slider, in its dialog and in the certificate."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from covey.budget.accounting.accountant import Cost
from covey.budget.ledger.ledger import Ledger
from covey.budget.ledger.records import Account
from covey.checks import amount
from covey.events import float_at_least
from covey.fit.slider import USUAL_LEVELS, Level, LevelSet, price
from covey.published.certificate import factor_of
from covey.published.levels.words import ALONE, LATER, RAW, SLIDER, choice
from covey.studio.refusals import Refusal
from covey.studio.view import promise


class How(NamedTuple):
    """How a level was chosen, and what all releases of the data set cost together, where there were others."""

    chosen: str
    together: Cost | None = None


def how_chosen(book: Ledger, dataset: str, levels: LevelSet, *, seen: bool) -> How:
    """In advance only where nothing of the data set was seen before: no other charge, no raw row."""
    charges = sum(entry.kind == "charge" and entry.dataset == dataset for entry in book.entries())
    together = book.datasets()[dataset].spent if charges > 1 else None
    if seen:
        return How(RAW, together)
    return How(SLIDER if len(levels.levels) > 1 else ALONE) if together is None else How(LATER, together)


def certified_levels(found: LevelSet, how: How) -> list[dict[str, Any]]:
    """The levels of a look, and what their certificates will state."""
    promises = [choice(found, i, how.chosen, {}, how.together) for i in range(len(found.levels))]
    return [
        {"index": i, "name": level.name, "epsilon": level.epsilon, "meaning": found.meaning(i)}
        | {"certified": stated(promises[i].epsilon, promises[i].delta, how.chosen)}
        for i, level in enumerate(found.levels)
    ]


def offers(account: Account | None, *, seen: bool, person: str) -> list[dict[str, Any]]:
    """The levels to rehearse, and what certificates would state: of a level that is paid for alone (`alone`), and of
    any level after a look at all up to this one (`looking`)."""
    spent = Cost(Fraction(0)) if account is None else account.spent
    before = RAW if seen else LATER if spent.epsilon > 0 else None
    found = []
    for i, level in enumerate(USUAL_LEVELS):
        total = float_at_least(spent.epsilon + amount("epsilon", level.epsilon)), float_at_least(spent.delta)
        told = {"index": i, "name": level.name, "epsilon": level.epsilon, "own": factor_of(level.epsilon)}
        told["meaning"] = promise(level.epsilon, person)
        found.append(told | {"alone": stated(*total, before or ALONE), "looking": stated(*total, before or SLIDER)})
    return found


def price_of(account: Account | None, paid: float | None = None) -> dict[str, Any]:
    """What a look at all levels costs, or what was paid for; what is spent and remains of the data set's budget."""
    remaining = None if account is None else account.remaining
    return {
        "epsilon": price() if paid is None else paid,
        "remaining": None if remaining is None else float(remaining.epsilon),
        "spent": None if account is None else float(account.spent.epsilon),
        "dataset": None if account is None else account.dataset,
    }


def stated(epsilon: float, delta: float, chosen: str) -> dict[str, Any]:
    return {"epsilon": epsilon, "delta": delta, "factor": factor_of(epsilon), "chosen": chosen}


def levels_for(epsilon: float, *, alone: bool) -> Sequence[Level]:
    """What a price buys: one level alone, or the slider from the most private level up to it."""
    up_to = [level for level in USUAL_LEVELS if level.epsilon <= epsilon]
    if not up_to or up_to[-1].epsilon != epsilon:
        prices = ", ".join(f"{level.epsilon:g}" for level in USUAL_LEVELS)
        raise Refusal(409, f"the price of a look is that of a level, {prices}: confirm one", parameter="epsilon")
    return up_to[-1:] if alone else up_to
