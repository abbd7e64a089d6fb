"""Inputs: hardware profiles, kernel descriptions, problems."""
