"""Pages hold what their commands print, and tell what differs."""

from __future__ import annotations

import re

import in_process
import pytest

import pages

PAGE = """\
# A page

```toml
# one.toml
[target]
null = {}
```

```
$ drivelab check one.toml \\
    --json
first
...
last
```

```python
$ no command
```
"""


def test_a_block_is_a_command_and_its_lines(tmp_path):
    (block,) = pages.blocks(tmp_path / "a.md", PAGE)
    assert block.line == "drivelab check one.toml --json"
    assert block.shown == ("first", "...", "last")
    assert PAGE[block.start : block.end].startswith("$ drivelab")


def test_files_that_a_page_shows_are_there(tmp_path):
    pages.write_files(PAGE, tmp_path)
    assert (tmp_path / "one.toml").read_text() == "# one.toml\n[target]\nnull = {}\n"


def test_a_file_that_cannot_carry_its_name_has_it_above(tmp_path):
    text = "`a.spc`:\n\n```text\n0,8,512,R,0.5\n```\n\nand `b`:\n\n```text\nno file\n```\n"
    pages.write_files(text, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.spc"]
    assert (tmp_path / "a.spc").read_text() == "0,8,512,R,0.5\n"


@pytest.mark.parametrize(
    ("shown", "holds"),
    [
        ("a b c d", True),
        ("a b c", False),
        ("a ... d", True),
        ("a ... c d", True),
        ("a ... b ... d", True),
        ("a ...", True),
        ("a ... x ... d", False),
        ("a ... c", False),
        ("b ... d", False),
        ("a b c ... c d", False),
    ],
)
def test_left_out_lines_stand_for_any(shown, holds):
    assert pages.matches(shown.split(), ["a", "b", "c", "d"]) is holds


def test_what_is_shown_keeps_its_lengths():
    output = ["head", "x 1", "rows  7", "rows  8", "tail 9", "digest 3"]
    assert pages.renewed(["head", "...", "rows  1", "...", "digest 1"], output) == [
        "head",
        "...",
        "rows  7",
        "...",
        "digest 3",
    ]
    assert pages.renewed(["old", "lines"], output) == output


def test_a_page_is_written_and_then_holds(tmp_path, monkeypatch):
    page = tmp_path / "a.md"
    page.write_text("```\n$ drivelab --version\n```\n")
    assert len(pages.differences(page)) == 1
    assert pages.write(page)
    assert page.read_text().splitlines()[2].startswith("drivelab ")
    assert pages.differences(page) == []
    assert not pages.write(page)


def test_what_is_printed_may_go_into_a_file(tmp_path):
    assert pages.printed("drivelab --version > said.txt", tmp_path) == []
    assert (tmp_path / "said.txt").read_text().startswith("drivelab ")


def test_a_command_that_fails_is_told(tmp_path):
    with pytest.raises(RuntimeError, match="ended with 2"):
        pages.printed("drivelab simulate none.toml", tmp_path)
    with pytest.raises(ValueError, match="rm -r"):
        pages.printed("rm -r x", tmp_path)


HELD = [page for page in pages.pages() if "\n$ " in page.read_text()]


def test_every_picture_of_a_page_is_looked_at():
    for page in pages.pages():
        text = page.read_text(encoding="utf-8")
        found = pages.PICTURE.findall(text)
        assert found == re.findall(r"\]\(([^)]*\.(?:svg|png))\)", text), page
        assert all((page.parent / path).is_file() for path in found), page


# The README's table is that of another test, and is run once for both.
TOGETHER = {"README.md": pytest.mark.xdist_group("lkml-2007")}


@pytest.mark.usefixtures("loads_once")
@pytest.mark.parametrize(
    "page", [pytest.param(page, id=page.name, marks=TOGETHER.get(page.name, ())) for page in HELD]
)
def test_every_page_prints_what_its_commands_print(page, monkeypatch):
    # A process gives the same bytes: see test_in_process.py.
    monkeypatch.setattr(pages, "run", lambda words, cwd, env: in_process.run(words, cwd=cwd, env=env))
    assert pages.differences(page) == []
