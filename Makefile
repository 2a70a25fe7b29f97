# `make demo` and `make test` are all a newcomer needs: each does first what is missing of the set-up.
PYTHON = python3
# for the first set-up only, for example DYNET_FLAGS=--cuda; RNNG_DY_WHEELS names a folder of ready wheels besides dist/
DYNET_FLAGS =
ARGS =
# for the demo: a text of your own, parsed and drawn at its end
TEXT =
export TEXT
VENV = .venv
PYTEST = $(VENV)/bin/python -m pytest --numprocesses 2 --dist loadfile
RECIPE = $(wildcard scripts/dynet/*.* scripts/dynet/patches/*.diff scripts/dynet/sources/*)
BUILDS = $(wildcard $(VENV)/lib/python*/site-packages/rnng_dy.dynet)

.PHONY: help setup parts smoke test test-all demo wheels test-wheels test-sdist cuda-build gpu-check gpu-bundle test-cuda-emulated english faithfulness docs lint release clean again

help:
	@echo 'make demo        train and evaluate both models on a small treebank; TEXT="…" is parsed and drawn at the end'
	@echo 'make smoke       run the tests of oracles and clusters, and the record of numbers: under two minutes'
	@echo 'make test        run the tests but the slow ones; ARGS="-k oracle" goes to pytest'
	@echo 'make test-all    run all tests'
	@echo 'make setup       make $(VENV) with DyNet, this package and its test tools'
	@echo 'make wheels      write to dist/ wheels for x86-64 and ARM Linux that need no compiler; MACHINE=macos-arm64 for Macs'
	@echo 'make test-wheels  install the wheel of dist/ in a new environment and try it; MACHINE=aarch64 (emulated), macos-arm64 (the file alone)'
	@echo 'make test-sdist  install the sdist of dist/ in a new environment and run its first tests'
	@echo 'make english     train the English models that the package brings (needs the open treebanks); ARGS="--output english"'
	@echo 'make faithfulness  write docs/faithfulness.md (needs the reference data)'
	@echo 'make docs        write docs/reference from the code, and build docs/ as a site in site/'
	@echo 'make lint        check the style of the code and the types of the public interface'
	@echo 'make cuda-build  compile DyNet with its CUDA backend for sm_80, sm_90 and later GPUs; installs nothing'
	@echo 'make gpu-check   on a machine with a GPU: does it compute what the CPU does, and how fast; ARGS="--device cpu"'
	@echo 'make gpu-bundle  one file to add to a checkout on a machine with a GPU and without network; ARGS="--python 3.13"'
	@echo 'make test-cuda-emulated  the CUDA backend on an emulated GPU: gradients, commands, and most of gpu-check'
	@echo 'make release     check, test and build what a package index takes, and print the command that uploads it'
	@echo 'make clean       remove $(VENV) and what builds and tests leave behind'
	@echo 'PYTHON=python3.12 chooses the Python of a new $(VENV); DYNET_FLAGS=--cuda sets up for a GPU'

setup:
	@$(VENV)/bin/python -c 'import pip' 2>/dev/null || { test ! -e $(VENV)/pyvenv.cfg || rm -r $(VENV); $(PYTHON) -m venv $(VENV); }
	@$(MAKE) --no-print-directory parts

parts: $(VENV)/.package
	@:

$(VENV)/.package: pyproject.toml rnng_dy/__init__.py $(RECIPE) $(if $(BUILDS),,again)
	$(VENV)/bin/python scripts/install_dynet --editable $(DYNET_FLAGS)
	@touch $@

# without models of any size: seconds where `make test` takes minutes
smoke: setup
	$(PYTEST) -m 'not slow' tests/oracle tests/clusters tests/golden $(ARGS)

test: setup
	$(PYTEST) -m 'not slow' $(ARGS)

test-all: setup
	$(PYTEST) $(ARGS)

demo: setup
	$(VENV)/bin/python scripts/demo $${TEXT:+--text="$$TEXT"} $(ARGS)

lint: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/python -m mypy
	$(VENV)/bin/python -m mypy --platform darwin
	$(VENV)/bin/hadolint Dockerfile

docs: setup
	$(VENV)/bin/python -m scripts.command_reference
	$(VENV)/bin/python -m mkdocs build --strict -f scripts/mkdocs.yml

faithfulness: setup
	$(VENV)/bin/python scripts/faithfulness > docs/faithfulness.md.new
	mv docs/faithfulness.md.new docs/faithfulness.md

wheels:
	for machine in $(or $(MACHINE),x86_64 aarch64); do \
	    $(PYTHON) scripts/install_dynet --portable=$$machine --wheel-only && \
	    DYNET_FLAGS=--portable=$$machine $(PYTHON) -m pip wheel --quiet --no-deps -w dist . || exit 1; \
	done

test-wheels: setup
	$(VENV)/bin/python -m scripts.dynet.wheels $(if $(MACHINE),--machine $(MACHINE)) $(ARGS)

# the sdist in an empty environment, with DyNet of the wheel in dist/
test-sdist:
	rm -rf build/sdist && mkdir -p build/sdist
	tar -xzf dist/rnng_dy-$(VERSION).tar.gz -C build/sdist --strip-components 1
	RNNG_DY_WHEELS=$(CURDIR)/dist $(MAKE) -C build/sdist smoke VENV=.venv ARGS=tests/test_install.py

cuda-build:
	$(PYTHON) scripts/install_dynet --cuda --cuda-arch 80,90 --wheel-only

gpu-check: setup
	$(VENV)/bin/python -m scripts.gpu check $(ARGS)

gpu-bundle: setup
	$(VENV)/bin/python -m scripts.gpu bundle $(ARGS)

# what computes in the tests' own process, and commands on a GPU
ON_GPU = tests/test_cuda_emulator.py tests/rnng_dy/test_commands_on_gpu.py tests/rnng_dy/models/test_against_float64.py
# without the steps that fill the memory or measure speed: an emulated GPU takes too much of both
CHECKED = start lstm gradients-discriminative gradients-generative sgd-discriminative sgd-generative \
	adam-discriminative adam-generative parses scores dropout
EMULATED = $(VENV)/bin/python -m scripts.gpu emulate

test-cuda-emulated: setup
	RNNG_DY_TEST_DEVICE=cuda $(EMULATED) $(VENV)/bin/python -m pytest --timeout 3600 $(ON_GPU) $(ARGS)
	$(EMULATED) $(VENV)/bin/python -m scripts.gpu check --quick --seconds 300 --only $(CHECKED)

english: setup
	$(VENV)/bin/python -m scripts.english $(ARGS)

VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' rnng_dy/__init__.py)

release:
	test -z "$$(git status --porcelain)"
	grep -qx "## $(VERSION) ($$(date +%F))" CHANGELOG.md
	grep -qx "version: $(VERSION)" CITATION.cff
	$(MAKE) lint
	$(MAKE) test-all
	$(MAKE) wheels
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check build twine
	$(VENV)/bin/python -m build --sdist
	$(VENV)/bin/python -m twine check --strict dist/rnng_dy-$(VERSION)*
	$(MAKE) test-wheels MACHINE=x86_64
	$(MAKE) test-wheels MACHINE=aarch64
	$(MAKE) test-sdist
	@echo 'twine upload dist/rnng_dy-$(VERSION)*'

clean:
	rm -rf $(VENV) build dist *.egg-info rnng-dy-gpu* .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find oracle clusters rnng_dy scripts tests -name __pycache__ -prune -exec rm -rf {} +
