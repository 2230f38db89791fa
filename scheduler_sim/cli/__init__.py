"""The command line: one file a command, and the terminal they print to."""
