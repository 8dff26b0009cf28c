"""The files and devices of a group of jobs, and where they lie on the drive.

fio gives each job, and each of its numjobs copies, files of its own unless `filename` names them. They lie one behind
the other from the start of the drive here, as on a fresh file system; devices are drives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from drivelab.fio import values
from drivelab.fio.reader import Built, Files, Reader
from drivelab.fio.syntax import Place, Problem

COPIES_MAX = 256
"""The most copies with a range of their own; a scenario has a job for each."""
_BLOCK_BYTES = 4096
_RANGE = frozenset({"size", "filesize", "offset", "offset_increment"})
"""Options that say where a job reads and writes within its files."""
_OWN_FORMAT = "$jobname.$jobnum.$filenum"
_DEVICE_ENGINES = frozenset({"nbd", "sg", "libblkio", "io_uring_cmd"})
_SHARED_MEMORY = "/dev/shm/"  # noqa: S108 - a name is compared, and no file is made
OWN_NOTE = (
    "each job, and each copy of one, has files of its own as in fio; they lie one behind the other from the start of "
    "the drive"
)
EVEN_NOTE = (
    "each job, and each copy of one, has a file of its own as in fio; without sizes in bytes they share the drive "
    "evenly"
)


def files_of(reader: Reader, name: str, count: int) -> Files:
    """What a job reads and writes; `count` files where no filename says."""
    engine = (reader.text("ioengine") or "").split(":")[0]
    if uri := reader.text("uri"):
        return Files((uri,), is_device=True)
    named = _parts(reader.text("filename") or "")
    folders = _parts(reader.text("directory") or "")
    if named:
        is_device = all(map(_is_device, named)) or (engine in _DEVICE_ENGINES and not folders)
        if not is_device and any(map(_is_device, named)):
            reader.wrong(reader.job.get("filename"), "devices and files in one job; make a job of each")
        return Files(named if is_device else tuple(_beside(folders, one) for one in named), is_device)
    pattern = reader.text("filename_format") or _OWN_FORMAT
    own = pattern.replace("$jobname", name).replace("$jobnum", "{copy}").replace("$clientuid", "")
    found = (own.replace("$filenum", str(number)) for number in range(count))
    return Files(tuple(dict.fromkeys(_beside(folders, one) for one in found)))


def _parts(text: str) -> tuple[str, ...]:
    """The names that colons divide; a colon behind a backslash belongs to the name."""
    return tuple(name for name in re.split(r"(?<!\\):", text) if name)


def _beside(folders: Sequence[str], name: str) -> str:
    """A name in its folder; of several folders, each copy of the job has the next one."""
    if not folders:
        return name
    return f"{folders[0]}/{name}" if len(folders) == 1 else f"{':'.join(folders)}#{{copy}}/{name}"


def _is_device(name: str) -> bool:
    """Whether a name is that of a device."""
    return name.startswith(("/dev/", "\\\\.\\", "//./")) and not name.startswith(_SHARED_MEMORY)


def copies(built: Built, problems: list[Problem]) -> Sequence[Built]:
    """A job whose copies have files or a range each, as one job per copy; any other job unchanged."""
    count = built.keys.get("numjobs", 1)
    has_step = built.step is not None and "offset_increment" not in built.unreadable
    if count < 2 or "trace" in built.keys or not (has_step or built.files.is_own):
        return [replace(built, files=built.files.of_copy(0))]
    if count > COPIES_MAX:
        at = built.lines.get("offset_increment" if has_step else "numjobs", built.place)
        problems.append(
            Problem(
                at,
                f"more than {COPIES_MAX} copies with a range each; write numjobs={COPIES_MAX} or fewer"
                + ("" if has_step else ", or one filename for all"),
            )
        )
        return [replace(built, files=built.files.of_copy(0))]
    step, unit = built.step or (0, "B")
    begin = int(built.keys.get("offset", "0").rstrip("B%"))
    keys = {key: value for key, value in built.keys.items() if key != "numjobs"}
    found = []
    for number in range(count):
        offset = {"offset": f"{begin + number * step}{unit}"} if built.step is not None else {}
        found.append(replace(built, keys={**keys, **offset}, files=built.files.of_copy(number)))
    return found


def devices_of(groups: Sequence[Sequence[Built]]) -> list[str]:
    """The devices that are drives of their own: all of the file, where jobs of one group use more than one."""
    found = [list(dict.fromkeys(_devices(group))) for group in groups]
    if all(len(one) < 2 for one in found):
        return []
    return list(dict.fromkeys(name for one in found for name in one))


def _devices(group: Sequence[Built]) -> Iterator[str]:
    for built in group:
        if built.files.is_device:
            yield from built.files.names


def lay_out(
    group: Sequence[Built], drives: Sequence[str], problems: list[Problem], notes: dict[str, None]
) -> None:
    """Give each job of a group its range: on its device's drive, or where its files lie."""
    group = [built for built in group if "trace" not in built.keys]
    on_devices = [built for built in group if built.files.is_device]
    if on_devices and len(on_devices) < len(group):
        other = next(built for built in group if not built.files.is_device)
        problems.append(
            Problem(
                other.lines.get("filename", other.place),
                f"[{other.name}] has files on a file system, and {on_devices[0].files.names[0]} is a device: the drive "
                "is one of the two; put a stonewall between them, or give both the same filename",
            )
        )
    elif on_devices:
        for built in group:
            _on_drives(built, drives, problems)
    else:
        _in_files(group, problems, notes)


def _on_drives(built: Built, drives: Sequence[str], problems: list[Problem]) -> None:
    names = list(dict.fromkeys(built.files.names))
    if not drives or "filename" in built.unreadable:
        return
    if len(names) == 1:
        built.keys["member"] = drives.index(names[0])
        return
    at = built.lines.get("filename", built.place)
    if set(names) != set(drives):
        others = ", ".join(name for name in drives if name not in names)
        problems.append(
            Problem(
                at,
                f"several devices, and others of the file beside them ({others}); write a job for each device",
            )
        )
    elif {"offset", "size"} & set(built.keys) and built.keys.get("size") != "100%":
        problems.append(
            Problem(
                at,
                "a part of each of several devices; write a job for each device, or leave size and offset out",
            )
        )


def _in_files(group: Sequence[Built], problems: list[Problem], notes: dict[str, None]) -> None:
    """Lay the files of a group one behind the other; without sizes in bytes they share the drive evenly."""
    order = list(dict.fromkeys(name for built in group for name in built.files.names))
    is_unknown = any(_RANGE & built.unreadable for built in group)
    if len({built.files.names for built in group}) < 2 or is_unknown:
        return
    needs: dict[str, int] = {}
    for built in group:
        need = _bytes_of(built)
        for name in built.files.names:
            if need is not None:
                needs[name] = max(needs.get(name, 0), -(-need // len(built.files.names)))
    unknown = [name for name in order if name not in needs]
    if len(unknown) == len(order):
        _evenly(group, order, problems, notes)
        return
    if len(unknown) > 1 or (unknown and len(order) > len(unknown) and _is_percent(group, unknown[0])):
        built = next(built for built in group if unknown[-1] in built.files.names)
        problems.append(
            Problem(
                built.lines.get("size", built.place),
                f"[{built.name}] has a file without a size in bytes beside files with one; give size, such as size=10g",
            )
        )
        return
    notes[OWN_NOTE] = None
    begins, end = {}, 0
    for name in [*(name for name in order if name in needs), *unknown]:
        begins[name] = end
        end += -(-needs.get(name, 0) // _BLOCK_BYTES) * _BLOCK_BYTES
    for built in group:
        _place(built, begins, needs, problems)


def _bytes_of(built: Built) -> int | None:
    """How much of its files a job reaches; None without a size in bytes."""
    size, offset = built.keys.get("size", "%"), built.keys.get("offset", "0B")
    if not size.endswith("B") or not offset.endswith("B"):
        return None
    return int(size[:-1]) + int(offset[:-1])


def _is_percent(group: Sequence[Built], name: str) -> bool:
    return any(
        str(built.keys.get(key, "")).endswith("%")
        for built in group
        if name in built.files.names
        for key in ("size", "offset")
    )


def _place(built: Built, begins: dict[str, int], needs: dict[str, int], problems: list[Problem]) -> None:
    """The range of a job: its part of its files, which have to lie side by side."""
    names = sorted(built.files.names, key=begins.__getitem__)
    at: Place = built.lines.get("filename", built.place)
    begin = begins[names[0]]
    for name, following in pairwise(names):
        if begins[name] + needs.get(name, 0) != begins[following]:
            problems.append(
                Problem(
                    at, f"[{built.name}] shares some of its files with other jobs; write a job for each file"
                )
            )
            return
    if len(names) > 1 and sum(needs.get(name, 0) for name in names) > (_bytes_of(built) or 0) + len(names):
        problems.append(
            Problem(at, f"[{built.name}] reaches a part of each of several files; write a job for each file")
        )
        return
    offset = begin + int(built.keys.get("offset", "0B")[:-1])
    if offset:
        built.keys["offset"] = f"{offset}B"


def _evenly(
    group: Sequence[Built], order: Sequence[str], problems: list[Problem], notes: dict[str, None]
) -> None:
    """Ranges where no file has a size in bytes: each has an equal part of the drive."""
    notes[EVEN_NOTE] = None
    for built in group:
        names = [order.index(name) for name in built.files.names]
        count = len(names)
        parts = [_percent_of(built, key, default) for key, default in (("offset", 0), ("size", 100))]
        if parts[0] is None or parts[1] is None:
            problems.append(
                Problem(
                    built.lines.get("offset", built.place),
                    "a place in bytes, in a file without a size in bytes; give size",
                )
            )
            continue
        offset, size = parts[0], min(parts[1], 100 - parts[0])
        if sorted(names) != list(range(min(names), min(names) + count)):
            problems.append(
                Problem(
                    built.place,
                    f"[{built.name}] shares some of its files with other jobs; write a job for each file",
                )
            )
            continue
        share = count / len(order)
        built.keys["offset"] = f"{100 * min(names) / len(order) + offset * share:.7f}%"
        built.keys["size"] = f"{size * share - 1e-7:.7f}%"


def _percent_of(built: Built, key: str, default: int) -> int | None:
    """A percentage, or the default where none is given; None for an amount in bytes."""
    text = built.keys.get(key)
    if text is None or text == "0B":
        return default
    return values.percent(text) if text.endswith("%") else None
