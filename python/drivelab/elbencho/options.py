"""The options of elbencho: which have a value, which change nothing of a drive, and which cannot be taken over.

What is not here is no option of elbencho for a file or a block device. Abbreviations of long options are not taken.
"""

from __future__ import annotations

from drivelab.errors import ref

SHORT = {
    "b": "block", "c": "configfile", "D": "deldirs", "d": "mkdirs", "F": "delfiles", "h": "help", "i": "iterations",
    "N": "files", "n": "dirs", "r": "read", "s": "size", "t": "threads", "w": "write",
}  # fmt: skip

# What means something here.
FLAGS = frozenset({"read", "write", "rand", "direct", "infloop", "norandalign"})
VALUES = frozenset(
    {
        "block",
        "threads",
        "iodepth",
        "size",
        "randamount",
        "rwmixpct",
        "timelimit",
        "limitread",
        "limitwrite",
        "iterations",
    }
)

# What changes nothing of a drive: output, processors, the bytes that are written, what comes before or after a phase.
IDLE_FLAGS = frozenset(
    {
        "base10", "live1", "live1n", "nolive", "livecsvex", "livejsonex", "nocsvlabels", "allelapsed", "svcelapsed",
        "svcping", "lat", "lathisto", "latpercent", "cpu", "dirstats", "nodiocheck", "nofdsharing", "nopathexp", "sync",
        "dropcache", "preallocfile", "trunctosize", "trunc", "nodelerr", "no0usecerr", "opsloglock",
        # Of versions before 3.0.19; later ones align without it.
        "randalign",
    }
)  # fmt: skip
IDLE_VALUES = frozenset(
    {
        "csvfile", "livecsv", "resfile", "jsonfile", "livejson", "liveint", "label", "log", "latpercent9s",
        "blockvarpct", "blockvaralgo", "randalgo", "cores", "zones", "opslog", "phasedelay", "start", "madv",
    }
)  # fmt: skip

_DIRECTORY = "files in directories: give the load of a block device or of one file"
_HOSTS = "several hosts: give the command line of one"
_CHECK = "checking data is `--check-data` here: leave it out"
_NOT_STORAGE = "this is no load of a drive: leave it out"
_NOTHING_RUNS = "with it elbencho runs nothing: leave it out"
_RATE = (
    "elbencho sends what a second allows as fast as it can, and then waits for the next: leave it out, and give "
    f"{ref('rate_iops', '100')} for I/Os in equal gaps"
)
_ORDER = "only rising or random places are simulated: leave it out"
_GPU = "memory of a GPU: leave it out"

# Refused, with what can be done; flags and options with a value.
REFUSED_FLAGS = {
    "backward": _ORDER,
    "strided": _ORDER,
    "mmap": "memory-mapped I/O does not reach a drive one by one: leave it out",
    "verifydirect": _CHECK,
    "readinline": _DIRECTORY,
    "statinline": _DIRECTORY,
    "mkdirs": _DIRECTORY,
    "deldirs": _DIRECTORY,
    "delfiles": _DIRECTORY,
    "stat": _DIRECTORY,
    "dirsharing": _DIRECTORY,
    "treerand": _DIRECTORY,
    "treeroundrob": _DIRECTORY,
    "nosvcpathshare": _HOSTS,
    "service": _NOTHING_RUNS,
    "foreground": _NOTHING_RUNS,
    "nodetach": _NOTHING_RUNS,
    "quit": _NOTHING_RUNS,
    "interrupt": _NOTHING_RUNS,
    "dryrun": _NOTHING_RUNS,
    "help": _NOTHING_RUNS,
    "help-all": _NOTHING_RUNS,
    "help-large": _NOTHING_RUNS,
    "help-bdev": _NOTHING_RUNS,
    "help-multi": _NOTHING_RUNS,
    "help-dist": _NOTHING_RUNS,
    "help-s3": _NOTHING_RUNS,
    "version": _NOTHING_RUNS,
    "netbench": _NOT_STORAGE,
    "hdfs": _NOT_STORAGE,
    "cufile": _GPU,
    "cufiledriveropen": _GPU,
    "cuhostbufreg": _GPU,
    "gds": _GPU,
    "gdsbufreg": _GPU,
    "gpuperservice": _GPU,
}
REFUSED_VALUES = {
    "fadv": "hints to the system's cache: leave it out",
    "flock": "locks of a file system: leave it out",
    "verify": _CHECK,
    "rwmixthr": "threads that read beside threads that write: give a job for each in a scenario",
    "rwmixthrpct": "threads that read beside threads that write: give a job for each in a scenario",
    "configfile": "options in another file: put them on the command line",
    "files": _DIRECTORY,
    "dirs": _DIRECTORY,
    "sharesize": _DIRECTORY,
    "treefile": _DIRECTORY,
    "treescan": _DIRECTORY,
    "treeroundup": _DIRECTORY,
    "hosts": _HOSTS,
    "hostsfile": _HOSTS,
    "numhosts": _HOSTS,
    "rankoffset": _HOSTS,
    "rotatehosts": _HOSTS,
    "port": _HOSTS,
    "svcpwfile": _HOSTS,
    "svcupint": _HOSTS,
    "svcwait": _HOSTS,
    "gpuids": _GPU,
    "clients": _NOT_STORAGE,
    "clientsfile": _NOT_STORAGE,
    "servers": _NOT_STORAGE,
    "serversfile": _NOT_STORAGE,
    "netdevs": _NOT_STORAGE,
    "respsize": _NOT_STORAGE,
    "recvbuf": _NOT_STORAGE,
    "sendbuf": _NOT_STORAGE,
}
RATE, OBJECTS = _RATE, "objects (S3) are not simulated: give the load of a block device"

ALL_FLAGS = FLAGS | IDLE_FLAGS | set(REFUSED_FLAGS)
ALL_VALUES = VALUES | IDLE_VALUES | set(REFUSED_VALUES)
