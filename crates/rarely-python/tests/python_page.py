"""The page of the Python API: signatures and documentation as the stubs and the modules have them. It needs no built package."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "python" / "rarely"
NOTE = "<!-- Written by crates/rarely-python/tests/test_book.py, which says how to write it again. Do not edit it. -->"
INTRODUCTION = """# Python API

Every public function and class with its types, as the stubs and the modules have them; `help(rarely.simulate)` shows the same. [Five minutes for
a researcher](../start/researcher.md#in-python) begins with examples, and [examples/python](../../examples/python) has more.
"""
#: The modules beside the package itself, in reading order.
MODULES = [
    "worlds",
    "policies",
    "datasets",
    "evaluation",
    "sklearn",
    "adapters",
    "client",
    "published",
    "tables",
    "errors",
]


def page() -> str:
    """The whole page."""
    front = _parsed(PACKAGE / "__init__.py")
    stubs = _definitions(_parsed(PACKAGE / "_rarely.pyi"))
    sources = _sources(front)
    parts = [NOTE, INTRODUCTION, "## rarely\n"]
    described = set()
    for name in _public(front):
        node = stubs.get(name)
        if name in sources and name in _definitions(_parsed(sources[name])):
            node = _definitions(_parsed(sources[name]))[name]
        if node is not None:
            parts.append(_described(name, node))
            described.add(ast.dump(node))
    for module in MODULES:
        tree = _parsed(PACKAGE / f"{module}.py")
        found = _definitions(tree)
        parts.append(f"## rarely.{module}\n\n{_prose(ast.get_docstring(tree))}\n")
        new = [name for name in _public(tree) if name in found and ast.dump(found[name]) not in described]
        parts += [_described(name, found[name]) for name in new]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _sources(front: ast.Module) -> dict[str, Path]:
    """The module of each name that the package re-exports from Python."""
    found = {}
    for node in front.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module and node.module != "_rarely":
            found.update({alias.asname or alias.name: PACKAGE / f"{node.module}.py" for alias in node.names})
    return found


def _public(tree: ast.Module) -> list[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(one, ast.Name) and one.id == "__all__" for one in node.targets
        ):
            return list(ast.literal_eval(node.value))
    return []


def _definitions(tree: ast.Module) -> dict[str, ast.AST]:
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name: node for node in tree.body if isinstance(node, kinds)}


def _prose(text: str | None) -> str:
    """Documentation as Markdown: roles become code, and examples are fenced."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text or "")
    text = text.replace("``", "`")
    lines, fenced = [], False
    for line in text.splitlines():
        is_code = line.startswith((">>>", "...")) or (fenced and line.strip() != "")
        if is_code != fenced:
            lines.append("```text" if is_code else "```")
        fenced = is_code
        lines.append(line)
    return "\n".join(lines + (["```"] if fenced else []))


def _signature(name: str, node: ast.FunctionDef, is_method: bool) -> str:
    arguments = ast.unparse(node.args)
    if is_method:
        arguments = re.sub(r"^(self|cls)(, /)?(, )?", "", arguments)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{name}({arguments}){returns}"


def _described(name: str, node: ast.AST) -> str:
    if isinstance(node, ast.FunctionDef):
        return f"### {name}\n\n```text\n{_wrapped(_signature(name, node, False))}\n```\n\n{_prose(ast.get_docstring(node))}\n"
    assert isinstance(node, ast.ClassDef)
    bases = [ast.unparse(base) for base in node.bases]
    lines = [
        f"### {name}" + (f"\n\n*{', '.join(bases)}*" if bases else "") + f"\n\n{_prose(ast.get_docstring(node))}\n"
    ]
    members, seen = [], set()
    for member in node.body:
        if not isinstance(member, ast.FunctionDef):
            continue
        is_property = any(ast.unparse(one) == "property" for one in member.decorator_list)
        text = (ast.get_docstring(member) or "").split("\n\n")[0].replace("\n", " ")
        text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text).replace("``", "`")
        if member.name in ("__new__", "__init__"):
            lines.append(f"```text\n{_wrapped(_signature(name, member, True).split(' -> ')[0])}\n```\n")
        elif not member.name.startswith("_") and member.name not in seen:
            seen.add(member.name)
            kind = f": {ast.unparse(member.returns)}" if is_property and member.returns else ""
            written = f"{member.name}{kind}" if is_property else _signature(member.name, member, True)
            members.append(f"- `{written}`" + (f": {text}" if text else ""))
    return "\n".join(lines + members) + "\n"


def _wrapped(text: str, width: int = 110) -> str:
    """A long signature with one argument on each line."""
    if len(text) <= width:
        return text
    depth, parts, start = 0, [], text.index("(") + 1
    for at, mark in enumerate(text):
        depth += (mark in "([{") - (mark in ")]}")
        if (mark == "," and depth == 1) or (mark == ")" and depth == 0):
            parts.append(text[start:at].strip())
            start = at + 1
            if mark == ")":
                break
    inside = "".join(f"    {part},\n" for part in parts)
    return f"{text[: text.index('(') + 1]}\n{inside}){text[start:]}"
