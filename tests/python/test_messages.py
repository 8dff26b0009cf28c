"""What `fit`, `scan`, `validate` and `crashtest` say is wrong, word by word, each message that a user can reach."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path

from devices import DRIVE, RAID5
from fit_files import SHEET, write_drive
from messages import held, told

HEADS = {
    "chain": "i,byte_offset,bytes,rw,time_ms\n",
    "sweep": "iodepth,iops\n",
    "surface": "byte_offset,mb_per_s\n",
    "geometry": "model,rpm,sector_bytes,spt_outer,spt_inner,surfaces\n",
}
FIT_FILES = {
    "empty.csv": "# nothing\n",
    "chain-rw.csv": HEADS["chain"] + "0,0,4096,x,1\n",
    "chain-zero.csv": HEADS["chain"] + "0,0,0,r,1\n",
    "chain-short.csv": HEADS["chain"] + "0,0,4096,r,1\n",
    "chain-number.csv": HEADS["chain"] + "0,-8,4096,r,1\n",
    "chain-huge.csv": HEADS["chain"] + "0,1e300,4096,r,9\n" * 30,
    "chain-beyond.csv": HEADS["chain"] + "0,99999999999,4096,r,9\n" * 30,
    "sweep-column.csv": "iodepth,rate\n1,2\n",
    "sweep-none.csv": HEADS["sweep"],
    "sweep-twice.csv": HEADS["sweep"] + "1,2\n1,3\n",
    "sweep-number.csv": HEADS["sweep"] + "1,many\n",
    "sweep-depth.csv": HEADS["sweep"] + "1.5,80\n",
    "sweep-fields.csv": HEADS["sweep"] + "1\n",
    "sweep.csv": HEADS["sweep"] + "1,80\n",
    "sweep-job.json": '{"jobs": [{"read": {"iops": 80}}]}',
    "sweep-none.json": '{"jobs": []}',
    "sweep-zero.json": '{"jobs": [{"read": {"iops": 0}, "write": {"iops": 0}}]}',
    "sweep-cut.json": '{"jobs": [',
    "short.trace": "R Hit 1\n",
    "number.trace": "R Hit 8 8 soon 0\n",
    "zero.trace": "R Hit 8 0 100 0\n",
    "few.trace": "R Hit 8 8 100 0\n",
    "huge.trace": "R Hit 1e30 8 100 0\n" * 30,
    "surface-zero.csv": HEADS["surface"] + "0,0\n",
    "surface-few.csv": HEADS["surface"] + "0,9\n",
    "surface.csv": HEADS["surface"] + "0,9\n1000,8\n2000,7\n",
    "geometry.csv": HEADS["geometry"] + "A,7200,512,9,9,1\nB,7200,512,9,9,1\n",
    "geometry-number.csv": HEADS["geometry"] + "A,fast,512,9,9,1\n",
    "wrong.toml": 'rmp = "7200rpm"\n',
    "no-seek.toml": 'rpm = "7200rpm"\n',
}
FIT = """
fit
fit sheet.toml
fit sheet.toml -o out.toml
fit absent.toml -o out.toml --sweep sweep.csv
fit wd-4tb-720 -o out.toml --sweep sweep.csv
fit nodrive -o out.toml --sweep sweep.csv
fit nodrive.toml -o out.toml --sweep sweep.csv
fit iometer/file-serve -o out.toml --sweep sweep.csv
fit intel-ich9r -o out.toml --sweep sweep.csv
fit wrong.toml -o out.toml --sweep sweep.csv
fit no-seek.toml -o out.toml --sweep sweep.csv
fit sheet.toml -o out.toml --chain absent.csv
fit sheet.toml -o out.toml --chain .
fit sheet.toml -o out.toml --chain empty.csv
fit sheet.toml -o out.toml --chain sweep.csv
fit sheet.toml -o out.toml --chain chain-rw.csv
fit sheet.toml -o out.toml --chain chain-zero.csv
fit sheet.toml -o out.toml --chain chain-short.csv
fit sheet.toml -o out.toml --chain chain-number.csv
fit sheet.toml -o out.toml --chain chain-huge.csv
fit sheet.toml -o out.toml --chain chain-beyond.csv
fit sheet.toml -o out.toml --sweep sweep-column.csv
fit sheet.toml -o out.toml --sweep sweep-none.csv
fit sheet.toml -o out.toml --sweep sweep-twice.csv
fit sheet.toml -o out.toml --sweep sweep-number.csv
fit sheet.toml -o out.toml --sweep sweep-depth.csv
fit sheet.toml -o out.toml --sweep sweep-fields.csv
fit sheet.toml -o out.toml --sweep sweep-job.json
fit sheet.toml -o out.toml --sweep sweep-none.json
fit sheet.toml -o out.toml --sweep sweep-zero.json
fit sheet.toml -o out.toml --sweep sweep-cut.json
fit sheet.toml -o out.toml --sweep sweep.csv --rw read
fit sheet.toml -o out.toml --sweep sweep.csv --bs 4x
fit sheet.toml -o out.toml --sweep sweep.csv --size 200%
fit sheet.toml -o out.toml --sweep sweep.csv --offset many
fit sheet.toml -o out.toml --surface surface.csv --bs 4k
fit sheet.toml -o out.toml --trace short.trace
fit sheet.toml -o out.toml --trace number.trace
fit sheet.toml -o out.toml --trace zero.trace
fit sheet.toml -o out.toml --trace few.trace
fit sheet.toml -o out.toml --trace huge.trace
fit sheet.toml -o out.toml --trace bytes.trace
fit sheet.toml -o out.toml --surface surface-zero.csv
fit sheet.toml -o out.toml --surface surface-few.csv
fit sheet.toml -o out.toml --geometry geometry.csv
fit sheet.toml -o out.toml --geometry geometry.csv --known identity.model=C
fit sheet.toml -o out.toml --geometry geometry-number.csv
fit sheet.toml -o out.toml --sweep sweep.csv --known rpm
fit sheet.toml -o out.toml --sweep sweep.csv --known rpm=7200rpm --known rpm=5400rpm
fit sheet.toml -o out.toml --sweep sweep.csv --known rmp=7200rpm
fit sheet.toml -o out.toml --sweep sweep.csv --known target.drive.rpm=7200rpm
fit sheet.toml -o out.toml --sweep sweep.csv --hold-out 95%
fit sheet.toml -o out.toml --sweep sweep.csv --hold-out half
fit sheet.toml -o out.toml --sweep sweep.csv --json --csv
fit sheet.toml -o out.toml --sweep sweep.csv --chart fit.gif
fit sheet.toml -o no/such/out.toml --sweep sweep.csv
fit sheet.toml -o out.toml --sweep sweep.csv --workers 0
"""

SCAN = """
scan
scan --drive no-drive
scan --drive ./absent.toml
scan --drive wrong.toml
scan --drive SMALL --controller no-controller
scan --drive SMALL --json --csv
scan --drive SMALL -o scan.gif
scan --drive SMALL -o no/such/scan.svg
scan --drive SMALL --title x
scan --drive SMALL --rw trim
scan --drive SMALL --places 1
scan --drive SMALL --places 10001
scan --drive SMALL --accesses 0
scan --drive SMALL --accesses 100001
scan --drive SMALL --access-size 4
scan --drive SMALL --access-size 0B
scan --drive SMALL --access-size 100B
scan --drive SMALL --access-size 1TB
scan --drive SMALL --requests 9
scan --drive SMALL --sizes --requests 0
scan --drive SMALL --sizes --rw read
scan --drive SMALL --sizes --places 5
scan --drive SMALL --sizes --accesses 9
scan --drive SMALL --sizes --access-size 4k
scan --drive SMALL,wd-4tb-7200 --sizes
scan --drive SMALL,SMALL
scan --drive SMALL,no-drive
scan --drive ,
scan --drive SMALL --set workload.bs=4k
scan --drive SMALL --set run.ios=4
scan --drive SMALL --set target.write_cache=false,true
scan --drive SMALL --set target.drive.rmp=5400rpm
scan --drive SMALL --set target.drive
scan --drive SMALL --set target.faults.read_errors=100%
scan --drive SMALL --set target.drive=wd-4tb-7200
scan --drive SMALL --set target.server.service=fixed
scan --drive SMALL --randseed -1
scan --drive SMALL --workers 0
"""

VALIDATE_DRIVE = """\
rpm = "10000rpm"
queue.protocol = "none"
geometry = { heads = 1, zones = [{ cylinders = 100, sectors_per_track = 600 }] }
seek = { table = [[1, "1ms"], [99, "1ms"]] }
"""
VALIDATE_FILES = {
    "x.toml": VALIDATE_DRIVE,
    "wrong.toml": 'rmp = "7200rpm"\n',
    "x.trace": "R Hit 0 10 2000.0 500.0\nR Miss 2000 20 1600.0 0.0\n",
    "none.trace": "\n",
    "fields.trace": "R Hit 0 10\n",
    "kind.trace": "X Hit 0 10 2000.0 500.0\n",
    "tag.trace": "R Hot 0 10 2000.0 500.0\n",
    "first.trace": "R Hit -1 10 2000.0 500.0\n",
    "count.trace": "R Hit 0 0 2000.0 500.0\n",
    "time.trace": "R Hit 0 10 soon 500.0\n",
    "gap.trace": "R Hit 0 10 2000.0 -1\n",
    "huge.trace": "R Hit 18446744073709551615 8 2000.0 0\n",
    "long.trace": "R Hit 0 8 1e300 0\n",
    "line.trace": "R" * 5000 + "\n",
    "far.trace": "R Hit 0 1 1 1\nR Hit 59999 2 1 1\n",
}
VALIDATE = """
validate
validate x.toml
validate absent.toml --trace x.trace
validate no-drive --trace x.trace
validate wrong.toml --trace x.trace
validate x.toml --trace absent.trace
validate x.toml --trace .
validate x.toml --trace x.pipe
validate x.toml --trace none.trace
validate x.toml --trace fields.trace
validate x.toml --trace kind.trace
validate x.toml --trace tag.trace
validate x.toml --trace first.trace
validate x.toml --trace count.trace
validate x.toml --trace time.trace
validate x.toml --trace gap.trace
validate x.toml --trace huge.trace
validate x.toml --trace long.trace
validate x.toml --trace line.trace
validate x.toml --trace bytes.trace
validate x.toml --trace x.toml
validate x.toml --trace far.trace
validate x.toml --trace x.trace --json --csv
validate x.toml --trace x.trace -o x.gif
validate x.toml --trace x.trace -o no/such/x.svg
validate x.toml --trace x.trace --title x
validate x.toml --trace x.trace --demerit-max nan
validate x.toml --trace x.trace --demerit-max -1
validate x.toml --trace x.trace --demerit-max much
validate x.toml --trace x.trace --margin -1
validate x.toml --trace x.trace --margin 2000
validate x.toml --trace x.trace --groups-max -1
validate x.toml --trace x.trace --seed -1
validate x.toml --trace x.trace --seed 2 --set run.seed=3
validate x.toml --trace x.trace --set workload.bs=8k
validate x.toml --trace x.trace --set run.duration=1s
validate x.toml --trace x.trace --set target.drive.rpm=5000rpm,6000rpm
validate x.toml --trace x.trace --set target.drive.rmp=5000rpm
validate x.toml --trace x.trace --set target.faults.read_errors=100%
validate x.toml --trace x.trace --set target.array.level=raid1
"""

CRASHTEST = """
crashtest --run true --check true
crashtest absent.toml --run true --check true
crashtest d.toml --run true
crashtest d.toml --check true
crashtest d.toml --run true --from x --check true
crashtest d.toml --run true --check true --cuts 1 --at 1s
crashtest d.toml --run true --check true --cuts 0
crashtest d.toml --run true --check true --every write
crashtest d.toml --run true --check true --fs-size 64MiB
crashtest d.toml --run true --check true --fs zfs
crashtest d.toml --run true --check true --at soon
crashtest d.toml --run true --check true --timeout 5
crashtest d.toml --run true --check true --dies 1
crashtest raid5.toml --run true --check true --dies 4
crashtest d.toml --run true --check true --dies -1
crashtest d.toml --run true --check true --set target.faults.power_cut=1s
crashtest d.toml --run true --check true --set target.write_cache=true,false
crashtest d.toml --run true --check true --set target.write_cahce=true
crashtest d.toml --run true --check true --set 'target.faults.corrupt=[{at="1s"}]'
crashtest d.toml --run true --check true --workers 0
crashtest d.toml --run true --check true
crashtest d.toml --run 'echo committed 0; nosuchtool || true; echo committed 1' --check true --cuts 2
crashtest d.toml --run 'exit 5' --check true
crashtest d.toml --run nosuchtool --check true
crashtest d.toml --run true --check true --keep file
crashtest d.toml --run true --check true --keep full
crashtest d.toml --from . --check true --keep x
crashtest d.toml --from . --check true --fs ext4
crashtest d.toml --from nowhere --check true
crashtest d.toml --from unread --check true
crashtest d.toml --from other --check true
crashtest d.toml --from fewer --check true
crashtest d.toml --run FLUSHED --check true --at 9h
crashtest d.toml --run FLUSHED --check true --at 0s
crashtest d.toml --run UNFLUSHED --check true --every flush
crashtest d.toml --run FLUSHED --check true --cuts 1 --keep kept
crashtest raid5.toml --from kept --check true
"""


def commands(text):
    return [shlex.split(line) for line in text.strip().splitlines()]


def write(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "bytes.trace").write_bytes(b"\xff\xfe\x00")


def test_fit(run, tmp_path):
    write(tmp_path, FIT_FILES)
    write_drive(tmp_path, "sheet.toml", SHEET)
    held("fit-messages.txt", told(run, commands(FIT), tmp_path))
    assert not (tmp_path / "out.toml").exists()


def test_scan(run, tmp_path):
    write(tmp_path, {"wrong.toml": FIT_FILES["wrong.toml"]})
    small = SCAN.replace("SMALL", "seagate-cheetah-9lp")
    held("scan-messages.txt", told(run, commands(small), tmp_path))


def test_validate(run, tmp_path):
    write(tmp_path, VALIDATE_FILES)
    os.mkfifo(tmp_path / "x.pipe")
    held("validate-messages.txt", told(run, commands(VALIDATE), tmp_path))


def test_crashtest(run, tmp_path):
    write(tmp_path, {"d.toml": DRIVE, "raid5.toml": RAID5, "file": ""})
    for folder, files in {
        "full": {"a.txt": ""},
        "unread": {"session.json": "{"},
        "other": {"session.json": '{"of": "something else"}'},
        "fewer": {"session.json": json.dumps({"scenario_hash": "0", "seed": 1})},
    }.items():
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, files)
    here = Path(__file__).parent
    load = shlex.join(
        ["env", f"PYTHONPATH={here}", sys.executable, str(here / "crash_load.py"), "write", "40"]
    )
    words = {"FLUSHED": f"{load} flush", "UNFLUSHED": f"{load} none"}
    options = ["--check", "true", "--cuts", "1", "--keep", "kept", "-q"]
    assert run("crashtest", "d.toml", "--run", words["FLUSHED"], *options).returncode == 0
    text = told(run, commands(CRASHTEST), tmp_path, words)
    # When the workload began and ended depends on how long it took to start, and the identity on the catalogue.
    text = re.sub(r"\b[0-9a-f]{32}\b", "HASH", re.sub(r"at \d+ns", "at TIME", text))
    held("crashtest-messages.txt", re.sub(r"took [\d.]+ m?s", "took TIME", text))
