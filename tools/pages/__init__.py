"""What the generated reference pages say, each module one page or two."""

MARK = "<!-- Made from the code by `make docs`: change the code, not this page. -->\n"
