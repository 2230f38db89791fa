"""The model of Lublin and Feitelson: rigid jobs with a daily cycle (JPDC 63, 2003, 1105-1122).

Symbols are the authors'. Every default is that of their program ``m_lublin99.c`` in the
Parallel Workloads Archive; docs/reference/lublin-tsafrir.md has the laws, and what is done
where the model is silent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from scheduler_sim.errors import ConfigError
from scheduler_sim.generation import portable
from scheduler_sim.generation.single import SingleTrace, Streams
from scheduler_sim.units import DAY

_BUCKETS = 48
_BUCKET = DAY // _BUCKETS
_FIRST_BUCKET = 11  # the day of the cycle's gamma begins at 5:00, the start of half hour 11


def _lower_gamma(shape: float, x: np.ndarray) -> np.ndarray:
    """The gamma distribution function up to a factor, by its power series; the same on every machine."""
    term = np.full_like(x, 1.0 / shape)
    series = term
    n = 0
    while np.any(term > 1e-17 * series):
        n += 1
        term = term * x / (shape + n)
        series = series + term
    exponent = shape * portable.log(x) - x
    lower_gamma: np.ndarray = series * portable.exp(np.maximum(exponent - exponent.max(), -600.0))
    return lower_gamma


@dataclass(frozen=True)
class JobType:
    """The laws of one type of job; the defaults are for all jobs of the logs together.

    Sizes: ``serial_prob`` and ``pow2_prob``, shares of all jobs; ``u_low``, log2 of the nodes
    of the smallest parallel job; ``u_hi_below`` and ``u_med_below``, how far the largest log2
    lies below that of the machine, and the bend of the distribution below the largest;
    ``u_prob``, share of parallel jobs below the bend.

    Run times: shapes ``a1``, ``a2`` and scales ``b1``, ``b2`` of ln(run time in s), the first
    taken with probability ``pa``·nodes + ``pb``.

    Arrivals: shape ``a_arr`` and scale ``b_arr`` of ln(inter-arrival time in s) in the rush
    hours; ``arar``, by which the shape is multiplied for the whole day; shape ``a_num`` and
    scale ``b_num`` (half hours) of the time of day.
    """

    serial_prob: float = 0.244
    pow2_prob: float = 0.576
    u_low: float = 0.8
    u_med_below: float = 2.5
    u_hi_below: float = 0.0
    u_prob: float = 0.86
    a1: float = 4.2
    b1: float = 0.94
    a2: float = 312.0
    b2: float = 0.03
    pa: float = -0.0054
    pb: float = 0.78
    a_arr: float = 10.2303
    b_arr: float = 0.4871
    a_num: float = 8.1737
    b_num: float = 3.9631
    arar: float = 1.0225

    def __post_init__(self) -> None:
        problems = [
            f"{name}: found {value}; allowed: {allowed}"
            for name, value, allowed, fits in self._checks()
            if not (math.isfinite(value) and fits)
        ]
        if not problems and not self._has_a_day():
            found = f"a_num, b_num: found {self.a_num:g}, {self.b_num:g}"
            problems = [f"{found}; allowed: a daily cycle with submissions in every half hour"]
        if problems:
            raise ConfigError(problems)

    def _has_a_day(self) -> bool:
        with np.errstate(all="ignore"):
            weights = self.day_weights()
        return bool(np.isfinite(weights).all() and (weights > 0).all())

    def _checks(self) -> list[tuple[str, float, str, bool]]:
        rules = [(name, "0 to 1", 0 <= getattr(self, name) <= 1) for name in _PROBABILITIES]
        rules += [(name, "more than 0", getattr(self, name) > 0) for name in _POSITIVE]
        rules += [(name, "0 or more", getattr(self, name) >= 0) for name in _OFFSETS]
        rules += [(name, "a finite number", True) for name in ("pa", "pb")]
        checks = [(name, getattr(self, name), allowed, fits) for name, allowed, fits in rules]
        either = self.serial_prob + self.pow2_prob
        return [*checks, ("serial_prob + pow2_prob", either, "at most 1", either <= 1)]

    def day_weights(self) -> np.ndarray:
        """Return the arrival rate in each half hour from midnight over the day's mean, (48,) floats."""
        edges = np.arange(_FIRST_BUCKET - 0.5, _FIRST_BUCKET + _BUCKETS)
        share = np.diff(_lower_gamma(self.a_num, edges / self.b_num))
        share = np.roll(share, _FIRST_BUCKET - 1)
        weights: np.ndarray = share * (_BUCKETS / np.cumsum(share)[-1])
        return weights

    def submissions(
        self, jobs: int, random: np.random.Generator, largest_log: float, factor: float
    ) -> np.ndarray:
        """Draw times of submission, s from midnight: a steady process, bent to the rates of the day."""

        def log_gaps(count: int) -> np.ndarray:
            return portable.gamma(random, self.a_arr * self.arar, count) * self.b_arr

        gaps = portable.exp(_below(largest_log, log_gaps, jobs))
        steady = np.cumsum(gaps * factor)
        length = self.day_weights() * _BUCKET
        begin = np.concatenate(([0.0], np.cumsum(length)))
        day, within = np.divmod(steady, begin[-1])
        bucket = np.searchsorted(begin, within, side="right") - 1
        part = (within - begin[bucket]) / length[bucket]
        submissions: np.ndarray = np.floor(DAY * day + _BUCKET * (bucket + part)).astype(np.int64)
        return submissions

    def sizes(self, jobs: int, nodes: int, random: np.random.Generator) -> np.ndarray:
        """Draw nodes: one, a power of two or any number, by a uniform of two stages in log2."""
        machine = float(portable.log2(np.array([nodes]))[0])
        low = min(self.u_low, machine)
        high = max(machine - self.u_hi_below, low)
        medium = _bend(low, high, self.u_med_below)
        kind, stage, place = (random.random(jobs) for _ in range(3))
        first, second = low + place * (medium - low), medium + place * (high - medium)
        exponent = np.where(stage < self.u_prob, first, second)
        whole = np.minimum(np.floor(exponent + 0.5), math.floor(machine))
        exponent = np.where(kind < self.serial_prob + self.pow2_prob, whole, exponent)
        exponent = np.where(kind < self.serial_prob, 0.0, exponent)
        return np.floor(portable.exp2(exponent) + 0.5).astype(np.int64)

    def run_times(self, nodes: np.ndarray, random: np.random.Generator, largest_log: float) -> np.ndarray:
        """Draw run times, s: e to a mixture of two gammas that depends on the size of the job."""
        prob = np.clip(self.pa * nodes + self.pb, 0.0, 1.0)
        log_run = np.empty(len(nodes))
        wanting = np.arange(len(nodes))
        while len(wanting):
            first = random.random(len(wanting)) < prob[wanting]
            drawn = np.empty(len(wanting))
            drawn[first] = portable.gamma(random, self.a1, int(first.sum())) * self.b1
            drawn[~first] = portable.gamma(random, self.a2, int((~first).sum())) * self.b2
            log_run[wanting] = drawn
            wanting = wanting[drawn > largest_log]
        run_times: np.ndarray = np.floor(portable.exp(log_run)).astype(np.int64)
        return run_times


_PROBABILITIES = ("serial_prob", "pow2_prob", "u_prob")
_POSITIVE = ("u_low", "a1", "b1", "a2", "b2", "a_arr", "b_arr", "a_num", "b_num", "arar")
_OFFSETS = ("u_med_below", "u_hi_below")

BATCH = JobType(
    serial_prob=0.2927, pow2_prob=0.6686, u_low=1.2, u_med_below=2.0, u_hi_below=0.0, u_prob=0.875,
    a1=6.57, b1=0.823, a2=639.1, b2=0.0156, pa=-0.003, pb=0.6986,
    a_arr=6.0415, b_arr=0.8531, a_num=6.1271, b_num=5.2740, arar=1.0519,
)  # fmt: skip
INTERACTIVE = JobType(
    serial_prob=0.1541, pow2_prob=0.625, u_low=1.0, u_med_below=2.5, u_hi_below=1.5, u_prob=0.705,
    a1=3.8351, b1=0.6605, a2=7.073, b2=0.6856, pa=-0.0118, pb=0.9156,
    a_arr=6.5510, b_arr=0.6621, a_num=8.9186, b_num=3.6680, arar=0.9797,
)  # fmt: skip


@dataclass(frozen=True)
class Lublin(JobType):
    """The model: one law for all jobs, or with ``types`` batch and interactive jobs apart.

    ``max_log_run_time`` and ``max_log_inter_arrival``, ln of s, are the largest draws that
    count: above them the model draws again. ``inter_arrival_factor`` multiplies the times
    between arrivals: twice the factor is half the load. With ``types`` the laws of ``batch``
    and ``interactive`` hold, and those of the model itself must be left alone.

    Raises ConfigError for a value outside its range, and for a largest draw below a mean.
    """

    types: bool = False
    batch: JobType = BATCH
    interactive: JobType = INTERACTIVE
    max_log_run_time: float = 12.0
    max_log_inter_arrival: float = 13.0
    inter_arrival_factor: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        problems = []
        for law in (self.batch, self.interactive) if self.types else (self,):
            run = max(law.a1 * law.b1, law.a2 * law.b2)
            gap = law.a_arr * law.arar * law.b_arr
            for name, mean in (("max_log_run_time", run), ("max_log_inter_arrival", gap)):
                if not mean <= getattr(self, name) <= _LARGEST_LOG:
                    found = f"{name}: found {getattr(self, name)}"
                    problems.append(f"{found}; allowed: {mean:.2f}, the mean it cuts, to {_LARGEST_LOG:g}")
        if not 0 < self.inter_arrival_factor < math.inf:
            found = f"inter_arrival_factor: found {self.inter_arrival_factor}"
            problems.append(f"{found}; allowed: more than 0")
        changed = [field.name for field in fields(JobType) if getattr(self, field.name) != field.default]
        if self.types and changed:
            problems.append(
                f"{', '.join(changed)}: has no effect with types; give it in batch or interactive"
            )
        if problems:
            raise ConfigError(problems)

    def draw(self, jobs: int, nodes: int, streams: Streams) -> SingleTrace:
        """Draw a number of jobs for a machine of some nodes; limits are the run times themselves."""
        laws = {"batch ": self.batch, "interactive ": self.interactive} if self.types else {"": self}
        cap, factor = self.max_log_inter_arrival, self.inter_arrival_factor
        submitted = [
            law.submissions(jobs, streams(f"{name}arrivals"), cap, factor) for name, law in laws.items()
        ]
        submit, kind = _first_of_all(submitted, jobs)
        size, run = np.empty_like(submit), np.empty_like(submit)
        for number, (name, law) in enumerate(laws.items()):
            mine = np.flatnonzero(kind == number)
            size[mine] = law.sizes(len(mine), nodes, streams(f"{name}sizes"))
            run[mine] = law.run_times(size[mine], streams(f"{name}run times"), self.max_log_run_time)
        return SingleTrace(submit, size, run.copy(), run, np.full_like(submit, -1))


_LARGEST_LOG = 20.0  # e^20 s are 15 years


def _first_of_all(submitted: list[np.ndarray], jobs: int) -> tuple[np.ndarray, np.ndarray]:
    """Merge the types' times of submission; return the first so many and the number of their type."""
    submit = np.concatenate(submitted)
    kind = np.repeat(np.arange(len(submitted)), [len(times) for times in submitted])
    order = np.argsort(submit, kind="stable")[:jobs]
    return submit[order], kind[order]


def _bend(low: float, high: float, below: float) -> float:
    """Where the two stages meet; for a machine of so few nodes that the first would vanish, 1.5 below."""
    return high - below if high - below > low else max(high - 1.5, low)


def _below(largest: float, draw: Callable[[int], np.ndarray], count: int) -> np.ndarray:
    """Draw values, those above the largest again."""
    drawn = draw(count)
    while len(above := np.flatnonzero(drawn > largest)):
        drawn[above] = draw(len(above))
    return drawn
