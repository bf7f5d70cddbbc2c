"""The package as a whole: its stubs, its types, its doctests, its examples."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
import rarely
from rarely._names import AlgorithmName, EnvironmentName

CRATE = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((CRATE.parents[1] / "examples" / "python").glob("*.py"))
MODULES = [
    "rarely",
    "rarely._rarely",
    "rarely.adapters",
    "rarely.client",
    "rarely.datasets",
    "rarely.errors",
    "rarely.evaluation",
    "rarely.lab",
    "rarely.progress",
    "rarely.published",
    "rarely.replays",
    "rarely.sklearn",
    "rarely.tables",
    "rarely.worlds",
    "rarely.policies",
]


def run(*arguments: str) -> None:
    done = subprocess.run([sys.executable, *arguments], cwd=CRATE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_program_comes_with_the_package() -> None:
    program = Path(sys.prefix) / "bin" / "rarely"
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"rarely {rarely.__version__}"


def test_the_stubs_are_the_module() -> None:
    run("-m", "mypy.stubtest", "rarely._rarely")


def test_the_package_is_typed() -> None:
    run("-m", "mypy", "--strict", "python/rarely")


#: A line of a program, and what a type checker says of it.
CHECKED = {
    'rarely.Policy(2, 1, "rarley")': "incompatible type \"Literal['rarley']\"",
    'rarely.Policy(2, 1, sets="sharpe")': "incompatible type \"Literal['sharpe']\"",
    "reveal_type(policy.decide([1.0])[0])": 'Revealed type is "int"',
    "reveal_type(policy.decide([1.0], reasons=True)[2])": 'Revealed type is "str"',
    "reveal_type(policy.decide([[1.0]])[1])": "numpy.ndarray",
    'rarely.evaluate({}, 1, estimators="dmm")': "incompatible type \"Literal['dmm']\"",
    'rarely.simulate(algorithms=["rarely", "linucbb"])': "List item 1 has incompatible type \"Literal['linucbb']\"",
    'rarely.simulate(algorithms="rarley")': 'Argument "algorithms" to "simulate"',
    'rarely.simulate("lineer")': 'No overload variant of "simulate"',
    'rarely.sweep({"noise": [0.1]}, algorithms=["rarly"])': "List item 0 has incompatible type \"Literal['rarly']\"",
    "reveal_type(rarely.simulate(algorithms=['rarely']))": 'Revealed type is "rarely.lab.Simulation"',
    "reveal_type(rarely.simulate(rarely.worlds.from_log({})))": 'Revealed type is "rarely.replays.LogReplay"',
    'rarely.evaluate({}, 1, interval="boot")': "incompatible type \"Literal['boot']\"",
}


def test_what_a_type_checker_finds(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("\n".join(["import rarely", "policy = rarely.Policy(2, 1)", *CHECKED]) + "\n")
    arguments = ["-m", "mypy", "--hide-error-context", "--no-error-summary", str(program)]
    found = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    for line, (code, message) in enumerate(CHECKED.items(), start=3):
        said = [text for text in found.stdout.splitlines() if f"program.py:{line}:" in text]
        # Of overloads all variants are listed below the error.
        said = [text for text in said if " error: " in text or "Revealed type" in text]
        assert len(said) == 1 and message in said[0].replace('Literal["', "Literal['"), (code, found.stdout)


def test_names_are_those_of_the_program() -> None:
    assert get_args(AlgorithmName) == rarely.ALGORITHMS, "add what is missing to rarely/_names.py"
    assert get_args(EnvironmentName) == rarely.ENVIRONMENTS, "add what is missing to rarely/_names.py"


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name: str) -> None:
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in finder.find(module, globs={"rarely": rarely, **vars(module)}):
        runner.run(test)
    assert runner.failures == 0


def test_native_docstrings_are_tested() -> None:
    """Python's finder passes over what another language wrote; this does not."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    parser = doctest.DocTestParser()
    found = 0
    for owner in [rarely.Policy, rarely.Change, rarely.Certificate, rarely.Figure, rarely.Review, rarely.Document]:
        for name, member in [("", owner), *vars(owner).items()]:
            text = getattr(member, "__doc__", None) or ""
            if ">>>" in text and not name.startswith("__"):
                test = parser.get_doctest(text, {}, f"{owner.__name__}.{name}", None, None)
                runner.run(test)
                found += 1
    assert found >= 4 and runner.failures == 0


def test_everything_public_is_documented() -> None:
    for name in rarely.__all__:
        if name in ("ALGORITHMS", "ENVIRONMENTS", "__version__"):
            continue
        thing = getattr(rarely, name)
        assert thing.__doc__, name
        if isinstance(thing, type):
            for member, value in vars(thing).items():
                if callable(value) and not member.startswith("_"):
                    assert value.__doc__, f"{name}.{member}"


def test_the_readme(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(CRATE.parents[1])
    for readme in (CRATE.parents[1] / "README.md", CRATE / "README.md"):
        blocks = re.findall(r"```python\n(.*?)```", readme.read_text(), flags=re.DOTALL)
        assert blocks
        names: dict[str, object] = {}
        for block in blocks:
            exec(block, names)
            printed = capsys.readouterr().out
            for shown in re.findall(r"^print\(.*\) +# (<rarely|change )(.*)$", block, flags=re.MULTILINE):
                assert "".join(shown).split("…")[0] in printed
            # Comments after the last call are what it prints.
            comments = re.search(r"((?:^# .*\n)+)\Z", block, flags=re.MULTILINE)
            if comments:
                assert printed == re.sub(r"^# ?", "", comments[1], flags=re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples(example: Path, tmp_path: Path) -> None:
    built = CRATE.parents[1] / "target" / "debug" / "rarely"
    environment = {**os.environ, "RARELY_BINARY": os.environ.get("RARELY_BINARY", str(built)), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, str(example)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5
