"""Settings for every test: properties are not timed, since a shared machine may be slow at any moment."""

from hypothesis import HealthCheck, settings

settings.register_profile("companion", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("companion")
