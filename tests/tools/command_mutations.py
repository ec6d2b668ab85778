"""The mutations of what the command keeps and refuses before a model is read. See mutations.py."""

from __future__ import annotations

from tools.mutation import host

CACHE = [
    host("cache", "a damaged file is used", "base/cache.py",
         "return data if trailer ==", "return data if data or trailer ==", "test_cache.py"),
    host("cache", "a folder that others can write is used", "base/cache.py",
         "return status.st_uid == os.geteuid() and not status.st_mode & OTHERS_MAY_WRITE", "return True",
         "test_cache.py"),
    host("cache", "one that is read-only is not read", "base/cache.py",
         "if is_private(os.stat(folder)):", "if is_private(os.stat(folder)) and os.access(folder, os.W_OK):",
         "test_read_only_cache.py"),
    host("cache", "what cannot be loaded is kept", "engine/toolchain/compilation.py",
         "        check_binary(compiled, command[0])\n", "", "test_cache.py -k loaded"),
]  # fmt: skip
