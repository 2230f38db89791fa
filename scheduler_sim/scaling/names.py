"""The factors of the efficiency hierarchy: what they are called, here and in files of others."""

from __future__ import annotations

from typing import NamedTuple


class FactorName(NamedTuple):
    """A factor: how people read it, whether it may exceed 1, and what other tools call it."""

    label: str
    may_exceed_one: bool = False
    synonyms: tuple[str, ...] = ()


_BASE = {
    "parallel": FactorName("parallel efficiency", synonyms=("parallel_eff", "parallel efficiency")),
    "load_balance": FactorName("load balance", synonyms=("lb", "load balance")),
    "communication": FactorName(
        "communication efficiency", synonyms=("comm_eff", "comm", "communication efficiency")
    ),
    "serialization": FactorName(
        "serialization efficiency", synonyms=("serialization_eff", "ser", "serial_eff", "serialization efficiency")
    ),
    "transfer": FactorName("transfer efficiency", synonyms=("transfer_eff", "trf", "transfer efficiency")),
}
_COMPUTATION = {
    "global": FactorName("global efficiency", True, ("global_eff", "global efficiency")),
    "computation": FactorName(
        "computation scalability", True, ("comp_scalability", "comp_scale", "computation scalability")
    ),
    "ipc": FactorName("IPC scalability", True, ("ipc_scalability", "ipc_scale", "ipc scalability")),
    "instructions": FactorName(
        "instruction scalability", True, ("instr_scalability", "inst_scale", "instruction scalability")
    ),
    "frequency": FactorName(
        "frequency scalability", True, ("freq_scalability", "freq_scale", "frequency scalability")
    ),
}
MODELS = {"mpi": "MPI", "omp": "OpenMP", "cuda": "CUDA"}

FACTORS: dict[str, FactorName] = {
    **_BASE,
    **_COMPUTATION,
    "hybrid_parallel": FactorName("hybrid parallel efficiency", synonyms=("hybrid_parallel_eff",)),
    **{
        f"{model}_{name}": FactorName(
            f"{label} {factor.label}", synonyms=tuple(f"{model}_{word}" for word in factor.synonyms)
        )
        for model, label in MODELS.items()
        for name, factor in _BASE.items()
    },
}
"""Factors by the name they have in profiles and tables of points."""

_CANONICAL = {word: name for name, factor in FACTORS.items() for word in (name, *factor.synonyms)}

RULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("global", ("parallel", "computation")),
    ("global", ("hybrid_parallel", "computation")),
    ("parallel", ("load_balance", "communication")),
    ("communication", ("serialization", "transfer")),
    ("computation", ("ipc", "instructions", "frequency")),
    ("hybrid_parallel", ("mpi_parallel", "omp_parallel")),
    ("hybrid_parallel", ("mpi_parallel", "cuda_parallel")),
    ("parallel", ("mpi_parallel", "omp_parallel")),
    ("load_balance", ("mpi_load_balance", "omp_load_balance")),
    ("communication", ("mpi_communication", "omp_communication")),
    *((f"{m}_parallel", (f"{m}_load_balance", f"{m}_communication")) for m in MODELS),
    *((f"{m}_communication", (f"{m}_serialization", f"{m}_transfer")) for m in MODELS),
)
"""Which factor is the product of which (D2.3, section 4.1; Rosas et al. 2014, eqs 1 to 4)."""


def canonical(word: str) -> str | None:
    """Return our name of a factor, whatever file names it, None if it is no factor."""
    bare = word.strip().strip('"').lstrip("- ").strip().lower()
    return _CANONICAL.get(bare)


def may_exceed_one(name: str) -> bool:
    """Whether an efficiency of this name may be above 1, as scalabilities relative to a base run."""
    return name in FACTORS and FACTORS[name].may_exceed_one


def leaves(names: set[str]) -> list[str]:
    """Return the factors among these that are not products of others among them, in the order of ``FACTORS``."""
    products = {whole for whole, parts in RULES if whole in names and set(parts) <= names}
    return [name for name in FACTORS if name in names - products]
