"""Power and energy: profiles of nodes, what applications draw at each clock, and what a schedule costs.

A tool of its own: it knows tables and numbers, nothing of scheduling.
"""
