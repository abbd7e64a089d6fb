"""Which sequence models keep a state: trained on words of at most 64 tokens, tested on far longer ones.

    python examples/state_tracking/run.py                     # on a GPU: five minutes, results and figures
    python examples/state_tracking/run.py --tasks parity --models LSTM minGRU --seconds 3

Every model trains until it answers words of 64 tokens, or for --seconds. At first the answers to the first 4
tokens count, then those to 8, ... 64, as it learns.
Kernels are compiled before the clock starts. Parity is tested at 10^6 tokens for models that keep it over
4,096. After --task-seconds, no further model of a task is begun. Results go to results.json.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from pathlib import Path
from typing import Any

import torch
from models import NAMES, SEES_ALL, Model, made, parameters
from tasks import Task, tasks
from torch.nn import functional

HERE = Path(__file__).parent
LENGTHS = (64, 256, 1024, 4096)
LONGEST = 1_000_000  # of parity
TRAINED = 64
CUT = 4096  # tokens that a model with a state reads at a time
KEPT = 0.9  # accuracy at 4,096 tokens from which on parity is tested at LONGEST, too
FIRST_LENGTH = 4
LEARNT = 0.95  # accuracy on the last token, from which on words grow
SOLVED = 0.9995
ANSWERED = 64  # words a batch on which Transformers are tested
RATES = {"Elman": 1e-3, "Transformer": 1e-3}
RATE = 3e-3
WARM_UP = 50  # steps


def learn(model: Model, task: Task, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Train until words of 64 tokens are answered or the time is over; accuracy against seconds."""
    generator = torch.Generator(options.device).manual_seed(options.seed)
    rate = RATES.get(name, RATE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, fused=options.device == "cuda")
    length, smooth, steps, curve = FIRST_LENGTH, 0.0, 0, []
    began = time.perf_counter()
    while True:
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (steps + 1) / WARM_UP)
        tokens, answers = task.drawn(options.batch, TRAINED, generator)
        logits, answers = model(tokens)[0][:, :length], answers[:, :length]
        loss = functional.cross_entropy(logits.flatten(0, 1).float(), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        steps += 1
        if steps % 10:
            continue
        last = (logits[:, -1].argmax(-1) == answers[:, -1]).float().mean().item()
        smooth = 0.5 * smooth + 0.5 * last
        seconds = time.perf_counter() - began
        curve.append([round(seconds, 3), steps, length, round(last, 4)])
        done = length == TRAINED and smooth >= SOLVED
        if done or seconds > options.seconds:
            return {"steps": steps, "seconds": round(seconds, 2), "solved": done, "curve": curve}
        if length < TRAINED and smooth > LEARNT:
            length, smooth = min(TRAINED, 2 * length), 0.0


@torch.no_grad()
def accuracy(model: Model, tokens: torch.Tensor, answers: torch.Tensor, *, whole: bool) -> dict[str, float]:
    """The part of the last tokens, and of all, that are answered rightly."""
    right, count, state, last = 0, 0, None, 0.0
    cut = tokens.shape[1] if whole else CUT
    for part, wanted in zip(tokens.split(cut, 1), answers.split(cut, 1)):
        logits, state = model(part, state)
        hits = logits.argmax(-1) == wanted
        right, count = right + int(hits.sum()), count + hits.numel()
        last = hits[:, -1].float().mean().item()
    return {"last": round(last, 4), "all": round(right / count, 4)}


def test(model: Model, task: Task, name: str, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Accuracies by length."""
    generator = torch.Generator(options.device).manual_seed(options.seed + 1)
    whole = name in SEES_ALL
    rows = ANSWERED if whole else options.test_batch
    lengths = [length for length in LENGTHS if length <= options.longest]
    found = {
        str(length): accuracy(model, *task.drawn(rows, length, generator), whole=whole) for length in lengths
    }
    longer = task.name == "parity" and not whole and options.longest >= LONGEST
    if longer and found[str(lengths[-1])]["last"] > KEPT:
        found[str(LONGEST)] = accuracy(model, *task.drawn(rows, LONGEST, generator), whole=False)
    return found


def warm(model: Model, task: Task, options: argparse.Namespace) -> None:
    """Compile every kernel that training and tests need, on a copy."""
    generator = torch.Generator(options.device).manual_seed(0)
    spare = copy.deepcopy(model)
    spare(task.drawn(options.batch, TRAINED, generator)[0])[0].sum().backward()
    if options.device == "cuda":
        torch.cuda.synchronize()


def environment(options: argparse.Namespace) -> dict[str, Any]:
    """What the results depend on."""
    device = torch.cuda.get_device_name() if options.device == "cuda" else "CPU"
    shown = {name: value for name, value in vars(options).items() if isinstance(value, int | float | str)}
    return {"date": time.strftime("%Y-%m-%d"), "device": device, "torch": torch.__version__, "options": shown}


def main() -> None:
    """Train and test every model on every task; write results and figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=list(tasks()), choices=list(tasks()))
    parser.add_argument("--models", nargs="+", default=list(NAMES), choices=[*NAMES, "loop"])
    parser.add_argument("--seconds", type=float, default=3.0, help="of training, for each model and task")
    parser.add_argument("--task-seconds", type=float, default=75.0, help="after which a task begins no model")
    parser.add_argument("--keep", action="store_true", help="keep what --out has of other tasks and models")
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--depth", type=int, default=2, help="blocks of models whose gates do not see h")
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--test-batch", type=int, default=64)
    parser.add_argument("--longest", type=int, default=LONGEST)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", type=Path, default=HERE / "results.json")
    options = parser.parse_args()
    found: dict[str, Any] = {"environment": environment(options), "runs": []}
    if options.keep and options.out.exists():
        now = {(task, model) for task in options.tasks for model in options.models}
        runs = json.loads(options.out.read_text("utf-8"))["runs"]
        found["runs"] = [run for run in runs if (run["task"], run["model"]) not in now]
    began = time.perf_counter()
    for task in tasks().values():
        end = time.perf_counter() + options.task_seconds
        for name in options.models if task.name in options.tasks else ():
            if time.perf_counter() > end:
                print(f"{task.name:10s} {name:18s} left out: --task-seconds are over", flush=True)
                continue
            torch.manual_seed(options.seed)
            problem = task.to(options.device)
            model = made(name, len(task.tokens), task.class_count, options.size, options.depth)
            model = model.to(options.device)
            warm(model, problem, options)
            row = {"task": task.name, "model": name, "parameters": parameters(model)}
            row["allowed"] = options.seconds
            row |= learn(model, problem, name, options)
            row["accuracy"] = test(model, problem, name, options)
            found["runs"].append(row)
            lengths = " ".join(f"{n}: {part['last']:.3f}" for n, part in row["accuracy"].items())
            state = "solved" if row["solved"] else "      "
            print(f"{task.name:10s} {name:18s} {state} {row['seconds']:6.1f} s  {lengths}", flush=True)
        found["seconds"] = round(time.perf_counter() - began, 1)
        options.out.write_text(json.dumps(found) + "\n", encoding="utf-8")
    print(f"{found['seconds']} s in all: {options.out}")


if __name__ == "__main__":
    main()
