"""Units of time, in the seconds that everything counts in."""

MINUTE = 60
