"""The languages in which a model can be written."""
