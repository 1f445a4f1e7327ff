"""The picture of docs/guide/four-questions.md, from the example on the page: python scripts/four_questions.py."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parents[1] / "docs" / "guide"


def main() -> None:
    [example] = re.findall(
        r"^```python\n(.*?)^```", (GUIDE / "four-questions.md").read_text(), flags=re.DOTALL | re.MULTILINE
    )
    found: dict[str, Any] = {}
    exec(example, found)
    (GUIDE / "images" / "profile.png").write_bytes(found["profile"].plot())


if __name__ == "__main__":
    main()
