"""One search by many workers."""
