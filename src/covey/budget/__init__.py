"""What privacy costs and what was spent: the accountant, plans, the durable ledger. No rows, no noise."""

from covey.budget.accounting.accountant import Cost, calibrate_gaussian, compose
from covey.budget.accounting.plan import Plan, Reserve, split
from covey.budget.accounting.promise import Disjoint, Kind, Promise
from covey.budget.ledger.ledger import Ledger

__all__ = ["Cost", "Disjoint", "Kind", "Ledger", "Plan", "Promise", "Reserve", "calibrate_gaussian", "compose", "split"]
