# One verb for each thing that one does here; `make help` lists them. Everything that a verb needs is set up on the way.

JOBS ?= $(shell nproc)
sources = $(shell find cli mpi src tests examples python benchmarks -name '*.h' -o -name '*.cpp' 2>/dev/null | sort)
python = .venv/bin/python
cmake_build = cmake --build $(1) --parallel $(JOBS)

.DEFAULT_GOAL := help
.PHONY: help setup setup-clang build program demo test test-slow wheel test-wheel bench dev asan tsan tidy docs images format format-check clean

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: ## install what is missing (every other verb does this first)
	@tools/setup

setup-clang:
	@tools/setup clang

build: setup build/build.ninja ## the program build/catena, the library and the tests
	@$(call cmake_build,build)

program: setup build/build.ninja ## the program build/catena alone
	@$(call cmake_build,build) --target catena_cli

demo: setup build/build.ninja ## learn from single transitions; compare two exact posteriors
	@$(call cmake_build,build) --target catena_cli catena_python
	@tools/demo

test: build ## all unit tests: GoogleTest, then pytest
	ctest --test-dir build --label-regex unit --parallel 2 --output-on-failure
	$(python) -m pytest

test-slow: build ## the statistical suite, which takes long
	ctest --test-dir build --label-regex slow --parallel $(JOBS) --output-on-failure --no-tests=ignore
	$(python) -m pytest -m slow

wheel: build ## a wheel with everything inside, build/wheel/*.whl, that installs without a compiler
	@tools/setup wheel
	@$(python) tools/wheel build build/wheel

test-wheel: wheel ## install the wheel where the libraries are hidden, and run the README's example
	@tools/test-wheel

bench: program ## speed beside the machine's measured peak
	@build/catena bench

docs: build ## the documentation as a site, build/site/index.html
	@tools/setup docs
	NO_MKDOCS_2_WARNING=1 $(python) -m mkdocs build --strict --quiet
	@echo build/site/index.html

images: build ## the pictures of README and docs, made anew
	@tools/images

dev: setup ## the unit tests with the checks of the standard library switched on
	cmake --workflow --preset dev

asan: setup-clang ## the unit tests under the address and undefined-behaviour sanitizers
	cmake --workflow --preset asan

tsan: setup-clang ## the unit tests under the thread sanitizer
	cmake --workflow --preset tsan

tidy: setup-clang ## clang-tidy and clang's warnings over the whole tree
	cmake --workflow --preset tidy

format: setup ## format all C++ files in place
	@.venv/bin/clang-format -i $(sources)

format-check: setup ## fail if a C++ file is not formatted
	@.venv/bin/clang-format --dry-run --Werror $(sources)

clean: ## remove what was built (not .venv)
	rm -rf build build-*

# Ninja configures again by itself when a CMake file changes.
build/build.ninja: CMakePresets.json
	cmake --preset release
	@touch $@
