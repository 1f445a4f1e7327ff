"""The statements of section 5 (and of figure 8) next to what was measured. Each rule was fixed before the numbers.

Every statement is judged twice: on the paper's algorithm as far as it can be run, and on Covey's. "Clearly smaller" is
by more than two standard errors, "positively correlated" a rank correlation, "approximately linear" an R² of at least
0.95. A statement whose cells were all refused, or not measured, has no verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

from covey.bench.harness import Row, markdown_table
from covey.bench.ipsn17 import rules
from covey.bench.ipsn17.rules import FORMS, Figures, Rule


@dataclass(frozen=True)
class Claim:
    figure: str
    paper: str
    rule: str
    judge: Rule


def judge(figures: Figures, table2: list[Row]) -> list[Row]:
    """Every claim: the paper's words, the rule, and for each form what was measured and whether that reproduces it."""
    tables = {**figures, "table2": [row for row in table2 if row["set"] == "cabs" and row["relation"] == "replace-one"]}
    judged = []
    for claim in CLAIMS:
        row: Row = {"figure": claim.figure, "paper": claim.paper, "rule": claim.rule}
        for form in FORMS:
            row[form.name], row[f"{form.name}_reproduced"] = claim.judge(tables, form)
        judged.append(row)
    return judged


CLAIMS = (
    Claim(
        "3",
        "a million rows take about 40 s and ten million about an hour (12 cores)",
        "no more CPU seconds than that, k = 5",
        rules.seconds,
    ),
    Claim(
        "3",
        "the logarithm of the time is approximately linear in that of n",
        "R² of the line at least 0.95, for k = 1 and 5",
        rules.straight_time("figure3", lambda form: form.time),
    ),
    Claim("3", "time grows as n^1.6 for k = 1 and n^1.7 for k = 5", "slopes within 0.2 of these", rules.growth),
    Claim(
        "3",
        "k = 5 takes longer than k = 1, especially for larger n",
        "longer at every n, and by more at the largest n than at the smallest",
        rules.more_centres_more_time,
    ),
    Claim(
        "3",
        "|X| stays the same while n grows, with slow growth; where it doubles the time jumps",
        "at least 1.5 times from 0.95 to 1.05 of the threshold, and more than from 0.6 to 0.95 of it",
        rules.jump,
    ),
    Claim(
        "4",
        "four columns: the logarithm of the time is approximately linear in that of n",
        "R² of the line at least 0.95, for k = 1 and 5",
        rules.straight_time("figure4", lambda form: form.four),
    ),
    Claim(
        "4",
        "four columns: the time for k = 1 is comparable with that of two",
        "geometric mean of the quotient, at the n measured for both, between 1/2 and 2",
        rules.four_columns,
    ),
    Claim(
        "5",
        "the coreset's size is positively correlated with n, ε and k",
        "one step of n, ε or k alone: larger in more than half, smaller in at most 5% of the steps",
        rules.sizes_grow,
    ),
    Claim("5", "the coreset's size is linear in log ε", "R² at least 0.95 for every n and k", rules.sizes_straight),
    Claim(
        "5",
        "in stages the size stays the same as ε grows, which is especially clear for k = 1",
        "steps of 10% in ε that leave the size as it is: more than half for k = 1, fewer for k = 5 and 10",
        rules.stages,
    ),
    Claim("5", "the size equals the number of rounds", "in every cell", rules.a_point_a_round),
    Claim("5", "the error falls as ε grows", "rank correlation at most -0.9 for every n and k", rules.errors_fall),
    Claim(
        "5",
        "for k = 1 not in every small neighbourhood: it stays or rises a little",
        "for k = 1 there are neighbouring ε where the error falls by less than 1%",
        rules.errors_waver,
    ),
    Claim("5", "for k = 1 the coreset has fewer than 10 points", "at every n and ε up to 0.1", rules.few_points),
    Claim(
        "Table 2",
        "the smallest feasible ε, from 0.007 (k = 1, a million rows) to 3.5 (k = 10, 100,000 rows)",
        "each of the nine within a factor of 2",
        rules.feasible_values,
    ),
    Claim(
        "Table 2",
        "it is smaller for more rows and for fewer centres",
        "never against that from one n or k to the next, and strictly from the first to the last",
        rules.feasible_order,
    ),
    Claim("Table 2", "for k = 10 and 100,000 rows it is too large to protect", "above 1", rules.too_large),
    Claim(
        "6",
        "the error grows with the number of clusters",
        "rank correlation at least 0.9 at every ε",
        rules.errors_grow_with_centres,
    ),
    Claim(
        "6",
        "it grows faster for smaller ε",
        "the slope of the error in k falls from each ε to the next",
        rules.faster_at_small_epsilon,
    ),
    Claim(
        "7",
        "the error of the balls is clearly smaller than that of the coreset of 2009",
        "at every n, by more than two standard errors",
        rules.clearly_smaller,
    ),
    Claim(
        "7", "the coresets of 2009 are 20 to 40 times larger", "the quotient is 20 to 40 at every n", rules.size_ratio
    ),
    Claim(
        "7",
        "some weights of 2009 are negative, those of the balls never",
        "negative weights in the net at every n, none in the balls",
        rules.signs,
    ),
    Claim("8", "with more privacy the coreset has fewer points", "fewer at every level", rules.fewer_points),
    Claim(
        "8",
        "at the least private level some points are outside Manhattan, at the most private none",
        "none outside in fewer than half of the runs at the first level, in more than half at the last",
        rules.nothing_outside,
    ),
)


def claims_text(claims: list[Row]) -> str:
    """The claims as a Markdown table, both forms side by side."""
    words = {True: "yes", False: "no", None: "-"}
    rows = [
        [each["figure"], each["paper"], each["rule"]]
        + [said for form in FORMS for said in (each[form.name], words[each[f"{form.name}_reproduced"]])]
        for each in claims
    ]
    heads = ["figure", "the paper says", "rule", "printed form", "reproduced", "Covey's form", "reproduced"]
    return (
        markdown_table(heads, [[each.replace("|X|", "\\|X\\|") for each in row] for row in rows])
        + "\n\n"
        + tally(claims)
    )


def tally(claims: list[Row]) -> str:
    parts = []
    for form, name in zip(FORMS, ("The printed form", "Covey's form"), strict=True):
        verdicts = [each[f"{form.name}_reproduced"] for each in claims]
        parts.append(f"{name} reproduces {sum(v is True for v in verdicts)} of {sum(v is not None for v in verdicts)}")
    return "; ".join(parts).replace("; C", ", C") + " statements that could be judged."


def claims_lines(claims: list[Row]) -> list[str]:
    """The claims for a terminal: the verdicts on both forms, the paper's words, what was measured on Covey's."""
    words = {True: "yes", False: "no ", None: "-  "}
    heads = [" ".join(words[each[f"{form.name}_reproduced"]] for form in FORMS) for each in claims]
    return [f"{head}  {each['paper']} [{each['covey']}]" for head, each in zip(heads, claims, strict=True)]
