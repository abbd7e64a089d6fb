"""Folders of MiniZinc models, solved by several solvers through `minizinc`; every answer is checked.

    python benchmarks/minizinc/run.py FOLDER … --solvers constrint gecode nucs --limit 60 --out result.json

A solution is checked by Gecode with MiniZinc's standard library and its sets as Booleans (Gecode's own
order of sets is not MiniZinc's): the model with every printed variable fixed must have a solution. Claims
that there is none, and optima, are compared with what the other solvers have proved or found. Solved is a
complete answer within the limit: a solution where nothing is optimised, a proof otherwise. Time includes
the compilation by MiniZinc and the start of the solver. Models with floats, and those that MiniZinc
refuses, are left out.

Needs `minizinc` and Gecode (Debian: minizinc), and the solvers' configurations: `fzn-constrint --install`;
that of NuCS comes with its package and is found here.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[1]))
from environment import environment

STANDARD_GECODE = ("--solver", "gecode", "-G", "std")
SOLVED = ("satisfied", "optimal", "unsatisfiable")
FOLDERS = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+")  # local folders, which are removed from error messages


@dataclass
class Answer:
    """A solver's answer for a model."""

    status: str
    seconds: float
    objective: int | None = None
    solution: str = field(default="", repr=False)
    note: str = ""
    wrong: str = ""


def surroundings() -> dict[str, str]:
    """The environment in which MiniZinc finds this environment's solvers."""
    paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
    found = {**os.environ, "PATH": os.pathsep.join(paths)}
    nucs = find_spec("nucs")
    if nucs is not None and nucs.origin is not None:
        found["MZN_SOLVER_PATH"] = str(Path(nucs.origin).parent / "fzn" / "share")
    return found


def minizinc(arguments: list[str], seconds: float) -> tuple[str, str, float]:
    """The output of `minizinc` on both channels, and its time; it is killed some time after its limit."""
    started = perf_counter()
    command = ["minizinc", "--time-limit", str(int(1000 * seconds)), *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings(),
        start_new_session=True,
    )  # fmt: skip
    try:
        out, err = process.communicate(timeout=seconds + 20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)  # its own process group, so the solver too
        out, err = process.communicate()
    return out, err, perf_counter() - started


def solved(model: Path, data: list[Path], solver: str, seconds: float) -> Answer:
    """A solver's answer for a model."""
    files = ["--output-mode", "dzn", "--output-objective", str(model), *map(str, data)]
    out, err, took = minizinc(["--solver", solver, *files], seconds)
    if solver == "gecode" and "type error" in err:  # Debian's Gecode library is older than its MiniZinc
        out, err, took = minizinc([*STANDARD_GECODE, *files], seconds)
    solutions = out.split("----------\n")
    last = (solutions[-2] or "% no variables\n") if len(solutions) > 1 else ""
    objective = re.search(r"^_objective = (-?\d+);", last, re.M)
    answer = Answer("unknown", round(took, 2), int(objective[1]) if objective else None, last)
    if "=====UNSATISFIABLE" in out:
        answer.status = "unsatisfiable"
    elif last:
        done = objective is None or "==========" in out.split("----------\n")[-1]
        answer.status = ("optimal" if objective else "satisfied") if done else "feasible"
    if "floats are not supported" in err + out:
        answer.status = "floats"
    elif answer.status == "unknown" and ("rror" in err or "=====ERROR" in out or "rror" in out):
        answer.status = "error"
        lines = [line for line in (err + out).splitlines() if line.strip() and "arning" not in line]
        answer.note = FOLDERS.sub("", " | ".join(lines[-3:]))[:300]
    return answer


def contradiction(model: Path, data: list[Path], solution: str, seconds: float) -> str:
    """The reason why Gecode refuses a solution; empty if it accepts it or cannot tell."""
    items = [re.sub(r"^%.*\n?", "", item, flags=re.M).strip() for item in re.split(r";\s*\n", solution)]
    facts = "".join(f"constraint {item};\n" for item in items if item and not item.startswith("_objective"))
    with tempfile.TemporaryDirectory() as folder:
        fixed = Path(folder) / "fixed.mzn"
        fixed.write_text(f'include "nosets.mzn";\ninclude "{model.resolve()}";\n{facts}', encoding="utf-8")
        arguments = [*STANDARD_GECODE, "-I", str(model.parent.resolve()), str(fixed), *map(str, data)]
        out, err, _ = minizinc(arguments, seconds)
    if "=====UNSATISFIABLE" in out:
        return "Gecode refuses the solution"
    return "" if "----------" in out else f"not checked: {(err + out).strip()[-200:]}".replace("\n", " | ")


def compared(answers: dict[str, Answer], model: Path, data: list[Path], seconds: float) -> None:
    """Mark the answers that contradict others or the model."""
    have = [a for a in answers.values() if a.solution]
    for answer in answers.values():
        if answer.solution:
            problem = contradiction(model, data, answer.solution, seconds)
            if problem.startswith("not"):
                answer.note = problem
            else:
                answer.wrong = problem
    good = [a for a in have if not a.wrong]
    sense = (
        "maximize"
        if re.search(r"solve\b[^;]*\bmaximize\b", model.read_text(encoding="utf-8"))
        else "minimize"
    )
    for answer in answers.values():
        if answer.status == "unsatisfiable" and good:
            answer.wrong = "there are solutions"
        if answer.status == "optimal" and answer.objective is not None:
            others = [a.objective for a in good if a.objective is not None]
            best = (max if sense == "maximize" else min)(others, default=answer.objective)
            if best != answer.objective:
                answer.wrong = f"{best} is better"


def cases(folders: list[Path]) -> list[tuple[Path, list[Path]]]:
    """The models of folders, each with its data: a file of the same name, or each file in its folder."""
    found: list[tuple[Path, list[Path]]] = []
    for folder in folders:
        for model in sorted(folder.rglob("*.mzn")):
            data = sorted(model.parent.glob(f"{model.stem}*.dzn"))
            found.extend([(model, [one]) for one in data] or [(model, [])])
    return found


def main() -> None:
    """Run the models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--solvers", nargs="+", default=["constrint", "gecode"])
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    results: dict[str, dict[str, object]] = {}
    counts = {solver: Counter[str]() for solver in options.solvers}
    times = Counter[str]()
    for model, data in cases(options.folders):
        name = "/".join([model.parent.name, model.stem, *(one.stem for one in data)])
        answers = {solver: solved(model, data, solver, options.limit) for solver in options.solvers}
        said = {answer.status for answer in answers.values()}
        if "floats" in said or said == {"error"}:
            print(f"{name:50} left out: {next(iter(answers.values())).note[:80]}", flush=True)
            continue
        compared(answers, model, data, min(20.0, options.limit))
        results[name] = {
            solver: {
                key: value
                for key, value in asdict(a).items()
                if value not in ("", None) and key != "solution"
            }
            for solver, a in answers.items()
        }
        for solver, answer in answers.items():
            counts[solver]["wrong" if answer.wrong else answer.status] += 1
            counts[solver]["solved"] += answer.status in SOLVED and not answer.wrong
            times[solver] += min(answer.seconds, options.limit)
        said = [f"{s} {a.wrong or a.status} {a.seconds:.1f} {a.note[-160:]}" for s, a in answers.items()]
        print(
            f"{name:50} {'WRONG  ' if any(a.wrong for a in answers.values()) else ''}{'  '.join(said)}",
            flush=True,
        )
    summary = {s: {**counts[s], "seconds": round(times[s], 1)} for s in options.solvers}
    print(json.dumps(summary, indent=2))
    if options.out:
        head = {**environment("nucs"), "minizinc": minizinc(["--version"], 5)[0].splitlines()[0]}
        facts = {"environment": head, "limit": options.limit, "models": len(results)}
        text = json.dumps({**facts, "summary": summary, "results": results}, indent=1)
        options.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
