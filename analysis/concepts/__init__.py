"""The drawings of ``docs/concepts.md``: tiny cases that are simulated, and drawn as they came out.

Run ``python -m analysis.concepts`` to write them anew into ``docs/images/concepts``.
"""
