"""The study of GPU sharing under queueing: what the packing of pods on nodes does to their waits.

``python -m analysis.gpu_sharing`` runs it and writes ``analysis/gpu_sharing.md`` with its figure and tables.
The rooms: ``cases`` (what is run, and where its nodes and pods are), ``conduct`` (all runs, to a table),
``findings`` (sentences that the runs bear out), ``figures`` and ``page``.
"""
