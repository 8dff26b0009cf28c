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

DISKSPD = """\

Command Line: diskspd.exe -b4k -d10 -o8 -t2 -r -w40 -Sh -L x.dat

Input parameters:

\ttimespan:   1
\t-------------
\tduration: 10s
\tpath: 'x.dat'
\t\tthink time: 0ms
\t\tburst size: 0
\t\tsoftware cache disabled
\t\thardware write cache disabled, writethrough on
\t\tperforming mix test (read/write ratio: 60/40)
\t\tblock size: 4KiB
\t\tusing random I/O (alignment: 4KiB)
\t\tnumber of outstanding I/O operations per thread: 8
\t\tthreads per file: 2
\t\tusing I/O Completion Ports

Results for timespan 1:
*******************************************************************************

actual test time:\t10.00s
thread count:\t\t2

Total IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
-----------------------------------------------------------------------------------------------------
     0 |        40960000 |        10000 |       3.91 |    1000.00 |    8.000 |     3.000 | x.dat (1GiB)
     1 |        40960000 |        10000 |       3.91 |    1000.00 |    8.000 |     3.000 | x.dat (1GiB)
-----------------------------------------------------------------------------------------------------
total:          81920000 |        20000 |       7.81 |    2000.00 |    8.000 |     3.000

Read IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
-----------------------------------------------------------------------------------------------------
total:          49152000 |        12000 |       4.69 |    1200.00 |    9.000 |     3.000

Write IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
-----------------------------------------------------------------------------------------------------
total:          32768000 |         8000 |       3.13 |     800.00 |    6.500 |     3.000


total:
  %-ile |  Read (ms) | Write (ms) | Total (ms)
----------------------------------------------
    min |      0.100 |      0.200 |      0.100
   50th |      8.500 |      6.000 |      7.500
   99th |     30.000 |     20.000 |     28.000
3-nines |     60.000 |     50.000 |     58.000
    max |     90.000 |     70.000 |     90.000
"""
DISKSPD_XML = """\
<Results><System><ComputerName>PC</ComputerName><Tool><Version>2.2.0</Version></Tool></System>
<Profile><TimeSpans><TimeSpan><ThreadCount>0</ThreadCount><Targets><Target>
<Path>x.dat</Path><DisableOSCache>true</DisableOSCache><BlockSize>4096</BlockSize><Random>4096</Random>
<WriteRatio>0</WriteRatio><RequestCount>8</RequestCount><ThreadsPerFile>1</ThreadsPerFile>
</Target></Targets></TimeSpan></TimeSpans></Profile>
<TimeSpan><TestTimeSeconds>10.00</TestTimeSeconds><ThreadCount>1</ThreadCount>
<Latency><AverageReadMilliseconds>4.000</AverageReadMilliseconds>
<Bucket><Percentile>50</Percentile><ReadMilliseconds>3.5</ReadMilliseconds></Bucket>
<Bucket><Percentile>99.9</Percentile><ReadMilliseconds>40.0</ReadMilliseconds></Bucket>
<Bucket><Percentile>100</Percentile><ReadMilliseconds>55.5</ReadMilliseconds></Bucket></Latency>
<Thread><Id>0</Id><Target><Path>x.dat</Path><ReadBytes>81920000</ReadBytes><ReadCount>20000</ReadCount>
<WriteBytes>0</WriteBytes><WriteCount>0</WriteCount></Target></Thread></TimeSpan></Results>
"""
ELBENCHO = """\
ISO date,label,path type,paths,hosts,threads,dirs,files,file size,block size,direct IO,random,random aligned,IO depth,\
shared paths,truncate,operation,time ms [first],time ms [last],IOPS [first],IOPS [last],MiB/s [first],MiB/s [last],\
IO lat us [min],IO lat us [avg],IO lat us [max]
2024-05-22T16:09:38,,dir,1,1,8,1,4,268435456,1048576,1,0,,4,1,0,MKDIRS,2,5,,,,,,,
2024-05-22T16:09:39,,dir,1,1,8,1,4,268435456,1048576,1,0,,4,1,0,WRITE,2134,2784,3494,2941,3494,2941,1661,9383,120903
2024-05-22T16:09:41,,dir,1,2,8,1,4,268435456,4096,1,1,,4,1,0,READ,2134,2784,9000,8000,35,31,90,7900,99000
"""
CRYSTALDISKMARK = """\
------------------------------------------------------------------------------
CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo
                                  Crystal Dew World: https://crystalmark.info/
------------------------------------------------------------------------------
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
* KB = 1000 bytes, KiB = 1024 bytes

[Read]
  SEQ    1MiB (Q=  8, T= 1):   200.278 MB/s [    191.0 IOPS] < 41800.00 us>
  RND    4KiB (Q= 32, T=16):     0.819 MB/s [    200.0 IOPS] <635043.04 us>

[Write]
  SEQ    1MiB (Q=  8, T= 1):   190.000 MB/s [    181.2 IOPS] < 43210.00 us>

[Mix] Read 70%/Write 30%
  RND    4KiB (Q=  1, T= 1):     0.328 MB/s [     80.1 IOPS] < 12480.00 us>

Profile: Default
   Test: 1 GiB (x5) [D: 4% (79/1862GiB)]
"""
CRYSTALDISKMARK_3 = """\
CrystalDiskMark 3.0.3 x64 (C) 2007-2013 hiyohiyo
* MB/s = 1,000,000 byte/s [SATA/300 = 300,000,000 byte/s]

           Sequential Read :   179.874 MB/s
         Random Read 512KB :    41.555 MB/s
    Random Read 4KB (QD=1) :     0.542 MB/s [   132.3 IOPS]
  Random Write 4KB (QD=32) :     0.294 MB/s [    71.8 IOPS]

  Test : 1000 MB [F: 0.1% (5.0/3717.4 GB)] (x1)
"""
KDISKMARK = """\
                        KDiskMark (3.0.0): https://github.com/JonMagon/KDiskMark
                    Flexible I/O Tester (fio-3.30): https://github.com/axboe/fio
--------------------------------------------------------------------------------
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
* KB = 1000 bytes, KiB = 1024 bytes

[Read]
Sequential   1 MiB (Q=  8, T= 1):   204.800 MB/s [    200.0 IOPS] < 40000.00 us>
    Random   4 KiB (Q=  1, T= 1):     0.400 MB/s [    100.0 IOPS] < 10000.00 us>

Profile: Default
"""

SAMPLES |= {
    "diskspd:a": DISKSPD,
    "diskspd-xml:a": DISKSPD_XML,
    "elbencho:a": ELBENCHO,
    "crystaldiskmark:a": CRYSTALDISKMARK,
    "crystaldiskmark:b": CRYSTALDISKMARK_3,
    "kdiskmark:a": KDISKMARK,
}

VDBENCH = """\
<pre>
* Made-up columns, as a flatfile has them
tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp read_resp write_resp resp_max xfersize threads \
rdpct rhpct whpct seekpct
10:00:01.000 01/02/2024-10:00:01-UTC rd1 1 999988 198.0 0.77 4096 100.00 40.100 40.100 0.000 99.000 4096 8 100 0 0 100
10:00:02.000 01/02/2024-10:00:02-UTC rd1 2 999988 202.0 0.79 4096 100.00 39.300 39.300 0.000 97.000 4096 8 100 0 0 100
10:00:02.100 x rd1 avg_2-2 999988 202.0 0.79 4096 100.00 39.300 39.300 0.000 97.000 4096 8 100 0 0 100
10:01:02.100 01/02/2024-10:01:02-CET rd2 avg_2-2 100 100.0 0.78 8192 70.00 9.000 10.000 6.667 n/a 8192 8 70 0 0 50
"""
IOMETER = """\
'Test Type,Test Description
0,made up
'Version
1.1.0
'Access specifications
'Access specification name,default assignment
4 KiB; 100% Read; 100% random,1
'size,% of size,% reads,% random,delay,burst,align,reply
4096,100,100,100,0,1,0,0
'Access specification name,default assignment
Mixture,1
'size,% of size,% reads,% random,delay,burst,align,reply
4096,50,67,100,0,1,0,0
65536,50,67,100,0,1,0,0
'End access specifications
'Results
'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps,Read IOps,Write IOps,\
MBps (Binary),Read MBps (Binary),Write MBps (Binary),Average Response Time,Average Read Response Time,\
Average Write Response Time,Maximum Response Time,Maximum Read Response Time,Maximum Write Response Time,Queue Depth
ALL,All,4 KiB; 100% Read; 100% random,1,1,1,200.5,200.5,0,0.783203,0.783203,0,39.9,39.9,0,123.4,123.4,0,
MANAGER,PC,4 KiB; 100% Read; 100% random,1,1,1,200.5,200.5,0,0.783203,0.783203,0,39.9,39.9,0,123.4,123.4,0,
DISK,D:,4 KiB; 100% Read; 100% random,,,,200.5,200.5,0,0.783203,0.783203,0,39.9,39.9,0,123.4,123.4,0,8
'Time Stamp
2024-01-02 10:00:00
'Results
'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps,Read IOps,Write IOps,MBps,\
Average Response Time,Average Read Response Time,Average Write Response Time,Maximum Response Time
ALL,All,Mixture,1,1,1,150,100,50,5.1,10,12,6,99.5
"""
SYSBENCH = """\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4
Initializing random number generator from current time

Extra file open flags: directio
4 files, 256MiB each
1GiB total file size
Block size 16KiB
Number of IO requests: 0
Using synchronous I/O mode
Doing random read test

File operations:
    reads/s:                      250.00
    writes/s:                     0.00
    fsyncs/s:                     0.00

Throughput:
    read, MiB/s:                  3.91
    written, MiB/s:               0.00

General statistics:
    total time:                          10.0000s
    total number of events:              2500

Latency (ms):
         min:                                    0.20
         avg:                                   16.00
         max:                                  300.40
         95th percentile:                       31.00
         sum:                                39990.66
"""
SYSBENCH_0_4 = """\
sysbench 0.4.12:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 2

Extra file open flags: 0
Block size 16Kb
Read/Write ratio for combined random IO test: 1.50
Periodic FSYNC enabled, calling fsync() each 100 requests.
Using synchronous I/O mode
Doing random r/w test

Operations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total
Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (7.8125Mb/sec)
  500.00 Requests/sec executed

Test execution summary:
    total time:                          20.0000s
    total number of events:              10000
    per-request statistics:
         avg:                                  3.90ms
         max:                                496.18ms
         approx.  95 percentile:              33.10ms
"""
IOZONE = """\
\tIozone: Performance Test of File I/O
\t        Version $Revision: 3.489 $

\tO_DIRECT feature enabled
\tOutput is in kBytes/sec
                                                              random    random     bkwd    record    stride
              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read
          102400       4     2604     2666                       959     1652
          102400    1024    31460    32505   61185    61207

iozone test complete.
"""
IOZONE_CHILDREN = """\
\tVersion $Revision: 3.489 $
\tRecord Size 16384 kB
\tChildren see throughput for  8 initial writers \t=  180000.50 kB/sec
\tChildren see throughput for  8 random readers \t=  100000.00 kB/sec
"""
HDTUNE = """\
HD Tune Pro: MADE UP HD501 Benchmark

Read transfer rate
Transfer Rate Minimum : 72.0 MB/sec
Transfer Rate Maximum : 136.4 MB/sec
Transfer Rate Average : 113.4 MB/sec
Access Time           : 13.6 ms
Burst Rate            : 183.6 MB/sec
CPU Usage             : 2.1%
"""

_CPU = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n 0.14    0.00    0.16    0.00    0.00   99.70\n\n"
_NEW = "Device  r/s  w/s  rkB/s  wkB/s  rrqm/s  wrqm/s  %rrqm  %wrqm r_await w_await aqu-sz  %util\n"


def iostat(*reports: tuple[float, float]) -> str:
    """Reports of `iostat -x`: reads per second of 8 KiB, and their time in ms; beside them an idle device."""
    text = "Linux 5.10.0-21-amd64 (host) \t01/02/2024 \t_x86_64_\t(4 CPU)\n\n"
    for rate, await_ms in reports:
        text += _CPU + _NEW
        text += (
            f"sda {rate:.2f} 0.00 {8 * rate:.2f} 0.00 0.00 0.00 0.00 0.00 {await_ms:.2f} 0.00 1.00 90.00\n"
        )
        text += "sdb 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00\n\n"
    return text


IOSTAT = iostat((1, 1), (100, 10), (200, 20), (50, 4))
IOSTAT_OLD = """\
Linux 3.10.0 (host) \t11/30/2021 \t_x86_64_\t(1 CPU)

Device:  rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util
sda        0,00     0,02  100,00  300,00   400,00  4800,00    26,00     4,00   10,00    4,00   12,00   0,52  80,00

"""
SAR = """\
Linux 5.10.0 (host)     28/07/22        _armv7l_        (4 CPU)

19:03:12          DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     svctm     %util
19:03:14       dev8-0    100.00    400.00      0.00      4.00      1.00     10.00      1.00     50.00
19:03:16       dev8-0    300.00   1200.00      0.00      4.00      6.00     20.00      1.00    100.00
19:03:16      dev8-16      0.00      0.00      0.00      0.00      0.00      0.00      0.00      0.00
Average:       dev8-0    200.00    800.00      0.00      4.00      3.50     17.50      1.00     75.00
"""

SAMPLES |= {
    "iostat:a": IOSTAT,
    "iostat:b": IOSTAT_OLD,
    "sar:a": SAR,
    "vdbench:a": VDBENCH,
    "iometer:a": IOMETER,
    "sysbench:a": SYSBENCH,
    "sysbench:b": SYSBENCH_0_4,
    "iozone:a": IOZONE,
    "iozone:b": IOZONE_CHILDREN,
    "hdtune-mb:a": HDTUNE,
}
OPEN = {name for name in SAMPLES if name.startswith(("fio-log", "hdtune"))}
"""Those whose text leaves open which format it has."""
