"""What a person reads: why a component waited, and pictures of a run.

Everything here is made from a :class:`~scheduler_sim.result.result.Result` alone, so
it works as well on a directory that was saved last year.
"""
