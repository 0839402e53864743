"""Hooks of mkdocs: the pages of the repository outside of docs/, indexes of design notes and screenshots, and links.

The pages are written for GitHub. Here a link to another page becomes one within the site, and a link to any other file
of the repository one to GitHub. A link to a file that doesn't exist stays as it is, and fails the build.
"""

import logging
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

LOG = logging.getLogger("mkdocs.hooks.pictures")
ROOT = Path(__file__).resolve().parents[2]
GITHUB = "https://github.com/assay-dev/assay"

# Pages of the repository outside of docs/, and what they are called in the site.
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "development.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "charts/assay/README.md": "chart.md",
}
# Directories with an index page that is written below.
INDEXED = {"docs/design": "design/index.md", "docs/screenshots": "screenshots/index.md"}

FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
LINK = re.compile(r"(\]\()([^()\s]+)(\))")
PICTURE = re.compile(r"(\b(?:src|srcset)=\")([^\"\s]+)(\")")  # of HTML in a page
CODE = re.compile(r"(`+[^`]*`+)")
ITEM = re.compile(r"^([-*]|\d+\.) +")
SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:")
TITLE = re.compile(r"^# (.*)$", re.MULTILINE)


def on_files(files, config):
    """Adds the pages outside of docs/ and the indexes."""
    for source, uri in OUTSIDE.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, INDEXED["docs/design"], content=design_index()))
    files.append(File.generated(config, INDEXED["docs/screenshots"], content=screenshot_index()))
    return files


def design_index():
    """Lists the design notes, the latest first."""
    lines = ["# Design notes", "", "Decisions that were hard, with what else was tried.", "", "| date | note |", "| --- | --- |"]
    for note in sorted((ROOT / "docs/design").glob("2*.md"), reverse=True):
        title = TITLE.search(note.read_text()).group(1)
        lines.append(f"| {note.name[:10]} | [{title}]({note.name}) |")
    return "\n".join(lines) + "\n"


def screenshot_index():
    """Shows all screenshots, by page."""
    lines = ["# Screenshots", "", "The pages of reports and of the [UI](../ui.md), as `make screenshots` takes them."]
    for picture in sorted((ROOT / "docs/screenshots").glob("*.png")):
        words = picture.stem.split("-")
        dark = words[-1] == "dark"
        name, width = " ".join(words[: -2 if dark else -1]), words[-2 if dark else -1]
        title = f"{name}, {width} pixels wide{', dark' if dark else ''}"
        lines += ["", f"## {title[0].upper()}{title[1:]}", "", f"![{title}]({picture.name})"]
    return "\n".join(lines) + "\n"


def on_page_markdown(markdown, page, config, files):
    """Resolves links, and indents the content of list items as Python's Markdown wants it."""
    uri = page.file.src_uri
    source = next((path for path, other in OUTSIDE.items() if other == uri), "docs/" + uri)
    lines, closing, item = [], "", False
    for line in markdown.split("\n"):
        fence = FENCE.match(line)
        if not closing and ITEM.match(line):
            item = True
        elif line and not line.startswith(" "):
            item = item and bool(closing)
        # GitHub wants the content of an item below its text, Python's Markdown four spaces in.
        if item and line.startswith("   ") and not line.startswith("    "):
            line = " " + line
        elif item and closing and line.startswith("    "):
            line = " " + line
        if fence or closing:
            if fence and not closing:
                closing = fence.group(1)
            elif fence and fence.group(1).startswith(closing):
                closing = ""
            lines.append(line)
            continue
        parts = CODE.split(line)
        parts[::2] = [LINK.sub(lambda match: match[1] + resolve(match[2], source, uri) + match[3], part) for part in parts[::2]]
        parts[::2] = [PICTURE.sub(lambda match: match[1] + raw(match[2], source, uri) + match[3], part) for part in parts[::2]]
        lines.append("".join(parts))
    return "\n".join(lines)


def resolve(link, source, uri):
    """Returns the link of a page in the site, for a link of that page in the repository."""
    path, mark, fragment = link.partition("#")
    if SCHEME.match(link) or not path:
        return link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if target in OUTSIDE or target in INDEXED:
        inside = OUTSIDE.get(target) or INDEXED[target]
    elif target.startswith("docs/") and target.endswith((".md", ".png", ".html", ".txt", ".dat")):
        inside = target.removeprefix("docs/")
    elif not (ROOT / target).exists() or target.startswith(".."):
        return link
    else:
        return f"{GITHUB}/{'tree' if (ROOT / target).is_dir() else 'blob'}/main/{target}{mark}{fragment}"
    return posixpath.relpath(inside, posixpath.dirname(uri) or ".") + mark + fragment


def raw(link, source, uri):
    """Returns the address of a picture in HTML, which mkdocs leaves as it is, on the page that a browser shows. One that leads nowhere fails the build."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    if SCHEME.match(link):
        return link
    if not (ROOT / path).is_file() or not path.startswith("docs/"):
        LOG.warning("%s: no picture %s", source, link)
    deeper = "" if posixpath.basename(uri) in ("index.md", "README.md") else "../"
    return deeper + resolve(link, source, uri)


def on_post_page(output, page, config):
    """Names the dialog for searches, and loads the script that draws diagrams where there are some, from the site itself."""
    output = output.replace('data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"', 1)
    if 'class="mermaid"' not in output:
        return output
    up = "../" * page.url.count("/")
    return output.replace("</head>", f'<script src="{up}assets/mermaid.min.js"></script></head>', 1)
