"""What the checks of the Rust source share: the code of a file without comments, strings and tests."""

import pathlib
import re
import sys

TOKENS = re.compile(
    r"""//[^\n]*                                # line comment
      | /\*(?:[^*]|\*(?!/))*\*/                 # block comment
      | b?r(?P<h>\#*)"(?:.|\n)*?"(?P=h)         # raw string
      | [bc]?"(?:\\.|[^"\\])*"                  # string
      | b?'(?:\\(?:x..|u\{[^}]*\}|.)|[^'\\\n])' # character (a lifetime has no second quote)
    """,
    re.X | re.S,
)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def tests_out(code):
    """Blank every item under #[cfg(test)]: up to its closing brace, or to its semicolon."""
    start = code.find("#[cfg(test)]")
    while start != -1:
        depth, end = 0, start + len("#[cfg(test)]")
        for end in range(end, len(code)):
            depth += (code[end] == "{") - (code[end] == "}")
            if depth == 0 and code[end] in "};":
                break
        code = code[:start] + blank(code[start : end + 1]) + code[end + 1 :]
        start = code.find("#[cfg(test)]")
    return code


def code(path):
    """The code of a file, line numbers kept."""
    return tests_out(TOKENS.sub(lambda m: blank(m[0]), path.read_text()))


def files(root):
    """The Rust files under src that are built into the library (those of `#[cfg(test)] mod x;` are not)."""
    source = root / "src"
    if not source.is_dir():
        sys.exit(f"{sys.argv[0]}: no {source}")
    only_tests = set()
    for path in source.rglob("*.rs"):
        for name in re.findall(r"#\[cfg\(test\)\]\s*mod\s+(\w+)\s*;", path.read_text()):
            home = path.parent if path.stem in ("mod", "lib") else path.with_suffix("")
            only_tests |= {home / f"{name}.rs", home / name / "mod.rs"}
    found = sorted(set(source.rglob("*.rs")) - only_tests)
    if not found:
        sys.exit(f"{sys.argv[0]}: no Rust file under {source}")
    return found


def root():
    """The tree to look at: this one, or the one named on the command line."""
    return pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]


def report(name, faults, summary):
    for fault in faults:
        print(f"{name}: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"{name}: {summary}")
