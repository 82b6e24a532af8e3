"""The chapters of the demonstration, one file per capability."""
