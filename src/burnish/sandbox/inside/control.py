"""The two ways in which process 1 of a cell hears from Burnish and answers: packets with descriptors beside them, or,
where no descriptor can come from outside, frames on its standard input and output.

Frames must not bring code or tests into the memory of process 1, from which code is forked. So the kernel moves them
(`splice`): from standard input into a file in memory, from the pipe that a job writes into to standard output.
"""

import json
import os
import socket
from typing import Any

from burnish.sandbox.inside.bounds import HEADER, MESSAGE, OUTPUT
from burnish.sandbox.inside.codec import receive_packet, send_packet
from burnish.sandbox.inside.limits import HungUp, renew_standard_files

PIECE = 1 << 16


class PacketControl:
    """A socket on which each packet is a message with descriptors."""

    output = -1
    """Where to read what a job says, if that has to be passed on."""

    def __init__(self, number: int) -> None:
        self.link = socket.socket(fileno=number)

    def fileno(self) -> int:
        """Readable when there is a job, or Burnish is gone."""
        return self.link.fileno()

    def receive(self) -> tuple[dict[str, Any], list[int]] | None:
        """The next job and its descriptors, None when there will be none."""
        return receive_packet(self.link)

    def say(self, message: dict[str, Any]) -> None:
        """Tell Burnish something."""
        send_packet(self.link, message)

    def pass_on(self) -> bool:
        """Pass on what the job says; False when there is nothing."""
        return False


class StreamControl:
    """Standard input and output, which from now on lead nowhere for everybody else."""

    def __init__(self) -> None:
        self.source, self.target, self.output = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        """The last is another pipe for each job, under the same number: the cell is to have as many as before."""
        self.middle = os.pipe()
        renew_standard_files((0, 1))

    def fileno(self) -> int:
        """Readable when there is a job, or Burnish is gone."""
        return self.source

    def receive(self) -> tuple[dict[str, Any], list[int]] | None:
        """The next job, with a descriptor for each thing it is given and one for what it says."""
        try:
            job = json.loads(self.read(HEADER.unpack(self.read(HEADER.size))[1]))
            fds = [self.take(size) for size in job.pop("sizes")]
        except HungUp:
            return None
        out, into = os.pipe()
        os.dup2(out, self.output, inheritable=False)
        os.close(out)
        return job, [*fds, into]

    def read(self, size: int) -> bytes:
        """So many bytes."""
        data = b""
        while len(data) < size:
            piece = os.read(self.source, size - len(data))
            if not piece:
                raise HungUp
            data += piece
        return data

    def take(self, size: int) -> int:
        """A file in memory with the next bytes, which do not come by here."""
        file = os.memfd_create("job", os.MFD_CLOEXEC)
        while size:
            count = os.splice(self.source, self.middle[1], min(size, PIECE))
            if not count:
                raise HungUp
            size -= count
            self.move_on(file, count)
        os.lseek(file, 0, os.SEEK_SET)
        return file

    def move_on(self, target: int, count: int) -> None:
        """Move what is in the middle to where it belongs."""
        while count:
            count -= os.splice(self.middle[0], target, count)

    def say(self, message: dict[str, Any]) -> None:
        """Tell Burnish something."""
        data = json.dumps(message).encode()
        self.write(HEADER.pack(MESSAGE, len(data)) + data)

    def pass_on(self) -> bool:
        """Pass on what the job says; False when there is nothing. Its own end of the pipe is of no use to it here."""
        try:
            count = os.splice(self.output, self.middle[1], PIECE, flags=os.SPLICE_F_NONBLOCK)
        except BlockingIOError:
            return False
        if count:
            self.write(HEADER.pack(OUTPUT, count))
            self.move_on(self.target, count)
        return count > 0

    def write(self, data: bytes) -> None:
        """All of it."""
        while data:
            data = data[os.write(self.target, data) :]
