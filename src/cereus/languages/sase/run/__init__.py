"""Running a SASE+ program and computing its output."""
