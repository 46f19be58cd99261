"""What the engine is asked to do: frozen descriptions of phases, and the checks that say in words what cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from msgspec import Struct

from fstrial.base.errors import UsageError

__all__ = [
    "Amount",
    "Api",
    "BlockSize",
    "Content",
    "ContentKind",
    "DataPhase",
    "Kind",
    "MetadataPhase",
    "Mix",
    "Naming",
    "Order",
    "Placement",
    "Sharing",
    "SyncCall",
    "Syncing",
    "Target",
    "WriteThrough",
    "check",
]

_STAMP_SECTOR_BYTES = 512
_LARGEST_BLOCK_BYTES = 1 << 30
_MOST_WORKERS = 4096
_MOST_TARGETS = 65535
_DEEPEST_QUEUE = 4096


class Api(Enum):
    """How operations reach the kernel. STDIO is one getc or putc a character."""

    READ_WRITE = "read/write"
    PREAD_PWRITE = "pread/pwrite"
    PREADV2 = "preadv2"
    MMAP = "mmap"
    STDIO = "stdio"
    IO_URING = "io_uring"


class Order(Enum):
    """In which order a worker visits its blocks.

    PERMUTATION: random, each block once a pass. UNIFORM: random, with repeats. STRIDE: every n-th, then the next
    residue. ZIPF: rank r as often as r^-exponent, ranks scattered over the blocks.
    """

    SEQUENTIAL = "sequential"
    BACKWARD = "backward"
    STRIDE = "stride"
    UNIFORM = "uniform"
    PERMUTATION = "permutation"
    ZIPF = "zipf"


class Sharing(Enum):
    """OWN: worker i has target i (modulo their number). SHARED: all have all blocks of all. SLICED: worker i has its
    contiguous share of all blocks."""

    OWN = "own"
    SHARED = "shared"
    SLICED = "sliced"


class ContentKind(Enum):
    """RANDOM is shaped by compression ratio and duplicates. NEAR_ZERO is bonnie++'s block (zeros, the n-th write has
    raised byte n), COUNTING bonnie's characters (byte i is i modulo 128)."""

    ZEROS = "zeros"
    NEAR_ZERO = "near-zero"
    COUNTING = "counting"
    RANDOM = "random"


class WriteThrough(Enum):
    """Flags that targets are opened with."""

    NO = "no"
    SYNC = "O_SYNC"
    DSYNC = "O_DSYNC"


class SyncCall(Enum):
    FSYNC = "fsync"
    FDATASYNC = "fdatasync"


class Kind(Enum):
    """Kinds of operations; the numbers of engine.h follow this order."""

    READ = "read"
    WRITE = "write"
    SYNC = "sync"
    OPEN = "open"
    CREATE = "create"
    STAT = "stat"
    RENAME = "rename"
    LINK = "link"
    SYMLINK = "symlink"
    MKDIR = "mkdir"
    RMDIR = "rmdir"
    READDIR = "readdir"
    UNLINK = "unlink"
    SETXATTR = "setxattr"
    GETXATTR = "getxattr"
    ALLOCATE = "allocate"
    CLOSE = "close"


class Target(Struct, frozen=True):
    """A file (or block device) and how much of it is worked on, in bytes from its beginning."""

    path: Path
    size_bytes: int


class BlockSize(Struct, frozen=True):
    """One size of a distribution, drawn with a probability proportional to `weight`."""

    size_bytes: int
    weight: int = 1


class Mix(Struct, frozen=True):
    """Weights of what a step does with its block. An update reads it, changes a byte and writes it back: it counts as
    a read and a write."""

    read: int = 0
    write: int = 0
    update: int = 0


class Amount(Struct, frozen=True):
    """How much each worker does: what is reached first counts; nothing given is one pass over its blocks.

    `until_first`: the first worker that is done stops the others.
    """

    operations: int | None = None
    moved_bytes: int | None = None
    seconds: float | None = None
    until_first: bool = False


class Content(Struct, frozen=True):
    """What is written.

    `compression_ratio` is what gzip makes of it (up to about 20). `duplicate_share` of the 4 KiB pieces repeat one of
    sixteen. `stamped` blocks say which target, offset and generation they are; a verifying read expects `generation`.
    """

    kind: ContentKind = ContentKind.RANDOM
    compression_ratio: float = 1.0
    duplicate_share: float = 0.0
    stamped: bool = False
    generation: int = 1


class Syncing(Struct, frozen=True):
    """When a worker syncs its targets: after every so many writes, and at the end (within its time)."""

    call: SyncCall = SyncCall.FSYNC
    every_writes: int | None = None
    at_end: bool = False


class DataPhase(Struct, frozen=True):
    """Reads and writes of blocks by workers that start together.

    `rate_per_s` is the fixed rate at which operations arrive at all workers together; latency then counts from the
    moment an operation was due, so that a stall is seen by all that had to wait for it. Without it each worker goes
    on as soon as it can. `queue_depth` above 1 is io_uring's. `pin` puts worker i on the i-th CPU allowed.
    """

    targets: tuple[Target, ...]
    block_sizes: tuple[BlockSize, ...]
    mix: Mix
    order: Order = Order.SEQUENTIAL
    sharing: Sharing = Sharing.OWN
    amount: Amount = Amount()
    workers: int = 1
    processes: bool = False
    pin: bool = False
    queue_depth: int = 1
    api: Api = Api.PREAD_PWRITE
    direct: bool = False
    write_through: WriteThrough = WriteThrough.NO
    syncing: Syncing = Syncing()
    create: bool = False
    truncate: bool = False
    allocate: bool = False
    rate_per_s: float | None = None
    stride_blocks: int = 2
    zipf_exponent: float = 1.1
    content: Content = Content()
    verify: bool = False
    seed: int = 0
    bin_s: float = 0.1


class Placement(Enum):
    """TOGETHER: all workers' names in the same directories. APART: each worker has directories of its own."""

    TOGETHER = "together"
    APART = "apart"


class Naming(Enum):
    """NUMBER_FIRST names sort in order of creation, NUMBER_LAST names do not."""

    NUMBER_FIRST = "number first"
    NUMBER_LAST = "number last"


class MetadataPhase(Struct, frozen=True):
    """One kind of call over a set of names below `root`, which exists.

    Names are a function of seed and number: phases with the same seed, naming, placement and tree meet the same
    names. CREATE and MKDIR make the tree's directories before the start. RENAME, LINK and SYMLINK make the name with
    `new_suffix` instead of `suffix`. `names` is per worker; READDIR lists directories instead.
    """

    root: Path
    kind: Kind
    names: int
    placement: Placement = Placement.TOGETHER
    naming: Naming = Naming.NUMBER_FIRST
    shuffled: bool = False
    random_letters: int = 12
    suffix: str = ""
    new_suffix: str = ".new"
    directories: int = 1
    depth: int = 1
    file_bytes: int = 0
    xattr_bytes: int = 0
    workers: int = 1
    processes: bool = False
    pin: bool = False
    until_first: bool = False
    seconds: float | None = None
    seed: int = 0
    bin_s: float = 0.1


def check(phase: DataPhase | MetadataPhase) -> None:
    """Raise UsageError for what cannot be done as described, and say what could."""
    complaints = _data_complaints(phase) if isinstance(phase, DataPhase) else _metadata_complaints(phase)
    for complaint in complaints:
        raise UsageError(f"the phase cannot run: {complaint}")


def _data_complaints(phase: DataPhase) -> Iterator[str]:
    yield from _shape_complaints(phase)
    yield from _amount_complaints(phase)
    yield from _content_complaints(phase)
    yield from _api_complaints(phase)


def _shape_complaints(phase: DataPhase) -> Iterator[str]:
    mix = phase.mix
    if not 1 <= len(phase.targets) <= _MOST_TARGETS:
        yield f"{len(phase.targets)} targets; it takes 1 to {_MOST_TARGETS}"
    if any(target.size_bytes <= 0 for target in phase.targets):
        yield "a target of no bytes"
    if not phase.block_sizes:
        yield "no block size"
    for size in phase.block_sizes:
        if not 1 <= size.size_bytes <= _LARGEST_BLOCK_BYTES or size.weight < 1:
            yield f"a block of {size.size_bytes} bytes with weight {size.weight}; it takes 1 byte to 1 GiB"
    if min(mix.read, mix.write, mix.update) < 0 or mix.read + mix.write + mix.update == 0:
        yield "a mix of neither reads nor writes nor updates"
    yield from _worker_complaints(phase.workers, phase.bin_s)


def _worker_complaints(workers: int, bin_s: float) -> Iterator[str]:
    if not 1 <= workers <= _MOST_WORKERS:
        yield f"{workers} workers; it takes 1 to {_MOST_WORKERS}"
    if bin_s < 1e-6:
        yield f"time series bins of {bin_s} s; they are 1 µs or more"


def _amount_complaints(phase: DataPhase) -> Iterator[str]:
    amount = phase.amount
    if any(limit is not None and limit <= 0 for limit in (amount.operations, amount.moved_bytes, amount.seconds)):
        yield "an amount of nothing"
    if phase.rate_per_s is not None and phase.rate_per_s <= 0:
        yield f"an arrival rate of {phase.rate_per_s} a second"
    if phase.syncing.every_writes is not None and phase.syncing.every_writes < 1:
        yield f"a sync every {phase.syncing.every_writes} writes"
    if phase.order in (Order.PERMUTATION, Order.BACKWARD, Order.STRIDE) and len(phase.block_sizes) > 1:
        yield f"{phase.order.value} order visits blocks of one size, not of several"
    if phase.order is Order.STRIDE and phase.stride_blocks < 1:
        yield f"a stride of {phase.stride_blocks} blocks"
    if phase.order is Order.ZIPF and phase.zipf_exponent <= 0:
        yield f"a Zipf exponent of {phase.zipf_exponent}; it is above 0"


def _content_complaints(phase: DataPhase) -> Iterator[str]:
    content = phase.content
    sizes = [size.size_bytes for size in phase.block_sizes] + [target.size_bytes for target in phase.targets]
    if content.compression_ratio < 1 or not 0 <= content.duplicate_share <= 1:
        yield "a compression ratio below 1 or a duplicate share outside 0 to 1"
    if not 0 <= content.generation < 1 << 32:
        yield f"generation {content.generation}; it takes 32 bits"
    if (content.stamped or phase.verify) and any(size % _STAMP_SECTOR_BYTES for size in sizes):
        yield f"stamped blocks and their targets are multiples of {_STAMP_SECTOR_BYTES} bytes"


def _api_complaints(phase: DataPhase) -> Iterator[str]:
    if not 1 <= phase.queue_depth <= _DEEPEST_QUEUE:
        yield f"a queue depth of {phase.queue_depth}; it takes 1 to {_DEEPEST_QUEUE}"
    if phase.queue_depth > 1 and phase.api is not Api.IO_URING:
        yield f"{phase.api.value} has one operation at a time; a queue depth above 1 needs io_uring"
    if not phase.direct:
        return
    if phase.api in (Api.MMAP, Api.STDIO):
        yield f"{phase.api.value} cannot bypass the page cache: choose another API or no direct I/O"
    sizes = [target.size_bytes for target in phase.targets] + [size.size_bytes for size in phase.block_sizes]
    for size in (*sizes, phase.amount.moved_bytes or 0):
        if size % _STAMP_SECTOR_BYTES:
            yield f"direct I/O moves whole sectors: {size} bytes is no multiple of {_STAMP_SECTOR_BYTES}"


_NO_METADATA = (Kind.WRITE, Kind.SYNC, Kind.ALLOCATE, Kind.CLOSE)


def _metadata_complaints(phase: MetadataPhase) -> Iterator[str]:
    if phase.kind in _NO_METADATA:
        yield f"{phase.kind.value} is no operation on names"
    if min(phase.names, phase.directories, phase.depth) < 1:
        yield "no names, no directories or no depth"
    if not 0 <= phase.random_letters <= 200:
        yield f"{phase.random_letters} random letters in a name; it takes up to 200"
    if not 0 <= phase.xattr_bytes <= 65536:
        yield f"an extended attribute of {phase.xattr_bytes} bytes; the kernel takes up to 65536"
    if phase.kind in (Kind.RENAME, Kind.LINK, Kind.SYMLINK) and phase.suffix == phase.new_suffix:
        yield f"{phase.kind.value} onto the same name: suffix and new_suffix are equal"
    yield from _worker_complaints(phase.workers, phase.bin_s)
