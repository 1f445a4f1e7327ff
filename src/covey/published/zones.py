"""What a certificate says of zones."""

KEPT = "sizes and weights count kept rows"
COUNTED_UP = (
    "sizes and weights count all rows: those kept in a zone were counted apart and divided by its rate after the noise "
    "(in net and ball coresets, and in weights of people but of a tree in a subspace, as far as they stood out of it)"
)


def zones_note(*, counted_up: bool) -> str:
    """What was done to rows in zones, what they are promised, and what numbers of rows count."""
    return (
        "rows in a zone (or people with a row in it) were kept with its rate before anything else was done, and are "
        "promised its epsilon (and its rate times delta); a row outside the bounds counts where it was moved to, at "
        "their edge; moving a row across a zone's border is covered by the sum of both epsilons; "
    ) + (COUNTED_UP if counted_up else KEPT)
