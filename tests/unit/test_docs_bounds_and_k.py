"""What the page of four questions says of k and of bounds runs as it stands."""

import re
from pathlib import Path

from randomness import same_randomness

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "four-questions.md"


def test_the_blocks_on_k_and_bounds_run(capsys):
    page = PAGE.read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    own = [block for block in found if "k_range" in block or '"private"' in block]
    assert len(own) == 2
    with same_randomness(1):  # the number that it finds is judged
        exec("\n".join(own), {})
    told = capsys.readouterr().out.splitlines()
    assert "'ranges': {'income': [" in told[0]
    assert told[1].startswith("4 4 clusters fit best")
