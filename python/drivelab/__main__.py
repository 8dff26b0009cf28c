"""`python -m drivelab` is the command `drivelab`."""

from drivelab.cli import main

main()
