"""Settings of all tests."""

from hypothesis import HealthCheck, settings

# How long an example takes says more of the machine, and of what else it does, than of the code.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")
