package mint

import (
	"bufio"
	"compress/gzip"
	"io"
	"net/url"
	"strings"
)

// ReadArchive is ReadPEFT for what a training service elsewhere sends: a tar, with gzip around it or
// without.
func ReadArchive(r io.Reader, most int64) (Adapter, error) { return ReadPEFT(plain(r), most) }

// plain reads through gzip where there is any.
func plain(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	if magic, err := in.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		if z, err := gzip.NewReader(in); err == nil {
			return z
		}
	}
	return in
}

// CheckpointPath is the path of the protocol below which the checkpoint tinker://RUN/KIND/NAME is;
// false if it is not called so.
func CheckpointPath(checkpoint string) (path string, ok bool) {
	_, rest, ok := strings.Cut(checkpoint, "://")
	run, name, cut := strings.Cut(rest, "/")
	if !ok || !cut {
		return "", false
	}
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return "training_runs/" + url.PathEscape(run) + "/checkpoints/" + strings.Join(parts, "/"), true
}
