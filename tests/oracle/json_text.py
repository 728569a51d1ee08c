"""Values as goheap print --json prints them, a line each, as goheap print has them without; but for types, lengths and
capacities, which JSON has not. After each a line @."""
import json
import re
import sys


class Number(str):
    """A number as it is written."""


def quoted(text):
    letters = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\r": "\\r", "\v": "\\v"}
    return '"' + "".join(letters.get(c, "\\x%02x" % ord(c) if ord(c) < 32 or ord(c) == 127 else c) for c in text) + '"'


def channel(value):
    text = value["count"] + "/" + value["capacity"]
    if "elements" in value:
        text += " " + shown(value["elements"])
    if value.get("closed"):
        text += ", closed"
    for waiting in ("receiving", "sending"):
        if waiting in value:
            text += ", " + waiting + ": goroutine " + ", ".join(value[waiting])
    return text


def members(value):
    """An object's: what has another meaning is known by its first keys."""
    keys = list(value)
    if keys[:2] == ["type", "value"]:
        return shown(value["value"])
    if keys[:2] == ["type", "address"]:
        return "(%s)(%s)%s" % (value["type"], value["address"], " (cycle)" if "cycle" in value else "")
    if keys[:1] == ["function"]:
        return value["function"] + (" " + shown(value["captured"]) if "captured" in value else "")
    if keys[:2] == ["count", "capacity"]:
        return channel(value)
    return "{" + ", ".join(key + ": " + shown(value[key]) for key in keys) + "}"


def shown(value):
    if value is None:
        return "nil"
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # JSON has neither.
        return value if re.fullmatch(r"[-+]Inf|NaN|\([-+.\de]+i\)", value) else quoted(value)
    if isinstance(value, dict):
        return members(value)
    if value and all(isinstance(item, dict) and list(item) == ["key", "value"] for item in value):
        return "[" + ", ".join(shown(item["key"]) + ": " + shown(item["value"]) for item in value) + "]"
    return "[" + ",".join(map(shown, value)) + "]"


for line in sys.stdin:
    print(shown(json.loads(line, parse_float=Number, parse_int=Number)), "@", sep="\n")
