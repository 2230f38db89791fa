"""``python -m scheduler_sim``: the same as the command ``scheduler-sim``."""

import sys

from scheduler_sim.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
