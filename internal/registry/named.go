package registry

import (
	"os"
	"path/filepath"
	"regexp"

	"macaron/internal/disk"
	"macaron/internal/ids"
)

var anyDigest = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// Named lists the revisions that a contract file names, and all that any contract names that
// was in force once in a home: turns of the log may be pinned to those. There need not be a
// contract file. A digest that is something else does no harm here.
func Named(home, contractPath string) ([]ids.Digest, error) {
	var all []ids.Digest
	if _, err := os.Stat(contractPath); err == nil {
		_, adapters, err := Survey(home, contractPath)
		if err != nil {
			return nil, err
		}
		for _, a := range adapters {
			if a.Err != nil {
				return nil, a.Err
			}
			all = append(all, a.Revision.Hash)
		}
	}
	kept, err := filepath.Glob(filepath.Join(home, "blobs", contracts, "*.toml"))
	for _, path := range kept {
		var text []byte
		if text, err = os.ReadFile(path); err != nil {
			break
		}
		for _, d := range anyDigest.FindAllString(string(text), -1) {
			all = append(all, ids.Digest(d))
		}
	}
	return all, disk.Error(err, "the kept contracts cannot be read")
}
