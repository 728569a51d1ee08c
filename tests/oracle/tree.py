"""Values as goheap print or Delve prints them, reduced to trees of fields, elements, entries and words: types, lengths,
with --delve what closures have captured, spaces and the order of a map's entries are left out, and numbers, durations and named constants are spelled one way. Reads rows on standard
input, each a value and a line @ after it; writes a line for each."""
import re
import sys

TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
UNITS = {"h": 3600e9, "m": 60e9, "s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}


def without_captured(text):
    """Delve has what closures have captured only of some releases, and of methods' never."""
    while found := re.search(r"(\.func\d+|-fm) (?=\{)", text):
        depth = 0
        for end in range(found.end(), len(text)):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            if depth == 0:
                break
        text = text[: found.end() - 1] + text[end + 1 :]
    return text


def without_types(text, delve):
    text = re.sub(r"interface \{\}", "any", text)
    if delve:
        text = without_captured(text)
    text = re.sub(r"struct \{[^{}]*\}(?= ?\{)", "", text)
    text = re.sub(r"len: \d+, cap: \d+,", "", text)
    text = re.sub(r"(?<!\w)(\*|\[\d*\](?=[\w*\[])|map\[[^]]*\](?=[\w*\[]))+(?=[\w({])", "", text)
    text = re.sub(r"map\[[^]]*\][\w.*]* (?=[\[n])", "", text)
    return re.sub(r"[\w.]+\([\w.*\[\]]+\) ", "", text)


def word(text):
    """A number or a duration in one spelling, a text or a name as it is."""
    if re.fullmatch(r"(-?\d+(\.\d+)?(h|ms|m|s|µs|ns))+|-?(\d+(\.\d+)?(h|ms|m|s|µs|ns))+", text):
        parts = re.findall(r"(\d+(?:\.\d+)?)(ms|µs|ns|h|m|s)", text)
        return repr((-1 if text[0] == "-" else 1) * round(sum(float(n) * UNITS[u] for n, u in parts)))
    try:
        number = int(text)
        return repr(number if abs(number) < 1 << 64 else float(number))
    except (ValueError, OverflowError):
        pass
    try:
        number = float(text)
        return repr(int(number) if number.is_integer() and abs(number) < 1 << 64 else number)
    except (ValueError, OverflowError):
        return text.lstrip("*")


def brackets(text):
    """A number in brackets, which Delve has behind a constant's name, or a complex one."""
    numbers = re.findall(r"[+-]? ?(?:0x[0-9a-f]+|[\d.]+(?:e[+-]?\d+)?i?|\w+)", text)
    return "".join(word(n.replace(" ", "").rstrip("i")) + "i" * n.endswith("i") for n in numbers)


def tokens(text):
    """Texts whole, types left out of what is between them."""
    texts = []

    def keep(match):
        texts.append(match.group())
        return f"\x01{len(texts) - 1}\x02"

    text = without_types(TEXT.sub(keep, text), "--delve" in sys.argv)
    for token in re.findall(r"\x01\d+\x02|\([^()]*\)|[{}\[\],:]|[^\s{}\[\],:()\x01]+", text):
        yield texts[int(token[1:-1])] if token[0] == "\x01" else token


def parse(stream, end):
    """The children up to END."""
    children, parts = [], []
    has_key = False

    def finish():
        if parts:
            children.append(":".join(parts))
        parts.clear()

    key = False
    for token in stream:
        if token in "}]" and token == end:
            break
        if token == ",":
            finish()
            key = False
        elif token == ":":
            key = has_key = True
        elif token in "{[":
            value = token + " ".join(parse(stream, "}" if token == "{" else "]")) + ("}" if token == "{" else "]")
            parts[1 if key else 0:] = [value]
        else:
            value = brackets(token) if token[0] == "(" else word(token)
            parts[1 if key else 0:] = [value]
    finish()
    return sorted(children) if has_key and end == "]" else children


for row in re.split(r"^@\n", sys.stdin.read(), flags=re.M)[:-1]:
    row = re.sub(r"^\(\*?\S*\)\(0x[0-9a-f]+\)\n", "", row)
    print(" ".join(parse(tokens(row), "")))
