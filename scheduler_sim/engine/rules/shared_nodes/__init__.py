"""Nodes that jobs share: each with its own cores, memory and GPUs, taken in parts."""
