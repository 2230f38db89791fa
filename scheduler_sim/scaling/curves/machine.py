"""Curves whose inputs are properties of machine or message, for what-ifs between modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field

from scheduler_sim.arrays import Floats
from scheduler_sim.config.keys import Keys
from scheduler_sim.config.value import Flag
from scheduler_sim.scaling.curves.kind import Curve, NotNegative, Seconds, number
from scheduler_sim.scaling.least_squares import bounded, not_negative


class LinearArchitecture(Curve):
    """Run time of one trace as a line in CPU time, latency and inverse bandwidth."""

    NAME: ClassVar[str] = "linear_arch"
    GIVES: ClassVar[str] = "time"
    INPUTS: ClassVar[tuple[str, ...]] = ("cpu_ratio", "latency", "bandwidth")
    EQUATION: ClassVar[str] = "T = alpha · CPU ratio + beta · L + gamma / BW"
    SOURCE: ClassVar[str] = "CEPBA (Badia et al. 2003), in the survey; Dimemas' T_msg = L + S/BW"

    alpha: Seconds = Field(description="time of computation at CPU ratio 1")
    beta: NotNegative = Field(description="messages on the critical path: s for each unit of latency")
    gamma: NotNegative = Field(description="data on the critical path: s × unit of bandwidth")

    def _value(self, *inputs: Floats) -> Floats:
        ratio, latency, bandwidth = inputs
        return self.alpha * ratio + self.beta * latency + self.gamma / bandwidth

    @classmethod
    def fitted(cls, inputs: Sequence[Floats], time: Floats) -> Self:
        """Least squares over runs of different (CPU ratio, latency, bandwidth), all coefficients >= 0."""
        ratio, latency, bandwidth = inputs
        alpha, beta, gamma = not_negative([ratio, latency, 1 / bandwidth], time, np.ones(len(time)))
        return cls.of(alpha=float(alpha), beta=float(beta), gamma=float(gamma))


class MessagePiece(Keys):
    """Messages of at least so many bytes."""

    bytes: NotNegative = Field(description="smallest message of this piece, bytes")
    latency: Seconds = Field(description="L_c, s")
    seconds_per_byte: NotNegative = Field(description="1/B_c, s a byte")


class GatherScatter(Curve):
    """Time of the gathers and scatters of a cycle, in a network whose latency depends on the size."""

    NAME: ClassVar[str] = "gather_scatter"
    GIVES: ClassVar[str] = "time"
    INPUTS: ClassVar[tuple[str, ...]] = ("bytes",)
    EQUATION: ClassVar[str] = "T(S) = count · contention · (L_c(S) + S / B_c(S))"
    SOURCE: ClassVar[str] = "Kerbyson et al. 2002 (SAGE)"

    pieces: list[MessagePiece] = Field(description="pieces {bytes, latency, seconds_per_byte}, by bytes")
    count: Annotated[float, number(0, above=True)] = Field(default=1.0, description="messages of this size")
    contention: Annotated[float, number(1)] = Field(
        default=1.0, description="processes that share a network adapter at that moment"
    )

    def _value(self, *inputs: Floats) -> Floats:
        size = inputs[0]
        table = np.array([(piece.bytes, piece.latency, piece.seconds_per_byte) for piece in self.pieces])
        place = np.maximum(np.searchsorted(table[:, 0], size, side="right") - 1, 0)
        seconds: Floats = self.count * self.contention * (table[place, 1] + size * table[place, 2])
        return seconds

    @classmethod
    def fitted(cls, size: Floats, time: Floats, starts: Sequence[float]) -> Self:
        """Fit a line >= 0 to the messages of each piece; ``starts`` are the smallest sizes, bytes."""
        place = np.searchsorted(np.asarray(starts), size, side="right") - 1
        pieces = []
        for k, start in enumerate(starts):
            own = place == k
            latency, slope = not_negative([np.ones(own.sum()), size[own]], time[own], 1 / time[own] ** 2)
            pieces.append({"bytes": start, "latency": float(latency), "seconds_per_byte": float(slope)})
        return cls.of(pieces=pieces)


class Wavefront(Curve):
    """Communication of a sweep over a square grid of processes, from all corners."""

    NAME: ClassVar[str] = "wavefront"
    GIVES: ClassVar[str] = "time"
    EQUATION: ClassVar[str] = (
        "T(P) = [2 (px + py − 2) + 4 (sweeps − 1)] t_msg, px = py = √P, t_msg = L + 2o + (S − 1) G"
    )
    SOURCE: ClassVar[str] = "Calotoiu et al. 2013 (Sweep3D); Alexandrov et al. 1995 (LogGP)"

    sweeps: Annotated[float, number(1)] = Field(description="consecutive sweeps, nsweep")
    latency: Seconds = Field(description="L of LogGP")
    overhead: Seconds = Field(default=0.0, description="o of LogGP")
    bytes: Annotated[float, number(1, unit="bytes")] = Field(default=1.0, description="S, size of a message")
    gap_per_byte: NotNegative = Field(default=0.0, description="G of LogGP, s a byte")

    @property
    def message_time(self) -> float:
        """Time of one message, s."""
        return self.latency + 2 * self.overhead + (self.bytes - 1) * self.gap_per_byte

    def _value(self, *inputs: Floats) -> Floats:
        side = np.sqrt(inputs[0])
        return wavefront_messages(side, side, self.sweeps) * self.message_time

    @classmethod
    def fitted(cls, processes: Floats, time: Floats, sweeps: float) -> Self:
        """Learn the time of a message, stated as latency."""
        side = np.sqrt(processes)
        (message,) = not_negative([wavefront_messages(side, side, sweeps)], time, 1 / time**2)
        return cls.of(sweeps=sweeps, latency=float(message))


def wavefront_messages(px: Floats, py: Floats, sweeps: float) -> Floats:
    """Return the messages one after the other on a px x py grid of processes."""
    return np.asarray(2 * (px + py - 2) + 4 * (sweeps - 1), dtype=np.float64)


class Block(Keys):
    """A basic block or kernel."""

    flops: NotNegative = Field(description="floating-point operations")
    bytes: NotNegative = Field(description="bytes from memory")


class Roofline(Curve):
    """Time of blocks of code on a machine with so much arithmetic and so much bandwidth."""

    NAME: ClassVar[str] = "roofline"
    GIVES: ClassVar[str] = "time"
    INPUTS: ClassVar[tuple[str, ...]] = ("flops_per_second", "bytes_per_second")
    EQUATION: ClassVar[str] = "T = Σ max(F/peak, B/bandwidth), or Σ (F/peak + B/bandwidth) without overlap"
    SOURCE: ClassVar[str] = "Williams et al. 2009; the sum is the convolver's idea (Snavely et al. 2002)"

    blocks: list[Block] = Field(description="blocks {flops, bytes}")
    overlap: Flag = Field(default=True, description="whether arithmetic and memory work at the same time")

    def _value(self, *inputs: Floats) -> Floats:
        peak, bandwidth = inputs
        join = np.maximum if self.overlap else np.add
        seconds: Floats = np.sum(
            [join(block.flops / peak, block.bytes / bandwidth) for block in self.blocks], axis=0
        )
        return seconds

    @classmethod
    def fitted(cls, inputs: Sequence[Floats], time: Floats, *, overlap: bool = True) -> Self:
        """Learn flops and bytes of one block from its times on several machines."""
        peak, bandwidth = inputs
        sums = not_negative([1 / peak, 1 / bandwidth], time, 1 / time**2)
        if overlap:
            scale = np.array([np.max(time * peak), np.max(time * bandwidth)])

            def residuals(shares: Floats) -> Floats:
                flops, size = shares * scale
                residuals: Floats = np.maximum(flops / peak, size / bandwidth) / time - 1
                return residuals

            starts = [np.clip(sums / scale, 0, 1), (0.5, 0.5), (0.9, 0.1), (0.1, 0.9)]
            sums = bounded(residuals, starts, (0.0, 0.0), (1.0, 1.0)) * scale
        return cls.of(blocks=[{"flops": float(sums[0]), "bytes": float(sums[1])}], overlap=overlap)
