"""A drive file beside the measurement of the real drive."""
