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
        "serialization efficiency",
        synonyms=("serialization_eff", "ser", "serial_eff", "serialization efficiency"),
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


def leaves(names: set[str]) -> tuple[list[str], list[str]]:
    """Return the factors to fit among these, and those left out that their parts do not make up.

    A factor with parts among the names is left out, as its parts stand for it; where some of its parts
    are missing, what they held is lost, which a person should know.
    """
    inside = {whole: set().union(*(parts for name, parts in RULES if name == whole)) for whole, _ in RULES}

    def descends(whole: str) -> bool:
        return any(part in names or descends(part) for part in inside.get(whole, ()))

    def complete(whole: str) -> bool:
        rules = [parts for name, parts in RULES if name == whole]
        return any(all(part in names or complete(part) for part in parts) for parts in rules)

    kept = [name for name in FACTORS if name in names and not descends(name)]
    lost = [name for name in FACTORS if name in names and descends(name) and not complete(name)]
    return kept, lost


HIERARCHY: dict[str, tuple[str, ...]] = {
    "global": ("parallel", "mpi", "omp", "cuda", "computation"),
    "parallel": ("load_balance", "communication"),
    "communication": ("serialization", "transfer"),
    "computation": ("ipc", "instructions", "frequency"),
    **{model: (f"{model}_load_balance", f"{model}_communication") for model in MODELS},
    **{f"{model}_communication": (f"{model}_serialization", f"{model}_transfer") for model in MODELS},
}
"""How fitted factors are put together in a profile; groups without factors are left out."""
