"""Units of time, in the seconds that everything counts in."""

MINUTE = 60
HOUR = 3600
DAY = 86400
