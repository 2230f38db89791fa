"""The Simulation: a compiled core that shares its clock with ordinary SimPy processes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import simpy
from simpy.events import EventPriority

from scheduler_sim.arrays import Ints
from scheduler_sim.engine.core import loop as drive
from scheduler_sim.engine.core import state as slot
from scheduler_sim.engine.core.jit import is_compiled
from scheduler_sim.engine.engine import has
from scheduler_sim.errors import BesideJobs, ConfigError, InputError
from scheduler_sim.loaders.read import checked_on_error, read_trace, without_lost_dependencies
from scheduler_sim.placement.parts import PARTS
from scheduler_sim.placement.placements import Placements
from scheduler_sim.placement.table import expand
from scheduler_sim.policy.policy import Policy
from scheduler_sim.policy.site import read_machine
from scheduler_sim.result.result import Result
from scheduler_sim.simulation import outcome
from scheduler_sim.simulation.actions import CHANGED_LIMITS
from scheduler_sim.simulation.branching import Branching
from scheduler_sim.simulation.environment import OwnEnvironment
from scheduler_sim.simulation.laws import Standing, broken_law, refuse_to_stand_still
from scheduler_sim.simulation.lifted import lifted_limits
from scheduler_sim.simulation.load import Loader
from scheduler_sim.simulation.lost import preempted_runs, requeued_unbegun
from scheduler_sim.simulation.node_events import ToCome, happenings
from scheduler_sim.simulation.outages import NOT_THERE
from scheduler_sim.simulation.plans import plans_of
from scheduler_sim.simulation.rules.calls import find_calls
from scheduler_sim.simulation.rules.checkpoints import PAST_LIMIT
from scheduler_sim.simulation.rules.dependencies import edges_between
from scheduler_sim.simulation.rules.numbers import Run
from scheduler_sim.simulation.rules.own_scheduler import held_by_scheduler
from scheduler_sim.simulation.rules.power_saving import idle_since
from scheduler_sim.simulation.rules.shared_nodes import shares_under_slurm, tells_apart, whole_nodes
from scheduler_sim.simulation.rules.spread import PAST_LIMIT as SPREAD_PAST_LIMIT
from scheduler_sim.simulation.rules.spread import past_limit as spread_past_limit
from scheduler_sim.simulation.rules.topology_use import chooses_by_topology
from scheduler_sim.simulation.scheme import Scheme, expansion, scheme_of
from scheduler_sim.simulation.shifting import begin_times, shifted
from scheduler_sim.simulation.slowed import Slowness, slowed_so_far, take_slowed
from scheduler_sim.simulation.snapshot import stopped
from scheduler_sim.simulation.suspended import spans_so_far, take_spans
from scheduler_sim.simulation.switching import switching_of, switching_under_slurm
from scheduler_sim.simulation.units import find_units
from scheduler_sim.simulation.unlisted import not_enforced, without_unlisted
from scheduler_sim.simulation.written import longer_timeline, own_timeline
from scheduler_sim.system.system import System
from scheduler_sim.units import MINUTE
from scheduler_sim.workload.fields import SEVERAL
from scheduler_sim.workload.refused import Refusals, refused_beside
from scheduler_sim.workload.table import HONOURED_BY_ALL, HONOURED_BY_SLURM, Workload

if TYPE_CHECKING:
    from scheduler_sim.applications.models import Models
    from scheduler_sim.schedulers.view import View
    from scheduler_sim.system.node_events import NodeEvent
    from scheduler_sim.system.reservations import ReservationKeys

LAST = EventPriority(2)
"""SimPy priority of the core's step: after every process that acts at the same instant."""

FIRST_STEPS = 10
LOOK_EVERY_S = 0.2
"""The core comes back so often, whatever the policy, for Ctrl-C and the progress display."""

Progress = Callable[[int, int], None]


class Simulation(Branching):
    """A workload on a system under a policy, in a SimPy environment.

    The core handles an instant after every process that acts at that instant has acted: ends,
    then node changes and cancellations by processes, submissions, dependency updates, one
    pass (rule 1). If processes act in response to that pass, the instant is handled again.

    Parameters
    ----------
    system : a System, or the path of a system file
    workload : a Workload, the path of a trace, or None to submit everything from processes
    policy : a Policy, a name, or the path of a policy file
    env : the SimPy environment to use; by default a new one that starts with the trace
    models : Models, a models file, or its keys: how long components run on each module
    seed : seed of all random draws (each purpose has its own stream)
    honour_status : components whose status in the trace is not success end FAILED
    progress : called from time to time with (number of ended components, number of components)
    format : format of the trace, if its first lines do not show it, or a named source
    columns : a column map for the trace
    on_error : ``stop`` at rows of the trace that cannot be read or simulated, or ``skip`` such rows: they are
        counted in the metrics (``skipped_because``) and named in the notes of ``workload``
    events : when nodes are out of service, in addition to the events of the system
    reservations : advance reservations, in addition to those of the system

    Attributes
    ----------
    env : the SimPy environment; its ``now`` is in seconds on the trace's clock
    progress : see above; may be changed
    engine_s : seconds spent in the compiled loop

    Raises
    ------
    InputError for anything wrong with the system, the trace or the policy.
    """

    def __init__(
        self,
        system: System | str | Path,
        workload: Workload | str | Path | None = None,
        policy: Policy | str | Path | Mapping[str, Any] = "easy",
        *,
        env: simpy.Environment | None = None,
        models: Models | str | Path | Mapping[str, Any] | None = None,
        seed: int = 0,
        honour_status: bool = False,
        progress: Progress | None = None,
        format: str | None = None,
        columns: str | Path | None = None,
        on_error: str = "stop",
        events: Sequence[NodeEvent] = (),
        reservations: Sequence[ReservationKeys] = (),
    ) -> None:
        self.policy = Policy.resolve(policy)
        self.models = _resolved(models)
        if self.models is not None and self.models.change_times and self.policy.extend_job == "grant":
            raise ConfigError(f"policy.extend_job: found 'grant' {CHANGED_LIMITS}; allowed here: 'refuse'")
        if self.models is not None and self.models.offers_sizes and self.policy.backfill == "slurm":
            raise ConfigError(
                f"policy.backfill: found 'slurm' with models {self.models.name} that offer sizes, of which"
                " Slurm would take the first that fits; allowed here: applications.sizes: own in the models"
            )
        self.system, systems = _opened(system, "system", partial(read_machine, policy=self.policy))
        self._inputs: list[outcome.Input] = [*systems]
        if reservations:
            self.system = replace(self.system, reservations=(*self.system.reservations, *reservations))
        if events:
            self.system = replace(self.system, events=(*self.system.events, *events))
        if workload is None:
            workload = Workload.from_columns(nodes=[], submit_time=[], run_time=[])
        reading = partial(read_trace, format=format, columns=columns, on_error=on_error)
        self.workload, traces = _opened(workload, "workload", reading)
        self._inputs += traces or [partial(outcome.digest_of_workload, self.workload)]
        self._inputs += [outcome.digest_of_file(role, file) for role, file in self.policy.files]
        files = () if self.models is None else self.models.files
        self._inputs += [outcome.digest_of_file(role, file) for role, file in files]
        if columns is not None:
            self._inputs.append(outcome.digest_of_file("columns", Path(columns)))
        self._reading = {
            "honour_status": honour_status,
            **({"format": format} if format else {}),
            **({"columns": Path(columns).name} if columns is not None else {}),
            **({"on_error": on_error} if on_error != "stop" else {}),
        }
        if honour_status:
            self.workload = self.workload.honouring_status()
        self._seed, self.engine_s = _checked_seed(seed), 0.0
        self._steps_at_once = FIRST_STEPS
        self._placed = partial(_placed_under, self.policy, self.system, self.models, self._seed)
        if self.models is not None and self.models.energy is not None:
            from scheduler_sim.simulation.metering import refuse_beside_shares

            refuse_beside_shares(self.models, self.system, self.policy)
        skips = checked_on_error(on_error) == "skip"
        if skips:
            self.workload = without_lost_dependencies(self.workload)
        Refusals(skips=skips).played(self.workload, self._put)
        self.env = self._joined(env)
        self._prepare_actions()
        self._to_come = self._of_nodes()
        if self._cap is not None:
            self._core = self._cap.put(self._core)
        self.progress = progress
        self._live_in(self.env)

    def _put(self, workload: Workload) -> None:
        """Put a workload on the system: what of it could run where, and the tables of the core.

        Raises JobsRefused if some components cannot be simulated, and ConfigError if none can.
        """
        self.workload = workload
        layer = None if self.models is None else self.models.energy
        self._cap = self._meter = None
        if layer is not None and layer.cap is not None:
            from scheduler_sim.simulation.power_cap import PowerCap

            self._cap = PowerCap(layer, self.system, self.policy, *self._clock_of_trace())
        self._placements = self._placed(workload)
        if self.models is not None and layer is not None:
            from scheduler_sim.simulation.metering import Meter, refuse_unmeasured

            refuse_unmeasured(layer, workload)
            self._meter = Meter(self.models, self.system, *self._clock_of_trace(), self._seed)
        calls, self._unknown_calls = find_calls(workload, self._placements)
        calls = calls if self.policy.calls else []
        resolution_s = MINUTE if self.policy.backfill == "slurm" else 1  # Slurm counts delays in minutes
        units = find_units(workload, self._placements, resolution_s=resolution_s)
        begin = begin_times(layer, workload, self._placements, units)
        self._played, self._shifted = shifted(workload, self._placements, begin)
        if self.policy.backfill == "slurm":
            switching = switching_under_slurm(layer, self.system, self.policy.slurm)
        else:
            switching = switching_of(layer, self.system)
        amounts = [resource.amount for resource in self.system.resources]
        if self._cap is not None:
            amounts.append(self._cap.highest)  # so much there is at some time
        of_types = ((), ()) if self.models is None else (self.models.checkpoints, self.models.spreads)
        self._run = Run(
            *(self.system, self.policy, tuple(amounts), units, calls, switching, self._seed),
            *of_types,
            capped=self._cap is not None,
            models=self.models,
        )
        try:
            self._loader = Loader(self._run, self._scheme())
            self._core = self._loader.load(self._played, self._placements)
        except BesideJobs as error:
            rows = self._placements.rows[_asking(self._run, self._placements, error.asked)]
            raise refused_beside(workload, rows, str(error), error.asked) from None

    def _scheme(self) -> Scheme:
        """Choose the loop. Raises ConfigError if there is none."""
        run = self._run
        return scheme_of(
            self.policy,
            rigid=self._placements.rigid,
            united=bool(run.units.members),
            planned=self._cap is not None and self._cap.planned,
            switched=run.switching is not None,
            shared=tells_apart(self.system, self.policy),
            reserved=bool(self.system.reservations),
        )

    # -- running ---------------------------------------------------------------------

    @property
    def needs_compiling(self) -> bool:
        """Whether the first run has to compile the loop, because its policy never ran on this machine
        before."""
        return not is_compiled(drive.drive, self._core)

    @property
    def scheduler(self) -> Any:
        """Your own scheduler in its present state; None under any other policy."""
        return self._loader.caller and self._loader.caller.scheduler

    def next_pass(self) -> View | None:
        """With a scheduler that stops in every pass: continue to the next pass in which jobs wait.

        Returns None if there is nothing left to do.
        """
        caller = self._loader.caller
        while not self._is_over() and self.env.peek() < float("inf"):
            self.env.step()
            if caller.view is not None:
                break
        view: View | None = caller.view
        return view

    def prepare(self) -> None:
        """Compile the loop, or take it from the cache, before the run begins."""
        clock = self._core.clock
        self._loader.scheme.run(self._core, clock.now, clock.steps)

    def process(self, generator: Generator[simpy.Event, Any, Any]) -> simpy.Process:
        """Start a SimPy process for which ``run`` waits (it does not wait for those of ``env.process``)."""
        self._foreground += 1
        process = self.env.process(generator)

        def over(_: simpy.Event) -> None:
            self._foreground -= 1

        if process.callbacks is not None:
            process.callbacks.append(over)
        return process

    def run(self, until: int | None = None) -> Result:
        """Run until there is nothing left to do, or until an instant (excluded), and return the result.

        Nothing is left when every component has ended (or never can start) and every process started by
        ``process`` has finished. While components wait and nodes are out of service, any process may bring
        them back, so ``run`` continues as long as something is scheduled. With a failure model that is always
        so; then it continues only as long as nodes are known to come back.
        After ``run`` the simulation can be acted on and run again.
        """
        if until is not None:
            if until > self.env.now:
                self.env.run(until=until)
            return self.result()
        while not self._is_over() and self.env.peek() < float("inf"):
            self.env.step()
        return self.result()

    def starts(self) -> Ints:
        """Return when each component of the trace started, int64[components], s; -1 = it has not yet."""
        back = self._placements.file_order
        found: Ints = np.array(self._core.jobs["start"][: len(self._placements.rows)])
        return found if back is None else found[back]

    def result(self) -> Result:
        """Return the result so far.

        Running components are CANCELLED in it, as if everything stopped now; waiting ones are PENDING. The
        simulation itself does not change.
        """
        manifest = partial(
            outcome.manifest_of,
            self.system,
            self.policy,
            self._reading,
            self.workload,
            tuple(self._inputs),
            self._seed,
            self.models,
        )
        self._told = True  # the result reads what the core has written, when somebody asks
        slurm = self.policy.backfill == "slurm"
        edges = edges_between(self.workload, self._placements).extended(self._submissions.edges)
        table, placements = self._submissions.joined(outcome.TOLD)
        placements = self._requests.in_result(placements)
        plans = plans_of(self._core, self.workload, self._placements, self._run, edges, len(placements.rows))
        honoured = HONOURED_BY_SLURM if slurm else HONOURED_BY_ALL
        told = (*honoured, *PARTS)  # of parts of nodes the placements know more
        told = (*told, "reservation") if self.system.reservations else told
        if not chooses_by_topology(self.system, self.policy):
            told = tuple(name for name in told if name != "switches")
        asked = {name: n for name, n in self.workload.not_honoured().items() if name not in told}
        if self._unknown_calls:
            asked["unknown_call"] = self._unknown_calls
        if self._run.units.in_vain:
            asked["delay"] = self._run.units.in_vain
        if not slurm and (tasks := self._unlimited_tasks()):
            asked["array_limit"] = tasks
        if slurm:
            from scheduler_sim.simulation.rules.slurm.factors import unlisted_qos

            asked.update(unlisted_qos(self.workload, self.policy.slurm))
            asked.update(not_enforced(self.policy, self.workload))
        if self._reservations is not None and (refused := self._reservations.book.answers):
            asked["reservation_change"] = len(refused)
        if has(self._core, "vetoes") and (unanswered := int(self._core.vetoes.at.failed)):
            asked["may_start"] = unanswered
        checkpoints = self._loader.rule("checkpoints")
        if checkpoints.together:
            asked["checkpoint"] = checkpoints.together
        not_honoured = {**placements.not_honoured, **asked}
        spans = spans_so_far(self._core, self._suspended, self._now())
        core = stopped(self._core, self._now())
        return outcome.build_result(
            core,
            table,
            placements,
            self._loader.columns(core, len(placements.rows)),
            self.system,
            plans,
            manifest,
            not_honoured,
            {
                "requeued": self._outages.requeued
                + self._operations.requeued
                + self._preempted
                + requeued_unbegun(self._core),
                "failures": self._events.failures,
                NOT_THERE: self._outages.not_there,
                PAST_LIMIT: checkpoints.past_limit,
                SPREAD_PAST_LIMIT: spread_past_limit(self._core),
                "held_back": self._operations.held_back + held_by_scheduler(self._core),
                "limits_changed": self._operations.limits_changed,
                "shortened": self._operations.shortened,
                "updated": self._requests.updated,
                "units": len(self._run.units.members),
                "shifted": self._shifted,
                "cannot_slow": int(self._core.slowing.at.unable) if has(self._core, "slowing") else 0,
                "cores_not_stated": whole_nodes(placements, self.system),
            },
            self._meter,
            None if self._cap is None else self._cap.budget,
            self._lost,
            spans,
            self._outages.ended,
            self.models,
            None if self._reservations is None else self._reservations.told(),
            self.workload.repairs if self.workload.is_repaired else None,
            self._slowness(),
        )

    def _slowness(self) -> Slowness | None:
        """When components were slowed for a power cap; None where they never are."""
        layer = None if self.models is None else self.models.energy
        if layer is None or not has(self._core, "slowing"):
            return None
        from scheduler_sim.energy.budget import idle_milliwatts

        idle = [idle_milliwatts(layer, {module.name: 1}) for module in self.system.modules]
        return Slowness(slowed_so_far(self._core, self._slowed, self._now()), np.array(idle, dtype=np.int64))

    def _unlimited_tasks(self) -> int:
        """How many tasks of arrays with a limit start with other components, so that it has no effect."""
        limits = self.workload.columns["array_limit"][self._placements.in_table]
        return sum(int(np.count_nonzero(limits[members] > 0)) for members in self._run.units.members)

    def _clock_of_trace(self) -> tuple[int | None, int]:
        """Its UnixStartTime, and its first submission, s."""
        rows = self.workload.columns["skipped"] == 0
        submitted = self.workload["submit_time"][rows]
        return self.workload.source.header_number("UnixStartTime"), int(submitted.min()) if rows.any() else 0

    def _live_in(self, env: simpy.Environment) -> None:
        """Come back, in an environment that knows nothing of it yet, whenever something is due."""
        self.env = env
        self._step_event: simpy.Event | None = None
        self._waiting_for = {}
        self._foreground, self._told = 0, False
        self._await_all()

    def _of_nodes(self) -> ToCome | None:
        """What happens to nodes, by the events of the system and by its failures."""
        if not (self.system.events or self.system.failures):
            return None
        unix_start, first = self._clock_of_trace()
        stated, drawn = happenings(self.system.events, unix_start), None
        if self.system.failures:
            from scheduler_sim.simulation.failures import Failures, refuse_too_many

            refuse_too_many(self.system, int(self.workload["submit_time"].max(initial=first)) - first)
            drawn = Failures(self.system, self._seed, int(self.env.now))
        return ToCome(stated, drawn, len(self.system.events))

    def _joined(self, env: simpy.Environment | None) -> simpy.Environment:
        """The environment to live in; in one that is given the core's clock starts where that stands."""
        clock, pool = self._core.clock, self._core.pools
        if env is None:
            return OwnEnvironment(int(clock.now))
        now = int(env.now)
        if len(self._placements.rows) and now > clock.now:
            raise InputError(
                f"the environment's clock is at {env.now}, after the first submission at {clock.now}"
            )
        clock.now = pool["short_since"][:] = now
        idle_since(self._core, now)
        return env

    def _is_over(self) -> bool:
        if self._foreground or self._has_actions() or self._core.queue.at.told:
            return False
        is_vain = self._reservations is not None and self._reservations.is_vain(self._core)
        if self.env.now < self._core.clock.now or (drive.upcoming(self._core) < slot.INF and not is_vain):
            return False
        return not (self.waiting() and self._may_come_back())

    def _may_come_back(self) -> bool:
        """Whether nodes or limits may be as they were again.

        Failures and turns of reservations have no end: what is known counts then.
        """
        reservations = self._reservations
        if reservations is not None and reservations.is_to_change(self._core):
            return True
        if self.system.failures or (reservations is not None and reservations.is_endless):
            stated = self._to_come is not None and self._to_come.stated_to_come > 0
            return stated or self._outages.awaited
        return self._outages.withheld

    # -- the core's turn ---------------------------------------------------------------

    def _schedule_step(self) -> None:
        """Ask SimPy for a turn when something happens next inside the core, or now if asked to act."""
        now = self.env.now
        time = now if self._has_actions() else drive.upcoming(self._core)
        self._step_event = None
        if time < slot.INF:
            self._step_event = self._at(time, self._step, LAST)
        elif self._core.clock.now > now:
            self._at(int(self._core.clock.now))  # nothing more to do: the clock follows

    def _step(self, event: simpy.Event) -> None:
        if event is not self._step_event:
            return  # an earlier turn was asked for since
        now = self._now()
        if self._has_actions():
            if self._loader.scheme.switched:  # of what happens to nodes alone the core has not told
                self._advance(now)
            drive.reach(self._core, now)
            self._act()
        outside = self.env.peek()
        self._advance(max(now + 1, int(outside) if outside < slot.INF else int(slot.INF)))
        if self._core.queue.at.told:
            # what waits for a start or an end is told at the instant at which it happened
            self._at(int(self._core.clock.now), self._tell)
        else:
            self._schedule_step()

    def _advance(self, until: int) -> None:
        """Let the core handle every instant before ``until``, or up to one that someone waits for."""
        if self._told:
            self._core, self._told = own_timeline(self._core), False
        clock = self._core.clock
        at_once = Standing(int(clock.now), int(clock.steps))
        while True:
            begin = perf_counter()
            self._loader.scheme.run(self._core, until, clock.steps + self._steps_at_once)
            took = perf_counter() - begin
            preempted = preempted_runs(self._core)
            self._lost += preempted
            self._preempted += len(preempted)
            self._suspended += take_spans(self._core)
            self._slowed += take_slowed(self._core)
            self.engine_s += took
            if clock.status == slot.BUDGET:
                self._steps_at_once = int(self._steps_at_once * min(max(LOOK_EVERY_S / took, 0.1), 2)) + 1
            if self.progress is not None:
                ended = int(np.count_nonzero(self._core.jobs["state"] > slot.RUNNING))
                self.progress(ended, int(clock.jobs))
            if clock.status == slot.TIMELINE_FULL:
                self._core = longer_timeline(self._core)
            elif clock.status == slot.BUDGET:
                at_once = refuse_to_stand_still(self._core, at_once)
            elif clock.status == slot.BROKEN:
                raise broken_law(self._core, self.system)
            else:
                return

    def _tell(self, _: simpy.Event) -> None:
        told = self._core.queue.notices[: self._core.queue.at.told].tolist()
        self._core.queue.at.told = 0
        self._notify(told)
        self._schedule_step()


def simulate(
    system: System | str | Path,
    workload: Workload | str | Path,
    policy: Policy | str | Path | Mapping[str, Any] = "easy",
    *,
    models: Models | str | Path | Mapping[str, Any] | None = None,
    seed: int = 0,
    honour_status: bool = False,
    progress: Progress | None = None,
    on_error: str = "stop",
) -> Result:
    """Simulate a workload on a system under a policy.

    Parameters
    ----------
    system : a System, or the path of a system file
    workload : a Workload, or the path of a trace
    policy : a Policy, a name (``fcfs``, ``easy``, ``conservative``, a bare order), or a policy file
    models : Models, a models file, or its keys: run times on each module; by default those of the trace
    seed : seed of all random draws
    honour_status : components whose status in the trace is not success end FAILED
    progress : called from time to time with (number of ended components, number of components)
    on_error : ``stop`` at components that cannot be read or simulated, or ``skip`` and count them

    Raises
    ------
    InputError for anything wrong with the system, the trace or the policy.

    Examples
    --------
    >>> from scheduler_sim import System, Workload, simulate
    >>> jobs = Workload.from_columns(nodes=[2, 2], submit_time=[0, 0], run_time=[60, 60])
    >>> simulate(System.homogeneous(3), jobs, "fcfs").components["start_time"].tolist()
    [0, 60]
    """
    return Simulation(
        system,
        workload,
        policy,
        models=models,
        seed=seed,
        honour_status=honour_status,
        progress=progress,
        on_error=on_error,
    ).run()


def _placed_under(
    policy: Policy, system: System, models: Models | None, seed: int, workload: Workload
) -> Placements:
    """Return the placements of components, as ``expand``."""
    options = expansion(policy) | {"lifted": lifted_limits(policy, system, workload)}
    if shares_under_slurm(system, policy) and models is not None and models.limited_by_energy:
        from scheduler_sim.simulation.rules.most_parts import most_parts

        options["most_parts"] = partial(most_parts, system, policy)
    placements = expand(workload, system, **options, models=models, seed=seed)
    return without_unlisted(placements, policy, workload)


def _asking(run: Run, placements: Placements, what: int) -> Ints:
    """Rows of the components that ask for it, in the order of the core."""
    if what != SEVERAL:
        return run.asking(what)
    demanding = placements.demand.any(axis=1)
    several = (np.diff(placements.first) > 1) | (
        np.bincount(placements.owner, weights=demanding, minlength=len(placements.rows)) > 0
    )
    return np.flatnonzero(several)


def _resolved(models: Models | str | Path | Mapping[str, Any] | None) -> Models | None:
    """Return the models that are meant; what they are made of is imported for a run that has some."""
    if models is None:
        return None
    from scheduler_sim.applications.models import Models

    return Models.resolve(models)


def _opened(given: Any, role: str, read: Callable[[Any], Any]) -> tuple[Any, list[dict[str, str]]]:
    """Read what was given as a path, and note which file it was."""
    if not isinstance(given, str | Path):
        return given, []
    opened = read(given)
    return opened, [outcome.digest_of_file(role, Path(given))]


def _checked_seed(seed: int) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed: found {seed!r}; allowed: an integer >= 0")
    return int(seed)
