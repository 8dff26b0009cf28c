"""The machine that drivelab runs on: its files, its processes, what a killed one has left."""
