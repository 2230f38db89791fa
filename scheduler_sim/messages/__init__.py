"""Replay of message traces: what a parallel program computed and sent, on a network of one's own.

Times inside are whole picoseconds (int64), sizes bytes; files and pages have seconds. Rules:
docs/reference/messages.md.
"""
