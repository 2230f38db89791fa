"""Three readings of the workload of D2.3, section 3.3, and what they load a machine with.

The deliverable asks for "Cirne model with default parameters, ANL arrival pattern, and 3000 jobs asking
at maximum 32 nodes", and feeds it to 165 CM nodes. With the default constants jobs ask for up to 64, so
something was done to hold them to 32, and it does not say what:

- sizes: the size law's intercept raised to 0.5, as the generator's comments advise for 32 nodes;
- nodes: the generator told of a machine of 32 nodes, which also lowers the arrival rate to that machine's;
- reduction: the generator's reduction factor of 2, which halves sizes and doubles the arrival rate.

The recipe modular-vs-homogeneous.yaml takes the last: it changes no constant, ends at exactly 32, and is
the only one under which 165 nodes are busy enough for jobs to wait, as they did in the deliverable.

Run it from anywhere: ``python workloads/modular_vs_homogeneous.py``.
"""

from __future__ import annotations

from scheduler_sim import Recipe, System, generate, simulate

NODES, JOBS = 165, 3000
READINGS = {
    "sizes": {"model": {"sizes": {"intercept": 0.5}}, "nodes": NODES},
    "nodes": {"model": {}, "nodes": 32},
    "reduction": {"model": {"reduction_factor": 2}, "nodes": NODES},
}


def main() -> None:
    """Print one line a reading."""
    machine = System.homogeneous(NODES, "CM")
    print("reading     largest  mean nodes  load of 165 nodes  mean wait under EASY (s)")
    for name, reading in READINGS.items():
        module = {"name": "CM", "nodes": reading["nodes"], "jobs": JOBS}
        trace = generate(Recipe.of(model=reading["model"], modules=[module]), seed=33)
        nodes, run, submit = (trace[column] for column in ("nodes", "run_time", "submit_time"))
        load = (nodes * run).sum() / (NODES * (submit[-1] - submit[0]))
        wait = simulate(machine, trace, "easy").metrics["wait_time"]["mean"]
        print(f"{name:10}  {nodes.max():7}  {nodes.mean():10.2f}  {load:17.3f}  {wait:24.0f}")


if __name__ == "__main__":
    main()
