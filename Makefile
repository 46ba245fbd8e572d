# make help lists what there is. Everything works from a fresh clone: Go >= 1.26,
# Python >= 3.11 with pip, git and make are enough; nothing is installed system-wide
# except, by root only, what tests run: a Chromium for the page, a Postgres for the log.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: bench-ui4a-scenes bench-ui4a-paint bench-proxy soak-proxy soak-outage bench-overload bench-slow upstream-live help run build test unit vet cross model testdata compat compat-deps needs screenshot fuzz fuzz-long lint bench-ui4a test-ui4a-chunks bench-engine bench-mixed bench-kernel bench-repl bench-train bench-longstraw bench-wait eval-shortlist eval-intents eval-summary eval-overlay eval-modes eval-filter clean

GO      ?= go
PYTHON  ?= python3
ENGINE  ?= docker
BIN     := bin/macaron
CACHE   := .cache
SITE    := $(CACHE)/compat
NODE    := $(CACHE)/compat-node
TINKER  := $(CACHE)/tinker
GRPC    := 1.85.3
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X macaron/cmd/macaron/cli.Version=$(VERSION)

export CGO_ENABLED := 0
# The version is stamped above; git may refuse to answer about another user's clone.
export GOFLAGS := -trimpath -buildvcs=false $(GOFLAGS)
export MACARON_PYTHON ?= $(PYTHON)

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | while IFS='|' read -r name what; do printf '  make %-14s %s\n' "$$name" "$$what"; done

run: build ## build, fetch the model if it is not there, serve on 127.0.0.1:8080 (PORT changes it)
	@exec $(BIN) up

build: ## build bin/macaron
	@$(GO) build -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/macaron

test: build vet model testdata needs compat-deps cross unit ## get what the tests need, then run them all

unit: ## run all tests and count them; a skipped test is a failure unless ALLOW_SKIP=1
	@$(GO) build -o bin/tally ./internal/tidy/tally
	@$(GO) test -json -count=1 -timeout=15m ./... | bin/tally

vet:
	@$(GO) vet ./...

cross: ## compile for the other platforms
	@for target in linux/arm64 darwin/arm64; do \
		GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -o /dev/null ./cmd/macaron; \
		echo "compiles for $$target"; \
	done

model: build ## fetch and check the default model
	@env -u MACARON_MODEL $(BIN) model pull

testdata: ## fetch and check the third-party test data
	@$(GO) run ./internal/testvectors/fetch

compat: needs model compat-deps ## hold conversations through clients of others: OpenAI, Anthropic, Vercel, LangChain, llm, curl
	@$(GO) test -count=1 -v ./test/compat

compat-deps: $(SITE)/.ready $(NODE)/.ready $(TINKER)/shared/.ready $(TINKER)/0.38.0/.ready $(TINKER)/0.6.0/.ready
$(SITE)/.ready: test/compat/requirements.txt
	@rm -rf $(SITE).new && mkdir -p $(CACHE)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --no-warn-conflicts --target $(SITE).new -r $< || { \
		echo "pip could not install the SDKs; Debian: apt-get install python3-pip, then make test again" >&2; exit 1; }
	@touch $(SITE).new/.ready && rm -rf $(SITE) && mv $(SITE).new $(SITE)
$(NODE)/.ready: test/compat/node/package-lock.json
	@rm -rf $(NODE).new && mkdir -p $(NODE).new && cp test/compat/node/package.json $< $(NODE).new
	@cd $(NODE).new && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error || { \
		echo "npm could not install the SDKs; Debian: apt-get install nodejs npm, then make test again" >&2; exit 1; }
	@touch $(NODE).new/.ready && rm -rf $(NODE) && mv $(NODE).new $(NODE)

PIP_TARGET = $(PYTHON) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --no-warn-conflicts --target
$(TINKER)/shared/.ready: test/compat/tinker.txt
	@rm -rf $(@D).new && $(PIP_TARGET) $(@D).new -r $< && touch $(@D).new/.ready && rm -rf $(@D) && mv $(@D).new $(@D)
$(TINKER)/mint-%/.ready:
	@rm -rf $(@D).new && $(PIP_TARGET) $(@D).new mindlab-toolkit==$* && touch $(@D).new/.ready && rm -rf $(@D) && mv $(@D).new $(@D)
$(TINKER)/%/.ready:
	@rm -rf $(@D).new && $(PIP_TARGET) $(@D).new tinker==$* && touch $(@D).new/.ready && rm -rf $(@D) && mv $(@D).new $(@D)
$(TINKER)/0.22.0/.ready: # it imports grpc, which no other version does
	@rm -rf $(@D).new && $(PIP_TARGET) $(@D).new tinker==0.22.0 grpcio==$(GRPC) && touch $(@D).new/.ready && rm -rf $(@D) && mv $(@D).new $(@D)

.PHONY: compat-tinker
compat-tinker: needs model compat-deps $(foreach v,0.15.0 0.22.0 0.24.1 mint-0.0.1 mint-0.1.0 mint-0.2.0,$(TINKER)/$(v)/.ready) ## train through every version of the Tinker SDK and of MinT's toolkit (MACARON_TORCH: site-packages with torch, for losses that clients compute)
	@MACARON_TINKER=1 $(GO) test -count=1 -v -run Training ./test/compat

needs:
	@test/needs.sh

screenshot: needs model ## hold a conversation through the chat page and renew docs/img/chat.png
	@$(GO) run ./test/screenshot

.PHONY: test-disk test-kill
test-disk: ## have every call of commands and of a server fail with which they change files of a home (an hour; EACH=7: every seventh)
	@$(GO) test -count=1 -v -timeout 4h -run 'TestNthFault|TestFullDiskAt20Sizes' ./cmd/macaron -disk.each $(or $(EACH),1)

test-kill: ## kill conversations at every named write, 20 of each, and 1,000 times at any moment
	@$(GO) test -count=1 -v -timeout 4h -run TestKilled ./internal/session -seeds 20 -kills 1000

fuzz: ## fuzz every target for a few seconds
	@test/fuzz.sh 5s

fuzz-long: ## fuzz every target for ten minutes
	@test/fuzz.sh 10m

lint: ## run golangci-lint, which is not part of make test
	@command -v golangci-lint >/dev/null || { echo "golangci-lint is not installed: go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@latest" >&2; exit 1; }
	@golangci-lint run

upstream-live: ## hold a running llama-server or other engine to the contract of dialects (docs/formats/engines.md)
	@test/upstream/live.sh

test-ui4a-chunks: ## write 1,000 cards piece by piece into a browser; each ends as when it comes whole
	@$(GO) test -timeout 60m -count=1 -v -run TestChunksGiveTheSameDocument ./internal/ui4a/stream -args -chunked 1000

bench-ui4a: ## measure how long cards take to compile, whole and half-written
	@$(GO) test -run '^$$' -bench . -benchtime 3s ./internal/ui4a/stream

bench-ui4a-scenes: ## count the tokens of OpenUI's seven scenes as cards (OPENUI: a clone of thesysdev/openui, whose own files are counted too)
	@$(GO) run ./test/bench/ui4a/scenes $(if $(OPENUI),-samples "$(OPENUI)/benchmarks/samples")

bench-ui4a-paint: needs ## measure from the token with which a card can be drawn to the frame that Chromium has painted
	@$(GO) run ./test/bench/ui4a/paint

bench-engine: build model ## measure the engine next to llama.cpp (docs/BENCHMARKS.md says what it needs)
	@test/bench/engine.sh

bench-mixed: build model ## replay one file of requests on llama-server and on the engine's server
	@if [ -n "$${LLAMA_SERVER:-}" ] && [ -z "$${LORA:-}" ]; then \
		echo "LLAMA_SERVER needs LORA=DIR with L0.gguf to L3.gguf, which test/bench/mixed/lora_gguf.py writes" >&2; exit 2; fi
	@test/bench/mixed/run.sh

bench-kernel: ## measure the products of every weight format (docs/engine/formats.md)
	@$(GO) test -run '^$$' -bench 'MatMul/.*-640x2048' ./internal/engine/kernel

bench-wait: build model ## measure what the user waits for: 48 requests back to back, and 2 s apart
	@$(GO) build -o bin/wait ./test/bench/wait
	@bin/wait
	@bin/wait -pause 2s

bench-catalogue: ## register a million revisions, look them up and load some (N changes how many, POSTGRES=URL where)
	@$(GO) test -run '^$$' -bench Catalogue -benchtime 1x -timeout 60m ./internal/mint/catalogue -revisions $(or $(N),1000000) -postgres "$(POSTGRES)"

bench-train: build model ## measure a step of training next to PyTorch and PEFT (PYTHON_TORCH names a python that has them)
	@test/bench/train/run.sh $(STEPS)

bench-longstraw: build model ## measure passes over long prompts: time, memory, disk (PROMPTS, EXACT: lengths; COMPARE=1: gradients too; GRPO=STEPS: reward curves too)
	@test/bench/longstraw/run.sh

bench-handoff: model ## measure from an optimizer's step to the new revision's first token, by the catalogue and by a merged model
	@$(GO) test -run '^$$' -bench Handoff -benchtime 1x -timeout 30m ./internal/app -handoffs $(or $(N),5)

# A run of the cookbook is random: what differs between runs of other names is what is sampled.
COOKBOOK := $(TINKER)/cookbook
$(COOKBOOK)/.ready: test/cookbook/requirements.txt
	@rm -rf $(@D).new && $(PIP_TARGET) $(@D).new -r $< && touch $(@D).new/.ready && rm -rf $(@D) && mv $(@D).new $(@D)
.PHONY: cookbook-arithmetic cookbook-unseen cookbook-guess-number cookbook-chat-sl cookbook-dpo compat-custom rl-reference
cookbook-arithmetic: build model $(COOKBOOK)/.ready $(TINKER)/shared/.ready $(TINKER)/0.38.0/.ready ## train the default model to add with tinker-cookbook (RUN names the run; LR, GROUP, SEED, STEPS, LEGS; PYTHON_TORCH a python with PyTorch)
	@test/cookbook/run.sh $(or $(RUN),arithmetic-1) tinker_cookbook.recipes.math_rl.train env=arithmetic renderer_name=macaron/lines \
		groups_per_batch=16 group_size=$(or $(GROUP),8) lora_rank=16 learning_rate=$(or $(LR),3e-4) seed=$(or $(SEED),0) max_steps=$(or $(STEPS),100) eval_every=0 save_every=20
cookbook-unseen: build model $(COOKBOOK)/.ready $(TINKER)/shared/.ready $(TINKER)/0.38.0/.ready ## how often a run of cookbook-arithmetic adds rightly in the end, on pairs that it was trained on and others (RUN, LEGS, PAIRS)
	@test/cookbook/unseen.sh $(or $(RUN),arithmetic-1) $(or $(PAIRS),200)
cookbook-guess-number: build model $(COOKBOOK)/.ready $(TINKER)/shared/.ready $(TINKER)/0.38.0/.ready ## train the default model to guess numbers, in many turns, from GAMES games that it is shown (RUN, STEPS, LR)
	@MACARON_KV_BYTES=$${MACARON_KV_BYTES:-2147483648} test/cookbook/guess.sh $(or $(RUN),guess-1) $(or $(GAMES),32) batch_size=8 group_size=8 max_tokens=12 learning_rate=$(or $(LR),1e-4) \
		max_steps=$(or $(STEPS),20) eval_every=0 save_every=10
cookbook-chat-sl: build model $(COOKBOOK)/.ready $(TINKER)/shared/.ready $(TINKER)/0.38.0/.ready ## fine-tune the default model on conversations with the cookbook's chat_sl
	@$(PYTHON) test/cookbook/data.py $(CACHE)/cookbook
	@test/cookbook/run.sh $(or $(RUN),chat-sl-1) tinker_cookbook.recipes.chat_sl.train dataset=talk.jsonl renderer_name=macaron/chatml \
		batch_size=16 lora_rank=16 learning_rate=5e-4 max_steps=$(or $(STEPS),14) save_every=10 eval_every=0
cookbook-dpo: build model $(COOKBOOK)/.ready $(TINKER)/shared/.ready $(TINKER)/0.38.0/.ready ## train the default model on pairs of answers with the cookbook's DPO, whose loss the client computes
	@$(PYTHON) test/cookbook/data.py $(CACHE)/cookbook
	@test/cookbook/run.sh $(or $(RUN),dpo-1) tinker_cookbook.recipes.preference.dpo.train dataset=hhh renderer_name=macaron/chatml \
		batch_size=8 learning_rate=1e-4 max_steps=$(or $(STEPS),20)
rl-reference: build model $(COOKBOOK)/.ready $(TINKER)/shared/.ready $(TINKER)/0.38.0/.ready ## train the default model to add in PyTorch and PEFT alone, on the cookbook's questions (RUN, LR, GROUP, SEED, STEPS; INIT: the RUN whose weights it begins with; CHECK=1 compares gradients; PYTHON_TORCH a python with PyTorch)
	@test/cookbook/reference.sh $(or $(RUN),reference-$(or $(SEED),0)) steps=$(or $(STEPS),100) seed=$(or $(SEED),0) lr=$(or $(LR),3e-4) group=$(or $(GROUP),8) check=$(or $(CHECK),0) init=$(INIT:%=runs/%)
compat-custom: build model $(COOKBOOK)/.ready $(TINKER)/shared/.ready $(TINKER)/0.38.0/.ready ## compare losses that the SDK computes in PyTorch with the service's own (PYTHON_TORCH a python with PyTorch)
	@test/cookbook/custom.sh

.PHONY: bench-serve-train
bench-serve-train: build model $(COOKBOOK)/.ready $(TINKER)/shared/.ready $(TINKER)/0.38.0/.ready ## measure how long chat waits for its first text beside a training run of the cookbook (N requests, PYTHON_TORCH a python with PyTorch)
	@$(GO) build -o bin/bench-beside ./test/bench/beside
	@rm -rf $(CACHE)/cookbook/runs/beside
	@bin/bench-beside -n $(or $(N),40) test/cookbook/run.sh beside tinker_cookbook.recipes.math_rl.train env=arithmetic renderer_name=macaron/lines \
		groups_per_batch=16 group_size=8 lora_rank=16 learning_rate=3e-4 max_steps=100 eval_every=0 save_every=0

.PHONY: kill-training
kill-training: model ## kill the process that trains the default model KILLS times (10 if not given); the state at the end is the undisturbed one, bit for bit
	@$(GO) test -count=1 -timeout=30m ./internal/mint -run '^TestTheDefaultModelIsKilled$$' -v -kills $(or $(KILLS),10)

bench-repl: ## measure the sandbox: a cell, a start, two hundred sessions
	@$(GO) test -run '^$$' -bench 'Cell|Start' -benchtime 300x ./internal/repl
	@$(GO) test -run '^$$' -bench Sessions -benchtime 1x ./internal/repl

bench-proxy: build ## measure what a turn costs in the proxy, next to the Python proxy and a bare loop (QUICK=1: in a minute)
	@test/bench/proxy/run.sh

.PHONY: conform
conform: ## run what holds one line of docs/CONFORMANCE.md (N=7) or docs/PEER.md (N=B7)
	@test/conform.sh $(N)

.PHONY: mol-profiles
mol-profiles: build ## serve the Python harness's own profiles, Venti and Tall, and compare every prompt with those that it builds
	@test/bench/proxy/peer.sh
	@for name in Macaron-V1-Venti Macaron-V1-Tall; do $(BIN) hcp import-mol $(CACHE)/peer/harness/mol_harness/$$name --base $$name-base --default L2 >/dev/null; done
	@$(GO) test -count=1 -timeout 5m -v -run ProfilesAreServed ./internal/app -args -harness $(CURDIR)/$(CACHE)/peer/harness -harness-python $(CURDIR)/$(CACHE)/peer/venv/bin/python

soak-proxy: build ## hold 10,000 sessions with 500 streams at once for an hour (MINUTES changes it)
	@$(GO) build -o bin/bench-proxy ./test/bench/proxy
	@bin/bench-proxy -soak -minutes $(or $(MINUTES),60) -macaron $(CURDIR)/$(BIN) -contract $(CURDIR)/macaron.toml

soak-outage: build ## hold 2,000 sessions with 200 streams at once while the engine below is killed every minute (MINUTES, 10 if not given)
	@$(GO) build -o bin/bench-proxy ./test/bench/proxy
	@bin/bench-proxy -soak -outages 1m -sessions 2000 -streams 200 -minutes $(or $(MINUTES),10) -macaron $(CURDIR)/$(BIN) -contract $(CURDIR)/macaron.toml

bench-overload: build ## send half, twice and five times as many turns as 32 places answer, and half again
	@$(GO) build -o bin/bench-proxy ./test/bench/proxy
	@bin/bench-proxy -overload -window $(or $(WINDOW),10s) -macaron $(CURDIR)/$(BIN) -contract $(CURDIR)/macaron.toml

bench-slow: build ## measure the turns of others beside 1,000 clients that read 1 KB a second (READERS)
	@$(GO) build -o bin/bench-proxy ./test/bench/proxy
	@bin/bench-proxy -slow $(or $(READERS),1000) -window $(or $(WINDOW),10s) -macaron $(CURDIR)/$(BIN) -contract $(CURDIR)/macaron.toml

eval-shortlist: ## measure how often a shortlist has the right adapter (ENCODER names a directory; without it words rank)
	@$(GO) run ./test/shortlist -model "$(ENCODER)"

eval-intents: build model ## measure turns with several intents: 100 labelled ones (BY=model: the router writes the plan)
	@$(GO) run ./test/intents -by "$(or $(BY),pieces)"

eval-summary: build model ## measure what an adapter knows of another's turns, by the budget of summaries
	@$(GO) run ./test/summary

.PHONY: forge-search-bench
forge-search-bench: ## measure the search over contracts on planted problems of which the truth is known (SEEDS of them, from number FROM on; ARMS of recall by their numbers)
	@$(GO) run ./test/forge/search -seeds $(or $(SEEDS),40) -from $(or $(FROM),0) $(if $(ARMS),-only recall -arms $(ARMS))

.PHONY: forge-interference
forge-interference: model ## four specialists against one adapter of their ranks' sum on the same rows; it goes on where it was (TOKENS a specialist, PLAN of RANK:SEED, OUT)
	@$(PYTHON) recipes/default-set/export.py $(CACHE)/default-set L0 L1 L2 L3
	@$(GO) build -o bin/forge-interference ./test/forge/interference
	@bin/forge-interference -model "$$($(BIN) model show smollm2-135m-instruct --json | $(PYTHON) -c 'import json, sys; print(json.load(sys.stdin)["path"])')" -data $(CACHE)/default-set -out $(or $(OUT),$(CACHE)/forge-interference) -tokens $(or $(TOKENS),50000) $(if $(PLAN),-plan $(PLAN))

.PHONY: forge-kill
forge-kill: ## kill the loop at MOMENTS random moments (default 200); each run ends with the ledger of an undisturbed one
	MOMENTS=$${MOMENTS:-200} $(GO) test -count=1 -timeout 120m -run TestKillAtRandomMoments -v ./internal/mindforge/loop

.PHONY: forge-simulate
forge-simulate: ## count the errors of the gate's sealed test on candidates of which the truth is known (N promotions a line)
	@$(GO) run ./test/forge/simulate -n $(or $(N),1000)

.PHONY: forge-base-failing
forge-base-failing: build model ## draw tasks that the default model fails in each of 4 samples under the shipped contract, until there are N (100 if not given); it goes on where it was
	@$(GO) run ./test/forge/failing -n $(or $(N),100) -for $(or $(FOR),0)

.PHONY: forge-coverage
forge-coverage: build model ## cover the tasks that the default model fails, by the adaptive search and its controls at equal attempts (ATTEMPTS of each arm, SEED, PRACTICE tasks, PROPOSER uniform or model); it goes on where it was
	@$(GO) run ./test/forge/coverage -attempts $(or $(ATTEMPTS),800) -seed $(or $(SEED),1) -practice $(or $(PRACTICE),4) -proposer $(or $(PROPOSER),uniform)

.PHONY: forge-compounding
forge-compounding: build model ## run ARM (full, contract, weights, none) of SEED of the loop on the default model for three generations, and measure each champion on sealed tasks; it goes on where it was
	@$(GO) build -o bin/forge-compounding ./test/forge/compounding
	@bin/forge-compounding -arm $(or $(ARM),full) -seed $(or $(SEED),1)

.PHONY: train-default
train-default: build model ## train the four default adapters from nothing, into .cache/default-set; it goes on where it was
	@$(PYTHON) recipes/default-set/export.py $(CACHE)/default-set
	@for name in L0-1 L0 L1 L2 L3; do \
		[ -d $(CACHE)/default-set/$$name ] || $(BIN) train recipes/default-set/$$name.toml; \
	done

release: ## static binaries for three platforms, checksums and SBOMs, in dist/
	@deploy/release.sh dist

release-check: ## make the release twice, the second time in a fresh clone, and compare every byte
	@deploy/release-check.sh

image: ## build the container image with docker, podman or buildah (ENGINE)
	@$(ENGINE) build -f deploy/docker/Dockerfile --build-arg VERSION=$(VERSION) -t macaron .

eval-overlay: build model ## measure answers that go on from the route hop's prompt (router.overlay) next to the plain layout
	@mkdir -p $(CACHE)
	@$(PYTHON) test/bench/overlay/dev.py > $(CACHE)/dev.jsonl
	@$(GO) run ./test/overlay $(CACHE)/dev.jsonl

.PHONY: test-ui4a-grammar test-ui4a-grammar-drawn eval-ui4a
test-ui4a-grammar: ## compile 2,000 random cards of the grammar that holds the specialist for cards
	@$(GO) test -count=1 -timeout 10m ./internal/ui4a/grammar -run EverySentenceCompiles -v -sentences 2000
test-ui4a-grammar-drawn: needs ## draw 500 random cards of it in Chromium (N changes how many)
	@$(GO) test -count=1 -timeout 2h ./internal/ui4a/grammar -run EverySentenceIsDrawn -v -drawn $(or $(N),500)

eval-ui4a: build model ## measure what the grammar of cards does for L3 on requests that nothing was trained on
	@$(GO) run ./test/cardgrammar -out $(CACHE)/eval-ui4a.jsonl

.PHONY: eval-routing-harm
eval-routing-harm: build model ## measure whether routing hurts: direct, routed, and routed without kept prefixes
	@$(GO) run ./test/harm

eval-filter: ## measure how well the data filter finds personal data and secrets, and tells languages (docs/DATA.md)
	@$(GO) run ./test/filter/measure

eval-modes: build testdata ## compare functions, repl and hybrid on BFCL and on composition tasks (docs/BENCH.md; FLAGS, such as --upstream URL); it goes on where it was
	@mkdir -p $(CACHE)
	@$(BIN) bench run bfcl flow --out $(CACHE)/eval-modes.jsonl $(FLAGS) > $(CACHE)/eval-modes.md
	@$(BIN) bench report $(CACHE)/eval-modes.jsonl --json > $(CACHE)/eval-modes.json
	@cat $(CACHE)/eval-modes.md

UI4A := $(CACHE)/ui4a-runtime
$(UI4A)/.ready: internal/ui4a/runtime/package-lock.json
	@rm -rf $(UI4A).new && mkdir -p $(UI4A).new && cp internal/ui4a/runtime/package.json $< $(UI4A).new
	@cd $(UI4A).new && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
	@touch $(UI4A).new/.ready && rm -rf $(UI4A) && mv $(UI4A).new $(UI4A)

.PHONY: ui4a-runtime ui4a-runtime-check ui4a-shots
CARD := Make a card with a sign-up form: name, e-mail and which workshop
ui4a-shots: needs model ## photograph the gallery of cards, and a card that the default model writes in the chat page, in both themes, into docs/img
	@$(GO) run ./test/ui4a/shots
	@$(GO) run ./test/screenshot -card "$(CARD)" -o docs/img/ui4a-chat-light.png
	@$(GO) run ./test/screenshot -card "$(CARD)" -o docs/img/ui4a-chat-dark.png -dark
ui4a-runtime: $(UI4A)/.ready model ## build the browser side of cards from its sources (needs npm; what it writes is committed)
	@test/ui4a/types.sh $(UI4A)
	@$(GO) run ./internal/ui4a/runtime/build -modules $(UI4A)/node_modules
	@$(GO) test -count=1 -run 'Counted|Document' ./internal/ui4a/library -update >/dev/null
ui4a-runtime-check: $(UI4A)/.ready ## build it again and compare every byte with what is committed
	@test/ui4a/types.sh $(UI4A)
	@$(GO) run ./internal/ui4a/runtime/build -modules $(UI4A)/node_modules -check

.PHONY: attack-ui4a attack-ui4a-firefox
attack-ui4a: ## attack the boundary of cards in Chromium, memory bombs too (needs 8 GB), and canvases and pictures
	@UI4A_BOMB=1 $(GO) test -count=1 -v -timeout 10m -run 'Attack|Hangs|Trusts|Private|Confirmed' ./internal/ui4a/runtime
	@$(GO) test -count=1 -v -timeout 10m -run 'Canvas|Pictures' ./internal/ui4a/surface ./internal/ui4a/album ./internal/web
attack-ui4a-firefox: ## the same attacks in firefox-esr
	@$(GO) test -count=1 -tags firefox -v -timeout 10m -run Firefox ./internal/ui4a/runtime

clean: ## remove what was built here; the model and the log in MACARON_HOME stay
	@rm -rf bin dist $(CACHE)

.PHONY: bench-ui4a-check bench-ui4a-mutants
bench-ui4a-check: build ## hold every reference card and twin of UI4A-Bench to the rules of its case
	@$(BIN) bench ui4a --check

bench-ui4a-mutants: build ## break 20 cards in each of a hundred ways; each layer must drop on its own kinds, and no other (EACH=, OUT=; what is in OUT is not measured again)
	@$(BIN) bench ui4a --mutants $(or $(EACH),20) --out $(or $(OUT),$(CACHE)/ui4a-mutants)
