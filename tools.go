//go:build tools

package tools

import (
	_ "github.com/PlakarKorp/go-cdc-chunkers"
	_ "github.com/charmbracelet/colorprofile"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/gtank/ristretto255"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/pelletier/go-toml/v2"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "github.com/vbauerster/mpb/v8"
	_ "github.com/zeebo/blake3"
	_ "github.com/zeebo/xxh3"
	_ "go.uber.org/goleak"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "golang.org/x/text/unicode/norm"
	_ "pgregory.net/rapid"
)
