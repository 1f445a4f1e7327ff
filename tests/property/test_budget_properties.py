"""What holds for all amounts: splits, reserves, composition, units."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from covey.budget import Cost, Ledger, Plan, Promise, Reserve, compose, split
from covey.budget.accounting.amounts import DELTA_UNITS, EPSILON_UNITS, units_down, units_up
from covey.errors import BudgetError
from covey.events import Gaussian, Pure

positive = st.fractions(min_value=Fraction(1, 10**9), max_value=100)
weights = st.one_of(positive, st.integers(1, 10**9), st.decimals(min_value="0.001", max_value=1000, places=4).map(str))
pure = st.builds(Pure, st.fractions(min_value=0, max_value=3, max_denominator=1000))


@settings(max_examples=60)
@given(positive, st.lists(weights, min_size=1, max_size=20))
def test_parts_add_up_to_the_total_exactly(total, chosen):
    parts = split(total, *chosen)
    assert sum(parts) == total
    assert min(parts) > 0
    assert all(part * Fraction(chosen[0]) == parts[0] * Fraction(w) for part, w in zip(parts, chosen, strict=True))


@settings(max_examples=40)
@given(st.lists(pure, max_size=30))
def test_pure_plans_cost_their_exact_sum(events):
    assert compose(events, delta=Fraction(0)) == Cost(sum((e.epsilon for e in events), Fraction(0)))


@settings(max_examples=20)
@given(st.lists(pure, max_size=30))
def test_a_delta_never_makes_a_pure_plan_dearer(events):
    delta = Fraction(1, 10**6)
    cost = compose(events, delta=delta)
    assert cost.epsilon <= sum((e.epsilon for e in events), Fraction(0))
    assert cost.delta in (0, delta)


@given(st.lists(st.fractions(min_value="0.5", max_value=1000, max_denominator=100), min_size=1, max_size=5))
def test_gaussian_plans_get_dearer_with_every_event(multipliers):
    events = [Gaussian(m) for m in multipliers]
    costs = [compose(events[:n], delta=Fraction(1, 10**6)).epsilon for n in range(len(events) + 1)]
    assert costs == sorted(set(costs))


@given(
    st.lists(st.lists(st.sampled_from([Pure(Fraction(n, 10)) for n in (1, 2, 3)]), max_size=4), max_size=6),
    st.data(),
)
def test_what_is_drawn_never_costs_more_than_the_budget(plans, data):
    reserve, drawn = Reserve(Promise.of(1)), []
    for events in plans:
        try:
            reserve.open(Plan(tuple(events)))
        except BudgetError:
            continue
        for _ in range(data.draw(st.integers(0, 6))):
            event = Pure(Fraction(data.draw(st.integers(1, 4)), 10))
            try:
                reserve.draw(event, "test")
            except BudgetError:
                assert event not in reserve.remaining
            else:
                drawn.append(event)
    assert compose([*drawn, *reserve.remaining], delta=Fraction(0)).epsilon == reserve.opened.epsilon <= 1


@given(st.fractions(min_value=0, max_value=1000))
def test_units_enclose_the_amount(value):
    for units in (EPSILON_UNITS, DELTA_UNITS):
        if value * units < 2**63 - 1:
            low, high = units_down(value, units, name="x"), units_up(value, units, name="x")
            assert Fraction(low, units) <= value <= Fraction(high, units)
            assert high - low == ((value * units).denominator != 1)


@settings(deadline=None, max_examples=60)
@given(
    st.fractions(min_value=0, max_value=3),
    st.lists(st.fractions(min_value=Fraction(1, 10**7), max_value=1), max_size=8),
)
def test_a_ledger_never_grants_more_than_its_total(total, asks):
    ledger = Ledger.memory(epsilon=total)
    granted = Fraction(0)
    for ask in asks:
        try:
            ledger.charge("data", Promise.of(ask, 0), purpose="test")
        except BudgetError:
            continue
        granted += ask
    assert granted <= ledger.datasets()["data"].spent.epsilon <= total
