"""The compiled core: what happens, in order, on integer arrays.

Nothing here knows of files, systems or policies by name; it imports nothing of the
project but itself. Import it only where a simulation is run: it brings in the
compiler. With ``NUMBA_DISABLE_JIT=1`` everything runs as plain Python.

- ``core``     the life of a job, the queue, the clock, the plan; it knows no rule
- ``rules``    a file or folder for each: its part of the state, and what it does at which moment
- ``schemes``  passes over the queue
- ``engine``   the tables of rules and schemes, and a core made for a run
"""
