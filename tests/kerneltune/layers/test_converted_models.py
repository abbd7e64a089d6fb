"""Models of five public architectures, converted: their losses over 100 training steps are the originals'."""

# mypy: disable-error-code="name-defined"
from __future__ import annotations

import copy
from typing import Any

import pytest

from kerneltune.errors import InputError

torch: Any = pytest.importorskip("torch")
nn = torch.nn
WORDS = 11


class LanguageModel(nn.Module):  # type: ignore[misc]
    """Embedding, LSTMs, softmax with the embedding's weights (Zaremba 2014, Press and Wolf 2017)."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 8)
        self.network = nn.LSTM(8, 8, 2)

    def forward(self, words: Any) -> Any:
        hidden, _ = self.network(self.embedding(words[:-1]))
        return nn.functional.cross_entropy(
            (hidden @ self.embedding.weight.t()).flatten(0, 1), words[1:].flatten()
        )


class Translator(nn.Module):  # type: ignore[misc]
    """An encoder whose last state begins the decoder (Cho et al. 2014)."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 6)
        self.encoder, self.decoder = nn.GRU(6, 9), nn.GRU(6, 9)
        self.words = nn.Linear(9, WORDS)

    def forward(self, words: Any) -> Any:
        _, state = self.encoder(self.embedding(words.flip(0)))
        hidden, _ = self.decoder(self.embedding(words[:-1]), state)
        return nn.functional.cross_entropy(self.words(hidden).flatten(0, 1), words[1:].flatten())


class Tagger(nn.Module):  # type: ignore[misc]
    """A bidirectional LSTM over sentences of their own lengths (Huang et al. 2015)."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 6)
        self.network = nn.LSTM(6, 5, batch_first=True, bidirectional=True)
        self.tags = nn.Linear(10, 3)

    def forward(self, words: Any) -> Any:
        ends = torch.arange(words.shape[1]) % words.shape[0] + 1
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(words.t()), ends, batch_first=True, enforce_sorted=False
        )
        hidden, _ = nn.utils.rnn.pad_packed_sequence(self.network(packed)[0], batch_first=True)
        tags = words.t()[:, : hidden.shape[1]] % 3
        return nn.functional.cross_entropy(self.tags(hidden).flatten(0, 1), tags.flatten())


class TextInPictures(nn.Module):  # type: ignore[misc]
    """Convolutions read as a sequence by two bidirectional LSTMs (CRNN, Shi et al. 2015)."""

    def __init__(self) -> None:
        super().__init__()
        self.columns = nn.Conv2d(1, 4, 3, padding=1)
        self.network = nn.ModuleList([nn.LSTM(16, 5, bidirectional=True), nn.LSTM(10, 5, bidirectional=True)])
        self.letters = nn.Linear(10, WORDS)

    def forward(self, words: Any) -> Any:
        pictures = nn.functional.one_hot(words % 4, 4).to(torch.get_default_dtype())  # [T, B, 4]
        hidden = self.columns(pictures.permute(1, 2, 0).unsqueeze(1)).relu().flatten(1, 2).permute(2, 0, 1)
        for layer in self.network:
            hidden, _ = layer(hidden)
        return nn.functional.cross_entropy(self.letters(hidden).flatten(0, 1), words.flatten())


class Speech(nn.Module):  # type: ignore[misc]
    """Bidirectional rectified networks, normalised between layers (Deep Speech 2, Amodei et al. 2015)."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.RNN(4, 7, nonlinearity="relu", bidirectional=True)
        self.norm = nn.BatchNorm1d(14)
        self.second = nn.RNN(14, 7, nonlinearity="relu", bidirectional=True, bias=False)
        self.letters = nn.Linear(14, WORDS)

    def forward(self, words: Any) -> Any:
        hidden, _ = self.first(nn.functional.one_hot(words % 4, 4).to(torch.get_default_dtype()))
        hidden = self.norm(hidden.flatten(0, 1)).view(hidden.shape)
        hidden, _ = self.second(hidden)
        return nn.functional.cross_entropy(self.letters(hidden).flatten(0, 1), words.flatten())


def losses(model: Any, steps: int, device: str = "cpu") -> list[float]:
    generator = torch.Generator().manual_seed(0)
    optimiser = torch.optim.Adam(model.parameters(), 0.01)
    found = []
    for _ in range(steps):
        words = torch.randint(WORDS, (5, 3), generator=generator).to(device)
        loss = model(words)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        found.append(float(loss.detach()))
    return found


MODELS = [LanguageModel, Translator, Tagger, TextInPictures, Speech]


@pytest.mark.parametrize("model", MODELS)
def test_losses_are_the_originals(model: Any) -> None:
    from kerneltune.torch import convert, native

    torch.manual_seed(0)
    original = model().double()
    kinds = {type(module) for module in original.modules()}
    converted = convert(copy.deepcopy(original))
    assert kinds & {nn.LSTM, nn.GRU, nn.RNN}
    assert not {type(module) for module in converted.modules()} & {nn.LSTM, nn.GRU, nn.RNN}
    assert list(converted.state_dict()) == list(original.state_dict())
    torch.set_default_dtype(torch.float64)
    try:
        with native():
            found = losses(converted, 100)
        expected = losses(original, 100)
    finally:
        torch.set_default_dtype(torch.float32)
    assert found == pytest.approx(expected, rel=1e-6)
    assert found[-1] < found[0]


def test_parameters_stay_the_same_objects() -> None:
    from kerneltune.torch import GRU, convert

    layer = nn.GRU(3, 4, 2)
    made = convert(layer)
    assert isinstance(made, GRU)
    assert made.weight_hh_l1 is layer.weight_hh_l1
    assert not convert(nn.GRU(3, 4).eval()).training


def test_layers_with_other_parameters_are_refused() -> None:
    from kerneltune.torch import convert

    layer = nn.GRU(3, 4)
    layer.register_parameter("gain", nn.Parameter(torch.ones(1)))
    with pytest.raises(InputError, match="not torch's: gain"):
        convert(nn.Sequential(layer))
