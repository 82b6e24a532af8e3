"""Settings of the whole suite."""

from hypothesis import settings

# An example that is slow on a busy machine is no error.
settings.register_profile("tacit", deadline=None)
settings.load_profile("tacit")
