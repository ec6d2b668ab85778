# Everything a user or a developer types. `make demo` and `make test` each set up all they need, in .venv.
#
#   make            compile the kernels ahead (the CPU engine, and the GPU engine for the GPUs that are here)
#   make demo       solve a job shop through MiniZinc
#   make test       what a change needs, in minutes      make test-all       all tests that need no GPU
#   make test-slow  what the one has and the other not   make test-gpu       the tests that need a GPU
#   make bench      nodes per second                     make bench-anytime  best solution at any time
#   make kinds      models of many kinds, compared with what was found before
#   make fuzz       random models, damaged input         make soak       an hour at full load, memory measured
#   make test-variants  answers of every variant of the engines      make journal    compare the variants
#   make coverage   of the package and of the operators  make mutate     break the solver, see that a test notices
#   make check      lengths, ruff, mypy                  make check-kernels  compile for every GPU, strictly
#   make newest-minizinc   globals and examples through the newest MiniZinc, which npm has
#   make look       the pages of --report, of the benchmarks and of the site in a headless Chromium, at two widths
#   make docs       the site of the documentation, in build/site
#   make cpmpy      the examples of CPMpy and of its page, with PyPI's CPMpy and OR-Tools beside it
#   make pycsp3     what the page about XCSP3 says of PyCSP3 and ACE, with PyPI's pycsp3
#   make docker-check   lint the Dockerfiles, without Docker
#   make release-check  build and try wheel and source distribution of the last commit, as a release does
#   make install    make the solver known to MiniZinc    make uninstall      take it away again
#   make wheel      a wheel with the engines, that of the GPU too where nvcc is, in build/wheel
#   make clean      remove what make made
#
# VENV=none uses the Python at hand (PYTHON=python3) with its packages instead of a virtual environment.

PYTHON ?= python3
VENV ?= .venv
TESTFLAGS ?=
FUZZFLAGS ?= --seed 1
SOAKFLAGS ?=
MUTATEFLAGS ?=
VARIANTFLAGS ?=
NEWESTFLAGS ?=
JOURNALFLAGS ?= --arch gpu --seconds 10
FILES ?= tests/data/corpus
BENCHFLAGS ?=

# Where Python is told to keep no compiled modules, each of a thousand starts would compile the package: half its time.
unexport PYTHONDONTWRITEBYTECODE

ifeq ($(VENV),none)
RUN := PYTHONPATH="$(CURDIR)$${PYTHONPATH:+:$$PYTHONPATH}" $(PYTHON)
READY :=
TESTED :=
PARALLEL ?=
SOLVERS := build/solvers
else
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
TESTED := $(VENV)/.tested
# On all cores, by one process more, for some tests wait. With VENV=none, pytest-xdist may be missing.
PARALLEL ?= -n $$(($$(nproc) + 1)) --dist worksteal
SOLVERS := $(VENV)/solvers
endif

# $(call provide,COMMAND,PACKAGE): where the command fails, install the Debian package that makes it succeed when
# that is allowed, and else say what to type.
provide = $(1) >/dev/null 2>&1 || { \
  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
    echo "installing $(2)"; export DEBIAN_FRONTEND=noninteractive; \
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends $(2); } >/dev/null; \
  else echo "$(2) is missing. Type: sudo apt-get install --no-install-recommends $(2)" >&2; false; fi; }

.PHONY: all venv compiler demo test test-all test-slow test-gpu test-variants fuzz soak coverage mutate bench bench-anytime kinds journal \
        check check-kernels wheel cpmpy pycsp3 docker-check release-check docs look newest-minizinc spec install uninstall clean

all: $(TESTED) compiler
	@$(RUN) -m turbo_fzn --build-kernels

venv: $(TESTED)

$(VENV)/.ready: setup.py setup.cfg pyproject.toml
	@$(call provide,$(PYTHON) -c 'import ensurepip; import venv',python3-venv)
	@echo "setting up $(VENV): about half a minute"
	@test -x $(VENV)/bin/pip || $(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

# What the tests need, beyond what a run needs.
$(VENV)/.tested: $(VENV)/.ready
	@echo "adding what the tests need to $(VENV): about half a minute"
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

compiler:
	@$(call provide,command -v $(or $(CXX),g++),g++)

demo: $(READY) compiler
	@$(RUN) -m turbo_fzn --install-solver $(SOLVERS) >/dev/null
	@if $(call provide,command -v minizinc,minizinc); then set -x; \
	  MZN_SOLVER_PATH=$(SOLVERS) minizinc --solver turbo -i examples/demo.mzn examples/demo.dzn; \
	else echo "Without MiniZinc, the FlatZinc that it would give is solved:"; set -x; \
	  $(RUN) -m turbo_fzn -i examples/demo.fzn; fi

# Without MiniZinc, or without npm for the newest one, the tests that run it are skipped, and say so. CI names
# tests that ought to be marked `slow`.
# In `make test`, random examples are few and the engine is little optimised: to compile that takes a third of the time.
# `make test-slow` draws more, with the engine that users get.
test: MARKED = not gpu and not slow
test: export HYPOTHESIS_PROFILE ?= quick
test: export TURBO_FZN_KERNEL_FLAGS ?= -O1
test: QUICK = $(if $(CI),--quick)
test-all: MARKED = not gpu
test-slow: MARKED = (slow or hypothesis) and not gpu

test test-all test-slow: $(TESTED) compiler
	@$(call provide,command -v minizinc,minizinc) || true
	@$(RUN) -m pytest -q -rs -m "$(MARKED)" $(QUICK) $(PARALLEL) $(TESTFLAGS)

test-gpu: $(READY) compiler
ifneq ($(VENV),none)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --editable '.[test,gpu]'
endif
	@$(RUN) -m pytest -q -m gpu $(TESTFLAGS)

# VARIANTFLAGS: see python tests/tools/variants.py --help
test-variants: $(TESTED) compiler
	@$(RUN) tests/tools/variants.py $(VARIANTFLAGS) -- $(PARALLEL) $(TESTFLAGS)

# FUZZFLAGS: see python tests/fuzz --help
fuzz: $(TESTED) compiler
	@$(RUN) tests/fuzz --count 1000000 $(FUZZFLAGS)
	@$(RUN) tests/fuzz --kind damage --count 100000 $(FUZZFLAGS)

# SOAKFLAGS: see python tests/tools/soak.py --help
soak: $(TESTED) compiler
	@$(RUN) tests/tools/soak.py $(SOAKFLAGS)

# Fails below 95 % of the lines or 90 % of the branches of the package, or where a line or branch of the operators is
# never run.
coverage: $(TESTED) compiler
ifneq ($(VENV),none)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check coverage
endif
	@rm -rf build/coverage && mkdir -p build/coverage
	@$(RUN) -m coverage run -m pytest -q -m "not gpu" -k "not data_race and not undefined_behaviour" $(TESTFLAGS)
	@$(RUN) tests/tools/package_coverage.py
	@$(RUN) tests/tools/kernel_coverage.py

# MUTATEFLAGS: words of the mutations to try; see python tests/tools/mutate.py --help
mutate: $(TESTED) compiler
	@$(RUN) tests/tools/mutate.py $(MUTATEFLAGS)

# FILES: FlatZinc files or folders of them; BENCHFLAGS: see python -m lab.bench --help
bench: $(READY) compiler
	@$(RUN) -m lab.bench $(FILES) $(BENCHFLAGS)

bench-anytime: $(READY) compiler
	@$(RUN) -m lab.bench.anytime $(FILES) $(BENCHFLAGS)

# KINDSFLAGS: see python -m lab.bench.kinds --help
kinds: $(READY) compiler
	@$(RUN) -m lab.bench.kinds $(KINDSFLAGS)

# Compares the variants of the engine on FILES, or, without, on instances of our own; needs a GPU. On a CPU what applies:
# JOURNALFLAGS='--arch cpu --seconds 2'. See python -m lab.bench --help.
journal: $(READY) compiler
	@mkdir -p build/journal
	@$(RUN) -m lab.bench $(if $(filter file,$(origin FILES)),,$(FILES)) --variants journal $(JOURNALFLAGS) \
	  --json build/journal/runs.json --csv build/journal/runs.csv --markdown build/journal/tables.md \
	  --html build/journal/page.html

check: $(READY)
ifneq ($(VENV),none)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --editable '.[test,check]'
endif
	@$(RUN) tests/tools/house.py

wheel: $(READY) compiler
	@rm -f build/wheel/*.whl
	@TURBO_FZN_ALL_ENGINES=1 TURBO_FZN_WHEEL_FOR_GPUS=$$(command -v $(or $(NVCC),nvcc)) $(RUN) -m pip wheel --no-deps -w build/wheel .

check-kernels: $(READY)
	@$(RUN) -m turbo_fzn.engine.toolchain.ahead

look: $(TESTED) compiler docs
	@$(call provide,command -v chromium,chromium)
	@$(RUN) tests/tools/look.py

newest-minizinc: $(TESTED) compiler
	@$(call provide,command -v node,nodejs)
	@$(call provide,command -v npm,npm)
	@$(RUN) tests/tools/newest_minizinc.py $(NEWESTFLAGS)

# SPEC is the folder tests/spec of a clone of libminizinc at the tag of the release; MINIZINC its executable.
spec: $(TESTED) compiler
	@$(RUN) -c 'import yaml' 2> /dev/null || $(RUN) -m pip install --quiet --disable-pip-version-check pyyaml
	@$(RUN) tests/tools/minizinc_spec.py $(SPEC) --minizinc $(or $(MINIZINC),minizinc) $(SPECFLAGS)

# Warnings are errors: a page in no menu, a link or an anchor that leads nowhere.
docs: $(READY)
ifneq ($(VENV),none)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --editable '.[docs]'
endif
	@NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict --config-file site/mkdocs.yml
	@$(RUN) site/check.py

cpmpy: $(TESTED) compiler
	@$(RUN) tests/tools/try_cpmpy.py

pycsp3: $(TESTED) compiler
	@$(RUN) tests/tools/try_pycsp3.py

# Takes ten minutes on two cores: two wheels are built and compared.
release-check: $(READY) compiler
ifneq ($(VENV),none)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --editable '.[release]'
endif
	@$(RUN) tests/tools/release.py

docker-check: $(TESTED)
	@$(RUN) tests/tools/docker.py

install: $(READY)
	@$(RUN) -m turbo_fzn --install-solver

uninstall: $(READY)
	@$(RUN) -m turbo_fzn --uninstall-solver

clean:
	@rm -rf .venv build *.egg-info .pytest_cache .hypothesis .ruff_cache .mypy_cache
	@find . -name __pycache__ -prune -exec rm -rf {} +
