"""FCFS, EASY and conservative backfill as schedulers of one's own.

They start every job as the built-in policies do, where each job has one placement; Easy where nodes are
counted, too. Where they are told apart, what it reserves are nodes by name, which the built-in easy does not.
"""


class Fcfs:
    """First come, first served: a job that does not fit blocks its module."""

    def schedule(self, view):
        """Start jobs in order, in each module until one does not fit."""
        blocked = set()
        for job in view.queue:
            if job.module not in blocked and not view.start(job):
                blocked.add(job.module)
                if len(blocked) == len(view.free):
                    return


class Easy:
    """EASY: later jobs start if they do not delay the first that has to wait in their module."""

    def schedule(self, view):
        """Reserve for the first job of a module that does not fit; start what fits beside."""
        blocked = set()
        for job in view.queue:
            if job.module not in blocked:
                if not view.start(job):
                    blocked.add(job.module)
                    view.reserve(job)
            elif view.fits(job) and view.earliest_start(job) == view.now:
                view.start(job)


class Conservative:
    """Conservative backfill: no job is delayed by one behind it in the queue."""

    def schedule(self, view):
        """Reserve for all, in order; start what is reserved for now."""
        for job in view.queue:
            if view.reserve(job) == view.now:
                view.start(job)
