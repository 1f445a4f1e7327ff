"""How Sphinx makes the site: the pages where they stand, from the root of the project on. No network."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(ROOT / "src"))

from covey import __version__  # noqa: E402

project = "Covey"
author = "The Covey developers"
copyright = "2026, The Covey developers"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "extension",
]
root_doc = "docs/site/index"
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
include_patterns = ["docs/**", "src/covey/**/*.md", "build/gallery/**", "*.md"]
exclude_patterns = [
    "README.md",
    "docs/README.md",
    "docs/audit/*.html",
    "build/gallery/**/*.py",
    "**/sg_execution_times.rst",
    ".*",
    "site",
    "**/assets",
]

myst_heading_anchors = 4
myst_fence_as_directive = {"math"}
html_math_renderer = "mathml"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
nitpicky = True
highlight_language = "none"

sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "gallery_dirs": ["build/gallery"],
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 10**6,
    "copyfile_regex": r".*\.svg",
    "abort_on_example_error": True,
    "default_thumb_file": str(ROOT / "docs" / "guide" / "images" / "demo-map.png"),
}

html_theme = "pydata_sphinx_theme"
html_title = f"Covey {__version__}"
html_static_path = ["static"]
html_css_files = ["covey.css"]
html_show_sourcelink = False
html_sidebars = {"docs/guide/start": [], "docs/guide/which-algorithm": []}  # sections of one page
html_copy_source = False
html_context = {"default_mode": "auto"}  # light or dark as the reader's system is
html_theme_options = {
    "logo": {"text": "Covey"},
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
