"""A fuzzer of rules together: small systems, workloads and policies with many rules on at once.

A case is a number under a seed, so that ``python -m tests.fuzz.rules --seed S --case N`` repeats it anywhere,
and makes it small if anything is found. It may be refused in words that say what to do instead; otherwise all
ways to play it end in the same result, which keeps all laws.

- ``draw``        which rules are on together
- ``systems``, ``workloads``, ``policies``, ``models``, ``operations``, ``own``  the parts of a case
- ``plays``       the ways to play a case
- ``tables``      the tables of a result, as pieces of time on nodes
- ``audit``       what must hold, by the tables and the case alone
- ``judge``       from a number to a case, and what comes of it
- ``minimise``    a failing case made small
- ``refusals``    sentences that refuse
- ``found``       cases that something was found with, made small
"""
