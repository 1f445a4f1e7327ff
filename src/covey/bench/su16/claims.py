"""The statements of Su et al. 2016 next to what was measured. Each rule is fixed here; each verdict is computed.

A rule turns the paper's words into a test on the numbers ("most" is more than half, "almost all" at least 90%,
"small" is an epsilon of at most 0.2, "larger" at least 0.5). Low-dimensional sets are the paper's four. What can be run
as printed and in Covey's form is judged on both.

A statement that does not hold is *false here* if it does not hold on the paper's own rows either: its rule again, on
those sets alone that are the paper's, in bounds hardly wider than the rows (the paper scales a column by its range,
and k-means depends on that). Synthetic sets are made as the paper describes, and count as its own. Where only rows that
stand in speak against a statement, or it is about rows that are not here, it *cannot be tested on this stand-in*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from covey.bench.harness import Row
from covey.bench.su16 import apart, rules
from covey.bench.su16.cells import COVEY, HIGH, LOW, PRINTED, SUFFIX, Figures, Rule, View

ALL, SYNTHETIC = LOW + HIGH, ()
WIDEST = 1.25  # times a column's own range: wider bounds make another clustering problem of the same rows
FALSE, UNTESTED = "false here", "cannot be tested on this stand-in"


@dataclass(frozen=True)
class Claim:
    figure: str
    paper: str
    rule: str
    judge: Rule
    about: tuple[str, ...] = ALL  # sets
    needs: tuple[str, ...] = ()  # sets without which the rule says nothing
    twice: tuple[str, ...] = ()  # algorithms that make two forms of it, where they were run as printed too
    form: str = COVEY  # otherwise


def judge(figures: Figures, forced: list[Row], sets: Sequence[Row]) -> list[Row]:
    """Every claim in every form: the words, the rule, what was measured, whether that reproduces it; if not, why."""
    own = own_sets(sets)
    claims: list[Row] = []
    for claim in CLAIMS:
        for form in forms(claim, figures):
            measured, held = claim.judge(View(figures, forced, form, claim.about))
            row = {"figure": claim.figure, "paper": claim.paper, "form": form, "rule": claim.rule}
            ours = View(figures, forced, form, tuple(name for name in claim.about if name in own))
            why = "" if held else why_not(claim, ours)
            claims.append({**row, "measured": measured, "reproduced": bool(held), "why_not": why})
    return claims


def forms(claim: Claim, figures: Figures) -> tuple[str, ...]:
    """As printed and Covey's, if the claim's figure holds both; or its only form."""
    there = {row.get("algorithm") for row in figures.get(f"figure{claim.figure}", ())}
    both = claim.twice and {name + SUFFIX for name in claim.twice} <= there
    return (PRINTED, COVEY) if both else (claim.form,)


def own_sets(sets: Sequence[Row]) -> list[str]:
    """The sets that are the paper's own: its rows, in bounds that are hardly wider than they are."""
    return [each["name"] for each in sets if not each["stands_in"] and each["times_as_wide"] <= WIDEST]


def why_not(claim: Claim, ours: View) -> str:
    """Whether the paper's own rows speak against a statement that does not hold on all."""
    told = set(claim.needs) <= set(ours.sets) and (ours.sets or claim.about == SYNTHETIC)
    return FALSE if told and not claim.judge(ours)[1] else UNTESTED


CLAIMS = (
    Claim(
        "1",
        "DPLloyd is the best interactive method in most cases",
        "lloyd lowest of the four in more than half of the cells",
        rules.lloyd_is_best,
        twice=("genetic",),
    ),
    Claim(
        "1",
        "DPLloyd is worse than PGkM only on S1 below an epsilon of 0.15",
        "genetic below lloyd somewhere on S1 below 0.15, and nowhere else",
        rules.genetic_is_ahead_on_s1_alone,
        twice=("genetic",),
        needs=("S1",),
    ),
    Claim(
        "1",
        "GkM is always much worse than the others",
        "gkm highest of the four in at least 90% of the cells",
        rules.gkm_is_worst,
        twice=("genetic",),
    ),
    Claim(
        "1",
        "GkM-3K performs much better than GkM",
        "geometric mean of NICV(GkM)/NICV(GkM-3K) at least 1.5",
        rules.gkm_3k_is_better,
    ),
    Claim(
        "1",
        "GkM-3K is competitive with PGkM and sometimes far ahead, such as on TIGER and Lifesci",
        "geometric mean of NICV(GkM-3K)/NICV(PGkM) between 1/2 and 2 overall, and below 1 on these two",
        rules.gkm_3k_against_genetic,
        twice=("genetic",),
        needs=("TIGER", "Lifesci"),
    ),
    Claim(
        "1",
        "EUGkM clearly outperforms DPLloyd on the four low-dimensional sets at small epsilon",
        "geometric mean of NICV(lloyd)/NICV(grid) for epsilon up to 0.2 above 1 on each",
        rules.grid_is_ahead_at_small_epsilon,
        twice=("grid",),
        about=LOW,
    ),
    Claim(
        "1",
        "their gap becomes smaller as epsilon increases",
        "NICV(lloyd)/NICV(grid) nearer to 1 at the largest epsilon than at the smallest, on each of the four",
        rules.gap_narrows,
        twice=("grid",),
        about=LOW,
    ),
    Claim(
        "1",
        "DPLloyd outperforms EUGkM on the two high-dimensional sets at almost all epsilon",
        "lloyd below grid in at least 90% of the cells",
        rules.lloyd_is_ahead,
        twice=("grid",),
        about=HIGH,
    ),
    Claim(
        "5",
        "at larger epsilon Hybrid is at least as good as both",
        "for epsilon from 0.5, within 1% of the better of grid and lloyd in at least 90% of the cells",
        rules.hybrid_is_as_good,
        twice=("grid", "hybrid"),
    ),
    Claim(
        "5",
        "on the high-dimensional sets Hybrid outperforms the other two in most cases",
        "hybrid lowest in more than half of the cells",
        rules.hybrid_is_best,
        twice=("grid", "hybrid"),
        about=HIGH,
    ),
    Claim(
        "5",
        "Gowalla at 0.7: Hybrid 0.02172, EUGkM 0.02174",
        "hybrid at most grid, with the round made in most runs (other rows, so other values)",
        rules.gowalla_at_a_larger_epsilon,
        twice=("grid", "hybrid"),
        about=("Gowalla",),
    ),
    Claim(
        "5",
        "Adult-num at 0.05: 0.370 when Hybrid falls back, 0.244 if the round is made",
        "the forced round gives a lower NICV than falling back",
        rules.round_pays_on_adult,
        twice=("grid", "hybrid"),
        about=("Adult-num",),
    ),
    Claim(
        "2",
        "on the synthetic sets, too, DPLloyd is the best interactive method in most cases",
        "lloyd lowest of the four in more than half of the cells",
        apart.lloyd_is_best,
        twice=("genetic",),
        about=SYNTHETIC,
    ),
    Claim(
        "2",
        "theta = 10 works well in most cases",
        "NICV within 5% of the best of theta = 2, 10, 50 in more than half of the cells",
        apart.theta_10_is_good,
        about=SYNTHETIC,
    ),
    Claim(
        "2",
        "EUGkM is more sensitive to the dimension, DPLloyd to the number of clusters",
        "from the lower to the upper third of d, grid's mean difference grows by more than lloyd's; of k, lloyd's",
        apart.grid_minds_d_and_lloyd_k,
        twice=("grid",),
        about=SYNTHETIC,
    ),
    Claim(
        "6",
        "Hybrid is more scalable than EUGkM with respect to both k and d",
        "hybrid's mean difference to the baseline below grid's in the upper third of d and of k",
        apart.hybrid_scales_better,
        twice=("grid", "hybrid"),
        about=SYNTHETIC,
    ),
    Claim(
        "3",
        "with blocks of N^0.6 rows the error of GkM is dominated by the noise, much above that of the aggregation",
        "at N^0.6, the noise alone adds more to the baseline than the aggregation alone, on each set",
        apart.noise_dominates,
    ),
    Claim(
        "3",
        "the error of GkM keeps falling as blocks get smaller, until their size is close to k",
        "the best exponent is below 0.6 on each set",
        apart.smaller_blocks_are_better,
    ),
    Claim(
        "4",
        "Lloyd improves much faster than Gene in the first few iterations",
        "Lloyd lower after 3 rounds on each set",
        apart.lloyd_is_faster_at_first,
        form="no noise",
    ),
    Claim(
        "4",
        "generally, Gene overtakes Lloyd as the number of iterations increases",
        "Gene lower than the mean of Lloyd's starts after the last round on more than half of the sets",
        apart.gene_overtakes,
        form="no noise",
    ),
    Claim(
        "4",
        "on Image, Lloyd reaches the baseline after three iterations, Gene needs more than 10",
        "mean within 1% of the baseline: Lloyd after at most 3 rounds, Gene after more than 10",
        apart.image_after_three_rounds,
        about=("Image",),
        form="no noise",
    ),
    Claim(
        "7",
        "DPLloyd runs much faster than EUGkM",
        "lloyd needs less time than grid on each set",
        apart.lloyd_takes_less_time,
        twice=("grid",),
    ),
)


def claims_lines(claims: list[Row]) -> list[str]:
    """The claims for a terminal: a verdict, the paper's words, the form, what was measured."""
    return [
        f"{each['why_not'] or 'reproduced':>33}  {each['paper']} ({each['form']}) [{each['measured']}]"
        for each in claims
    ]
