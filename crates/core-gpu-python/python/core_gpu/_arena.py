"""Files in memory that carry the bytes of arrays between processes, used again and again.

Making a file of 16 MiB, mapping it and removing it costs several times as much as the copy, nearly all
of it for pages. So a file goes back to its arena when nobody sees it any more, and carries the next array.
"""

from __future__ import annotations

import collections
import mmap
import os
import tempfile
import threading
import weakref

# All pages at once, where the system can: a fault for each costs more than the copy.
_FLAGS = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
_PAGE = 4096
# Bytes that are written at once where memory cannot be asked for otherwise.
_ZEROS = 1 << 20
# Bytes of files that wait for their next array, at most. What is more is removed.
KEPT_BYTES = 256 << 20


def make_folder() -> str:
    """A folder in memory, where the system has one, that nobody else can read."""
    memory = "/dev/shm"
    usable = os.path.isdir(memory) and os.access(memory, os.W_OK)
    return tempfile.mkdtemp(prefix="core-gpu-", dir=memory if usable else None)


def rounded(length: int) -> int:
    """The length of a file for so many bytes: at most an eighth more, so that like finds like."""
    step = max(_PAGE, 1 << max(0, length.bit_length() - 4))
    return -(-length // step) * step


def mapped(path: str, flags: int = _FLAGS) -> mmap.mmap:
    """All of a file."""
    with open(path, "r+b") as file:
        return mmap.mmap(file.fileno(), 0, flags=flags)


def make(folder: str, length: int) -> str:
    """A new file of that length, whose memory is there: who writes into it cannot run out of it."""
    descriptor, path = tempfile.mkstemp(dir=folder)
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, length)
        else:
            for start in range(0, length, _ZEROS):
                os.pwrite(descriptor, bytes(min(_ZEROS, length - start)), start)
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(descriptor)
    return path


class Segment:
    """One file, and this process's mapping to write through. What is written to a `private` one's bytes that
    were read stays with the reader."""

    def __init__(self, path: str, length: int, private: bool = False) -> None:
        self.path = path
        self.length = length
        # Not all pages at once: that would copy each.
        self._read_flags = mmap.MAP_PRIVATE if private else _FLAGS
        self._mapping: mmap.mmap | None = None

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    def view(self) -> memoryview:
        """Its bytes, to be written."""
        if self._mapping is None:
            self._mapping = mapped(self.path)
        return memoryview(self._mapping)

    def read(self) -> mmap.mmap:
        """Its bytes in a mapping of their own, whose end says that nobody sees them any more."""
        return mapped(self.path, self._read_flags)

    def remove(self) -> None:
        """Removes the file. Who has mapped it keeps its memory."""
        self._mapping = None
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            pass


class Arena:
    """The files of one folder. Every method may be called by any thread."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._free: list[Segment] = []
        # What a mapping's end gives back: that may come at any time, also while the lock is held.
        self._returned: collections.deque[Segment] = collections.deque()

    def lend(self, length: int) -> Segment:
        """A file of at least that many bytes, nobody else's until it comes back."""
        with self._lock:
            self._collect()
            fitting = [at for at, one in enumerate(self._free) if length <= one.length <= 2 * length]
            if fitting:
                return self._free.pop(min(fitting, key=lambda at: self._free[at].length))
        length = rounded(length)
        try:
            return Segment(make(self.folder, length), length)
        except OSError:
            # What is kept for later may be what is missing.
            if not self.trim():
                raise
            return Segment(make(self.folder, length), length)

    def adopt(self, name: str) -> Segment:
        """A file that somebody else has made in the folder."""
        path = os.path.join(self.folder, os.path.basename(name))
        return Segment(path, os.stat(path).st_size)

    def give_back(self, segment: Segment) -> None:
        """Nobody sees the file's bytes any more."""
        self._returned.append(segment)
        if self._lock.acquire(blocking=False):
            try:
                self._collect()
            finally:
                self._lock.release()

    def give_back_after(self, mapping: mmap.mmap, segment: Segment) -> None:
        """As `give_back`, when that mapping is gone, and all that lies in it."""
        weakref.finalize(mapping, self._returned.append, segment).atexit = False

    def trim(self) -> bool:
        """Removes what is kept for later. Whether there was anything."""
        with self._lock:
            self._collect()
            gone, self._free = self._free, []
        for segment in gone:
            segment.remove()
        return bool(gone)

    def kept_bytes(self) -> int:
        """Bytes of files that wait for their next array."""
        with self._lock:
            self._collect()
            return sum(segment.length for segment in self._free)

    def _collect(self) -> None:
        while self._returned:
            self._free.append(self._returned.popleft())
        while sum(segment.length for segment in self._free) > KEPT_BYTES:
            self._free.pop(0).remove()


class Mappings:
    """A worker's mappings of files that it was offered for its answers: the last few."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._known: dict[str, Segment] = {}

    def of(self, path: str) -> Segment:
        """The file, mapped before or anew."""
        segment = self._known.pop(path, None) or Segment(path, os.stat(path).st_size)
        for gone in [known for known in self._known if not os.path.exists(known)]:
            del self._known[gone]
        while len(self._known) >= self._most:
            del self._known[next(iter(self._known))]
        self._known[path] = segment
        return segment
