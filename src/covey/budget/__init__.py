"""What privacy costs and what was spent: the accountant, plans, the durable ledger. No rows, no noise."""

from covey.budget.accountant import Cost, calibrate_gaussian, compose
from covey.budget.ledger import Ledger
from covey.budget.plan import Plan, Reserve, split
from covey.budget.promise import Disjoint, Kind, Promise

__all__ = ["Cost", "Disjoint", "Kind", "Ledger", "Plan", "Promise", "Reserve", "calibrate_gaussian", "compose", "split"]
