"""Why each mutant that survived is no bug, by its id, and the tests that survivors showed to be missing."""

from __future__ import annotations

EXPLAINED: dict[str, str] = {}

ADDED: dict[str, str] = {}
