"""What mkdocs does beside rendering pages."""

import re
import shutil
from pathlib import Path
from typing import Any

OWN_SCRIPT = "iframe-worker.js"


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Links to sources, which the site has not, become names. In the repository, where the pages are read, too, they
    lead to files."""
    outside = "(?:\\.\\./){%d}" % (page.file.src_uri.count("/") + 1)
    return re.sub(rf"\[([^\]]+)\]\({outside}[^)]*\)", r"`\1`", markdown)


def on_post_build(config: Any, **_: object) -> None:
    shutil.copy(Path(__file__).parent / OWN_SCRIPT, Path(config.site_dir) / "assets" / OWN_SCRIPT)
