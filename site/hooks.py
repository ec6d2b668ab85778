"""What mkdocs does beside rendering pages."""

import re
import shutil
from pathlib import Path
from typing import Any

OWN_FILES = ("iframe-worker.js", "turbo.css")


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Links to sources, which the site has not, become names. In the repository, where the pages are read, too, they
    lead to files."""
    outside = r"\.\./" * (page.file.src_uri.count("/") + 1)
    return re.sub(rf"\[([^\]]+)\]\({outside}[^)]*\)", r"`\1`", markdown)


def on_post_build(config: Any, **_: object) -> None:
    for name in OWN_FILES:
        shutil.copy(Path(__file__).parent / name, Path(config.site_dir) / "assets" / name)
