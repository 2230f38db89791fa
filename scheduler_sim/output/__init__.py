"""Writing: what may be replaced, whole or not at all, one writer at a time, and what is said if it fails."""
