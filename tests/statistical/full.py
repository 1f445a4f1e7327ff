"""The full size of the noise's goodness of fit, for `make audit`: a million draws of every law, p-values as JSON.

    python tests/statistical/full.py --draws 1000000 --out docs/audit/noise.json

Ends with exit code 1 if a law is not the promised one, or if the test could not tell five per cent.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from laws import LAWS, WRONG, p_values

import covey


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10**6)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    result: dict[str, Any] = {"covey": covey.__version__, "draws": options.draws, "wrong_below": WRONG, "laws": {}}
    good = True
    for name in LAWS:
        found = p_values(name, options.draws, seed=12)
        accepted, rejected = found[1] > WRONG, max(found[0.95], found[1.05]) < WRONG
        good &= accepted and rejected
        result["laws"][name] = {
            "p_value": float(f"{found[1]:.3g}"),
            "p_value_scale_5_percent_smaller": float(f"{found[0.95]:.3g}"),
            "p_value_scale_5_percent_larger": float(f"{found[1.05]:.3g}"),
            "accepted": accepted,
            "5_percent_rejected": rejected,
        }
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(result, indent=2) + "\n")
    sys.exit(not good)


if __name__ == "__main__":
    main()
