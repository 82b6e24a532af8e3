"""Faults put into the code, to see whether the tests notice: ``make mutants``."""
