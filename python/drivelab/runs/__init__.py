"""Running plans, in virtual time and in real time, and their results."""
