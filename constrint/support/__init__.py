"""What every layer may use: limits, deadlines, records, optional packages."""
