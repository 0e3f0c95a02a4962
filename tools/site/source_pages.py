"""Pages of the site for files and folders of the repository that documents link to: the text with numbered lines."""
import html
import posixpath

import pygments
from pygments import formatters, lexers, styles, util

FOLDER = "source"
STYLE_PLACE = "source/style.css"
LARGEST = 1 << 17  # bytes: of a larger file only the size is told
STYLE = """body{margin:0 auto;max-width:75rem;padding:1rem;font:15px/1.45 sans-serif;color:#222;background:#fff}
a{color:#3f51b5} table{border-spacing:0} td{vertical-align:top;padding:0} .linenos{padding-right:1rem;text-align:right}
.linenos a,.linenos .normal{color:#999;text-decoration:none} pre{margin:0;font:13px/1.45 monospace} :target{background:#fff59d}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#1e2129}a{color:#9fa8da}:target{background:#5d5412}}
"""


def place(path, is_folder):
    """Where in the site the page of a file or folder stands. MkDocs leaves out what begins with a dot."""
    path = "/".join(f"dot{part}" if part.startswith(".") and part != "." else part for part in path.split("/"))
    return posixpath.join(FOLDER, path, "index.html") if is_folder else posixpath.join(FOLDER, path + ".html")


def _page(path, is_folder, body):
    here = posixpath.dirname(place(path, is_folder))
    home, look = posixpath.relpath("index.html", here), posixpath.relpath(STYLE_PLACE, here)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<title>{html.escape(path)} - Heddle</title><link rel="stylesheet" href="{look}"></head>\n'
        f'<body><p><a href="{home}">Heddle</a></p><h1>{html.escape(path)}</h1>\n{body}</body></html>\n'
    )


def style():
    """The style sheet of all these pages."""
    light = formatters.HtmlFormatter(style=styles.get_style_by_name("default")).get_style_defs(".highlight")
    dark = formatters.HtmlFormatter(style=styles.get_style_by_name("monokai")).get_style_defs(".highlight")
    return f"{STYLE}{light}\n@media(prefers-color-scheme:dark){{{dark}\n.highlight{{background:none}}}}\n.highlight{{background:none}}\n"


def _lexer(path, text):
    if path.endswith(".textproto"):
        return lexers.get_lexer_by_name("protobuf")
    try:
        return lexers.get_lexer_for_filename(path, text)
    except util.ClassNotFound:
        if text.startswith("#!"):
            return lexers.guess_lexer(text)
        return lexers.get_lexer_by_name("text")


def of_file(root, path, is_linked):
    """A file that documents link to has colours, and an anchor at each line: `#L10`. Others are many, and stay plain."""
    data = (root / path).read_bytes()
    if b"\0" in data or len(data) > LARGEST:
        return _page(path, False, f"<p>A file of {len(data):,} bytes, not shown.</p>\n")
    text = data.decode("utf-8", "replace")
    if not is_linked:
        return _page(path, False, f"<pre>{html.escape(text, quote=False)}</pre>\n")
    formatter = formatters.HtmlFormatter(linenos="table", lineanchors="L", anchorlinenos=True)
    body = (
        pygments.highlight(text, _lexer(path, text), formatter)
        .replace('id="L-', 'id="L')
        .replace('name="L-', 'name="L')
    )
    return _page(path, False, body.replace('href="#L-', 'href="#L'))


def of_folder(path, inside):
    """`inside` has the page of each file that lies in the folder itself, by the file's name."""
    here = posixpath.dirname(place(path, True))
    items = [
        f'<li><a href="{posixpath.relpath(page, here)}">{html.escape(posixpath.basename(name))}</a></li>'
        for name, page in inside.items()
    ]
    return _page(path, True, "<ul>\n" + "\n".join(items) + "\n</ul>\n")
