"""Reports of tuning runs: tables, a live view, one HTML page."""
