"""One search shared by many workers."""
