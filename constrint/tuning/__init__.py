"""Search spaces of auto-tuners."""
