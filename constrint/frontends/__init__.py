"""Readers and writers of the languages in which a model can be written."""
