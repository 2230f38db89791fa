"""What the studies share: means with intervals, Markdown, and their runs by seed and as files."""
