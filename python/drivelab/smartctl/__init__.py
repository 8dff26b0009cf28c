"""A drive file from what `smartctl -x -j` prints of a drive: drive_file.py. Nothing here simulates."""

from drivelab.smartctl.drive_file import Drive, import_drive

__all__ = ["Drive", "import_drive"]
