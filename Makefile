# A thin front: tools/build.sh builds, tools/run_tests.py tests.
#
#   SAN=asan or SAN=tsan   check under AddressSanitizer + UBSan, ThreadSanitizer
#   CI=1                   warnings are errors
#   PREFIX, DESTDIR        where to install

PREFIX ?= /usr/local
variant := $(or $(SAN),release)
version = $(shell sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build)

.PHONY: all run worlds engines test test-engines check check-long valgrind lint format bench cover \
	install dist deb clean help

all: ## build build/muster
	@tools/build.sh $(variant)

run: all ## build, then watch a training run survive on eight local workers
	@build/muster train --demo

worlds: all ## one training in many worlds, one hash: instruction sets, kills, ...
	@examples/worlds.py

engines: all ## one training under ssh, Slurm, MPI, Dask, ...: one hash
	@examples/engines.py

check: ## unit tests, short simulations, command-line goldens: half a minute
	@tools/run_tests.py $(if $(SAN),--variant $(SAN)) check

test: ## everything a change must pass: check, lint, sanitizers, real processes
	@tools/run_tests.py test

test-engines: ## Muster under other launchers: needs their packages, which it installs
	@tools/deps.sh engines || true
	@tools/run_tests.py engines

check-long: ## test, and the long campaigns
	@tools/run_tests.py long

valgrind: ## units, simulations, commands and whole clusters under memcheck
	@tools/run_tests.py --only valgrind long

lint: ## format, static analysis, layers, banned calls
	@tools/lint.py

format: ## let clang-format lay out the sources
	@tools/deps.sh lint
	@find src include tests examples bench \( -name '*.[ch]' -o -name '*.inc' \) \
		2>/dev/null | xargs clang-format -i

bench: all ## measure: ratios to limits and peers; BENCH="delays ..." for some
	@bench/run.sh $(BENCH)

cover: ## line and branch coverage of check, for each layer
	@tools/coverage.py

install: all ## install under PREFIX: program, library, Python package
	@meson configure build/release -Dprefix=$(PREFIX)
	@tools/build.sh release
	@meson install --quiet --no-rebuild -C build/release \
		$(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

dist: ## a tarball of the sources of this commit: build/dist/muster-VERSION.tar.gz
	@mkdir -p build/dist
	@git archive --format=tar.gz --prefix=muster-$(version)/ \
		-o build/dist/muster-$(version).tar.gz HEAD
	@echo build/dist/muster-$(version).tar.gz

deb: ## a Debian package of what install installs: build/dist/muster_VERSION_*.deb
	@tools/deb.sh

clean: ## remove build/
	@rm -rf build

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 14
