"""iostat and sar: a load over time, shown for each device by its mean and its percentiles."""

from __future__ import annotations

import pytest
from other_tools import IOSTAT, IOSTAT_OLD, SAR, iostat
from test_other_tools_desktop import read, values

from drivelab.errors import InputError


def test_iostat_over_time():
    record = read(IOSTAT)
    places = [(point.axes["device"], point.axes["over_time"]) for point in record.points]
    assert places == [("sda", "mean"), ("sda", "p50"), ("sda", "max")]
    mean = values(record)
    # The first report is since the machine started: 100, 200 and 50 a second are left.
    assert mean["iops"] == pytest.approx(350 / 3)
    assert mean["bytes_per_s"] == pytest.approx(8192 * 350 / 3)
    # Of I/Os, not of reports.
    assert mean["mean"] == pytest.approx((100 * 10e6 + 200 * 20e6 + 50 * 4e6) / 350)
    # Little's law, in each report.
    assert mean["in_flight"] == pytest.approx((1 + 4 + 0.2) / 3)
    assert (mean["request_bytes"], mean["busy"]) == (8192, 0.9)
    assert (values(record, 1)["iops"], values(record, 2)["in_flight"]) == (100, 4)
    assert any("the first report is left out" in note for note in record.notes)
    assert any("without an I/O are left out: sdb" in note for note in record.notes)


def test_more_samples_have_more_percentiles():
    record = read(iostat((1, 1), *((100 + at, 10) for at in range(100))))
    assert [point.axes["over_time"] for point in record.points] == ["mean", "p50", "p95", "p99", "max"]
    assert [round(values(record, at)["iops"]) for at in (1, 2, 3, 4)] == [149, 194, 198, 199]


def test_old_iostat_with_commas():
    record = read(IOSTAT_OLD)
    (point,) = record.points
    assert point.axes == {"device": "sda", "over_time": "mean"}
    found = values(record)
    assert (found["iops"], found["read.iops"], found["write.mean"]) == (400, 100, 12e6)
    assert (found["mean"], found["in_flight"], found["write.request_bytes"]) == (10e6, 4, 16384)
    assert any("one report" in note for note in record.notes)


def test_sar():
    record = read(SAR)
    assert [point.axes["over_time"] for point in record.points] == ["mean", "p50", "max"]
    mean = values(record)
    assert (mean["iops"], mean["mean"], mean["in_flight"]) == (200, 17.5e6, 3.5)
    # Reads and writes are counted together: only their bytes are apart.
    assert "read.iops" not in mean
    assert mean["read.bytes_per_s"] == 800 * 1024


def test_a_cut_line_is_told():
    with pytest.raises(InputError, match=r"a\.txt: line \d+: .* is the line cut\?"):
        read(IOSTAT[: IOSTAT.rindex("90.00")])
    with pytest.raises(InputError, match="no device had an I/O"):
        read(iostat((0, 0), (0, 0)))


def test_compare_shows_percentiles_beside_the_mean(run, tmp_path):
    (tmp_path / "a.txt").write_text(IOSTAT, encoding="utf-8")
    done = run(
        "compare", "a.txt", "--split", "over_time", "--figures", "iops,in_flight,request_bytes,busy", "-q"
    )
    assert done.returncode == 0, done.stderr
    assert "outstanding I/Os: B against A" in done.stdout
    assert "size of an I/O, B against A" in done.stdout
    assert "worse" not in done.stdout.partition("outstanding I/Os, B against A")[2].partition("\n\n")[0]


def test_bytes_that_are_rounded_to_nothing_are_unknown():
    text = (
        IOSTAT_OLD.replace("rkB/s", "rMB/s")
        .replace("wkB/s", "wMB/s")
        .replace("400,00  4800,00", "0,01  4,69")
    )
    found = values(read(text))
    assert "read.bytes_per_s" not in found
    assert "request_bytes" not in found
    assert found["write.request_bytes"] == pytest.approx(16384, rel=0.01)
