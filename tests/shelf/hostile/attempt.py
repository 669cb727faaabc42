"""What escaped code might try, run inside a real worker's confinement. Started by the tests.

    python -I attempt.py ROOT STAGE ATTEMPT LEFT_OUT

Ends with 0 where the attempt worked, with 7 where the system refused it, or by a signal.
"""

import contextlib
import ctypes
import mmap
import os
import platform
import signal
import socket
import sys
import threading

sys.path.append(sys.argv[1])

from relay.shelf import confine
from relay.shelf.confine import Confinement
from relay.shelf.job import Bounds, Work

REFUSED = 7
MIB = 1024 * 1024
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
X86 = platform.machine() == "x86_64"
PARENT = os.getppid()
PEER = socket.socketpair()
PATH = b"/tmp"


def system(x86: int, arm: int, *args: object) -> None:
    """Make a system call by its number."""
    if LIBC.syscall(x86 if X86 else arm, *args) < 0:
        raise OSError(ctypes.get_errno(), "refused")


def map_executable() -> None:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)


def make_executable() -> None:
    area = mmap.mmap(-1, 4096)
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    if LIBC.mprotect(ctypes.c_void_p(address), 4096, 5) != 0:
        raise OSError(ctypes.get_errno(), "refused")


def start_thread() -> None:
    threading.Thread(target=id, args=(0,)).start()


def fork() -> None:
    if os.fork() == 0:
        os._exit(0)


ATTEMPTS = {
    "open": lambda: os.open("/etc/hostname", os.O_RDONLY),
    "list": lambda: os.scandir("/"),
    "stat": lambda: os.access("/", os.R_OK),
    "unlink": lambda: system(263, 35, -100, b"/tmp/there-is-no-such-file", 0),
    "make a folder": lambda: system(83, 34, PATH, 0o700),
    "socket": socket.socket,
    "connect": lambda: system(42, 203, PEER[0].fileno(), b"\1\0", 2),
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "fork": fork,
    "thread": start_thread,
    "signal the parent": lambda: os.kill(PARENT, 0),
    "signal a thread of the parent": lambda: system(234, 131, PARENT, PARENT, 0),
    "trace the parent": lambda: system(101, 117, 16, PARENT, 0, 0),
    "read the parent's memory": lambda: system(310, 270, PARENT, 0, 0, 0, 0, 0),
    "map executable memory": map_executable,
    "make memory executable": make_executable,
    "make a file in memory": lambda: os.memfd_create("x"),
    "write to another descriptor": lambda: os.write(1, b"x"),
    "complain": lambda: os.write(2, b"x"),
    "send a descriptor": lambda: socket.send_fds(PEER[0], [b"x"], [PEER[1].fileno()]),
    "receive": lambda: PEER[1].recvmsg(1),
    "raise its limits": lambda: system(302, 261, 0, 3, 0, 0),
    "stop its timer": lambda: signal.setitimer(signal.ITIMER_REAL, 0),
    "let go of its parent": lambda: LIBC.prctl(1, 0, 0, 0, 0),
    "become another user": lambda: system(105, 146, 0),
    "ring": lambda: system(425, 425, 1, 0),
    "personality": lambda: system(135, 92, 0x400000),
    "a call of another ABI": lambda: system(0x40000000 + 39, 0x40000000),
    "spin": lambda: sum(iter(int, 1)),
    "use memory": lambda: bytearray(160 * MIB),
    "abort": os.abort,
    "nothing": lambda: None,
}


def main() -> None:
    """Confine this process as a worker is, and try."""
    _, _, stage, attempt, left_out = sys.argv
    channel = os.dup(1)
    bounds = Bounds(64 * MIB, 16 * MIB, 512 * MIB, 1_000, 2_000, tuple(left_out.split()))
    confinement = Confinement(
        steps=confine.offered(bounds.left_out),
        work=Work.RUN,
        bounds=bounds,
        base_bytes=confine.data_bytes(),
        parent=PARENT,
        channel=channel,
    )
    PEER[0].send(b"x")
    confine.confine(confinement)
    confine.arm_watchdog(confinement)
    if stage == "running":
        confine.last_step(confinement)()
    status = REFUSED
    with contextlib.suppress(OSError, MemoryError, RuntimeError):
        ATTEMPTS[attempt]()
        status = 0
    os._exit(status)


if __name__ == "__main__":
    main()
