"""Launching, verifying and measuring."""
