"""The syntax of DiskSim's parameter files: what is read, and what is said of each text that is none."""

from __future__ import annotations

from decimal import Decimal

import pytest

from drivelab.disksim import DisksimError, syntax
from drivelab.disksim.syntax import Block, Items, Word


@pytest.fixture
def parse(tmp_path):
    def parse(text: str, **others: str) -> syntax.Description:
        for name, content in others.items():
            (tmp_path / name.replace("_", "/")).parent.mkdir(exist_ok=True)
            (tmp_path / name.replace("_", "/")).write_text(content, encoding="utf-8")
        (tmp_path / "a.parv").write_text(text, encoding="utf-8")
        return syntax.read(tmp_path / "a.parv")

    return parse


def test_a_block_has_its_values_each_with_its_line(parse):
    block = parse(
        """\
disksim_disk some.disk-1 { # a comment, with { brackets }
  Segment size (in blks) = 57,
  Add. write settling delay = -.483,
  Timeout time/weight  =  1e-3,   Seek type = extracted,
  slips = [ 1, 2.0, [], [
     x ] ],
  Scheduler = disksim_ioqueue { Scheduling
    policy = 1 },
}
"""
    ).blocks["some.disk-1"]
    assert (block.type, block.place.line) == ("disksim_disk", 1)
    read = {key: entry.value for key, entry in block.entries.items()}
    assert read["Segment size (in blks)"] == 57
    assert read["Add. write settling delay"] == Decimal("-0.483")
    assert read["Timeout time/weight"] == Decimal("0.001")
    assert read["Seek type"] == Word("extracted")
    slips = read["slips"]
    assert isinstance(slips, Items)
    assert [entry.place.line for entry in slips.items] == [5, 5, 5, 5]
    assert [entry.value for entry in slips.items[:3]] == [1, 2, Items([])]
    inner = slips.items[3].value
    assert isinstance(inner, Items)
    assert (inner.items[0].value, inner.items[0].place.line) == (Word("x"), 6)
    scheduler = read["Scheduler"]
    assert isinstance(scheduler, Block)
    assert scheduler.entries["Scheduling policy"].value == 1
    assert scheduler.entries["Scheduling policy"].place.line == 7


def test_files_are_found_beside_the_file_that_names_them(parse, tmp_path):
    found = parse(
        "source sub/b.specs\ninstantiate [disk0, disk1 ] as D",
        **{
            "sub_b.specs": "disk D { Model = source c.model, Full = 1 }",
            "sub_c.model": "\ndm_disk M {\n Heads = 2 }",
        },
    )
    model = found.blocks["D"].entries["Model"].value
    assert isinstance(model, Block)
    assert (model.type, model.name, model.place.line) == ("dm_disk", "M", 2)
    assert model.place.path == tmp_path / "sub" / "c.model"
    assert [path.name for path in found.files] == ["a.parv", "b.specs", "c.model"]
    assert {device: str(entry.value) for device, entry in found.instances.items()} == {
        "disk0": "D",
        "disk1": "D",
    }


@pytest.mark.parametrize("row", ["disk8 .. disk11", "disk8..disk11", "disk8.. disk11", "disk8 ..disk11"])
@pytest.mark.parametrize("more", ["", ", x"])
def test_a_range_stands_for_all_its_names(parse, row, more):
    found = parse(f"org O {{ devices = [ a, {row}{more} ] }}\ninstantiate [ a, {row}{more} ] as D")
    names = ["a", "disk8", "disk9", "disk10", "disk11", *(["x"] if more else [])]
    devices = found.blocks["O"].entries["devices"].value
    assert [str(entry.value) for entry in devices.items] == names
    assert list(found.instances) == names


def test_the_topology_is_a_tree(parse):
    top = parse("topology driver d0 [ bus b0 [ disk x [ ], disk y [] ] ] # end").topology
    assert top is not None
    ways = [[node.name for node in way] for way in top.walk()]
    assert ways == [["d0"], ["d0", "b0"], ["d0", "b0", "x"], ["d0", "b0", "y"]]
    assert top.below[0].type == "bus"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("disk", "a.parv:1: a name is missing after disk"),
        ("disk D", "a.parv:1: '{' is missing after D; there is the end of the file"),
        ("disk D [", "a.parv:1: '{' is missing after D; there is '['"),
        ("= 4", "a.parv:1: no statement begins with '='"),
        ("disk D {\n  a = 1", "a.parv:2: '}' is missing after the value of 'a'"),
        ("disk D { a = 1,\n", "a.parv:2: the name of a parameter of disk is missing"),
        ("disk D { a = 1\n  b = 2 }", "a.parv:2: a comma is missing after the value of 'a'"),
        ("disk D { a = 1,\n\n , b = 2 }", "a.parv:3: the name of a parameter of disk is missing"),
        ("disk D { a }", "a.parv:1: '=' is missing after 'a'; there is '}'"),
        ("disk D { a = }", "a.parv:1: 'a' has no value"),
        ("disk D { a = = 4 }", "a.parv:1: 'a' has no value"),
        ("disk D { a = [ 1\n2 ] }", "a.parv:2: a comma is missing after the value of 'a'"),
        ("disk D { a = [ 1,\n", "a.parv:2: 'a' has no value"),
        ("disk D { a = 1,\n a = 2 }", "a.parv:2: 'a' is there already, in line 1"),
        ("disk D { }\ndisk D { }", "a.parv:2: there is a block D already, in FOLDER/a.parv:1"),
        ("disk D { a = block { b = 1 }", "a.parv:1: '}' is missing after the value of 'a'"),
        ("disk D { a = source }", "a.parv:1: a name is missing after source"),
        (
            "disk D { a = source nowhere.model }",
            "a.parv:1: cannot read FOLDER/nowhere.model: no such file or directory",
        ),
        ("\nsource nowhere.specs", "a.parv:2: cannot read FOLDER/nowhere.specs: no such file or directory"),
        ("disk D { a = source two }", "two:2: there is more than one block in the file"),
        ("disk D { a = source none }", "none:2: a name is missing at the begin of the file"),
        ("source a.parv", "a.parv:1: blocks, lists and files lie too deep in each other"),
        ("disk D { a = " + "[" * 30, "a.parv:1: blocks, lists and files lie too deep in each other"),
        ("disk D { a = " + "b { c = " * 30, "a.parv:1: blocks, lists and files lie too deep in each other"),
        ("topology" + " a b [" * 30, "a.parv:1: blocks, lists and files lie too deep in each other"),
        ("topology a b", "a.parv:1: '[' is missing after b; there is the end of the file"),
        ("topology a b [ c ]", "a.parv:1: a name is missing in the topology"),
        ("topology a b [ c d [ ]", "a.parv:1: a name is missing in the topology"),
        (
            "o O { d = [ disk0 .. tape3 ] }",
            "a.parv:1: 'disk0 .. tape3' is no range; write one such as disk0 .. disk17",
        ),
        (
            "o O { d = [ disk3 .. disk0 ] }",
            "a.parv:1: 'disk3 .. disk0': a range goes up, by 4096 names at most",
        ),
        ("o O { d = [ disk0 .. ] }", "a.parv:1: 'disk0 .. ' is no range; write one such as disk0 .. disk17"),
        ("instantiate [ disk0 .. ] as D", "a.parv:1: the last device after disk0 .. is missing"),
        (
            "instantiate [ .. disk3 ] as D",
            "a.parv:1: ' .. disk3' is no range; write one such as disk0 .. disk17",
        ),
        (
            "instantiate [ d0 .. d999999999 ] as D",
            "a.parv:1: 'd0 .. d999999999': a range goes up, by 4096 names at most",
        ),
        ("instantiate disk0 as D", "a.parv:1: '[' is missing after instantiate; there is 'd'"),
        (
            "instantiate [ disk0 as D",
            "a.parv:1: ']' is missing after the devices; there is the end of the file",
        ),
        ("instantiate [ disk0 ]\nD", "a.parv:1: write instantiate [ device ] as BLOCK"),
        ("instantiate [ disk0 ] as", "a.parv:1: a name is missing after as"),
    ],
)
def test_what_is_no_description_is_named_with_its_line(parse, tmp_path, text, message):
    with pytest.raises(DisksimError) as found:
        parse(text, two="a b { }\nc d { }", none="# nothing\n")
    assert str(found.value).replace(str(tmp_path), "FOLDER") == f"FOLDER/{message}"
