"""Views and jobs as types of the compiler: a view is the core, a job its row there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.errors import TypingError
from numba.extending import intrinsic, register_model


class ViewType(types.Type):
    """A pass: where the words of the core stand."""

    def __init__(self, core: Any) -> None:
        self.core = core
        super().__init__(f"View of {core.name}")


class FreeType(ViewType):
    """Idle nodes by module."""


class JobsType(types.IterableType):
    """Jobs of a view: those that wait, or those that run."""

    def __init__(self, core: Any) -> None:
        self.core = core
        super().__init__(f"{type(self).__name__} of {core.name}")

    @property
    def iterator_type(self) -> Any:
        """Return the type of what goes from job to job."""
        return JobsIterator(self)


class QueueType(JobsType):
    """Those that wait."""


class RunningType(JobsType):
    """Those that run."""


class JobsIterator(types.SimpleIteratorType):  # type: ignore[name-defined,misc]
    """Where it stands among jobs: a module, and a place in its list."""

    def __init__(self, jobs: Any) -> None:
        self.jobs = jobs
        super().__init__(f"iterator of {jobs.name}", JobType(jobs.core))


class JobType(types.Type):
    """A job: the core and its row."""

    is_job = True  # code of the user's tells which it has looked at last

    def __init__(self, core: Any) -> None:
        self.core = core
        super().__init__(f"Job of {core.name}")


class PlacementType(types.Type):
    """A placement: the core and its row."""

    def __init__(self, core: Any) -> None:
        self.core = core
        super().__init__(f"Placement of {core.name}")


class PlacementsType(types.IterableType):
    """The placements of a job: the core and the job's row."""

    def __init__(self, core: Any) -> None:
        self.core = core
        super().__init__(f"Placements of {core.name}")

    @property
    def iterator_type(self) -> Any:
        """Return the type of what goes from placement to placement."""
        return PlacementsIterator(self)


class PlacementsIterator(types.SimpleIteratorType):  # type: ignore[name-defined,misc]
    """The next placement of a job, and one behind its last."""

    def __init__(self, placements: Any) -> None:
        self.placements = placements
        super().__init__(f"iterator of {placements.name}", PlacementType(placements.core))


ROWS = JobType, PlacementType, PlacementsType
"""What is the core and a row."""


class _OfCore(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, dmm.lookup(fe_type.core).get_value_type())  # type: ignore[no-untyped-call]


for _kind in (ViewType, FreeType, QueueType, RunningType):
    register_model(_kind)(_OfCore)


@register_model(JobType)
@register_model(PlacementType)
@register_model(PlacementsType)
class _Job(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [("core", fe_type.core), ("number", types.int64)])  # type: ignore[no-untyped-call]


@register_model(JobsIterator)
class _Iterator(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        place = types.EphemeralPointer(types.int64)
        members = [("core", fe_type.jobs.core), ("module", place), ("place", place)]
        super().__init__(dmm, fe_type, members)  # type: ignore[no-untyped-call]


@register_model(PlacementsIterator)
class _PlacementsIterator(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        place = types.EphemeralPointer(types.int64)
        members = [("core", fe_type.placements.core), ("place", place), ("last", types.int64)]
        super().__init__(dmm, fe_type, members)  # type: ignore[no-untyped-call]


# -- from one to the other


def _core_of(typing_context: Any, view: Any) -> Any:
    """Return the core of a view, of jobs, of a job or of a placement."""

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if isinstance(view, ROWS):
            return cgutils.create_struct_proxy(view)(context, builder, value=arguments[0]).core
        return arguments[0]

    return view.core(view), generated


core_of: Any = intrinsic(_core_of)


def _number_of(typing_context: Any, job: Any) -> Any:
    """Return the row of a job or of a placement."""
    if not isinstance(job, ROWS):
        raise TypingError(f"found {job} for a job; allowed: a job of view.queue or view.running")

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return cgutils.create_struct_proxy(job)(context, builder, value=arguments[0]).number

    return types.int64(job), generated


number_of: Any = intrinsic(_number_of)


def _row_as(kind: Callable[[Any], Any]) -> Any:
    """A function that sees a row of a core as something."""

    def typed(typing_context: Any, core: Any, number: Any) -> Any:
        def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            made = cgutils.create_struct_proxy(kind(core))(context, builder)
            made.core, made.number = arguments
            return made._getvalue()

        return kind(core)(core, types.int64), generated

    return intrinsic(typed)


job_at, placements_at = map(_row_as, (JobType, PlacementsType))


def _seen_as(kind: Callable[[Any], Any]) -> Any:
    """A function that sees a core as something else."""

    def typed(typing_context: Any, core: Any) -> Any:
        def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return arguments[0]

        return kind(core)(core), generated

    return intrinsic(typed)


view_of, free_of, queue_of, running_of = map(_seen_as, (ViewType, FreeType, QueueType, RunningType))
