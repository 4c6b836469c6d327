# The commands of this repository. `make prove` and `make test` are all that a newcomer needs.

CARGO ?= cargo
OUT ?= out
PROOFLINE = target/release/proofline
SUDO = $(shell [ "$$(id -u)" = 0 ] || echo sudo)
PACKAGES = libhwloc-dev libudev-dev pkg-config
# The graph that is compiled in; empty: graphs/host.ron.
GRAPH ?=
# Cargo features of `make test` and `make lint`, `filecoin` say. Filecoin's crates take minutes to build.
FEATURES ?=
ifneq ($(GRAPH),)
export PROOFLINE_GRAPH = $(GRAPH)
endif


.PHONY: help release prove prove-filecoin test lint deps build bench bench-cpu bench-memory miri fuzz clean

help:
	@echo "make prove                  builds, and proves 8 + 8 proofs of real circuits"
	@echo "make prove-filecoin         builds, seals a sector of Filecoin's, makes a key, proves and verifies"
	@echo "make test                   runs every test; with FEATURES=filecoin those of Filecoin's circuits too"
	@echo "make lint                   formatting and clippy, warnings are errors"
	@echo "make bench-cpu              times kernels and whole proofs beside other provers, with a verdict for each row"
	@echo "make bench-memory           page faults, shootdowns and memory of proofs, under three policies, with a verdict for each row"
	@echo "make bench                  both"
	@echo "make miri                   looks for undefined behaviour in the kernels' memory (needs nightly with Miri)"
	@echo "make fuzz                   all readers of files at once, for an hour (needs nightly and cargo-fuzz)"
	@echo "make build GRAPH=graphs/x.ron   the binary for another graph"
	@echo "make release GRAPH=graphs/x.ron  one stripped binary for that graph, in $(OUT)/"

# Installs what the build needs from the distribution, if it is not there.
deps:
	@if ! pkg-config --exists hwloc libudev 2>/dev/null; then \
	    echo "installing $(PACKAGES)"; \
	    if ! command -v apt-get >/dev/null; then \
	        echo "error: hwloc >= 2.8 and libudev with their headers, and pkg-config, are needed: install them with this system's package manager" >&2; exit 1; fi; \
	    $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq $(PACKAGES); \
	fi
	@command -v $(CARGO) >/dev/null || { echo "error: Rust is needed: https://rustup.rs" >&2; exit 1; }

build: deps
	$(CARGO) build --release --locked --features filecoin

# Every x86-64 of the last fifteen years runs it; the faster paths are chosen when it starts: by the kernels themselves, and in
# blst by the feature `portable` (with a target-cpu alone it would leave out the paths that this one lacks). A folder of its
# own, because other flags would otherwise build everything anew each time.
RELEASE_GRAPH = $(basename $(notdir $(or $(GRAPH),host)))
release: deps
	CARGO_PROFILE_RELEASE_STRIP=symbols CARGO_PROFILE_RELEASE_DEBUG=none \
	    RUSTFLAGS="$(RUSTFLAGS) -C target-cpu=x86-64-v2" CARGO_TARGET_DIR=target/release-v2 \
	    $(CARGO) build --release --locked -p proofline --features portable,filecoin
	@mkdir -p $(OUT)
	cp target/release-v2/release/proofline $(OUT)/proofline-$(RELEASE_GRAPH)
	@$(OUT)/proofline-$(RELEASE_GRAPH) --version

prove: build
	@echo "== a circuit of circom: $(CIRCOM_NAME)"
	$(PROOFLINE) setup --r1cs $(CIRCOM).r1cs --seed demo --force -o $(OUT)/circom
	$(PROOFLINE) prove --r1cs $(CIRCOM).r1cs --wtns $(CIRCOM).wtns --params $(OUT)/circom --count 8 --out $(OUT)/circom/proofs --force
	@echo "== the built-in family: SHA-256 of 4 blocks, a fresh preimage for each proof"
	$(PROOFLINE) setup --circuit sha256:4 --seed demo --force -o $(OUT)/sha256
	$(PROOFLINE) prove --circuit sha256:4 --params $(OUT)/sha256 --count 8 --out $(OUT)/sha256/proofs --force --waterfall $(OUT)/waterfall.svg
	$(PROOFLINE) verify --vk $(OUT)/sha256/circuit.vk --public $(OUT)/sha256/proofs/public-7.json --proof $(OUT)/sha256/proofs/proof-7.bin

# From nothing to a proof that the verifier of Filecoin's nodes accepts. The key is kept: making it takes the longest.
FILECOIN = $(OUT)/filecoin
prove-filecoin: build
	@echo "== a sector of 2 KiB is sealed"
	$(PROOFLINE) fil seal --size 2KiB -n 1 --force -o $(FILECOIN)/sectors
	@echo "== a key for tests, once"
	@ls $(FILECOIN)/keys/v28-stacked-*.params.resident >/dev/null 2>&1 || \
	    $(PROOFLINE) fil params porep --size 2KiB --seed demo --force -o $(FILECOIN)/keys
	@echo "== the proof that it was sealed: 2,687,921 constraints"
	$(PROOFLINE) prove --filecoin porep --c1 $(FILECOIN)/sectors/porep-1.c1.json --sector 1 --miner f01000 \
	    --params $(FILECOIN)/keys --out $(FILECOIN)/proofs --force
	$(PROOFLINE) verify --filecoin porep --statement $(FILECOIN)/proofs/statement-0.json \
	    --proof $(FILECOIN)/proofs/proof-0.bin --params $(FILECOIN)/keys

CIRCOM = tests/data/circom/poseidon_m7
CIRCOM_NAME = poseidon_m7, a circuit over circomlib's Poseidon

# --workspace: the root package alone is not every test.
test: deps
	$(CARGO) test --workspace --locked --features "$(FEATURES)"

lint: deps
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked --features "$(FEATURES)" -- -D warnings

# Kernels and whole proofs, Filecoin's too, beside arkworks, blst and bellperson: a table with a verdict for each row, in ten to
# twenty minutes, and as much again for the rows `filecoin`, whose keys are made at the first run.
# BENCH="--rows ntt spmv --rounds 9" chooses. It ends with an error if a row is below what is required.
BENCH ?=
bench-cpu: deps
	$(CARGO) run --release --locked -p proofline-bench-proofs --features filecoin -- $(BENCH)

# Proofs whose slots are recycled, freed behind a permit and freed without bound, in one run: a table with a verdict for each
# row, in ten to fifteen minutes. MEMORY="--proofs 60 --slope 0" chooses. strace, where it is installed, counts system calls.
MEMORY ?=
bench-memory: deps
	$(CARGO) run --release --locked -p proofline-bench-memory -- $(MEMORY)

bench: bench-cpu bench-memory

# Undefined behaviour in the kernels' memory and layouts. What multiplies in the field is blst's assembler, which Miri
# cannot run: kernels/NOTES.md says what is covered. Whole arrays are filled by rayon, and crossbeam-epoch, which it stands
# on, breaks the rules of stacked borrows: for these tree borrows, which would take hours for the others.
MIRI = CARGO_TARGET_DIR=target/miri $(CARGO) +nightly miri test --locked --lib
MIRI_FLAGS = -Zmiri-ignore-leaks -Zmiri-disable-isolation
miri:
	MIRIFLAGS="$(MIRI_FLAGS)" $(MIRI) -p proofline-memory -p proofline-kernels -- list:: digits:: layout:: shelf::
	MIRIFLAGS="$(MIRI_FLAGS) -Zmiri-tree-borrows" $(MIRI) -p proofline-memory -- what_somebody_has pages::

# Every target at once, from the seeds in fuzz/corpus; what they learn goes to $(OUT)/fuzz, and what they find to fuzz/artifacts.
# A calculator that circom compiled takes a second to be compiled by what is being watched: the small seeds are changed.
FUZZ_SECONDS ?= 3600
FUZZ_LENGTH = $(if $(filter wasm,$(1)),4096,131072)
FUZZ_TARGETS = $(sort $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs))))
fuzz:
	$(CARGO) +nightly fuzz build
	$(MAKE) -k -j $(words $(FUZZ_TARGETS)) $(FUZZ_TARGETS:%=fuzz-%)

fuzz-%:
	@mkdir -p $(OUT)/fuzz/$*
	$(CARGO) +nightly fuzz run $* $(OUT)/fuzz/$* fuzz/corpus/$* -- -max_total_time=$(FUZZ_SECONDS) \
	    -max_len=$(call FUZZ_LENGTH,$*) -timeout=30 -rss_limit_mb=1400 -print_final_stats=1 -verbosity=0

clean:
	$(CARGO) clean
	rm -rf $(OUT)
