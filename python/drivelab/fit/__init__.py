"""From measurements to a drive file."""
