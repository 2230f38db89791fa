"""A fuzzer of the project's own: valid inputs, changed by a grammar, read and run in workers with limits.

A case is a number under a seed, so that ``python -m tests.fuzz --seed S --case N`` repeats it anywhere.
It may end in a result that keeps all laws, or in an error that names the file; anything else is a finding.

- ``mutation``  how bytes, fields of lines and trees of YAML and JSON are changed
- ``samples``   valid inputs of every kind
- ``cases``     which sample is changed how, and what is done with it
- ``confine``   no name leads out of the case's own folder; whoever tries is stopped
- ``judge``     what may come of a case
- ``crew``      workers with limits on memory and time, and who hears of it when one is lost
"""
