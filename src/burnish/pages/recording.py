"""Joins still WebP pictures to a moving one. The format: https://developers.google.com/speed/webp/docs/riff_container."""

import struct
from collections.abc import Iterator, Sequence

ANIMATED, ALPHA = 0x02, 0x10
REPLACE = 0x02
"""Each picture takes the place of the one before; nothing shines through."""
PICTURE = (b"ALPH", b"VP8 ", b"VP8L")
LOSSLESS = b"VP8L"


def join_pictures(pictures: Sequence[bytes], seconds: float) -> bytes | None:
    """An animated WebP that plays once in so many seconds, each picture for as long; None for no picture.

    Pictures of another size than the first are left out.
    """
    parts = [(measure(chunks), chunks) for chunks in map(list_chunks, pictures)]
    parts = [(size, chunks) for size, chunks in parts if size == parts[0][0]]
    if not parts:
        return None
    (width, height), _ = parts[0]
    box = pack_24(0, 0, width - 1, height - 1)
    shown = pack_24(round(seconds * 1000 / len(parts))) + bytes([REPLACE])
    frames = [pack(b"ANMF", box + shown + b"".join(pack(*chunk) for chunk in chunks)) for _, chunks in parts]
    head = pack(b"VP8X", bytes([ANIMATED | ALPHA, 0, 0, 0]) + pack_24(width - 1, height - 1))
    return pack(b"RIFF", b"WEBP" + head + pack(b"ANIM", struct.pack("<IH", 0xFFFFFFFF, 1)) + b"".join(frames))


def list_chunks(picture: bytes) -> list[tuple[bytes, bytes]]:
    """The chunks of a WebP that hold its picture."""

    def read() -> Iterator[tuple[bytes, bytes]]:
        place = 12
        while place + 8 <= len(picture):
            name, size = struct.unpack_from("<4sI", picture, place)
            yield name, picture[place + 8 : place + 8 + size]
            place += 8 + size + size % 2

    return [(name, content) for name, content in read() if name in PICTURE]


def measure(chunks: Sequence[tuple[bytes, bytes]]) -> tuple[int, int]:
    """Width and height of a picture."""
    name, content = chunks[-1]
    if name == LOSSLESS:
        bits = struct.unpack_from("<I", content, 1)[0]
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", content, 6)
    return width & 0x3FFF, height & 0x3FFF


def pack(name: bytes, content: bytes) -> bytes:
    """A chunk, of an even length."""
    return struct.pack("<4sI", name, len(content)) + content + bytes(len(content) % 2)


def pack_24(*numbers: int) -> bytes:
    """Numbers of three bytes each."""
    return b"".join(struct.pack("<I", number)[:3] for number in numbers)
