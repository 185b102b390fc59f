"""Settings for every test: properties are not timed, since a shared machine may be slow at any moment; the same commit
tries the same examples, so that a red suite means a changed program. `make slow` looks for new examples."""

from hypothesis import HealthCheck, settings

from companion.threads import one_matrix_thread

settings.register_profile("companion", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", settings.get_profile("companion"), derandomize=False)
settings.load_profile("companion")

one_matrix_thread()
