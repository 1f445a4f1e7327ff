"""What privacy costs and what was spent: the accountant, plans, the durable ledger. No rows, no noise."""

from covey.budget.accountant import Cost, calibrate_gaussian, compose
from covey.budget.ledger import Ledger
from covey.budget.plan import Plan, Reserve, split

__all__ = ["Cost", "Ledger", "Plan", "Reserve", "calibrate_gaussian", "compose", "split"]
