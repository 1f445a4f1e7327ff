"""The ledger as the page shows it: what was spent, when, on what, and which publications a charge covers."""

from __future__ import annotations

from typing import Any

from covey.budget.ledger.ledger import Ledger
from covey.budget.ledger.records import Account, cost_of

PARTS = ("total", "spent", "remaining")


def ledger_page(book: Ledger, publications: list[dict[str, Any]]) -> dict[str, Any]:
    """Data sets, charges and publications. A publication is post-processing of a look that was paid: it costs nothing.

    total and remaining are null where a ledger in memory sets no limit.
    """
    charges = [entry for entry in book.entries() if entry.kind == "charge"]
    covering = {entry.receipt: entry.sequence for entry in charges}
    return {
        "durable": book.path is not None,
        "datasets": {name: _amounts(account) for name, account in book.datasets().items()},
        "entries": [
            {
                "sequence": entry.sequence,
                "time": entry.time,
                "dataset": entry.dataset,
                "epsilon": float(cost.epsilon),
                "delta": float(cost.delta),
                "purpose": entry.purpose,
            }
            for entry, cost in ((entry, cost_of((entry.epsilon or 0, entry.delta or 0))) for entry in charges)
        ],
        "publications": [
            {**publication, "cost": 0.0, "covered_by": covering.get(str(publication.get("receipt")))}
            for publication in publications
        ],
    }


def _amounts(account: Account) -> dict[str, float | None]:
    costs = {part: getattr(account, part) for part in PARTS}
    epsilons = {part: None if cost is None else float(cost.epsilon) for part, cost in costs.items()}
    return epsilons | {f"{part}_delta": None if cost is None else float(cost.delta) for part, cost in costs.items()}
