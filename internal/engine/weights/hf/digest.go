package hf

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"

	"macaron/internal/canonical"
	"macaron/internal/disk"
	"macaron/internal/ids"
)

// The small files beside the weights that decide what a model says.
const (
	GenerationFile      = "generation_config.json"
	TokenizerFile       = "tokenizer.json"
	TokenizerConfigFile = "tokenizer_config.json"
	SpecialsFile        = "special_tokens_map.json"
	TemplateFile        = "chat_template.jinja"
)

// Digest names a directory by what is read of it: the canonical hash of
// {"files": {NAME: DIGEST}} over the shards and the small files that are there
// (docs/formats/canonical.md). Other files in the directory change nothing.
func Digest(path string) (ids.Digest, error) {
	ix, err := readIndex(path)
	if err != nil {
		return "", err
	}
	names := ix.files()
	for _, name := range []string{ConfigFile, IndexFile, GenerationFile, TokenizerFile, TokenizerConfigFile, SpecialsFile, TemplateFile} {
		if Exists(path, name) && (name != IndexFile || ix[""] == "") {
			names = append(names, name)
		}
	}
	files := map[string]ids.Digest{}
	for _, name := range names {
		if files[name], err = FileDigest(filepath.Join(path, name)); err != nil {
			return "", err
		}
	}
	return canonical.Hash(map[string]any{"files": files})
}

// Size is the bytes of a directory's weights.
func (d *Dir) Size() int64 {
	n := int64(0)
	for _, t := range d.byName {
		n += int64(len(t.Data))
	}
	return n
}

// FileDigest is the SHA-256 of a file.
func FileDigest(path string) (ids.Digest, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", disk.OpenError(err, "cannot open the model file "+path, "check the path and its permissions")
	}
	defer f.Close() // read-only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", disk.Error(err, "cannot read the model file "+path)
	}
	return ids.Digest("sha256:" + hex.EncodeToString(h.Sum(nil))), nil
}
