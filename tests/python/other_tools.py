"""Results of other tools as they print them, of made-up runs: what tests of reading them change."""

from __future__ import annotations

from collections.abc import Sequence

SHARES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)


def terse_part(version: int, ios: int, bs: int, ms: int, mean_us: float) -> str:
    """The fields of a kind of I/O."""
    kib = ios * bs // 1024
    four = f"{mean_us / 4:.0f};{mean_us * 9:.0f};{mean_us:f};{mean_us / 3:f}"
    shares = [f"{share:f}%={mean_us * (0.5 + share / 100):.0f}" for share in SHARES] + ["0%=0"] * 3
    fields = [kib, kib * 1000 // max(ms, 1), ios * 1000 // max(ms, 1), ms, "0;1;0.5;0.1", four, *shares, four]
    fields += ["9000;11000;100.000000%;10000.0;500.0"]
    if version == 5:
        fields += [19, 2000, 3000, f"{ios * 1000 / max(ms, 1):f}", "50.000000", 19]
    return ";".join(map(str, fields))


def terse(
    version: int = 3,
    name: str = "job",
    group: int = 0,
    parts: Sequence[str | None] = (None, None, None),
) -> str:
    """A line of fio's terse output."""
    idle = terse_part(version, 0, 4096, 0, 0.0)
    kinds = 2 if version == 3 else 3
    own = ";".join(part or idle for part in parts[:kinds])
    return f"{version};fio-3.28;{name};{group};0;{own};1.0%;2.0%;100;0;9;100.0%;sda;1;2\n"


READS = terse_part(3, 20_000, 4096, 10_000, 480.0)
FIO_TERSE = terse(parts=(READS, None, None))

FIO_HEADER = (
    "job: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, "
    "iodepth=8\n"
)
FIO_TEXT = (
    FIO_HEADER
    + """\
fio-3.28
Starting 1 process
Jobs: 1 (f=1): [r(1)][100.0%][r=8000KiB/s][r=2000 IOPS][eta 00m:00s]
job: (groupid=0, jobs=1): err= 0: pid=812: Thu Sep  5 03:52:31 2024
  read: IOPS=2000, BW=8000KiB/s (8192kB/s)(78.1MiB/10000msec)
    slat (nsec): min=900, max=41.5k, avg=2100.25, stdev=350.11
    clat (usec): min=90, max=52000, avg=3990.25, stdev=1200.50
     lat (usec): min=92, max=52001, avg=3992.50, stdev=1200.60
    clat percentiles (usec):
     |  1.00th=[  400], 50.00th=[ 3500], 90.00th=[ 6000], 95.00th=[ 7000],
     | 99.00th=[ 9000], 99.90th=[21000], 99.99th=[50000]
   bw (  KiB/s): min= 7000, max= 9000, per=100.00%, avg=8001.10, stdev=310.20, samples=19
   iops        : min= 1750, max= 2250, avg=2000.30, stdev=77.50, samples=19
  lat (usec)   : 100=0.01%, 1000=5.00%
  cpu          : usr=1.28%, sys=8.81%, ctx=14208, majf=0, minf=256
     issued rwts: total=20000,0,0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
   READ: bw=8000KiB/s (8192kB/s), 8000KiB/s-8000KiB/s (8192kB/s-8192kB/s), io=78.1MiB (81.9MB), run=10000-10000msec
"""
)
FIO_OLD_TEXT = """\
job: (g=0): rw=randwrite, bs=8K-8K/8K-8K, ioengine=libaio, iodepth=4
...
job: (g=0): rw=randwrite, bs=8K-8K/8K-8K, ioengine=libaio, iodepth=4
fio 1.57
Starting 5 processes
job: (groupid=0, jobs=5): err= 0: pid=2447
  write: io=156.3MB, bw=1600KB/s, iops=2000 , runt= 10000msec
    clat (usec): min=67 , max=944.9K, avg=9990.00, stdev=4647.69
     lat (msec): min=0 , max=944 , avg=10.00, stdev=4.65
     issued r/w/d: total=0/20000/0, short=0/0/0
"""
FIO_LOG = "".join(f"{8 * at}, {7_000_000 + 1000 * (at % 9)}, 0, 4096\n" for at in range(2000))
FIO_BW_LOG = "".join(f"{1000 * at}, {8000 + at}, 0, 0\n" for at in range(1, 21))

SAMPLES = {
    "fio-terse:a": FIO_TERSE,
    "fio-text:a": FIO_TEXT,
    "fio-text:b": FIO_OLD_TEXT,
    "fio-log-lat-ns:a": FIO_LOG,
    "fio-log-bw:a": FIO_BW_LOG,
}
"""Each with the name of its format before a colon."""
