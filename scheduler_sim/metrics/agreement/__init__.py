"""How near a simulation comes to the record: starts, waits and use of nodes, simulated and recorded."""
