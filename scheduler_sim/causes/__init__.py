"""Why a simulation differs from the record: its run once more, with one thing changed at a time."""
