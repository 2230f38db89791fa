"""What a run leaves: two tables, the metrics, the manifest; saved, loaded and checked."""
