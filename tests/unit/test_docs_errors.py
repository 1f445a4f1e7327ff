"""What the page about errors says runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "errors.md"


def test_the_guide_runs_from_the_first_line_to_the_last(tmp_path):
    found = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(found)], cwd=tmp_path, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert all(re.fullmatch(r"about [\d,]+ rows, between [\d,]+ and [\d,]+", line) for line in lines[:3])
    assert "Each interval holds 9 times in 10; those that hold all at once are wider (joint)." in lines
    assert any("if no cluster was missed" in line for line in lines)
    assert any(re.fullmatch(r"[\d,]+, between [\d,]+ and [\d,]+", line) for line in lines)
    assert any(re.match(r"south [\d.]+ [\d.]+", line) for line in lines)
