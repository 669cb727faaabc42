"""JSON as the contract counts and reads it: strict text in, sizes as JSON.stringify would write.

Numbers are doubles, as they are in a browser; nothing here knows tools or schemas.
Source: ECMA-262, JSON.stringify and Number::toString; RFC 8259.
"""

import json
import re
from collections.abc import Iterable
from math import isfinite
from typing import NoReturn

import orjson

# No number is more than so many times as long in one spelling as in another
SPELLINGS = 6
# Whole numbers up to these are doubles as they stand
EXACT_MIN, EXACT_MAX = -(2**53), 2**53
_INT64 = 2**63
# Numbers that orjson or Python's json write with more or fewer characters than JSON.stringify
_GAPS = bytes.maketrans(b"[]{}:,", b"      ")
_LARGE = {x: (b"e+%d " % x, b"e%d " % x) for x in range(16, 21)}
_LARGE_ENDS = tuple(end.strip() for ends in _LARGE.values() for end in ends)
_SMALL = {5: (b"e-05 ", b"e-5 "), 6: (b"e-06 ", b"e-6 ")}
_SMALL_ENDS = tuple(end.strip() for ends in _SMALL.values() for end in ends)
_PADDED = (b"e-07 ", b"e-08 ", b"e-09 ")
_UNSIGNED = re.compile(rb"e(?:2[1-9]|[3-9][0-9]|[1-3][0-9]{2})")
_LONG_MIN = 16
_AFTER_DIGITS = ":"
_ARRAY_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_ARRAY_INDEX_END = 2**32 - 1


def parse(text: str | bytes) -> object:
    """Read one JSON value; escaped lone surrogates and overflowing numbers survive the reading.

    They are kept so that the rule that refuses them can say so. Raises: ValueError.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _parse_leniently(text)


def _parse_leniently(text: str | bytes) -> object:
    try:
        plain = text if isinstance(text, str) else text.decode()
        return json.loads(plain, parse_constant=_no_constant, parse_int=_whole)
    except RecursionError:
        raise ValueError("the text is nested too deeply to be read") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _whole(digits: str) -> int | float:
    """An integer as orjson reads it: beyond 64 bits it is a double (perhaps an infinite one)."""
    return int(digits) if len(digits) < 19 else float(digits)


def as_double(value: float) -> int | float:
    """Round a number to the nearest double; a whole one comes back as int where 64 bits hold it.

    Raises: OverflowError when no finite double is near.
    """
    if type(value) is int and EXACT_MIN <= value <= EXACT_MAX:
        return value
    double = float(value)
    if not isfinite(double):
        raise OverflowError("the number is not finite")
    return int(double) if double.is_integer() and abs(double) < _INT64 else double


def compact_size(value: object) -> int:
    """Bytes of JSON.stringify(value) in UTF-8 (of a number that is not finite: those of null).

    Raises: TypeError for a lone surrogate and for what JSON has no word for.
    """
    try:
        text = orjson.dumps(value)
    except TypeError:  # also: nested deeper, or a number longer, than orjson writes
        text = _written_by_python(value)
    return len(text) + _correction(_without_texts(text))


def _written_by_python(value: object) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError) as error:  # also: an encoding error is a ValueError
        raise TypeError("the value can't be written as JSON") from error


def _without_texts(text: bytes) -> bytes:
    """What stands outside of the quotation marks; escaped ones are gone before."""
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(text.split(b'"')[::2])


def _correction(numbers: bytes) -> int:
    """How many bytes more JSON.stringify would write; it counts in C, for thousands of numbers."""
    spaced = numbers.translate(_GAPS) + b" "
    more = -2 * spaced.count(b".0 ") - spaced.count(b"-0.0 ")  # 2.0 is 2, -0.0 is 0
    if b"Infinity" in spaced:  # is null
        more -= 4 * spaced.count(b"Infinity") + spaced.count(b"-Infinity")
    words = spaced.split()
    if b"e" in spaced:
        more += _exponent_correction(spaced, words)
    if max(map(len, words), default=0) >= _LONG_MIN:
        digits = [word.lstrip(b"-") for word in words if len(word) >= _LONG_MIN]
        more += sum(_size(float(long)) - len(long) for long in digits if long.isdigit())
    return more


def _exponent_correction(spaced: bytes, words: list[bytes]) -> int:
    more = len(_UNSIGNED.findall(spaced)) - sum(map(spaced.count, _PADDED))  # 1e+21, 1e-7
    digits = sum((x + 1) * sum(map(spaced.count, ends)) for x, ends in _LARGE.items())
    if digits:  # 1.5e+16 is 15000000000000000
        large = b"".join([word for word in words if word.endswith(_LARGE_ENDS)])
        more += digits - len(large) + large.count(b"-")
    zeros = sum((x - 2) * sum(map(spaced.count, ends)) for x, ends in _SMALL.items())
    if zeros:  # 1.5e-6 is 0.0000015
        small = b"".join([word for word in words if word.endswith(_SMALL_ENDS)])
        more += zeros - small.count(b".") - small.count(b"e-0")
    return more


def utf16_units(text: str) -> int:
    """The length that a browser gives the text."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _size(value: float) -> int:
    """Characters of a whole number as JSON.stringify writes it."""
    if abs(value) < 1e21:
        return len(str(int(value)))
    return len(repr(value)) if isfinite(value) else len("null")


def in_order(source: Iterable[str]) -> list[str]:
    """Keys in the order in which a browser's object holds them: array indices first, ascending."""
    keys = list(source)
    if not keys or min(keys) >= _AFTER_DIGITS:
        return keys
    indices = [key for key in keys if _is_array_index(key)]
    if not indices:
        return keys
    others = [key for key in keys if not _is_array_index(key)]
    return sorted(indices, key=int) + others


def _is_array_index(key: str) -> bool:
    return _ARRAY_INDEX.fullmatch(key) is not None and int(key) < _ARRAY_INDEX_END
