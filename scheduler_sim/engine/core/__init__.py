"""The core: the life of a job, the queue, the clock and the plan. It knows no rule."""
