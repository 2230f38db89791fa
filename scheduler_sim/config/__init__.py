"""Reading what people write: YAML files with line numbers, and checked values."""
