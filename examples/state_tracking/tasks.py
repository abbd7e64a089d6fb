"""State tracking as word problems: the state after each token is a product of all tokens so far.

Each task is a finite monoid by its table of products. Prefix products of a whole sequence take log2(T)
look-ups in that table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import torch

MODULUS = 5


@dataclass(frozen=True)
class Task:
    """A word problem.

    Attributes:
        name: Its name.
        table: Products of elements, `[M, M]`: the left one acts first.
        tokens: The element that each token stands for, `[K]`.
        classes: What is asked of each element, `[M]`.
    """

    name: str
    table: torch.Tensor
    tokens: torch.Tensor
    classes: torch.Tensor

    @property
    def class_count(self) -> int:
        """Number of answers."""
        return int(self.classes.max()) + 1

    def to(self, device: str) -> Task:
        """The same on another device."""
        return Task(self.name, self.table.to(device), self.tokens.to(device), self.classes.to(device))

    def drawn(self, batch: int, steps: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Tokens and the answer after each, `[B, T]` both."""
        device = self.table.device
        tokens = torch.randint(len(self.tokens), (batch, steps), generator=generator, device=device)
        return tokens, self.classes[self.prefixes(self.tokens[tokens])]

    def prefixes(self, elements: torch.Tensor) -> torch.Tensor:
        """The products of each sequence's beginnings, `[B, T]` from `[B, T]`."""
        size = len(self.table)
        if size == 2:  # parity of any length
            return elements.cumsum(1) % 2
        flat, reach = self.table.flatten(), 1
        while reach < elements.shape[1]:
            joined = flat[elements[:, :-reach] * size + elements[:, reach:]]
            elements = torch.cat([elements[:, :reach], joined], 1)
            reach *= 2
        return elements


def parity() -> Task:
    """Whether the number of ones so far is odd."""
    return Task("parity", torch.tensor([[0, 1], [1, 0]]), torch.arange(2), torch.arange(2))


def permutation_group(name: str, degree: int, *, even: bool) -> Task:
    """All (even) permutations; each is a token, and the product so far is asked for."""

    def is_even(p: Sequence[int]) -> bool:
        return sum(a > b for i, a in enumerate(p) for b in p[i + 1 :]) % 2 == 0

    members = [p for p in permutations(range(degree)) if not even or is_even(p)]
    return word_problem(name, members, lambda p, q: tuple(q[i] for i in p), members, members.index)


def arithmetic() -> Task:
    """Calculation from left to right modulo 5: each token adds, subtracts or multiplies by a digit."""
    digits = range(MODULUS)
    maps = list(product(digits, digits))  # x -> a x + b
    tokens = [(1, d) for d in digits] + [(1, -d % MODULUS) for d in digits] + [(d, 0) for d in digits]

    def then(p: tuple[int, int], q: tuple[int, int]) -> tuple[int, int]:
        return (p[0] * q[0]) % MODULUS, (p[1] * q[0] + q[1]) % MODULUS

    return word_problem("arithmetic", maps, then, tokens, lambda one: one[1])


def word_problem(name: str, members: list, then: Callable, tokens: list, asked: Callable[..., int]) -> Task:
    """The task of a monoid given by its members and their product."""
    place = {member: i for i, member in enumerate(members)}
    table = [[place[then(p, q)] for q in members] for p in members]
    return Task(
        name,
        torch.tensor(table),
        torch.tensor([place[token] for token in tokens]),
        torch.tensor([asked(member) for member in members]),
    )


def tasks() -> dict[str, Task]:
    """The four tasks by name."""
    made = [parity(), arithmetic(), permutation_group("S3", 3, even=False)]
    made.append(permutation_group("A5", 5, even=True))
    return {task.name: task for task in made}
