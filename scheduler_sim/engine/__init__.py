"""The compiled core: what happens, in order, on integer arrays.

Nothing here knows of files, systems or policies by name; it imports nothing of the
project but itself. Import it only where a simulation is run: it brings in the
compiler. With ``NUMBA_DISABLE_JIT=1`` everything runs as plain Python.

One room for each question:

- ``state``     what is kept (one named tuple of arrays) and how it is laid out
- ``queue``     who goes first
- ``releases``  when running components are planned to give their nodes back
- ``events``    what ends next
- ``life``      a component's transitions: enters the queue, starts, ends
- ``record``    what is written down: timeline, waits
- ``instant``   the order of things at one instant
- ``greedy``    fcfs and first fit; ``easy`` rule 5; ``profile`` free nodes over time;
  ``plan`` reservations of any depth; ``keep`` conservative with kept promises
- ``drive``     one loop a scheme, so that a run compiles only what it uses
"""
