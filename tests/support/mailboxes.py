"""How many changes a message of the hybrid engine has room for, in tests."""

from __future__ import annotations

MAILBOXES = {"one change": 1, "two changes": 2, "a few": 7, "as usual": None}
