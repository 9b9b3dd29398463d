# make demo and make test work on a fresh Debian machine with Go.

SHELL       := /bin/bash
GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
TOOLS       := $(CURDIR)/bin/tools
VERSION     := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
FUZZTIME    ?= 10s
# Empty: the project's own tree.
DIR         ?=

.PHONY: build test lint demo bench-quick bench-synthetic bench-linux torture s3-server fuzz needs-git needs-hg needs-linux clean

# Without cgo: a static program starts a millisecond sooner, a third of what oxy version takes.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/oxy ./cmd/oxy

# The tests compare with Git where oxy promises to do as Git does.
test: needs-git needs-hg
	$(GO) vet ./...
	$(GO) test ./internal/lint
	$(GO) test ./...

lint: $(TOOLS)/staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt -w is due on: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(TOOLS)/staticcheck ./...
	$(GO) test ./internal/lint
	@for os in linux darwin windows; do \
		echo "GOOS=$$os go build ./..."; CGO_ENABLED=0 GOOS=$$os $(GO) build ./... || exit 1; \
	done

$(TOOLS)/staticcheck:
	GOBIN=$(TOOLS) $(GO) install $(STATICCHECK)

demo: build
	scripts/demo.sh bin/oxy $(DIR)

# Each under three minutes; the Linux tree is unpacked once before.
bench-quick: build needs-git needs-linux
	OXY_BENCH_FILES=1000 OXY_BENCH_CHANGES=500 $(GO) run ./bench/synthetic
	$(GO) run ./bench/rounds
	$(GO) run ./bench/linux -quick

bench-synthetic: build needs-git
	$(GO) run ./bench/synthetic

bench-linux: build needs-git needs-linux
	$(GO) run ./bench/linux

# The large sizes of what make test runs small: what docs/reliability.md counts. About half an hour on two cores.
KILLS ?= 1000
torture: needs-git
	$(GO) test ./internal/cli -run TestKills -count=1 -timeout 60m -v -kills $(KILLS)
	$(GO) test ./internal/vfs ./internal/store -count=1
	$(GO) test ./internal/repo -count=1 -timeout 120m -run 'Fault|PowerCut|Dropping|SkippedSync|Damage|Repair' -thorough
	$(GO) test ./internal/repo -count=1 -timeout 60m -run TestStories -stories 4000 -from 100000

# A real server of object storage. Where it is there, the tests of buckets run against it too, beside the one in their own process.
VERSITYGW := github.com/versity/versitygw/cmd/versitygw@v1.8.0
s3-server:
	GOBIN=$(TOOLS) $(GO) install $(VERSITYGW)

# Every fuzz target for a short time each.
fuzz:
	FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

# Repositories to read are made by Mercurial itself; where it cannot be had those tests say so and pass over it.
needs-hg:
	-@scripts/install.sh mercurial hg >/dev/null

needs-git:
	@scripts/install.sh git git

needs-linux:
	@scripts/install.sh linux-source-6.1 /usr/src/linux-source-6.1.tar.xz

clean:
	rm -rf bin
