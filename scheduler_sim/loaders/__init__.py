"""The door for any trace: tables whose columns are told, or guessed, and named sources of public data.

A loader makes a :class:`~scheduler_sim.workload.table.Workload` of what others have written: a column map
says which of their columns, in which unit, is which of ours.
"""
