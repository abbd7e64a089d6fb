"""Support for all layers: limits, deadlines, records, optional packages."""
