# One command each; every target sets up what it needs. `make` alone prints this help.
# The first Python that runs and is new enough. On a Raspberry Pi the system's own, because the libraries for its pins and
# camera come with the system (`make pi`) and are seen from the virtual environment.
ON_PI := $(shell /usr/bin/python3 -c 'import lgpio' 2>/dev/null && echo yes)
PYTHON ?= $(shell for p in $(if $(ON_PI),/usr/bin/python3) python3 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
# System packages are installed by themselves only where that needs no password.
MAY_INSTALL := { command -v apt-get >/dev/null && { [ "$$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }; }
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test slow check bench system pi clean

help:  ## Shows this list
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml
	@[ -n "$(PYTHON)" ] || \
	  { echo "Python 3.11 or newer is needed: sudo apt install python3 (or make PYTHON=/path/to/python3 ...)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { $(MAY_INSTALL) && $(MAKE) --no-print-directory system; } || \
	  { echo "Python's venv module is missing. Run: make system   (or: sudo apt install python3-venv)"; exit 1; }
	$(PYTHON) -m venv $(if $(ON_PI),--system-site-packages) $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' || \
	  { echo "The packages could not be installed; is there a connection to PyPI? Try again: make"; exit 1; }
	@touch $@

demo: $(READY)  ## Plays a game on a simulated table and shows it in the browser
	$(BIN)/companion demo

test: $(READY) $(VENV)/.system  ## Runs all tests but the slow ones
	$(BIN)/python -m pytest -m 'not slow and not hardware' $(PYTEST_ARGS)

slow: $(READY) $(VENV)/.system  ## Runs the slow tests too, and tries properties on new examples
	$(BIN)/python -m pytest -m 'not hardware' --hypothesis-profile=explore

check: $(READY)  ## Types, lint and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)  ## Measures speed against JPEG decoding
	$(BIN)/companion bench

system:  ## Installs the system packages (Debian, Raspberry Pi OS): Python's venv, Chromium and its driver's library for browser tests
	$(if $(filter 0,$(shell id -u)),,sudo) apt-get update
	$(if $(filter 0,$(shell id -u)),,sudo) apt-get install -y python3-venv chromium libatomic1

pi:  ## Installs what a Raspberry Pi's camera and pins need, from the system's packages
	sudo apt-get update
	sudo apt-get install -y python3-venv python3-picamera2 python3-lgpio python3-gpiozero
	rm -rf $(VENV)

# The browser tests need Chromium: installed where that needs no password, else named in one line and left out.
$(VENV)/.system: $(READY)
	@if { command -v chromium || command -v chromium-browser; } >/dev/null && $(BIN)/python -m playwright --version >/dev/null 2>&1; then :; \
	elif $(MAY_INSTALL); then $(MAKE) --no-print-directory system; \
	else echo "Chromium, or a library that drives it, is missing; browser tests cannot run. To have them run: make system"; exit 0; fi; \
	! command -v chromium >/dev/null || touch $@

clean:  ## Removes the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache build *.egg-info
