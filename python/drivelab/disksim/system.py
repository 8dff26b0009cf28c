"""The disk of a description that is imported, and the path to it: the part of a `.parv` above its disk.

The path must cost nothing except the time of a sector on the bus, which is so in all descriptions of measured drives:
a host driver that simulates, and buses and controllers that only pass requests on.
"""

from __future__ import annotations

from drivelab.disksim.disk import Bus
from drivelab.disksim.parameters import Parameters
from drivelab.disksim.syntax import Block, Description, Node, Word
from drivelab.disksim.text import NoTopologyError
from drivelab.errors import ref

DISK = "disksim_disk"
_PASSES_ON = 1
_NAMED_MAX = 4


def disk_and_bus(description: Description, name: str | None = None) -> tuple[Block, Bus]:
    """The block of the disk, and the time of a sector on the bus to which it is attached.

    Of several disks it is the one with this name, or the model that all of them share.
    """
    start = description.files[0]
    if description.topology is None:
        raise NoTopologyError(
            f"{start}: there is no topology, and without one nobody knows the disk's bus; "
            "name the .parv file, not one of those that it uses"
        )
    ways = [way for way in description.topology.walk() if way[-1].type == DISK]
    *above, disk = _chosen(description, description.topology, ways, name)
    bus = None
    for node in above:
        block = _block(description, node)
        parameters = Parameters(block)
        match node.type:
            case "disksim_iodriver":
                parameters.only("Constant access time", 0, "the disk has to be simulated")
            case "disksim_bus":
                bus = _bus(parameters)
            case "disksim_ctlr":
                parameters.only("type", _PASSES_ON, "the controller has to pass requests on as they are")
                parameters.only("Scale for delays", 0, "the controller has to cost nothing")
            case _:
                raise node.place.error(f"a {node.type} above the disk cannot be imported")
    if bus is None or above[-1].type != "disksim_bus":
        raise disk.place.error("the disk hangs on no bus")
    return _block(description, disk), bus


def disk_names(description: Description) -> list[str]:
    """The disks of the topology."""
    ways = description.topology.walk() if description.topology else ()
    return [way[-1].name for way in ways if way[-1].type == DISK]


def _chosen(
    description: Description, topology: Node, ways: list[tuple[Node, ...]], name: str | None
) -> tuple[Node, ...]:
    """The path to the disk that is meant. Raises DisksimError."""
    if not ways:
        raise topology.place.error("there are 0 disks in the topology, and a drive file describes one")
    models: dict[str, list[str]] = {}
    for way in ways:
        instance = description.instances.get(way[-1].name)
        models.setdefault(str(instance.value) if instance else "", []).append(way[-1].name)
    if name is not None:
        for way in ways:
            if way[-1].name == name:
                return way
        raise topology.place.error(f"{ref('disk', name)}: no disk is called so; there is {_listed(models)}")
    if len(models) > 1:
        raise topology.place.error(
            f"there are {len(ways)} disks of {len(models)} models in the topology, and a drive file describes one: "
            f"choose by {ref('disk')}; there is {_listed(models)}"
        )
    return ways[0]


def _listed(models: dict[str, list[str]]) -> str:
    """The disks of each model, a long row by its ends."""
    texts = []
    for model, names in models.items():
        shown = ", ".join(names) if len(names) <= _NAMED_MAX else f"{names[0]} to {names[-1]}"
        texts.append(f"{shown} ({model})" if model else shown)
    return ", ".join(texts)


def _bus(parameters: Parameters) -> Bus:
    parameters.only("type", 1, "the bus has to belong to one request at a time")
    parameters.only("Arbitration time", 0, "the model has no arbitration")
    read, write = (parameters.number(f"{access} block transfer time") for access in ("Read", "Write"))
    return Bus(read, write)


def _block(description: Description, node: Node) -> Block:
    """The block of which a component of the topology is an instance."""
    instance = description.instances.get(node.name)
    if instance is None or not isinstance(instance.value, Word):
        raise node.place.error(f"{node.name} is in the topology, and no instance of anything")
    block = description.blocks.get(str(instance.value))
    if block is None:
        raise instance.place.error(f"there is no block {instance.value}")
    if block.type != node.type:
        raise instance.place.error(f"{node.name} is a {node.type}, and {block.name} a {block.type}")
    return block
