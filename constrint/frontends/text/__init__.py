"""The text languages: constrint and FlashRNN's dialect."""
