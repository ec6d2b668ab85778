"""The rows that each constraint of a model adds to the relaxation."""
