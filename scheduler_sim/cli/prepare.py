"""``scheduler-sim prepare``: compile the engine for policies, so that no run waits for it."""

from __future__ import annotations

import argparse
from time import monotonic

from scheduler_sim.cli.terminal import show, step

POLICIES = ("fcfs", "easy", "conservative", "slurm")

EXAMPLES = """\
examples:
  scheduler-sim prepare
  scheduler-sim prepare easy slurm

Compiled code is cached per user (or in SCHEDULER_SIM_CACHE_DIR), for this version and processor. Further
rules, such as shared nodes, limits or switching nodes off, are compiled by the first run that uses them.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "prepare",
        help="compile the engine for policies, so that their first run does not wait",
        description="Compile the engine for some policies on whole nodes, unless that is done already.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "policies", metavar="POLICY", nargs="*", help=f"names, or files; default: {', '.join(POLICIES)}"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Compile for each policy; say how long it took."""
    from scheduler_sim.policy.policy import Policy
    from scheduler_sim.simulation.simulation import Simulation
    from scheduler_sim.system.system import System
    from scheduler_sim.workload.table import Workload

    names = args.policies or POLICIES
    policies = {name: Policy.resolve(name) for name in names}
    system = System.homogeneous(2)
    jobs = Workload.from_columns(nodes=[1, 2], submit_time=[0, 0], run_time=[10, 10])
    width = max(map(len, policies))
    for i, (name, policy) in enumerate(policies.items(), start=1):
        simulation, begin = Simulation(system, jobs, policy), monotonic()
        compiles = simulation.needs_compiling
        with step(f"compiling {name}, {i} of {len(policies)}", quiet=args.quiet):
            simulation.prepare()
            simulation.run()
        told = f"compiled in {monotonic() - begin:.0f} s" if compiles else "was compiled already"
        show(f"  {name:{width}}  {told}", quiet=args.quiet)
