"""Speed and memory of the simulator, measured against a bare loop."""
